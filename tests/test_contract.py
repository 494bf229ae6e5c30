"""What others may rely on: the public names, and that the core is light."""

import subprocess
import sys

import pytest

import nestag

CORE = "errors data tree crossing encodings vocabulary decoding corpora.registry cli"


def run(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout


def test_every_public_name_is_there() -> None:
    for name in nestag.__all__:
        assert getattr(nestag, name) is not None
    assert sorted(nestag.__all__) == nestag.__all__
    assert set(nestag.__all__) <= set(dir(nestag))
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = nestag.nothing


def test_the_core_works_where_torch_and_transformers_are_missing() -> None:
    modules = [f"nestag.{name}" for name in CORE.split()]
    code = f"""
import sys
sys.modules["torch"] = sys.modules["transformers"] = None  # an import of either is now an ImportError
for name in {modules}:
    __import__(name)
from nestag import Entity, Sentence, decode, encode
sentence = Sentence(["the", "USA"], [Entity(0, 2, "GPE")])
print(decode(encode(sentence, "4tg"), "4tg") == sentence.entities)
"""
    assert run(code) == "True\n"


def test_importing_nestag_loads_nothing_heavy() -> None:
    heavy = "numpy", "typer", "rich", "torch", "transformers", "spacy"
    assert run(f"import sys, nestag; print([m for m in {heavy} if m in sys.modules])") == "[]\n"


def test_encoding_a_sentence_needs_no_numpy() -> None:
    code = "import sys, nestag; nestag.encode(nestag.Sentence(['x']), 'dyn'); print('numpy' in sys.modules)"
    assert run(code) == "False\n"
