import random

import pytest
from hypothesis import given

from nestag.data.sentence import Entity, Sentence
from nestag.data.tree import Name, Tree
from nestag.errors import CrossingError
from strategies import random_sentence, sentences


@given(sentences())
def test_tree_round_trips(sentence: Sentence) -> None:
    tree = Tree.from_entities(len(sentence), sentence.entities)
    assert tree.entities() == sentence.entities
    assert (tree.start, tree.end) == (0, len(sentence))


@given(sentences())
def test_the_order_of_entities_does_not_matter(sentence: Sentence) -> None:
    assert Tree.from_entities(len(sentence), sentence.entities) == Tree.from_entities(
        len(sentence), reversed(sentence.entities)
    )


def test_same_spans_share_an_ordered_node() -> None:
    entities = [Entity(0, 2, kind) for kind in ("NAME", "FIRST", "PER")]
    assert str(Tree.from_entities(3, entities)) == "(S (FIRST+NAME+PER 0 1) 2)"
    assert str(Tree.from_entities(3, entities, order=["PER", "NAME"])) == "(S (PER+NAME+FIRST 0 1) 2)"
    assert str(Tree.from_entities(3, entities, order=None)) == "(S (NAME+FIRST+PER 0 1) 2)"


def test_entity_over_the_sentence_joins_the_root() -> None:
    assert Tree.from_entities(2, [Entity(0, 2, "PER")]).name == Name(("PER",), root=True)
    assert str(Tree.from_entities(1, [Entity(0, 1, "PER")])) == "(S (PER 0))"


def test_crossing_error_names_both_entities() -> None:
    with pytest.raises(CrossingError, match=r"\[0, 3\) ORG and \[2, 5\) LOC cross"):
        Tree.from_entities(6, [Entity(2, 5, "LOC"), Entity(0, 3, "ORG")])


def test_trees_are_compared_by_value() -> None:
    tree = Tree.from_entities(4, [Entity(1, 3, "A")])
    assert tree == Tree.from_entities(4, [Entity(1, 3, "A")])
    assert hash(tree) == hash(Tree.from_entities(4, [Entity(1, 3, "A")]))
    assert tree != Tree.from_entities(5, [Entity(1, 3, "A")])
    assert tree != Tree.from_entities(4, [Entity(1, 3, "B")])
    assert tree != "tree"
    assert repr(tree) == "<Tree (S 0 (A 1 2) 3)>"


def test_depth_is_not_bounded_by_recursion() -> None:
    length = 6_000
    tree = Tree.from_entities(length, [Entity(i, length, "A") for i in range(length - 1)])
    assert len(tree.entities()) == length - 1
    assert tree == Tree.from_entities(length, tree.entities())
    assert str(tree).count("(") == length - 1


def test_long_random_sentences_round_trip() -> None:
    rng = random.Random(1)
    for _ in range(20):
        sentence = random_sentence(rng, rng.randint(1, 500), 20)
        assert Tree.from_entities(len(sentence), sentence.entities).entities() == sentence.entities
