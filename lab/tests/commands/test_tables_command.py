"""tables, as a person would run it."""

from pathlib import Path

from typer.testing import CliRunner

from finished_runs import evaluation, percent, result
from nestag.cli import app
from nestag_lab.experiment.result import write_result
from nestag_lab.experiment.spec import folder_of


def experiment(folder: Path) -> Path:
    for seed, f1 in enumerate((74.0, 75.0, 79.0), 1):
        found = {"constrained": evaluation(percent(f1)), "greedy-first": evaluation(percent(f1 - 1))}
        one = result(seed=seed, test=found, dev={"constrained": evaluation(percent(f1 + 5))})
        place = folder_of(folder, one.key)
        place.mkdir(parents=True)
        write_result(one, place)
    return folder


def test_tables_are_written_and_f1_is_printed(tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["tables", str(experiment(tmp_path))])
    assert done.exit_code == 0, done.stderr
    lines = [line.split() for line in done.stdout.splitlines()]
    assert ["abs", "76.00", "±", "2.65"] in lines
    assert ["abs", "76.6", "±", "0.3"] in lines
    assert done.stderr.splitlines() == [
        "no facts of genia: it is not in the tables of labels and of corpora",
        f"11 tables written to {tmp_path}/tables; tables.md has all of them",
    ]
    assert "**76.00 ± 2.65**" in (tmp_path / "tables" / "f1.md").read_text()


def test_dev_can_be_shown_and_put_elsewhere(tmp_path: Path) -> None:
    out = tmp_path / "elsewhere"
    done = CliRunner().invoke(app, ["tables", str(experiment(tmp_path)), "-o", str(out), "--split", "dev"])
    assert done.exit_code == 0, done.stderr
    assert "81.00 ± 2.65" in done.stdout
    assert "BioBERT" not in done.stdout
    assert (out / "tables.md").exists()
    assert not (tmp_path / "tables").exists()


def test_an_empty_or_missing_folder_is_exit_code_2(tmp_path: Path) -> None:
    nothing = CliRunner().invoke(app, ["tables", str(tmp_path)])
    assert nothing.exit_code == 2
    assert nothing.stderr.splitlines()[-1].endswith("nothing to make tables of; run nestag experiment first")
    assert not (tmp_path / "tables").exists()
    gone = CliRunner().invoke(app, ["tables", str(tmp_path / "no")])
    assert (gone.exit_code, "there is no such folder" in gone.stderr) == (2, True)


def test_a_place_that_cannot_be_written_is_exit_code_2(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    done = CliRunner().invoke(app, ["tables", str(experiment(tmp_path)), "-o", str(tmp_path / "file" / "x")])
    assert (done.exit_code, "cannot be written" in done.stderr) == (2, True)
