"""The public names, and a core with few dependencies."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import nestag

CORE = "errors data.sentence data.tree data.crossing encodings encodings.vocabulary decoding formats.registry cli"


def run(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout


CONTRACT = """
CrossingError DataError Entity InputError LabelError MissingExtraError NestagError NestedNER Recipe Sentence
SettingError UnknownNameError adapt benchmark convert decode distill doctor encode evaluate export load
read_corpus render report split stats thresholds train write_corpus
"""


def test_public_api_is_exactly_this() -> None:
    assert nestag.__all__ == CONTRACT.split()


def test_every_public_name_is_importable() -> None:
    for name in nestag.__all__:
        assert getattr(nestag, name) is not None
    assert sorted(nestag.__all__) == nestag.__all__
    assert set(nestag.__all__) <= set(dir(nestag))
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = nestag.nothing


def test_core_works_without_torch_and_transformers() -> None:
    modules = [f"nestag.{name}" for name in CORE.split()]
    code = f"""
import sys
from pathlib import Path
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


def test_missing_extra_error_names_the_extra() -> None:
    code = """
import sys
from pathlib import Path
sys.modules["torch"] = sys.modules["transformers"] = None
import nestag
for name in ("NestedNER", "train"):
    try:
        getattr(nestag, name)
    except nestag.MissingExtraError as error:
        print(isinstance(error, ImportError), isinstance(error, nestag.NestagError), error)
"""
    *_, first, second = run(code).splitlines()
    assert first.startswith("True True NestedNER needs ")
    assert second.startswith("True True train needs ")
    assert second.endswith("which is not installed; pip install 'nestag[model]'")


@pytest.mark.parametrize(
    ("error", "kinds"),
    [
        (nestag.CrossingError, (nestag.DataError, ValueError)),
        (nestag.DataError, (nestag.NestagError, ValueError)),
        (nestag.LabelError, (nestag.NestagError, ValueError)),
        (nestag.SettingError, (nestag.InputError, ValueError)),
        (nestag.UnknownNameError, (nestag.NestagError, LookupError)),
        (nestag.MissingExtraError, (nestag.NestagError, ImportError)),
    ],
)
def test_errors_derive_from_builtin_errors(error: type, kinds: tuple[type, ...]) -> None:
    assert issubclass(error, kinds[0])
    assert issubclass(error, kinds[1])


@pytest.mark.parametrize(("given", "used"), [(None, "PASSIVE"), ("ACTIVE", "ACTIVE")])
def test_threads_wait_passively_by_default(given: str | None, used: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OMP_WAIT_POLICY", raising=False)
    if given:
        monkeypatch.setenv("OMP_WAIT_POLICY", given)
    assert run("import os, nestag; print(os.environ['OMP_WAIT_POLICY'])").split() == [used]


@pytest.mark.parametrize(("limit", "used"), [("100000 100000", "1"), ("max 100000", "None")])
def test_threads_follow_the_cpu_limit(limit: str, used: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    if os.cpu_count() == 1:
        pytest.skip("there is one core")
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    (tmp_path / "cpu.max").write_text(limit)
    read = f"import pathlib, nestag.data.cores; nestag.data.cores.CGROUP = pathlib.Path({str(tmp_path)!r})"
    again = "import importlib, os, nestag; os.environ.pop('OMP_NUM_THREADS', 0); importlib.reload(nestag)"
    assert run(f"{read}; {again}; print(os.environ.get('OMP_NUM_THREADS'))") == f"{used}\n"
