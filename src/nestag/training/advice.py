"""Advice: why a model has not learned, and a setting that helps."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from nestag.errors import either
from nestag.evaluation import Score
from nestag.training.plan import Scoring, TrainingPlan

RISING = 0.01
"""F1 gained in the last quarter of a run that counts as still rising."""


def advice(plan: TrainingPlan, dev: Score, scorings: Sequence[Scoring], labels: int) -> Iterator[str]:
    """Advice about a run with that many different labels; empty if there is nothing to improve."""
    steps = f"steps={max(600, 3 * plan.steps)}"
    longer = either(steps, f"--set {steps}")
    if not dev.gold:
        yield "dev F1 is 0 because dev has no entities; check its format and field names"
    elif not dev.predicted:
        yield f"dev F1 is 0 because no entity was predicted in {plan.steps:,} steps; train longer: {longer}"
    elif not dev.correct:
        yield (
            f"dev F1 is 0 although {dev.predicted:,} entities were predicted: types or borders differ between train"
            " and dev; compare them with nestag stats and nestag doctor"
        )
    elif _still_rising(scorings):
        yield f"dev F1 was still rising at the end; train longer: {longer}"
    if labels > plan.sentences:
        yield (
            f"there are more labels ({labels:,}) than sentences ({plan.sentences:,}), so most are seen once or never;"
            " annotate more sentences"
        )


def _still_rising(scorings: Sequence[Scoring]) -> bool:
    """Whether the last quarter of a run brought the best score, and a good deal of it."""
    scores = [scoring.score.f1 for scoring in scorings]
    before = scores[: len(scores) - max(1, len(scores) // 4)]
    return bool(before) and scores[-1] == max(scores) and scores[-1] - max(before) >= RISING
