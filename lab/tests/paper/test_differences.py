"""Comparisons of models over seeds match scoring every resample and permutation."""

from itertools import product

import numpy as np
import pytest

from nestag.evaluation.result import Score
from nestag_lab.paper.differences import DRAWS, UnitCounts, difference, holm, unit_draws


def counts(seed: int, right: float, units: int = 12, seeds: int = 3) -> UnitCounts:
    rng = np.random.default_rng(seed)
    gold = np.random.default_rng(0).integers(1, 5, size=units)
    correct = rng.binomial(gold, right, size=(seeds, units))
    return UnitCounts(correct, correct + rng.integers(0, 2, size=(seeds, units)), gold)


def f1(counts: UnitCounts, seed: int, times: np.ndarray) -> float:  # type: ignore[type-arg]
    sums = (int(part @ times) for part in (counts.correct[seed], counts.predicted[seed], counts.gold))
    return Score.of(*sums).f1


def test_f1_is_computed_per_seed() -> None:
    one = counts(1, 0.6)
    assert one.f1().tolist() == pytest.approx([f1(one, seed, np.ones(12)) for seed in range(3)])


def test_f1_without_gold_and_predictions_is_0() -> None:
    nothing = UnitCounts(np.zeros((2, 3), dtype=int), np.zeros((2, 3), dtype=int), np.zeros(3, dtype=int))
    assert nothing.f1().tolist() == [0, 0]


def test_intervals_match_resampling_seeds_and_units() -> None:
    one, two = counts(1, 0.7), counts(2, 0.6)
    chosen = np.random.default_rng(1).integers(3, size=(DRAWS, 3))
    gaps = [
        np.mean([f1(one, seed, times) - f1(two, seed, times) for seed in seeds])
        for times, seeds in zip(unit_draws(12), chosen, strict=True)
    ]
    found = difference(one, two)
    assert found.interval == pytest.approx(tuple(np.percentile(gaps, (2.5, 97.5))))
    assert found.mean == pytest.approx(float(np.mean(one.f1() - two.f1())))
    assert found.deviation == pytest.approx(float(np.std(one.f1() - two.f1(), ddof=1)))
    assert (found.seeds, found.units) == (3, 12)


def test_p_value_matches_all_permutations() -> None:
    one, two = counts(1, 0.75, units=8, seeds=2), counts(2, 0.55, units=8, seeds=2)
    seen = abs(float(np.mean(one.f1() - two.f1())))
    as_large = 0
    for swaps in product([False, True], repeat=8):
        parts = [np.where(swaps, b, a) for a, b in zip(one[:2], two[:2], strict=True)]
        others = [np.where(swaps, a, b) for a, b in zip(one[:2], two[:2], strict=True)]
        gap = float(np.mean(UnitCounts(*parts, one.gold).f1() - UnitCounts(*others, one.gold).f1()))
        as_large += abs(gap) >= seen - 1e-12
    assert difference(one, two).p == pytest.approx(as_large / 2**8, abs=0.02)


@pytest.mark.parametrize("worse", [(0, 0), (2, 3), (1, 2)])  # finds nothing, finds too much, is wrong
def test_permutations_swap_all_differing_answers(worse: tuple[int, int]) -> None:
    one, two = (UnitCounts(*(np.full((2, 12), count) for count in given), np.full(12, 2)) for given in ((2, 2), worse))
    for found in (difference(one, two), difference(two, one)):
        assert found.p < 0.01


def test_equal_models_do_not_differ() -> None:
    found = difference(counts(1, 0.5), counts(1, 0.5))
    assert (found.mean, found.interval, found.p) == (0, (0, 0), 1)
    assert difference(counts(1, 0.5, seeds=1), counts(2, 0.5, seeds=1)).deviation is None


def test_sentences_of_a_document_are_one_unit() -> None:
    one = counts(3, 0.6)
    books = one.by_document(np.arange(12) // 4)
    assert books.gold.tolist() == one.gold.reshape(3, 4).sum(axis=1).tolist()
    assert books.correct.tolist() == one.correct.reshape(3, 3, 4).sum(axis=2).tolist()
    assert books.f1().tolist() == one.f1().tolist()


def test_holm_multiplies_the_smallest_by_the_number_of_all() -> None:
    assert holm([0.01, 0.02, 0.03, 0.005]) == pytest.approx([0.03, 0.04, 0.04, 0.02])
    assert holm([0.6, 0.9]) == [1.0, 1.0]
    assert holm([]) == []
