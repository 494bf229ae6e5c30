"""Thresholds match brute force; goals are met; ties and empty input work."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nestag.evaluation import thresholds
from nestag.evaluation.thresholds import FEWEST, PRIOR, TYPE_PRIOR, Candidate, Curve, Goal, find_thresholds

candidates = st.lists(st.builds(Candidate, st.just("PER"), st.sampled_from([0.1, 0.25, 0.5, 0.9, 1.0]), st.booleans()))


def counts(rows: list[Candidate], threshold: float) -> tuple[int, int]:
    kept = [row for row in rows if row.confidence >= threshold]
    return sum(row.right for row in kept), len(kept)


@given(candidates, st.integers(0, 5))
def test_curve_matches_counting(rows: list[Candidate], missed: int) -> None:
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
def test_goals_are_met_optimally(rows: list[Candidate], missed: int, least: float) -> None:
    gold = sum(row.right for row in rows) + missed
    curve = Curve.of(rows, gold)
    points = [curve.point(place).score for place in range(len(curve))]
    precise = curve.best_point(Goal(precision=least))
    allowed = [score.recall for score in points if score.precision >= least]
    assert (precise.score.recall if precise else None) == (max(allowed) if allowed else None)
    complete = curve.best_point(Goal(recall=least))
    allowed = [score.precision for score in points if score.recall >= least]
    assert (complete.score.precision if complete else None) == (max(allowed) if allowed else None)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(thresholds, "PRIOR", 0)  # only what was seen counts
        best = curve.best_point(Goal()) if gold else None
    assert best is None or best.score.f1 == max(score.f1 for score in points)
    for found in (precise, complete, best):
        if found:  # a threshold between two candidates gives the same
            assert curve.at(found.threshold).score == found.score


def test_of_thresholds_with_equal_precision_the_one_that_finds_most_is_chosen() -> None:
    rows = [Candidate("PER", confidence, True) for confidence in (0.9, 0.8, 0.7)] + [Candidate("PER", 0.2, False)]
    point = Curve.of(rows, 3).best_point(Goal(recall=0.6))
    assert point is not None
    assert (point.score.precision, point.score.recall) == (1, 1)
    assert 0.2 < point.threshold <= 0.7


def test_types_with_enough_entities_have_thresholds() -> None:
    rows = [Candidate("PER", 0.3, True)] * FEWEST + [Candidate("GPE", 0.6, False)] * 9 + [Candidate("GPE", 0.9, True)]
    found = find_thresholds(rows, {"PER": FEWEST, "GPE": 1}, Goal())
    assert found is not None
    assert list(found.types) == ["PER"]
    weight = FEWEST / (FEWEST + TYPE_PRIOR)
    assert found.types["PER"].threshold == round(weight * 0.15 + (1 - weight) * found.overall.threshold, 4)
    assert find_thresholds(rows, {"PER": FEWEST, "GPE": 1}, Goal(precision=1.0)) is not None
    assert find_thresholds(rows, {"PER": 1000}, Goal(recall=0.9)) is None
    assert find_thresholds([], {}, Goal()) is None


def test_single_candidate_does_not_move_the_threshold() -> None:
    """Ten of ten entities with a confidence of 0.1 are correct, but a hundred others were expected to be wrong."""
    sure = [Candidate("PER", 0.9, True)] * 90
    lucky = [Candidate("PER", 0.1, True)] * 10
    curve = Curve.of([*sure, *lucky], 100)
    assert curve.f1.argmax() == 1
    best = curve.best_point(Goal())
    assert best is not None
    assert best.threshold > 0.1
    many = Curve.of([*sure * 100, *lucky * 100], 100 * 100)
    assert many.likely_f1.argmax() == 1  # ten thousand are no luck
    assert PRIOR < 100 * 100


def test_types_that_miss_the_goal_have_no_thresholds() -> None:
    sure = [Candidate("PER", 0.9, True)] * 100 + [Candidate("ART", 0.9, i % 2 == 0) for i in range(60)]
    less = [Candidate("PER", 0.5, i % 10 > 0) for i in range(1000)] + [Candidate("ART", 0.5, False)] * 20
    gold, goal = {"PER": 1000, "ART": 60}, Goal(precision=0.8)
    found = find_thresholds([*sure, *less], gold, goal)
    assert found is not None
    assert found.together.precision >= 0.8
    assert found.together.recall >= found.overall.score.recall


@given(
    st.lists(st.builds(Candidate, st.sampled_from("ABC"), st.sampled_from([0.1, 0.3, 0.5, 0.9]), st.booleans())),
    st.sampled_from([Goal(), Goal(precision=0.6), Goal(recall=0.6)]),
)
def test_thresholds_give_the_promised_scores(rows: list[Candidate], goal: Goal) -> None:
    gold = {"A": 60, "B": 75, "C": 3}
    found = find_thresholds(rows * 4, gold, goal)
    if found is None:
        return
    limits = {kind: found.types[kind].threshold if kind in found.types else found.others.threshold for kind in gold}
    kept = [row for row in rows * 4 if row.confidence >= limits[row.type]]
    assert (found.together.correct, found.together.predicted) == (sum(row.right for row in kept), len(kept))
    assert found.together.gold == 138
    if goal.precision or goal.recall:  # kept, and no worse than one threshold for all
        assert found.together.precision >= (goal.precision or found.overall.score.precision)
        assert found.together.recall >= (goal.recall or found.overall.score.recall)
    else:
        assert found.together.f1 >= found.overall.score.f1


def test_threshold_stays_above_the_candidate_floor() -> None:
    rows = [Candidate("PER", 0.03, True)] * FEWEST
    found = find_thresholds(rows, {"PER": FEWEST}, Goal(recall=1.0), floor=0.02)
    assert found is not None
    assert found.overall.threshold == found.types["PER"].threshold == 0.025


def test_threshold_is_a_short_number_between_candidates() -> None:
    def best(sure: float, unsure: float) -> float:
        curve = Curve.of([Candidate("PER", sure, True), Candidate("PER", unsure, False)], 1)
        found = curve.best_point(Goal(precision=1.0))
        assert found is not None
        return found.threshold

    assert best(0.9, 0.4) == 0.65
    assert best(0.2, 0.123456) == 0.1617
    assert best(0.50002, 0.50001) == (0.50001 + 0.50002) / 2  # four digits cannot tell them apart


def test_goals_describe_themselves() -> None:
    told = [str(goal) for goal in (Goal(), Goal(precision=0.95), Goal(recall=0.9))]
    assert told == ["best F1", "precision of at least 95%", "recall of at least 90%"]
