"""Estimates: from what finished runs took, or from a probe."""

import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from nestag.training.plan import rough_plan
from nestag.training.run_folder import COMPLETE
from nestag_lab.experiment.estimate import RunKind, estimate, spread_out, starting, timed
from nestag_lab.experiment.grid import Grid
from nestag_lab.experiment.plan import ExperimentPlan, plan_of
from two_sentences import CORPUS, MANY, quick

TOKENS = 13  # of the training corpus


def work(plan: ExperimentPlan) -> float:
    """Subwords that one run of the grid learns from, judging included."""
    found = rough_plan(plan.specs[0].recipe, 2, TOKENS)
    return (found.steps + found.epoch_steps) * found.batch_subwords


def rate(plan: ExperimentPlan) -> float:
    """Seconds a subword: the finished run took 26 for its 200 steps."""
    return 26 / (200 * rough_plan(plan.specs[0].recipe, 2, TOKENS).batch_subwords)


def test_finished_runs_tell_how_fast_the_others_are(plan: ExperimentPlan) -> None:
    found = estimate(plan, probe=_never, start=5)
    assert found.seconds == pytest.approx(3 * (5 + rate(plan) * work(plan)))
    assert found.from_runs == (RunKind("minilm", "r"),)
    assert found.from_probes == ()


def test_steps_that_an_interrupted_run_has_behind_it_are_not_counted(plan: ExperimentPlan) -> None:
    model = plan.specs[1].model
    (model / "checkpoints" / "checkpoint-150").mkdir(parents=True)
    (model / "checkpoints" / "checkpoint-150" / COMPLETE).touch()
    (model / "run.json").touch()
    behind = 150 * rough_plan(plan.specs[0].recipe, 2, TOKENS).batch_subwords
    expected = rate(plan) * (3 * work(plan) - behind)
    assert estimate(plan, probe=_never, start=0).seconds == pytest.approx(expected)


def test_what_nobody_knows_is_timed_once(grid: Grid, plan: ExperimentPlan, tmp_path: Path) -> None:
    probed: list[str] = []
    wider = replace(grid, encoders={"minilm": "minilm", "new": "new"})
    found = estimate(plan_of(wider, plan.root), probe=lambda spec, _: (probed.append(spec.title), 2.0)[1], start=0)
    assert probed == ["small new abs r seed 1"]
    assert found.seconds == pytest.approx(3 * rate(plan) * work(plan) + 4 * 2.0 * work(plan))
    assert (found.from_runs, found.from_probes) == ((RunKind("minilm", "r"),), (RunKind("new", "r"),))
    fresh = estimate(plan_of(grid, tmp_path / "fresh"), probe=lambda *_: 1.0, start=0)
    assert fresh.seconds == pytest.approx(4 * work(plan))


def test_a_process_takes_a_moment_to_begin(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [5.0]

    def run(command: list[str], check: bool) -> None:
        assert command[0] == sys.executable
        clock.append(7.0)

    monkeypatch.setattr("nestag_lab.experiment.estimate.subprocess.run", run)
    monkeypatch.setattr("nestag_lab.experiment.estimate.time.perf_counter", lambda: clock[-1])
    assert starting() == 2.0


def test_a_probe_trains_and_leaves_nothing(
    grid: Grid,
    tiny_encoder: Callable[[str], str],
    tmp_path: Path,
) -> None:
    recipe = quick(tiny_encoder("bert"), batch_subwords=32)
    (spec, *_) = replace(grid, recipes={"r": recipe}).runs(tmp_path / "out")
    assert timed(spec, cpu=True) > 0
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
