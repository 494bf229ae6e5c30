"""Thresholds: every one tried by brute force, goals kept, ties and nothing at all."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from nestag.evaluation.thresholds import FEWEST, Candidate, Curve, Goal, find_thresholds

candidates = st.lists(st.builds(Candidate, st.just("PER"), st.sampled_from([0.1, 0.25, 0.5, 0.9, 1.0]), st.booleans()))


def counts(rows: list[Candidate], threshold: float) -> tuple[int, int]:
    kept = [row for row in rows if row.confidence >= threshold]
    return sum(row.right for row in kept), len(kept)


@given(candidates, st.integers(0, 5))
def test_the_curve_is_what_counting_says(rows: list[Candidate], missed: int) -> None:
    gold = sum(row.right for row in rows) + missed
    curve = Curve.of(rows, gold)
    assert curve.thresholds.tolist() == sorted({row.confidence for row in rows}, reverse=True)
    for place, threshold in enumerate(curve.thresholds.tolist()):
        score = curve.point(place).score
        assert (score.correct, score.predicted, score.gold) == (*counts(rows, threshold), gold)
        assert np.isclose([curve.precision[place], curve.recall[place], curve.f1[place]],
                          [score.precision, score.recall, score.f1]).all()  # fmt: skip
    for threshold in (0.0, 0.2, 0.5, 0.95, 2.0):
        assert curve.at(threshold).score[:2] == counts(rows, threshold)


@given(candidates, st.integers(0, 5), st.sampled_from([0.0, 0.5, 0.9]))
def test_goals_are_kept_and_nothing_allowed_is_better(rows: list[Candidate], missed: int, least: float) -> None:
    gold = sum(row.right for row in rows) + missed
    curve = Curve.of(rows, gold)
    points = [curve.point(place).score for place in range(len(curve))]
    precise = curve.best(Goal(precision=least))
    allowed = [score.recall for score in points if score.precision >= least]
    assert (precise.score.recall if precise else None) == (max(allowed) if allowed else None)
    complete = curve.best(Goal(recall=least))
    allowed = [score.precision for score in points if score.recall >= least]
    assert (complete.score.precision if complete else None) == (max(allowed) if allowed else None)
    best = curve.best(Goal())
    assert (best.score.f1 if best else None) == (max(score.f1 for score in points) if points else None)
    for found in (precise, complete, best):
        if found:  # a threshold between two candidates gives the same
            assert curve.at(found.threshold).score == found.score


def test_types_with_enough_entities_have_thresholds_of_their_own() -> None:
    rows = [Candidate("PER", 0.3, True)] * FEWEST + [Candidate("GPE", 0.6, False)] * 9 + [Candidate("GPE", 0.9, True)]
    found = find_thresholds(rows, {"PER": FEWEST, "GPE": 1}, Goal())
    assert found is not None
    assert list(found.types) == ["PER"]
    assert found.types["PER"].threshold == 0.15
    assert find_thresholds(rows, {"PER": FEWEST, "GPE": 1}, Goal(precision=1.0)) is not None
    assert find_thresholds(rows, {"PER": 1000}, Goal(recall=0.9)) is None
    assert find_thresholds([], {}, Goal()) is None


def test_goals_say_what_they_are() -> None:
    told = [str(goal) for goal in (Goal(), Goal(precision=0.95), Goal(recall=0.9))]
    assert told == ["best F1", "precision of at least 95 %", "recall of at least 90 %"]
