"""Estimates: from what finished runs took, or from a probe."""

import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from nestag.lab.experiment.diary import Diary
from nestag.lab.experiment.estimate import Kind, estimate, spread_out, starting, timed
from nestag.lab.experiment.grid import Grid
from nestag.lab.experiment.plan import Plan, plan_of
from test_recognizer import CORPUS, MANY, quick

TOKENS = 13  # of the training corpus


def test_finished_runs_tell_how_fast_the_others_are(plan: Plan) -> None:
    found = estimate(plan, probe=_never, start=5)
    # 26 seconds for 13 tokens in 2 epochs: 1 second a token; three runs of 12 epochs are left, each judged in the end
    assert found.seconds == pytest.approx(3 * (5 + 13 * TOKENS))
    assert found.from_runs == (Kind("minilm", "r"),)
    assert found.from_probes == ()


def test_epochs_that_an_interrupted_run_has_behind_it_are_not_counted(plan: Plan) -> None:
    diary = Diary(plan.specs[1].folder)
    epochs = []
    for _ in range(5):
        epochs.append(plan.results()[0].epochs[0].dev)
        diary.see(0.5, epochs)
    assert estimate(plan, probe=_never, start=0).seconds == pytest.approx((8 + 13 + 13) * TOKENS)


def test_what_nobody_knows_is_timed_once(grid: Grid, plan: Plan, tmp_path: Path) -> None:
    probed: list[str] = []
    wider = replace(grid, encoders={"minilm": "minilm", "new": "new"})
    found = estimate(plan_of(wider, plan.root), probe=lambda spec, _: (probed.append(spec.title), 2.0)[1], start=0)
    assert probed == ["small new abs r seed 1"]
    assert found.seconds == pytest.approx(3 * 13 * TOKENS + 4 * 13 * TOKENS * 2)
    assert (found.from_runs, found.from_probes) == ((Kind("minilm", "r"),), (Kind("new", "r"),))
    fresh = estimate(plan_of(grid, tmp_path / "fresh"), probe=lambda *_: 1.0, start=0)
    assert fresh.seconds == pytest.approx(4 * 13 * TOKENS)


def test_a_process_takes_a_moment_to_begin(monkeypatch: pytest.MonkeyPatch) -> None:
    called: list[list[str]] = []

    def nap(command: list[str], check: bool) -> None:
        called.append(command)
        time.sleep(0.01)

    monkeypatch.setattr("nestag.lab.experiment.estimate.subprocess.run", nap)
    assert 0.01 <= starting() < 5
    assert called[0][0] == sys.executable


def test_a_probe_trains_and_leaves_nothing(
    grid: Grid,
    tiny_encoder: Callable[[str], str],
    tmp_path: Path,
) -> None:
    recipe = quick(tiny_encoder("bert"), budget=32)
    (spec, *_) = replace(grid, recipes={"r": recipe}).runs(tmp_path / "out")
    assert 0 < timed(spec, cpu=True) < 1
    assert not (tmp_path / "out").exists()


def test_samples_come_from_the_whole_corpus() -> None:
    many = MANY * 50
    chosen = spread_out(many, 520)
    assert 260 <= sum(map(len, chosen)) <= 1_040
    assert spread_out(CORPUS, 10_000) == CORPUS
    bare = [CORPUS[0].with_entities([])] * 9 + CORPUS
    assert any(sentence.entities for sentence in spread_out(bare, 7))


def _never(*_: object) -> float:
    raise AssertionError("nothing had to be timed")
