"""Every command in environments with nestag's wheel and some extras works or names the missing extra.

A command whose extra is missing ends with exit code 2 and names the extra, and never with 70.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import pytest
from typer.testing import CliRunner

from bare_environments import TOP, build_wheel, make_environment, outcomes
from nestag.cli import COMMANDS, LAB, app
from nestag.data.sentence import Sentence
from nestag.formats import jsonl
from two_sentences import CORPUS, MANY

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="forks processes")
pytest.importorskip("hatchling")

EXTRAS = tomllib.loads((TOP / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
FOR_USERS = sorted(set(EXTRAS) - {"dev", "docs", "mutants"})


class Call(NamedTuple):
    """A command, and the extras that it needs."""

    line: str
    needs: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return self.line.partition(" ")[0]


CALLS = (
    Call("demo --idea"),
    Call("demo", ("onnx", "text")),
    Call("demo --train", ("model",)),
    Call("adapt train.jsonl --cpu --encoder encoder --epochs 1 -o adapted", ("model",)),
    Call("train --train train.jsonl --dev dev.jsonl --cpu --encoder encoder --set steps=1 -o trained", ("model",)),
    Call(
        "distill model text.jsonl --train train.jsonl --dev dev.jsonl --cpu --encoder encoder --set steps=1 -o student",
        ("model",),
    ),
    Call("predict english a.txt", ("onnx", "text")),
    Call("evaluate dev.jsonl dev.jsonl"),
    Call("report graph --test dev.jsonl -o report.html", ("onnx", "report")),
    Call("thresholds graph dev.jsonl --no-save", ("onnx",)),
    Call("thresholds model dev.jsonl --no-save --device cpu", ("model",)),
    Call("export machamp machamp --train train.jsonl --dev dev.jsonl"),
    Call("export conll conll --train train.jsonl --dev dev.jsonl"),
    Call("export hf hf --train train.jsonl --dev dev.jsonl"),
    Call("export onnx model graph-again --dev dev.jsonl", ("onnx-export",)),
    Call("benchmark model dev.jsonl --device cpu", ("model",)),
    Call("predict graph dev.jsonl", ("onnx",)),
    Call("predict graph a.txt", ("onnx", "text")),
    Call("predict model dev.jsonl --device cpu", ("model",)),
    Call("batch rows tagged --model graph", ("onnx", "ray", "text")),
    Call("show dev.jsonl"),
    Call("stats dev.jsonl"),
    Call("stats dev.jsonl --plot stats.svg", ("plot",)),
    Call("stats a.txt", ("text",)),
    Call("doctor --train train.jsonl"),
    Call("doctor --train train.jsonl --encoder encoder", ("model",)),
    Call("convert dev.jsonl - --to columns"),
    Call("convert dev.jsonl dev.parquet", ("parquet",)),
    Call("convert dev.jsonl dev.spacy", ("text",)),
    Call("convert dev.jsonl dev.xmi", ("cas",)),
    Call("split train.jsonl -o splits --by sentence"),
    Call("encode dev.jsonl --from jsonl"),
    Call("decode labels.tsv"),
    Call("vocabulary dev.jsonl --from jsonl"),
)
SERVE = Call("serve graph --port 0", ("onnx", "serve", "text"))
"""It does not end, so only its refusals are among the calls."""


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The wheels of both packages."""
    folder = tmp_path_factory.mktemp("wheels")
    return {name: build_wheel(source, folder / name) for name, source in (("nestag", TOP), ("lab", TOP / "lab"))}


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder with corpora."""
    folder = tmp_path / "place"
    folder.mkdir()
    for name, sentences in (("train", MANY), ("dev", CORPUS), ("text", [Sentence(["Lincoln", "slept"])])):
        jsonl.write(sentences, folder / f"{name}.jsonl")
    (folder / "labels.tsv").write_text("Oslo\t0\tS\t-\n\n")
    (folder / "a.txt").write_text("Lincoln was president of the USA.\n")
    (folder / "rows").mkdir()
    (folder / "rows" / "a.jsonl").write_text(json.dumps({"text": "Lincoln was president of the USA."}) + "\n")
    return folder


@pytest.fixture(scope="module")
def models(trained_model: Path, tiny_encoder: Callable[[str], str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an encoder, a model and the same model for onnxruntime."""
    folder = tmp_path_factory.mktemp("models")
    (folder / "encoder").symlink_to(tiny_encoder("bert"))
    (folder / "model").symlink_to(trained_model)
    exported = CliRunner().invoke(app, ["export", "onnx", str(trained_model), str(folder / "graph")])
    assert exported.exit_code == 0, exported.output
    return folder


