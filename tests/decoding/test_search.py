"""Constrained decoding matches enumeration of all valid sequences."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from enumeration import Heads, depth_entities, depth_sequences, marks_of, tetra_names, tetra_sequences, words
from nestag.data.sentence import Entity, Sentence
from nestag.data.tree import Name, Tree
from nestag.decoding import Decoding, Scores, Search, decode_batch, decode_scores
from nestag.decoding.depth import best_depths, depth_rules
from nestag.decoding.tetra import best_marks, tetra_rules
from nestag.encodings import encoding as named
from nestag.encodings.tetra import MARKS
from nestag.encodings.vocabulary import Vocabulary
from random_scores import RICH, by_sentence, gold_scores, learned, random_scores
from strategies import ENCODINGS, loose_vocabulary, sentences

DEPTHS = ENCODINGS[:3]
seeds = st.integers(0, 2**32 - 1)


corpora = st.just(RICH) | st.lists(sentences(most=5), max_size=3)


def check_depths(vocabulary: Vocabulary, batch: list[np.ndarray], length: int) -> None:
    """Judge the decoding of one sentence by all valid sequences."""
    heads = Heads.of(vocabulary, *batch)
    sequences = {(way.root, way.depths): way for way in depth_sequences(vocabulary, heads, length, deepest=4)}
    scores = Scores.of(vocabulary, *batch, [length])
    depths, roots = best_depths(scores, depth_rules(named(vocabulary.encoding), vocabulary, 4))
    found = sequences[int(roots[0]), tuple(depths.tolist())]  # only valid sequences are listed
    best = max(way.score for way in sequences.values())
    assert found.score == pytest.approx(best, rel=1e-12, abs=1e-6)
    table = decode_scores(vocabulary, *batch, [length], search=Search(deepest=4))
    assert set(table.to_lists()[0]) == depth_entities(vocabulary, heads, found)


def check_marks(vocabulary: Vocabulary, batch: list[np.ndarray], length: int) -> None:
    """Judge the decoding of one sentence by all binary trees and all names for the best of them."""
    heads = Heads.of(vocabulary, *batch)
    scores = Scores.of(vocabulary, *batch, [length])
    marks = best_marks(tetra_rules(vocabulary), scores, None).mark
    found = decode_scores(vocabulary, *batch, [length]).to_lists()[0]
    if length == 1:
        assert MARKS[marks[0]] == "r"
        assert set(found) == words(heads, 1)
        return
    sequences = {tuple(marks_of(tree)): (tree, score) for tree, score in tetra_sequences(vocabulary, heads, length)}
    tree, score = sequences[tuple(MARKS[mark] for mark in marks)]  # only valid sequences are listed
    assert score == pytest.approx(max(score for _, score in sequences.values()), rel=1e-12, abs=1e-6)
    ways = tetra_names(vocabulary, heads, tree)
    reached = max(score for score, entities in ways if entities == set(found) - words(heads, length))
    assert reached == pytest.approx(max(score for score, _ in ways), rel=1e-12, abs=1e-6)


@pytest.mark.parametrize("encoding", DEPTHS)
@settings(max_examples=30, deadline=None)
@given(corpora, st.integers(1, 4), seeds, st.sampled_from([0, 0.3, 0.9]))
def test_depths_match_enumeration(
    encoding: str, corpus: list[Sentence], length: int, seed: int, impossible: float
) -> None:
    vocabulary = learned(corpus, encoding)
    check_depths(vocabulary, random_scores(vocabulary, [length], seed, impossible), length)


@settings(max_examples=30, deadline=None)
@given(corpora, st.integers(1, 5), seeds, st.sampled_from([0, 0.3, 0.9]))
def test_marks_and_node_labels_match_enumeration(
    corpus: list[Sentence], length: int, seed: int, impossible: float
) -> None:
    vocabulary = learned(corpus, "4tg")
    check_marks(vocabulary, random_scores(vocabulary, [length], seed, impossible), length)


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_every_kind_of_node_label_matches_enumeration(encoding: str) -> None:
    vocabulary = learned(RICH, encoding)
    longest = 6 if encoding == "4tg" else 4
    for seed in range(100):
        length = 2 + seed % (longest - 1)
        batch = random_scores(vocabulary, [length], seed, impossible=seed % 2 * 0.1)
        if encoding == "4tg":
            check_marks(vocabulary, batch, length)
        else:
            check_depths(vocabulary, batch, length)


@pytest.mark.parametrize("encoding", ENCODINGS)
@settings(max_examples=20, deadline=None)
@given(corpus=st.lists(sentences(), min_size=1, max_size=4), seed=seeds)
def test_confident_gold_labels_give_the_gold_entities(encoding: str, corpus: list[Sentence], seed: int) -> None:
    vocabulary = learned(corpus, encoding)
    batch, lengths = gold_scores(vocabulary, corpus, seed)
    search = Search(deepest=20)
    expected = [sentence.entities for sentence in corpus]
    assert decode_scores(vocabulary, *batch, lengths, search=search).to_lists() == expected
    assert decode_scores(vocabulary, *batch, lengths, "greedy").to_lists() == expected


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("impossible", [0, 0.5, 1])
def test_any_scores_give_nested_entities(encoding: str, impossible: float) -> None:
    vocabulary = loose_vocabulary(encoding)
    lengths = np.random.default_rng(0).integers(0, 16, 25).tolist()
    batch = random_scores(vocabulary, lengths, 1, impossible)
    for length, found in zip(lengths, decode_scores(vocabulary, *batch, lengths).to_lists(), strict=True):
        sentence = Sentence(["w"] * length, found)
        assert sentence.entities == found
        Tree.from_entities(length, found)  # refuses entities that cross


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("decoding", ["constrained", "greedy"])
def test_result_does_not_depend_on_the_batch(encoding: str, decoding: Decoding) -> None:
    vocabulary = loose_vocabulary(encoding)
    rng = np.random.default_rng(2)
    lengths = [*rng.integers(0, 12, 12).tolist(), 40, 0, 1, 2]
    batch = random_scores(vocabulary, lengths, 3)
    together = decode_scores(vocabulary, *batch, lengths, decoding).to_lists()
    parts = by_sentence(batch, lengths)
    order = rng.permutation(len(lengths))
    mixed = [np.concatenate([parts[row][head] for row in order]) for head in range(3)]
    shuffled = decode_scores(vocabulary, *mixed, np.array(lengths)[order], decoding)
    assert shuffled.to_lists() == [together[row] for row in order]
    for row, length in enumerate(lengths):
        assert decode_scores(vocabulary, *parts[row], [length], decoding).to_lists() == [together[row]]


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_greedy_decoding_repairs_the_best_labels(encoding: str) -> None:
    vocabulary = loose_vocabulary(encoding)
    lengths = [9, 0, 4, 30]
    batch = [np.nan_to_num(head) for head in random_scores(vocabulary, lengths, 4)]
    ids = [head.argmax(axis=-1) for head in batch]
    for naming in ("first", "majority"):
        expected = decode_batch(vocabulary, *ids, lengths, naming).to_lists()
        assert decode_scores(vocabulary, *batch, lengths, "greedy", naming).to_lists() == expected


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_result_does_not_depend_on_constants_and_dtype(encoding: str) -> None:
    vocabulary = loose_vocabulary(encoding)
    lengths = [12, 3, 20]
    batch = [np.nan_to_num(head).astype(np.float32) for head in random_scores(vocabulary, lengths, 5)]
    expected = decode_scores(vocabulary, *batch, lengths).to_lists()
    moved = [head.astype(np.float64) + np.arange(35)[:, None] for head in batch]
    assert decode_scores(vocabulary, *moved, lengths).to_lists() == expected
    copies = [head.copy() for head in batch]
    decode_scores(vocabulary, *batch, lengths, confidence=True)
    assert all((head == copy).all() for head, copy in zip(batch, copies, strict=True))
    whole = [np.round(head).astype(np.int64) for head in batch]
    assert decode_scores(vocabulary, *whole, lengths).sentences == 3


def test_constrained_score_is_at_least_greedy() -> None:
    """One wrong n shifts all that follows in rel; the valid sequence sees that the end does not fit."""
    sentence = Sentence(["a", "b", "c", "d", "e", "f"], [(1, 3, "X"), (4, 6, "Y")])
    vocabulary = learned([sentence], "rel")
    batch, lengths = gold_scores(vocabulary, [sentence], 6)
    n = vocabulary.n
    batch[0][2] = [0.1 if label == 0 else 0 if label == -1 else -9 for label in n]  # stay, hardly more than rise
    assert decode_scores(vocabulary, *batch, lengths).to_lists() == [sentence.entities]
    assert decode_scores(vocabulary, *batch, lengths, "greedy").to_lists() != [sentence.entities]


def test_unseen_labels_are_a_last_resort() -> None:
    # nothing leads up from depth 2 but -1, and that is missing: the search stays at depth 1
    names = (Name((), root=True), Name(("X",)))
    vocabulary = Vocabulary("rel", (1, 0), names, ((),))
    batch = [np.zeros((3, 2)), np.zeros((3, 2)), np.zeros((3, 1))]
    batch[0][1, 0] = 100  # to depth 2, were it not for the way back
    assert decode_scores(vocabulary, *batch, [3]).to_lists() == [()]
    only_up = Vocabulary("rel", (2,), names, ((),))
    assert decode_scores(only_up, batch[0][:, :1], *batch[1:], [3]).sentences == 1
    for encoding in ENCODINGS:
        nothing = Vocabulary(encoding, ("rL",) if encoding == "4tg" else (7,), (Name((), prime=True),), ((),))
        table = decode_scores(nothing, *[np.zeros((5, 1))] * 3, [4, 1], confidence=True)
        assert table.to_lists() == [(), ()]


def test_node_labels_have_one_type_per_level() -> None:
    names = (Name((), root=True), Name(("X",)), Name(("Y", "Z")))
    vocabulary = Vocabulary("abs", (1, 2, 3), names, ((),))
    n, c, u = np.zeros((4, 3)), np.zeros((4, 3)), np.zeros((4, 1))
    n[range(4), [0, 2, 0, 0]] = 9  # depths 1 3 1 1: a node of two levels
    c[1] = [-9, 1, 0]
    assert [e.type for e in decode_scores(vocabulary, n, c, u, [4]).to_lists()[0]] == ["Y", "Z"]


def test_long_batches_are_decoded_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    vocabulary = loose_vocabulary("rel")
    lengths = [3, 0, 12, 1, 0, 30, 7, 0]
    batch = random_scores(vocabulary, lengths, 3)
    whole = decode_scores(vocabulary, *batch, lengths, confidence=True)
    monkeypatch.setattr("nestag.decoding.scores.PIECE", 10 * sum(head.shape[1] for head in batch))
    assert [piece.lengths.tolist() for piece in Scores.of(vocabulary, *batch, lengths).pieces()] == [
        [3, 0, 12], [1, 0, 30], [7], [0]
    ]  # fmt: skip
    pieces = decode_scores(vocabulary, *batch, lengths, confidence=True)
    assert pieces.to_lists() == whole.to_lists()
    assert pieces.confidence == pytest.approx(whole.confidence)


def test_empty_batches_and_sentences() -> None:
    vocabulary = loose_vocabulary("rel")
    batch = [np.zeros((0, len(table))) for table in (vocabulary.n, vocabulary.c, vocabulary.u)]
    for rows in (0, 2):
        for decoding in ("constrained", "greedy"):
            table = decode_scores(vocabulary, *batch, [0] * rows, decoding, confidence=True)
            assert table.to_lists() == [()] * rows
            assert table.confidence is not None


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_impossible_u_is_a_last_resort(encoding: str) -> None:
    n, names = ("rR", "r", "l") if encoding == "4tg" else (1, 0), (Name((), root=True),)
    twice = Vocabulary(encoding, n, names, (("A", "A"),))
    batch = [np.zeros((2, len(twice.n))), np.zeros((2, 1)), np.zeros((2, 1))]
    assert decode_scores(twice, *batch, [2]).to_lists() == [(Entity(0, 1, "A"), Entity(1, 2, "A"))]
    both = Vocabulary(encoding, n, names, (("A", "A"), ("B",)))
    batch[2] = np.array([[9.0, 0.0], [9.0, 0.0]])
    assert decode_scores(both, *batch, [2]).to_lists() == [(Entity(0, 1, "B"), Entity(1, 2, "B"))]


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_impossible_node_labels_are_never_used(encoding: str) -> None:
    n = MARKS if encoding == "4tg" else (1, 2, 0, -1)
    twice = (Name(("A", "A")), Name(("A", "A"), root=True), Name(("A", "A"), prime=True))
    names = (*twice, Name(("B",)), Name(("B",), prime=True), Name((), root=True))
    vocabulary = Vocabulary(encoding, n, names, ((),))
    for seed in range(20):
        batch = random_scores(vocabulary, [4], seed)
        batch[1][:, :3] += 9
        if encoding == "4tg":
            check_marks(vocabulary, batch, 4)
        else:
            check_depths(vocabulary, batch, 4)
        assert {entity.type for entity in decode_scores(vocabulary, *batch, [4]).to_lists()[0]} <= {"B"}
