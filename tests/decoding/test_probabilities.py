"""Confidences are what adding up every legal sequence gives."""

from functools import cache
from math import exp
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from enumeration import (
    Heads,
    at_root,
    below,
    binary_trees,
    depth_nodes,
    depth_sequences,
    tetra_sequences,
    total,
)
from nestag.data import Entity, Sentence
from nestag.decoding import EntityTable, Scores, Search, decode_scores
from nestag.decoding.depth import parts
from nestag.decoding.depth import probabilities as depth_probabilities
from nestag.decoding.depth.machine import depth_machine
from nestag.decoding.scores import Pooling
from nestag.decoding.tetra import probabilities as tetra_probabilities
from nestag.encodings import encoding as named
from nestag.tree import Name
from nestag.vocabulary import Vocabulary
from random_scores import RICH, by_sentence, gold_scores, learned, random_scores
from strategies import ENCODINGS, loose_vocabulary, sentences

DEPTHS = ENCODINGS[:3]
DEEPEST = 4
seeds = st.integers(0, 2**32 - 1)
corpora = st.just(RICH) | st.lists(sentences(most=5), max_size=3)


def spans_to(length: int) -> list[tuple[int, int]]:
    return [(start, end) for start in range(length) for end in range(start + 2, length + 1)]


def columns(spans: list[tuple[int, int]]) -> tuple[np.ndarray, np.ndarray]:
    start, end = np.array(spans, dtype=np.int64).reshape(-1, 2).T
    return start, end


class Shares:
    """How probable each span and each root is, by adding up all legal sequences of a sentence."""

    def __init__(self, vocabulary: Vocabulary, heads: Heads, length: int) -> None:
        self.span = dict.fromkeys(spans_to(length), 0.0)
        self.root: dict[int, float] = {}
        if vocabulary.encoding == "4tg":
            ways = [(tree.nodes(), 1, score) for tree, score in tetra_sequences(vocabulary, heads, length, total)]
        else:
            sequences = depth_sequences(vocabulary, heads, length, DEEPEST, total)
            ways = [(depth_nodes(way.depths), way.root, way.score) for way in sequences]
        whole = total([score for _, _, score in ways])
        for nodes, root, score in ways:
            share = exp(score - whole)
            self.root[root] = self.root.get(root, 0) + share
            for span in {(node.start, node.end) for node in nodes}:
                self.span[span] += share


@pytest.mark.parametrize("encoding", ENCODINGS)
@settings(max_examples=25, deadline=None)
@given(corpus=corpora, length=st.integers(1, 4), seed=seeds, impossible=st.sampled_from([0, 0.4]))
def test_spans_are_as_probable_as_all_sequences_that_have_them(
    encoding: str, corpus: list[Sentence], length: int, seed: int, impossible: float
) -> None:
    vocabulary = learned(corpus, encoding)
    batch = random_scores(vocabulary, [length], seed, impossible)
    shares = Shares(vocabulary, Heads.of(vocabulary, *batch), length)
    scores = Scores.of(vocabulary, *batch, [length])
    if encoding == "4tg":
        found = tetra_probabilities.node_probabilities(vocabulary, scores, *columns([*shares.span]), None)
    else:
        machine = depth_machine(named(encoding), vocabulary, DEEPEST)
        found, root = depth_probabilities.node_probabilities(machine, scores, *columns([*shares.span]))
        roots = dict(zip(machine.roots.tolist(), root[:, 0].tolist(), strict=True))
        assert roots == pytest.approx({root: shares.root.get(root, 0) for root in roots}, abs=1e-5)
    assert found == pytest.approx(list(shares.span.values()), abs=1e-5)


def test_binary_trees_are_as_many_as_they_should_be() -> None:
    assert [len(list(binary_trees(0, length))) for length in range(1, 7)] == [1, 1, 2, 5, 14, 42]


