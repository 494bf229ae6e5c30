"""Plans: finished and open runs, and refused changes."""

from dataclasses import replace
from pathlib import Path

import pytest

from nestag.errors import InputError
from nestag.formats import jsonl
from nestag.training.recipe import Recipe
from nestag_lab.experiment.conduct import expected_seconds
from nestag_lab.experiment.grid import Grid
from nestag_lab.experiment.plan import ExperimentPlan, plan_of
from two_sentences import CORPUS


def test_plan_lists_the_state_of_each_run(plan: ExperimentPlan) -> None:
    assert plan.finished == plan.specs[:1]
    assert plan.interrupted == plan.specs[1:2]
    assert plan.left == plan.specs[1:]
    assert [result.key for result in plan.results()] == [plan.specs[0].key]


def test_plan_can_be_filtered(grid: Grid, tmp_path: Path) -> None:
    assert [spec.title for spec in plan_of(grid, tmp_path, "2 rel").specs] == ["small minilm rel r seed 2"]
    assert len(plan_of(grid, tmp_path, "rel").specs) == 2
    with pytest.raises(InputError, match=r"no run has all words of 're'; they are called e\.g\. 'small minilm abs r"):
        plan_of(grid, tmp_path, "re")


@pytest.mark.parametrize("encoding", ["abs", "rel"])
def test_changed_settings_are_refused(encoding: str, grid: Grid, plan: ExperimentPlan) -> None:
    changed = replace(grid, recipes={"r": Recipe(epochs=99)}, encodings=(encoding,))
    with pytest.raises(InputError, match=rf"minilm {encoding} r seed 1 .*epochs was 'auto' and is 99.*; delete its"):
        plan_of(changed, plan.root)
    assert len(plan_of(replace(changed, seeds=(2,)), plan.root).left) == 1


def test_new_decoding_is_refused_without_weights(grid: Grid, plan: ExperimentPlan) -> None:
    with pytest.raises(InputError, match="was not decoded greedy-first; delete its folder"):
        plan_of(replace(grid, decodings=("constrained", "greedy-first")), plan.root)


def test_encoder_path_may_change_after_a_run(grid: Grid, plan: ExperimentPlan) -> None:
    moved = replace(grid, encoders={"minilm": "/elsewhere/minilm"}, encodings=("abs",))
    assert len(plan_of(moved, plan.root).finished) == 1


def test_encoder_path_may_not_change_during_a_run(grid: Grid, plan: ExperimentPlan) -> None:
    moved = replace(grid, encoders={"minilm": "/elsewhere/minilm"}, encodings=("rel",))
    with pytest.raises(InputError, match="encoder was 'minilm' and is '/elsewhere/minilm'"):
        plan_of(moved, plan.root)


def test_changed_corpora_are_refused(grid: Grid, plan: ExperimentPlan) -> None:
    jsonl.write(CORPUS[:1], grid.corpora[0].dev)
    with pytest.raises(InputError, match=r"dev\.jsonl is not the dev split that runs on small were done with"):
        plan_of(grid, plan.root)


def test_broken_record_is_an_error(grid: Grid, plan: ExperimentPlan) -> None:
    (plan.specs[1].model / "run.json").write_text("{")
    with pytest.raises(InputError, match=r"run\.json: not the record of a run"):
        plan_of(grid, plan.root)


def test_time_estimate_comes_from_similar_runs(grid: Grid, plan: ExperimentPlan) -> None:
    wider = plan_of(replace(grid, encoders={"minilm": "minilm", "new": "new"}), plan.root)
    seconds = dict(zip((spec.title for spec in wider.left), expected_seconds(wider), strict=True))
    assert sorted(seconds.values(), key=str) == [26.0] * 3 + [None] * 4
    assert seconds["small new abs r seed 1"] is None
    assert expected_seconds(plan_of(grid, plan.root / "fresh")) == [None] * 4
