"""A small grid with one finished and one unfinished run; no model is trained."""

import json
from dataclasses import asdict
from pathlib import Path

import pytest

from nestag.evaluation.evaluator import evaluate_pairs
from nestag.evaluation.matching import Pair
from nestag.formats import jsonl
from nestag.training.plan import Scoring
from nestag.training.recipe import Recipe
from nestag_lab.experiment.facts import facts_of, write_facts
from nestag_lab.experiment.grid import Grid
from nestag_lab.experiment.plan import ExperimentPlan, plan_of
from nestag_lab.experiment.result import RunResult, write_result
from nestag_lab.experiment.spec import CorpusFiles, Spec, write_spec
from two_sentences import CORPUS


@pytest.fixture
def grid(tmp_path: Path) -> Grid:
    """Two encodings, two seeds, one corpus."""
    paths = {name: str(tmp_path / f"{name}.jsonl") for name in ("train", "dev", "test")}
    for path in paths.values():
        jsonl.write(CORPUS, path)
    return Grid((CorpusFiles("small", **paths),), {"r": Recipe()}, {}, ("abs", "rel"), ("constrained",), (1, 2), False)


def finish(spec: Spec) -> None:
    """Leave behind what a finished run does."""
    found = evaluate_pairs(Pair(one, one) for one in CORPUS)
    scores = {split: {"constrained": found} for split in ("dev", "test")}
    spec.folder.mkdir(parents=True)
    scorings = (Scoring(100, 0.5, found.overall, 13.0), Scoring(200, 0.5, found.overall, 26.0))
    write_result(RunResult(spec.key, spec.settings, scorings, 26.0, 1, "a CPU", {}, scores, {}), spec.folder)


def begin(spec: Spec) -> None:
    """Leave behind what a run does that was stopped in its first epoch."""
    write_spec(spec)
    spec.model.mkdir()
    (spec.model / "run.json").write_text(json.dumps({"recipe": asdict(spec.recipe), "seed": spec.key.seed}))


@pytest.fixture
def plan(grid: Grid, tmp_path: Path) -> ExperimentPlan:
    runs = grid.runs(tmp_path / "out")
    finish(runs[0])
    begin(runs[1])
    write_facts(facts_of(grid.corpora[0]), tmp_path / "out")
    return plan_of(grid, tmp_path / "out")