def by_hand(vocabulary: Vocabulary, heads: Heads, shares: Shares, found: list[Entity], length: int, mean: bool) -> list:
    """The confidence of each entity as probabilities.py describes it."""

    def own_gaps(span: tuple[int, int]) -> list[int]:
        inside = [other for other in spans if other != span and span[0] <= other[0] and other[1] <= span[1]]
        return [gap for gap in range(span[0], span[1] - 1) if not any(a <= gap < b - 1 for a, b in inside)]

    def pooled(values: list[float]) -> float:
        return sum(values) / len(values) if mean else sum(values)

    def share(rated: list[tuple[Name, float]], kind: str, others: tuple[float, ...] = ()) -> float:
        if not rated:
            return 0.0
        whole = total([score for _, score in rated] + list(others))
        return sum(exp(score - whole) for name, score in rated if kind in name.types)

    def depth_share(span: tuple[int, int], kind: str) -> float:
        gaps = own_gaps(span)
        names = below(vocabulary)
        value = shares.span[span] * share([(x, pooled([heads.c(i, x) for i in gaps])) for x in names], kind)
        if span == (0, length):
            for root, probability in shares.root.items():
                rated = [(x, pooled([heads.c(i, x) for i in [*gaps, length - 1]])) for x in at_root(vocabulary, root)]
                value += probability * share(rated, kind)
        return min(value, 1)

    def tetra_share(span: tuple[int, int], kind: str) -> float:
        first, *rest = own_gaps(span)
        whole = span == (0, length)
        bases = [x for x in vocabulary.c if x.chain_length and not x.prime]
        helper = {x: x._replace(prime=True) for x in bases}
        rated = [(x, pooled([heads.c(first, x), *(heads.c(i, helper[x]) for i in rest)])) for x in bases
                 if x.root == whole]  # fmt: skip
        around = [end for start, end in [*spans, (0, length)] if start <= span[0] and end >= span[1]
                  and (start, end) != span]  # fmt: skip
        helpers = [pooled([heads.c(i, helper[x]) for i in [first, *rest]]) for x in bases]
        others = tuple(helpers) if not whole and min(around) == span[1] else ()
        return (1 if whole else shares.span[span]) * share(rated, kind, others)

    spans = {(start, end) for start, end, _ in found if end - start > 1}
    values = []
    for start, end, kind in found:
        if end - start == 1:
            values.append(share([(Name(types), heads.u(start, types)) for types in heads.u.table], kind))
        else:
            values.append((tetra_share if vocabulary.encoding == "4tg" else depth_share)((start, end), kind))
    return values


def check_confidences(vocabulary: Vocabulary, length: int, seed: int, decoding: str, pooling: str) -> None:
    batch = random_scores(vocabulary, [length], seed)
    search = Search(deepest=DEEPEST, pooling=pooling, joint=False)  # type: ignore[arg-type]
    table = decode_scores(vocabulary, *batch, [length], decoding, confidence=True, search=search)
    heads = Heads.of(vocabulary, *batch)
    found = list(table.to_lists()[0])
    expected = by_hand(vocabulary, heads, Shares(vocabulary, heads, length), found, length, pooling == "mean")
    assert table.confidence == pytest.approx(expected, abs=1e-5)


decodings = st.sampled_from(["legal", "greedy"])


