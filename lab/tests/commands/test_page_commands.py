"""The commands `compare` and `tables`."""

import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from finished_runs import evaluation, percent, result, whole
from nestag.cli import app
from nestag_lab.experiment.result import RunResult, write_result
from nestag_lab.experiment.spec import folder_of

FOUND = evaluation(percent(75))


def experiment(folder: Path, *runs: RunResult) -> Path:
    for one in runs or (whole(seed=1), whole(seed=2)):
        folder_of(folder, one.key).mkdir(parents=True)
        write_result(one, folder_of(folder, one.key))
    return folder


def run(*arguments: object) -> tuple[int, str]:
    done = CliRunner().invoke(app, ["compare", *map(str, arguments)])
    return done.exit_code, done.stderr


def test_page_and_figures_are_written_and_reported(tmp_path: Path) -> None:
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


def test_page_can_be_written_without_figures(tmp_path: Path) -> None:
    out = tmp_path / "page.html"
    runs = experiment(tmp_path / "runs of mine", result(dev={"constrained": FOUND}))
    code, said = run(runs, "-o", out, "--no-figures", "--split", "dev")
    assert code == 0, said
    assert "F1 on dev" in out.read_text(encoding="utf-8")
    assert "<h1>runs of mine</h1>" in out.read_text(encoding="utf-8")
    assert sorted(file.name for file in (tmp_path / "runs of mine").iterdir()) == ["runs"]


def test_no_finished_runs_is_an_error(tmp_path: Path) -> None:
    code, said = run(tmp_path)
    assert (code, said.count("\n")) == (2, 1)
    assert "no run is finished" in said
    assert run(tmp_path / "nowhere")[0] == 2
    assert list(tmp_path.iterdir()) == []


def test_failed_page_leaves_no_figures(tmp_path: Path) -> None:
    code, said = run(experiment(tmp_path / "exp", result()), "-o", tmp_path / "no" / "page.html")
    assert code == 2
    assert "cannot be written" in said
    assert not (tmp_path / "exp" / "figures").exists()


@pytest.mark.parametrize("library", ["jinja2", "matplotlib"])
def test_missing_library_error_names_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, library: str) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    code, said = run(experiment(tmp_path))
    assert code == 2
    assert library in said
    assert "pip install 'nestag[report]'" in said
    assert not (tmp_path / "report.html").exists()


def scored_experiment(folder: Path) -> Path:
    runs = []
    for seed, f1 in enumerate((74.0, 75.0, 79.0), 1):
        found = {"constrained": evaluation(percent(f1)), "greedy-first": evaluation(percent(f1 - 1))}
        runs.append(result(seed=seed, test=found, dev={"constrained": evaluation(percent(f1 + 5))}))
    return experiment(folder, *runs)


def test_tables_are_written_and_f1_is_printed(tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["tables", str(scored_experiment(tmp_path))])
    assert done.exit_code == 0, done.stderr
    lines = [line.split() for line in done.stdout.splitlines()]
    assert ["abs", "76.00", "±", "2.65"] in lines
    assert ["abs", "76.6", "±", "0.3"] in lines
    assert done.stderr.splitlines() == [
        "no facts of genia: it is missing in the tables of labels and corpora",
        f"11 tables written to {tmp_path}/tables; tables.md has all of them",
    ]
    assert "**76.00 ± 2.65**" in (tmp_path / "tables" / "f1.md").read_text()


def test_dev_tables_can_be_written_to_another_folder(tmp_path: Path) -> None:
    out = tmp_path / "elsewhere"
    done = CliRunner().invoke(app, ["tables", str(scored_experiment(tmp_path)), "-o", str(out), "--split", "dev"])
    assert done.exit_code == 0, done.stderr
    assert "81.00 ± 2.65" in done.stdout
    assert "BioBERT" not in done.stdout
    assert (out / "tables.md").exists()
    assert not (tmp_path / "tables").exists()


def test_empty_or_missing_folder_exits_with_2(tmp_path: Path) -> None:
    nothing = CliRunner().invoke(app, ["tables", str(tmp_path)])
    assert nothing.exit_code == 2
    assert nothing.stderr.splitlines()[-1].endswith("nothing to make tables of; run nestag experiment first")
    assert not (tmp_path / "tables").exists()
    gone = CliRunner().invoke(app, ["tables", str(tmp_path / "no")])
    assert (gone.exit_code, "there is no such folder" in gone.stderr) == (2, True)


def test_unwritable_output_exits_with_2(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    done = CliRunner().invoke(app, ["tables", str(scored_experiment(tmp_path)), "-o", str(tmp_path / "file" / "x")])
    assert (done.exit_code, "cannot be written" in done.stderr) == (2, True)
