"""Every lab command is registered; bad files and streams give one line and an exit code."""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

import nestag
import nestag.cli as cli
from finished_runs import whole
from forked_commands import Case, Outcome, outcomes
from nestag.formats import jsonl
from nestag_lab.experiment.result import write_result
from nestag_lab.experiment.spec import folder_of
from source_files import article, cons, genia_file
from two_sentences import CORPUS

PROJECT = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
LINES = {
    "build": "build english -o english --litbank missing --gum missing",
    "compare": "compare runs -o report.html --no-figures",
    "corpus": "corpus genia {} -o genia",
    "coverage": "coverage --train train.jsonl",
    "experiment": "experiment {} -o missing --only nothing",
    "tables": "tables runs -o tables",
}
"""Each command as it is given; {} is its input."""
INPUTS = {"corpus": "GENIAcorpus3.02.xml", "experiment": "grid.toml"}
CODES = {"build": 2, "experiment": 2}
"""Commands whose corpora are not there; running them takes too long."""
PRINTING = ("corpus", "coverage", "tables")
linux = pytest.mark.skipif(sys.platform != "linux", reason="looks at descriptors as Linux shows them")


@pytest.mark.parametrize("name", LINES)
def test_every_lab_command_has_a_help_page(name: str) -> None:
    assert name in cli.plugin_commands()
    assert CliRunner().invoke(cli.app, [name, "--help"]).exit_code == 0


def test_nestag_lists_the_commands_and_version_of_the_lab() -> None:
    assert tuple(PROJECT["entry-points"][cli.ENTRY_POINTS]) == cli.LAB == tuple(LINES)
    assert PROJECT["version"] == nestag.__version__
    assert f"nestag=={nestag.__version__}" in PROJECT["dependencies"]


@pytest.fixture(scope="module")
def ends(
    tiny_encoder: Callable[[str], str], tmp_path_factory: pytest.TempPathFactory
) -> dict[tuple[str, str], Outcome]:
    """How each command ends with a pipe as input and an error stream that is full, and with an output that is full."""
    folder = tmp_path_factory.mktemp("commands")
    for name in ("train", "dev", "test"):
        jsonl.write(CORPUS, folder / f"{name}.jsonl")
    for one in (whole(seed=1), whole(seed=2)):
        folder_of(folder / "runs", one.key).mkdir(parents=True)
        write_result(one, folder_of(folder / "runs", one.key))
    genia_file(folder, article("M:1", f"{cons('Abc', 'protein_x')} binds .", "Yes"))
    (folder / "grid.toml").write_text(f'encoders = ["{tiny_encoder("bert")}"]\n[corpora.a]\nfolder = "."\n')
    cases = {}
    for name, line in LINES.items():
        words, given = tuple(line.split()), str(folder / INPUTS[name]) if name in INPUTS else None
        cases["pipe", name] = Case(words, str(folder), given, "substitution", error="file" if name in CODES else "full")
        if name in PRINTING:
            cases["full", name] = Case(words, str(folder), given, out="full")
    return dict(zip(cases, outcomes(cases.values(), tmp_path_factory.mktemp("logs")), strict=True))


@linux
@pytest.mark.slow
@pytest.mark.parametrize("name", LINES)
def test_pipes_work_like_files(name: str, ends: dict[tuple[str, str], Outcome]) -> None:
    end = ends["pipe", name]
    assert (end.code, bool(end.out)) == (CODES.get(name, 0), name in PRINTING), end
    assert end.error.count("\n") == (name in CODES)


@linux
@pytest.mark.slow
@pytest.mark.parametrize("name", PRINTING)
def test_full_disk_is_a_one_line_error(name: str, ends: dict[tuple[str, str], Outcome]) -> None:
    end = ends["full", name]
    assert (end.code, "Traceback" in end.error) == (2, False), end
    assert len([line for line in end.error.splitlines() if line.startswith("nestag: ")]) == 1
