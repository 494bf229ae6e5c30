from collections.abc import Callable

import pytest

from nestag import DataError, Entity, Sentence
from nestag.data.sentence import Origin


def test_entities_are_a_set() -> None:
    inner, outer = Entity(1, 2, "B"), Entity(0, 2, "A")
    first = Sentence(["x", "y"], [inner, outer, inner])
    second = Sentence(["x", "y"], [outer, inner])
    assert first == second
    assert hash(first) == hash(second)
    assert first.entities == (outer, inner)
    assert first.annotated == (inner, outer)


@pytest.mark.parametrize(
    ("entity", "told"),
    [
        (Entity(-1, 1, "A"), "starts before the sentence"),
        (Entity(1, 1, "A"), "ends before it starts"),
        (Entity(2, 1, "A"), "ends before it starts"),
        (Entity(0, 3, "A"), "ends outside the sentence of 2 tokens"),
        (Entity(0, 1, ""), "non-empty string"),
        (Entity(0.0, 1, "A"), "not an integer"),  # type: ignore[arg-type]
        (Entity(True, 2, "A"), "not an integer"),
        ((0, 1), "make it an Entity"),
    ],
)
def test_impossible_entities_are_named(entity: Entity, told: str) -> None:
    with pytest.raises(DataError, match=told):
        Sentence(["x", "y"], [entity])


@pytest.mark.parametrize("tokens", ["x y", ["x", ""], ["x", None]])
def test_impossible_tokens_are_named(tokens: list[str]) -> None:
    with pytest.raises(DataError, match="token"):
        Sentence(tokens)


def test_sentences_are_immutable() -> None:
    tokens = ["x", "y"]
    sentence = Sentence(tokens)
    tokens.append("z")
    assert sentence.tokens == ("x", "y")
    with pytest.raises(AttributeError):
        sentence.tokens = ()  # type: ignore[misc]


def test_offsets_outside_their_text_are_refused() -> None:
    assert Sentence(["ab"], origin=Origin("d", 5, " ab", ((6, 8),))).origin
    with pytest.raises(DataError, match="token 0 has the offsets 4 to 8"):
        Sentence(["ab"], origin=Origin("d", 5, " ab", ((4, 8),)))
    with pytest.raises(DataError, match="offsets of 0 tokens"):
        Sentence(["ab"], origin=Origin("d", 5, " ab", ()))


@pytest.mark.parametrize(
    "make",
    [
        lambda half: Sentence(["a", half]),
        lambda half: Sentence(["a"], [Entity(0, 1, half)]),
        lambda half: Sentence(["a"], id=half),
        lambda half: Sentence(["a"], origin=Origin(half, 0, "a", ((0, 1),))),
        lambda half: Sentence(["a"], origin=Origin("d", 0, f"a{half}", ((0, 1),))),
    ],
)
def test_lone_surrogate_is_refused(make: Callable[[str], Sentence]) -> None:
    with pytest.raises(DataError, match="half of a character"):
        make("\ud800")


def test_an_id_is_a_string() -> None:
    with pytest.raises(DataError, match="id is 7"):
        Sentence(["a"], id=7)  # type: ignore[arg-type]
