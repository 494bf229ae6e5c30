from __future__ import annotations

import random
from itertools import product

import numpy as np
import pytest

from nestag.data.sentence import Entity, Sentence
from nestag.errors import DataError
from nestag.evaluation.evaluator import GROUPS, Evaluator, evaluate_pairs, group_of
from nestag.evaluation.matching import Pair
from nestag.evaluation.result import Evaluation, Score, macro, total
from nestag.evaluation.significance import AT_ONCE, COLUMNS, DRAWS, SWAPS, WITHIN, Counts, compare, intervals


def counts(rows: list[list[int]]) -> Counts:
    return Counts(np.arange(len(rows)), np.array(rows, dtype=np.int64).reshape(-1, COLUMNS))


def random_rows(rng: random.Random, size: int, right: float) -> list[list[int]]:
    """One gold and one predicted entity a sentence, right with a probability."""
    return [[hit, 1, 1, hit] for hit in (int(rng.random() < right) for _ in range(size))]


def test_constants_match_the_documentation() -> None:
    assert (DRAWS, SWAPS, WITHIN) == (1_000, 10_000, (2.5, 97.5))
    assert DRAWS % AT_ONCE == SWAPS % AT_ONCE == 0  # or more would be drawn than are counted
    assert GROUPS == 2**14


def test_smallest_p_value_counts_the_observed_permutation() -> None:
    right, wrong = counts([[1, 1, 1, 1]] * 60), counts([[0, 1, 1, 0]] * 60)
    found = compare(right, wrong)
    assert found.randomization == 1 / 10_001
    assert (found.first, found.second, found.difference, found.interval) == (1, 0, 1, (1, 1))
    assert found.bootstrap == 2 / 1_001


def test_intervals_cover_the_truth_in_95_percent() -> None:
    rng = random.Random(1)
    inside = 0
    for _ in range(60):
        sample = counts(random_rows(rng, 150, 0.7))
        low, high = intervals([("all", sample.rows)], (), 150)["all"].f1
        inside += low <= 0.7 <= high
    assert 50 <= inside <= 60  # fewer than 50 of 60 would come by chance less than once in 1,000 times


def test_interval_width_matches_theory() -> None:
    sample = counts(random_rows(random.Random(2), 2_000, 0.5))
    low, high = intervals([("all", sample.rows)], (), 2_000)["all"].precision
    assert high - low == pytest.approx(2 * 1.96 * (0.25 / 2_000) ** 0.5, rel=0.1)


def test_macro_average_is_resampled_with_its_types() -> None:
    rng = random.Random(5)
    one, two = (counts(random_rows(rng, 100, right)).rows for right in (0.9, 0.1))
    found = intervals([("type A", one), ("type B", two), ("all", one + two)], {"type A", "type B"}, 100)
    middle = sum(found["macro"].f1) / 2
    assert middle == pytest.approx((sum(found["type A"].f1) + sum(found["type B"].f1)) / 4, abs=0.02)
    assert found["macro"].f1.high - found["macro"].f1.low < found["type A"].f1.high - found["type A"].f1.low + 0.05


def test_perfect_scores_have_an_interval_of_zero_width() -> None:
    """A draw that happens to have no entity of a type says nothing of it."""
    size, types = 60, 20
    rows = {f"type {kind}": [[int(i % types == kind)] * COLUMNS for i in range(size)] for kind in range(types)}
    found = intervals(((name, np.array(row)) for name, row in rows.items()), set(rows), size)
    assert set(found) == {*rows, "macro"}
    assert all(bounds == (1, 1) for three in found.values() for bounds in three)


def test_intervals_match_scoring_each_resample() -> None:
    rng = random.Random(6)
    size, kinds = 12, "ABC"
    rows = {kind: [_random_counts(rng) for _ in range(size)] for kind in kinds}
    found = intervals(
        ((f"type {kind}", np.array(rows[kind])) for kind in kinds), {f"type {kind}" for kind in kinds}, size
    )
    drawing = np.random.default_rng(0)
    means: list[float] = []
    recalls: list[float] = []
    for _ in range(DRAWS):
        drawn = drawing.integers(size, size=size)
        types = {kind: total(Score(*rows[kind][group]) for group in drawn) for kind in kinds}
        there = {kind: score for kind, score in types.items() if score.gold or score.predicted}
        means += [macro(there).f1] if there else []
        recalls += [types["A"].recall] if types["A"].gold else []
    assert 0 < len(recalls) < DRAWS
    assert found["macro"].f1 == pytest.approx(np.percentile(means, WITHIN))
    assert found["type A"].recall == pytest.approx(np.percentile(recalls, WITHIN))


def _random_counts(rng: random.Random) -> list[int]:
    """Those of a sentence that often has no entity of a type."""
    gold = int(rng.random() < 0.3)
    predicted = gold if rng.random() < 0.9 else 1 - gold
    return [gold * predicted, predicted, gold, gold * predicted]


