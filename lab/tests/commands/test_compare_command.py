"""compare, as a person would run it."""

import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from finished_runs import evaluation, percent, result
from nestag.cli import app
from nestag_lab.experiment.result import RunResult, write_result
from nestag_lab.experiment.spec import folder_of
from whole_runs import whole

FOUND = evaluation(percent(75))


def experiment(folder: Path, *runs: RunResult) -> Path:
    for one in runs or (whole(seed=1), whole(seed=2)):
        place = folder_of(folder, one.key)
        place.mkdir(parents=True)
        write_result(one, place)
    return folder


def run(*arguments: object) -> tuple[int, str]:
    done = CliRunner().invoke(app, ["compare", *map(str, arguments)])
    return done.exit_code, done.stderr


def test_page_and_pictures_are_written_and_said(tmp_path: Path) -> None:
    old = tmp_path / "figures"
    old.mkdir()
    (old / "f1-gone.svg").write_text("of an older report")
    (old / "mine.svg").write_text("of somebody else")
    code, said = run(experiment(tmp_path))
    assert code == 0, said
    missing, figures, report = said.splitlines()
    assert missing.startswith("no facts of genia")
    assert figures == f"12 figures written to {tmp_path}/figures"
    assert report.startswith(f"report written to {tmp_path}/report.html (0.")
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>")
    assert page.endswith("</html>\n")
    names = sorted(file.name for file in old.iterdir())
    assert len(names) == 13
    assert {"f1-genia.png", "f1-genia.svg", "mine.svg"} <= set(names)
    assert (old / "f1-genia.png").read_bytes().startswith(b"\x89PNG")


def test_the_page_alone_somewhere_else(tmp_path: Path) -> None:
    out = tmp_path / "page.html"
    code, said = run(
        experiment(tmp_path / "runs of mine", result(dev={"constrained": FOUND})),
        "-o",
        out,
        "--no-figures",
        "--split",
        "dev",
    )
    assert code == 0, said
    assert "F1 on dev" in out.read_text(encoding="utf-8")
    assert "<h1>runs of mine</h1>" in out.read_text(encoding="utf-8")
    assert sorted(file.name for file in (tmp_path / "runs of mine").iterdir()) == ["runs"]


def test_without_finished_runs_nothing_is_written(tmp_path: Path) -> None:
    code, said = run(tmp_path)
    assert (code, said.count("\n")) == (2, 1)
    assert "no run is finished" in said
    assert run(tmp_path / "nowhere")[0] == 2
    assert list(tmp_path.iterdir()) == []


def test_a_page_that_cannot_be_written_leaves_no_pictures(tmp_path: Path) -> None:
    code, said = run(experiment(tmp_path / "exp", result()), "-o", tmp_path / "no" / "page.html")
    assert code == 2
    assert "cannot be written" in said
    assert not (tmp_path / "exp" / "figures").exists()


@pytest.mark.parametrize("library", ["jinja2", "matplotlib"])
def test_a_missing_library_is_named_with_its_extra(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, library: str
) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    code, said = run(experiment(tmp_path))
    assert code == 2
    assert library in said
    assert "pip install 'nestag[report]'" in said
    assert not (tmp_path / "report.html").exists()