def link(models: Path, place: Path) -> Path:
    """Put the models into a folder with corpora."""
    for one in models.iterdir():
        (place / one.name).symlink_to(one)
    return place


def provided(extras: tuple[str, ...]) -> set[str]:
    """The extras that an environment has: those asked for, and those whose requirements these include."""
    needed: set[str] = set()
    waiting, found = list(extras), set(extras)
    while waiting:
        for one in EXTRAS[waiting.pop()]:
            if own := re.fullmatch(r"nestag\[(.*)\]", one):
                new = set(own[1].split(",")) - found
                found |= new
                waiting += new
            else:
                needed.add(one)
    included = {name for name in FOR_USERS if EXTRAS[name] and set(EXTRAS[name]) <= needed}
    return found | included


def check(extras: tuple[str, ...], calls: Sequence[Call], wheel: Path, place: Path) -> None:
    """Run commands in an environment with some extras; all works whose extras are there."""
    has = provided(extras)
    python = make_environment(place / "environment", [wheel], extras)
    pages = [["--help"], *([name, "--help"] for name in COMMANDS)]
    ends = outcomes(python, [*pages, *(call.line.split() for call in calls), *([name] for name in LAB)], place)
    assert [end for end in ends[: len(pages)] if end.code] == []
    for call, end in zip(calls, ends[len(pages) : -len(LAB)], strict=True):
        lacking = set(call.needs) - has
        asked = re.search(r"pip install 'nestag\[(.+)\]'", end.error)
        assert (end.code, asked and asked[1] in lacking) == ((2, True) if lacking else (0, None)), (call, end)
    for name, end in zip(LAB, ends[-len(LAB) :], strict=True):
        assert (end.code, "pip install ./lab" in end.error) == (2, True), (name, end)


def test_core_install_reads_shows_and_scores(wheels: dict[str, Path], place: Path) -> None:
    made = ("model", "graph", "encoder")
    check((), [call for call in CALLS if not set(made) & set(call.line.split())], wheels["nestag"], place)


@pytest.mark.slow
@pytest.mark.parametrize(
    "extras", [(), *((name,) for name in FOR_USERS), ("onnx", "report")], ids=lambda extras: "+".join(extras) or "core"
)
def test_every_command_works_or_names_its_extra(
    extras: tuple[str, ...], wheels: dict[str, Path], place: Path, models: Path
) -> None:
    has = provided(extras)
    endless = {SERVE} if set(SERVE.needs) <= has else set()
    long = {Call("demo --train", ("model",))} if "model" in has else set()  # it trains for a minute
    calls = [call for call in (*CALLS, SERVE) if call not in endless | long]
    check(extras, calls, wheels["nestag"], link(models, place))


def test_every_command_is_called() -> None:
    assert {call.name for call in (*CALLS, SERVE)} == set(COMMANDS)
    assert {name for call in (*CALLS, SERVE) for name in call.needs} == set(FOR_USERS) - {"all"}


@pytest.mark.slow
def test_a_server_needs_no_torch(wheels: dict[str, Path], models: Path, tmp_path: Path) -> None:
    python = make_environment(tmp_path / "environment", [wheels["nestag"]], SERVE.needs)
    with subprocess.Popen(
        [python, "-I", "-m", "nestag", *SERVE.line.split()], cwd=models, stderr=subprocess.PIPE, text=True
    ) as server:
        assert server.stderr
        line = server.stderr.readline()
        server.terminate()
        assert "serving graph at http://127.0.0.1:" in line, line + server.stderr.read()
    assert server.returncode in (0, 143)


@pytest.mark.slow
def test_installed_lab_adds_its_commands(wheels: dict[str, Path], tmp_path: Path) -> None:
    python = make_environment(tmp_path / "environment", wheels.values())
    runs = str(TOP / "lab" / "results" / "grid")
    page, tables, *helps = outcomes(
        python, [["--help"], ["tables", runs, "-o", "tables"], *([name, "--help"] for name in LAB)], tmp_path
    )
    assert [end for end in (page, tables, *helps) if end.code] == []
    assert [name for name in LAB if f"│ {name} " not in page.out] == []
    assert (tmp_path / "tables" / "f1.tex").exists()
