"""The command `experiment`, with a tiny encoder and a broken corpus."""

from collections.abc import Callable
from pathlib import Path

import pytest
from filelock import FileLock
from typer.testing import CliRunner

from nestag.cli import app
from nestag.formats import jsonl
from nestag_lab.experiment.conduct import closing
from nestag_lab.experiment.facts import read_all_facts
from nestag_lab.experiment.grid import load_grid
from nestag_lab.experiment.plan import plan_of
from nestag_lab.experiment.result import Key, read_results
from nestag_lab.experiment.runner import Ended
from nestag_lab.experiment.spec import LOCK, write_spec
from two_sentences import CORPUS, MANY

pytestmark = pytest.mark.slow  # it trains in processes of their own

GRID = """
encoders = ["{encoder}"]
recipes = ["default"]

[corpora.good]
folder = "good"

[corpora.broken]
folder = "broken"

[settings]
epochs = 1
batch_subwords = 64
conv_size = 0
"""


def run(*arguments: object) -> tuple[int, str, str]:
    done = CliRunner().invoke(app, ["experiment", *map(str, arguments)])
    return done.exit_code, done.stdout, done.stderr


@pytest.fixture(scope="module")
def folder(tiny_encoder: Callable[[str], str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("experiment")
    for name in ("good", "broken"):
        (folder / name).mkdir()
        jsonl.write(MANY, folder / name / "train.jsonl")
        jsonl.write(CORPUS, folder / name / "dev.jsonl")
        jsonl.write(CORPUS[:1], folder / name / "test.jsonl")
    (folder / "broken" / "dev.jsonl").write_text("oh dear\n")
    (folder / "grid.toml").write_text(GRID.format(encoder=tiny_encoder("bert")))
    return folder


@pytest.fixture(scope="module")
def told(folder: Path) -> tuple[int, str, str]:
    return run(folder / "grid.toml", "-o", folder / "out", "--at-once", 2, "--cpu")


def test_failed_runs_are_reported_and_the_others_finish(told: tuple[int, str, str], folder: Path) -> None:
    code, out, error = told
    assert code == 1, error
    lines = error.splitlines()
    assert lines[0] == "2 runs: 0 finished, 0 interrupted, 2 to begin"
    assert any(" good bert" in line and "rel default seed 1: test F1 " in line for line in lines)
    assert any(line.startswith("failed: broken bert") and "dev.jsonl:1: not JSON" in line for line in lines)
    assert any(line.startswith("failed: the facts of broken") and "dev.jsonl:1: not JSON" in line for line in lines)
    assert {line.split()[0] for line in lines if "rel default seed 1" in line and "/2" in line} == {"1/2", "2/2"}
    assert [line.split()[-1] for line in out.splitlines() if " default, " in line] == [
        "greedy-first",
        "greedy-majority",
        "constrained",
    ]
    (result,) = read_results(folder / "out")
    assert result.key == Key("good", result.key.encoder, "rel", "default", 1)
    assert set(read_all_facts(folder / "out")) == {"good"}
    assert (folder / "out" / "grid.toml").read_text() == (folder / "grid.toml").read_text()
    runs = folder / "out" / "runs"
    assert len(list(runs.glob("broken/*/*/*/*/failed.txt"))) == 1
    (log,) = runs.glob("good/*/*/*/*/log.txt")
    assert "step 8: loss" in log.read_text()


def test_second_call_skips_finished_runs(told: tuple[int, str, str], folder: Path) -> None:
    before = read_results(folder / "out")
    code, out, error = run(folder / "grid.toml", "-o", folder / "out", "--only", "good", "--cpu")
    assert code == 0, error
    assert error.splitlines() == ["1 run: 1 finished, 0 interrupted, 0 to begin"]
    assert out == told[1]
    assert read_results(folder / "out") == before


def test_dry_run_only_estimates(told: tuple[int, str, str], folder: Path) -> None:
    seeds = (
        (folder / "grid.toml").read_text().replace('recipes = ["default"]', 'recipes = ["default", "light"]\nseeds = 2')
    )
    (folder / "wider.toml").write_text(seeds)
    code, out, error = run(folder / "wider.toml", "-o", folder / "out", "--only", "good", "--dry-run")
    assert (code, out) == (0, "")
    assert [line[:20] for line in error.splitlines()] == [
        "4 runs: 1 finished, ",
        "1 of them take about",
        "no estimate for 2: n",
    ]
    assert len(read_results(folder / "out")) == 1


def test_changed_settings_are_a_one_line_error(told: tuple[int, str, str], folder: Path) -> None:
    (folder / "other.toml").write_text((folder / "grid.toml").read_text().replace("epochs = 1", "epochs = 2"))
    code, _, error = run(folder / "other.toml", "-o", folder / "out")
    assert code == 2
    assert "was begun with other settings (epochs was 1 and is 2)" in error


def test_interrupting_prints_how_to_resume() -> None:
    assert "the same command resumes" in closing(Ended((), stopped=True))[-1]


def test_runs_in_progress_elsewhere_are_reported(told: tuple[int, str, str], folder: Path) -> None:
    wider = (folder / "grid.toml").read_text().replace('recipes = ["default"]', 'recipes = ["default"]\nseeds = [7]')
    (folder / "other seed.toml").write_text(wider)
    (spec, *_) = plan_of(load_grid(folder / "other seed.toml"), folder / "out", "good").specs
    write_spec(spec)
    with FileLock(spec.folder / LOCK):
        code, _, error = run(folder / "other seed.toml", "-o", folder / "out", "--only", "good", "--cpu")
    assert code == 1
    name = f"good {spec.key.encoder} rel default seed 7"
    taken, *rest = error.splitlines()[1:]
    assert taken.startswith(f"{name}: another process is doing it")
    assert rest == [
        f"not finished: {name}: another process is doing it",
        "run the same command later to see their results",
    ]


def test_missing_runs_are_listed_without_corpora(told: tuple[int, str, str], folder: Path) -> None:
    done = CliRunner().invoke(app, ["tables", str(folder / "out"), "-o", str(folder / "tables")])
    assert done.exit_code == 0
    assert any(line.startswith("no result: broken ") for line in done.stderr.splitlines())
