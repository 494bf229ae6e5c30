"""The pages on predicting, spaCy and Hugging Face: every example runs, every command is understood."""

import re
import shutil
from pathlib import Path

import pytest

from nestag.cli import load
from nestag.corpora.formats import jsonl
from two_sentences import CORPUS

DOCS = Path(__file__).parents[1] / "docs"
PAGES = ("predicting", "spacy", "huggingface")


def text_of(page: str) -> str:
    return (DOCS / f"{page}.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("page", PAGES)
def test_the_examples_run(page: str, trained_model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copytree(trained_model, tmp_path / "model")
    jsonl.write(CORPUS, tmp_path / "test.jsonl")
    scope: dict[str, object] = {}
    examples = re.findall(r"```python\n(.*?)```", text_of(page), re.DOTALL)
    assert examples
    for example in examples:
        exec(example, scope)


COMMANDS = [line for page in PAGES for line in re.findall(r"^    nestag (\w+ .*?)(?: +#.*)?$", text_of(page), re.M)]


@pytest.mark.parametrize("line", COMMANDS)
def test_the_commands_are_understood(line: str) -> None:
    name, *words = line.split()
    load(name).make_context(name, words)