def test_interval_of_nothing_is_zero() -> None:
    assert intervals([("all", counts([]).rows)], (), 0)["all"].f1 == (0.0, 0.0)


def test_permutations_match_enumeration() -> None:
    rng = random.Random(3)
    one, two = (random_rows(rng, 10, right) for right in (0.9, 0.4))

    def difference(pairs: list[tuple[list[int], list[int]]]) -> float:
        return total(Score(*a) for a, _ in pairs).f1 - total(Score(*b) for _, b in pairs).f1

    truth = difference(list(zip(one, two, strict=True)))
    ways = [
        difference([(b, a) if swap else (a, b) for swap, a, b in zip(swaps, one, two, strict=True)])
        for swaps in product((0, 1), repeat=10)
    ]
    exact = sum(abs(way) >= abs(truth) - 1e-12 for way in ways) / len(ways)
    found = compare(counts(one), counts(two))
    assert found.difference == pytest.approx(truth)
    assert found.randomization == pytest.approx(exact, abs=0.02)


def test_bootstrap_matches_scoring_each_resample() -> None:
    """p is twice the share of draws in which the worse system is as good."""
    rng = random.Random(8)
    size = 30
    one, two = (random_rows(rng, size, right) for right in (0.7, 0.6))
    drawing = np.random.default_rng(0)
    differences = []
    for _ in range(DRAWS):
        drawn = drawing.integers(size, size=size)
        scores = [total(Score(*rows[group]) for group in drawn) for rows in (one, two)]
        differences.append(scores[0].f1 - scores[1].f1)
    expected = 2 * (1 + sum(difference <= 0 for difference in differences)) / (DRAWS + 1)
    assert 0.05 < expected < 0.9
    for first, second, sign in ((one, two, 1), (two, one, -1)):
        found = compare(counts(first), counts(second))
        assert found.bootstrap == pytest.approx(expected)
        assert found.interval == pytest.approx(sorted(sign * np.percentile(differences, WITHIN)))


def test_system_does_not_differ_from_itself() -> None:
    rows = counts(random_rows(random.Random(4), 50, 0.5))
    found = compare(rows, rows)
    assert (found.difference, found.interval, found.bootstrap, found.randomization) == (0, (0, 0), 1, 1)


def test_equal_f1_is_not_a_difference() -> None:
    """2 of 10 with 2 in gold, and 1 of 4 with 2 in gold, are both a third."""
    one = counts([[1, 1, 1, 1]] * 2 + [[0, 1, 0, 0]] * 8)
    two = counts([[1, 1, 1, 1]] + [[0, 0, 1, 0]] + [[0, 1, 0, 0]] * 3 + [[0, 0, 0, 0]] * 5)
    assert compare(one, two).difference == 0
    assert Score.of(2, 10, 2).f1 == Score.of(1, 4, 2).f1 == compare(one, two).first


def test_systems_with_different_sentences_are_refused() -> None:
    with pytest.raises(DataError, match="same sentences"):
        compare(counts([[1, 1, 1, 1]]), counts([[1, 1, 1, 1]] * 2))


def test_groups_depend_on_tokens_only() -> None:
    assert group_of(["a", "b"]) != group_of(["ab"])
    assert 0 <= group_of(["\ud800"]) < GROUPS


def test_documents_are_resampled_if_there_are_enough() -> None:
    def rows(names: list[str | None]) -> list[int]:
        evaluator = Evaluator()
        gold = [Sentence([f"w{number}"], [Entity(0, 1, "A")], name) for number, name in enumerate(names)]
        evaluator.see(Pair(one, one) for one in gold)
        counted: list[int] = evaluator.counts().rows[:, 2].tolist()
        return counted

    assert rows([f"book{number % 5}-{number}" for number in range(20)]) == [4] * 5
    some = rows([f"book{number % 5}-{number}" if number < 10 else None for number in range(13)])
    assert sorted(some) == [1] * 3 + [2] * 5  # sentences without a document are drawn one by one
    assert rows([f"book{number % 4}-{number}" for number in range(20)]) == [1] * 20


def test_evaluator_resamples_documents() -> None:
    """Ten books, each all right or all wrong, are less sure than a hundred sentences."""

    def judged_as(name: str) -> Evaluation:
        pairs = []
        for number in range(100):
            gold = Sentence([f"w{number}"], [Entity(0, 1, "A")], name.format(number // 10, number))
            pairs.append(Pair(gold, gold if number < 50 else gold.with_entities(())))
        return evaluate_pairs(pairs)

    books, sentences = judged_as("book {}-{}"), judged_as("{1}")
    assert (books.documents, sentences.documents) == (10, 0)
    width = [found.intervals["all"].recall.high - found.intervals["all"].recall.low for found in (books, sentences)]
    assert width[0] > 2 * width[1]
