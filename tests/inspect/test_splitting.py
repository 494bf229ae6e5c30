"""Splits keep documents whole, balance the types, and are deterministic."""

import random
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nestag.data.sentence import Entity, Sentence
from nestag.errors import DataError
from nestag.inspect.splitting import Load, by_document, by_sentence, loads_of, stratify, sum_of


def corpus(documents: int, seed: int = 1) -> dict[object, Load]:
    rng = random.Random(seed)
    sizes = {f"d{number}": rng.randint(1, 20) for number in range(documents)}
    kinds = {"PER": 3.0, "GPE": 1.0, "ORG": 0.3}
    return {
        name: Load(
            1, size, size * 20, Counter({kind: rng.randint(0, int(size * rate)) for kind, rate in kinds.items()})
        )
        for name, size in sizes.items()
    }


@pytest.mark.parametrize("shares", [(70, 15, 15), (80, 10, 10), (1, 1, 1), (9, 0, 1)])
def test_every_type_gets_its_share(shares: tuple[int, int, int]) -> None:
    loads = corpus(300)
    places = stratify(loads, shares)
    total = sum_of(loads.values())
    for number, share in enumerate(shares):
        held = sum_of(loads[key] for key, place in places.items() if place == number)
        wanted = share / sum(shares)
        assert held.sentences / total.sentences == pytest.approx(wanted, abs=0.01)
        for kind, count in total.types.items():
            assert held.types[kind] / count == pytest.approx(wanted, abs=0.02)


def test_split_is_more_balanced_than_chance() -> None:
    loads = corpus(60)
    total = sum_of(loads.values()).types

    def error(places: dict[object, int]) -> float:
        held = sum_of(loads[key] for key, place in places.items() if place == 2).types
        return sum(abs(held[kind] / total[kind] - 0.2) for kind in total)

    rng = random.Random(2)
    by_chance = [error({key: rng.choices((0, 1, 2), (60, 20, 20))[0] for key in loads}) for _ in range(50)]
    assert error(stratify(loads, (60, 20, 20))) < sorted(by_chance)[2] / 2


def test_splits_depend_on_the_seed() -> None:
    loads = corpus(50)
    assert stratify(loads, (70, 15, 15), 3) == stratify(corpus(50), (70, 15, 15), 3)
    assert stratify(loads, (70, 15, 15), 3) != stratify(loads, (70, 15, 15), 4)


@given(st.integers(3, 30), st.integers(0, 5))
def test_every_document_is_in_one_split(documents: int, seed: int) -> None:
    loads = corpus(documents, seed)
    try:
        places = stratify(loads, (2, 0, 1), seed)
    except DataError:
        return
    assert places.keys() == loads.keys()
    assert set(places.values()) == {0, 2}


def test_too_few_documents_are_refused() -> None:
    with pytest.raises(DataError, match="2 document"):
        stratify(corpus(2), (70, 15, 15))


def test_documents_without_entities_are_distributed() -> None:
    loads: dict[object, Load] = {number: Load(1, 5, 50) for number in range(100)}
    assert sorted(Counter(stratify(loads, (70, 15, 15)).values()).values()) == [15, 15, 70]


def test_sentences_of_interrupted_documents_are_counted_together() -> None:
    a = Sentence(["x", "y"], [Entity(0, 1, "A")], "a-1")
    b = Sentence(["x"], [], "b-1")
    bare = Sentence(["x"])
    found = loads_of([a, b, a, bare, bare], by_document)
    assert list(found) == ["a", "b", 3, 4]  # a sentence without a document counts as one
    assert found["a"] == Load(1, 2, 4, Counter(A=2))
    assert list(loads_of([a, b, a], by_sentence)) == [0, 1, 2]