@pytest.mark.parametrize("encoding", ENCODINGS)
@settings(max_examples=25, deadline=None)
@given(corpora, st.integers(1, 4), seeds, decodings, st.sampled_from(["sum", "mean"]))
def test_confidences_are_those_reckoned_by_hand(
    encoding: str, corpus: list[Sentence], length: int, seed: int, decoding: str, pooling: str
) -> None:
    check_confidences(learned(corpus, encoding), length, seed, decoding, pooling)


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_confidences_with_names_of_every_kind(encoding: str) -> None:
    vocabulary = learned(RICH, encoding)
    for seed in range(60):
        check_confidences(vocabulary, 2 + seed % 3, seed, ["legal", "greedy"][seed % 2], ["sum", "mean"][seed % 5 // 3])


@pytest.mark.parametrize("encoding", ENCODINGS)
@settings(max_examples=15, deadline=None)
@given(corpus=st.lists(sentences(), min_size=1, max_size=3), seed=seeds)
def test_gold_labels_that_stand_out_are_certain(encoding: str, corpus: list[Sentence], seed: int) -> None:
    vocabulary = learned(corpus, encoding)
    batch, lengths = gold_scores(vocabulary, corpus, seed)
    table = decode_scores(vocabulary, *batch, lengths, confidence=True, search=Search(deepest=20))
    assert table.to_lists() == [sentence.entities for sentence in corpus]
    assert table.confidence == pytest.approx(1)


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("decoding", ["legal", "greedy"])
@pytest.mark.parametrize("impossible", [0, 0.5, 1])
def test_any_scores_give_numbers_from_0_to_1(encoding: str, decoding: str, impossible: float) -> None:
    vocabulary = loose_vocabulary(encoding)
    lengths = np.random.default_rng(0).integers(0, 12, 15).tolist()
    batch = random_scores(vocabulary, lengths, 1, impossible)
    for scale in (1, 1_000):
        table = decode_scores(vocabulary, *(head * scale for head in batch), lengths, decoding, confidence=True)
        assert table.confidence is not None
        assert len(table.confidence) == len(table.type)
        assert ((table.confidence >= 0) & (table.confidence <= 1)).all()
        assert table.to_lists() == decode_scores(vocabulary, *batch, lengths, decoding).to_lists()


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_confidences_do_not_depend_on_the_batch(encoding: str) -> None:
    vocabulary = loose_vocabulary(encoding)
    lengths = [*np.random.default_rng(0).integers(0, 20, 6).tolist(), 40]
    batch = random_scores(vocabulary, lengths, 2)
    together = decode_scores(vocabulary, *batch, lengths, confidence=True)
    assert together.confidence is not None
    alone = [decode_scores(vocabulary, *parts, [length], confidence=True).confidence
             for parts, length in zip(by_sentence(batch, lengths), lengths, strict=True)]  # fmt: skip
    assert together.confidence == pytest.approx(np.concatenate(alone), abs=1e-9)


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_products_and_logarithms_give_the_same(encoding: str, monkeypatch: pytest.MonkeyPatch) -> None:
    vocabulary = loose_vocabulary(encoding)
    lengths = [*np.random.default_rng(0).integers(0, 12, 6).tolist(), 30]
    batch = random_scores(vocabulary, lengths, 4)
    products = decode_scores(vocabulary, *batch, lengths, confidence=True).confidence
    for least in (1e-20, 2.0):  # some sentences with logarithms, then all
        for module in (depth_probabilities, tetra_probabilities):
            monkeypatch.setattr(module, "UNDERFLOW", least)
        logarithms = decode_scores(vocabulary, *batch, lengths, confidence=True).confidence
        assert logarithms == pytest.approx(products, abs=1e-9)


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_long_sentences_do_not_underflow(encoding: str) -> None:
    vocabulary = loose_vocabulary(encoding)
    batch = random_scores(vocabulary, [900, 5], 6)
    search = Search(joint=False)
    table = decode_scores(vocabulary, *batch, [900, 5], confidence=True, search=search)
    short = decode_scores(vocabulary, *(head[900:] for head in batch), [5], confidence=True, search=search)
    assert table.confidence is not None
    assert (table.confidence[table.sentence == 0] > 0.01).sum() > 100
    assert table.confidence[table.sentence == 1] == pytest.approx(short.confidence, abs=1e-9)


class Confidences(NamedTuple):
    """Random scores of some sentences, and what decoding finds in them."""

    batch: list[np.ndarray]
    lengths: list[int]
    table: EntityTable


@cache
def found_whole(encoding: str, pooling: Pooling, seed: int) -> Confidences:
    """Sentences weighed without parts, found once for all sizes of parts."""
    vocabulary = loose_vocabulary(encoding)
    lengths = np.random.default_rng(seed).integers(0, 25, 6).tolist()
    batch = random_scores(vocabulary, lengths, seed, 0.1 * seed)
    search = Search(pooling=pooling)
    return Confidences(batch, lengths, decode_scores(vocabulary, *batch, lengths, confidence=True, search=search))


@pytest.mark.parametrize("encoding", ["abs", "rel", "dyn"])
@pytest.mark.parametrize("part", [1, 2, 7])
@pytest.mark.parametrize("pooling", ["mean", "exact"])
def test_long_sentences_weighed_in_parts_are_as_probable(
    encoding: str, part: int, pooling: Pooling, monkeypatch: pytest.MonkeyPatch
) -> None:
    wholes = [found_whole(encoding, pooling, seed) for seed in range(4)]
    vocabulary = loose_vocabulary(encoding)
    monkeypatch.setattr(parts, "LONG", 5)
    monkeypatch.setattr(parts, "PART", part)
    for batch, lengths, whole in wholes:
        search = Search(pooling=pooling)
        in_parts = decode_scores(vocabulary, *batch, lengths, confidence=True, search=search)
        assert whole.to_lists() == in_parts.to_lists()
        assert in_parts.confidence == pytest.approx(whole.confidence, abs=1e-8)


def test_more_entities_around_than_the_search_is_deep() -> None:
    sentence = Sentence(["w"] * 14, [(i, 14, "X") for i in range(1, 13)])
    for encoding in ENCODINGS:
        vocabulary = learned([sentence], encoding)
        batch, _ = gold_scores(vocabulary, [sentence], 0)
        table = decode_scores(vocabulary, *batch, [14], "greedy", confidence=True, search=Search(deepest=6))
        assert table.to_lists() == [sentence.entities]
        assert table.confidence is not None
        assert (table.confidence[-3:] == 0).all()


@pytest.mark.parametrize("encoding", ["abs", "rel", "dyn"])
def test_below_the_root_nothing_is_probable_if_the_search_is_one_deep(encoding: str) -> None:
    sentence = Sentence(["w"] * 4, [(1, 3, "X")])
    vocabulary = learned([sentence], encoding)
    batch, lengths = gold_scores(vocabulary, [sentence], 0)
    table = decode_scores(vocabulary, *batch, lengths, "greedy", confidence=True, search=Search(deepest=1))
    assert table.to_lists() == [sentence.entities]
    assert table.confidence is not None
    assert table.confidence.tolist() == [0]
