"""Batches of numbers decode to what each sentence alone decodes to."""

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import nestag.encodings as registry
from nestag.data import Sentence
from nestag.decoding import decode_batch
from nestag.encodings import Label, decode
from nestag.encodings.base import Naming
from nestag.encodings.depth import AbsoluteDepth
from nestag.errors import LabelError
from nestag.tree import Tree
from nestag.vocabulary import LabelIds, Vocabulary
from strategies import ENCODINGS, loose_vocabulary, sentences

TOKENS = 250_000  # of each encoding, a million in all


def random_batch(vocabulary: Vocabulary, lengths: np.ndarray, seed: int) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    shape = len(lengths), int(lengths.max(initial=0))
    batch = [rng.integers(0, len(table), shape) for table in (vocabulary.n, vocabulary.c, vocabulary.u)]
    for ids in batch:
        ids[np.arange(shape[1]) >= lengths[:, None]] = -100
    return batch


def one_by_one(vocabulary: Vocabulary, batch: Sequence[np.ndarray], lengths: np.ndarray, naming: Naming) -> list:
    rows = zip(*(ids.tolist() for ids in batch), lengths.tolist(), strict=True)
    labelled = (vocabulary.labels(LabelIds(n[:size], c[:size], u[:size])) for n, c, u, size in rows)
    return [decode(labels, vocabulary.encoding, naming) for labels in labelled]


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("naming", ["first", "majority"])
def test_a_batch_is_its_sentences(encoding: str, naming: Naming) -> None:
    vocabulary = loose_vocabulary(encoding)
    lengths = np.random.default_rng(0).integers(0, 60, TOKENS // 60)
    batch = random_batch(vocabulary, lengths, seed=1)
    found = decode_batch(vocabulary, *batch, lengths, naming)
    assert found.to_lists() == one_by_one(vocabulary, batch, lengths, naming)


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_long_sentences_and_deep_walks(encoding: str) -> None:
    vocabulary = loose_vocabulary(encoding)
    lengths = np.array([4_000, 1, 0, 3_000])
    batch = random_batch(vocabulary, lengths, seed=2)
    if encoding == "rel":
        batch[0][0] = vocabulary.n.index(1)  # one step down at every token
    assert decode_batch(vocabulary, *batch, lengths).to_lists() == one_by_one(vocabulary, batch, lengths, "first")


@pytest.mark.parametrize("encoding", ENCODINGS)
@given(corpus=st.lists(sentences(), max_size=4))
def test_gold_comes_back(encoding: str, corpus: list[Sentence]) -> None:
    vocabulary = Vocabulary.learn(corpus, encoding)
    ids = [vocabulary.ids(vocabulary.encode(sentence)) for sentence in corpus]
    width = max(map(len, corpus), default=0)
    batch = [np.array([row[head] + [-100] * (width - len(row[head])) for row in ids], dtype=int) for head in range(3)]
    padded = [part.reshape(len(corpus), width) for part in batch]
    table = decode_batch(vocabulary, *padded, [len(sentence) for sentence in corpus])
    assert table.to_lists() == [sentence.entities for sentence in corpus]


class Backwards(AbsoluteDepth):
    """A fifth encoding, as somebody might add it: depths with their sign turned."""

    name = "backwards"

    def from_depths(self, depths: list[int]) -> list[int]:
        return [-depth for depth in depths]

    def next_depth(self, depth: int, n: object) -> int:
        return -super().next_depth(depth, n)  # type: ignore[arg-type]


class Foreign(registry.Encoding):
    """One that offers no fast way at all."""

    name = "foreign"
    inner = AbsoluteDepth()

    def encode(self, tree: Tree) -> list[Label]:
        return self.inner.encode(tree)

    def decode(self, labels: Sequence[Label], naming: Naming = "first") -> Tree:
        return self.inner.decode(labels, naming)

    def write_n(self, n: object) -> str:
        return self.inner.write_n(n)  # type: ignore[arg-type]

    def read_n(self, text: str) -> int:
        return self.inner.read_n(text)  # type: ignore[return-value]


@pytest.mark.parametrize("added", [Backwards(), Foreign()])
def test_a_fifth_encoding_needs_nothing_but_itself(added: registry.Encoding, monkeypatch: pytest.MonkeyPatch) -> None:
    everything = {**registry.available(), added.name: added}
    monkeypatch.setattr(registry, "available", lambda: everything)
    loose = loose_vocabulary("abs")
    vocabulary = Vocabulary(added.name, loose.n, loose.c, loose.u)
    lengths = np.array([7, 0, 3, 12])
    batch = random_batch(vocabulary, lengths, seed=3)
    assert decode_batch(vocabulary, *batch, lengths).to_lists() == one_by_one(vocabulary, batch, lengths, "first")


def test_numbers_outside_the_tables_are_named() -> None:
    vocabulary = loose_vocabulary("abs")
    with pytest.raises(LabelError, match="sentence 1, label 0: c is number 99; the vocabulary has 0 to"):
        decode_batch(vocabulary, [[0, 0], [0, -1]], [[0, 0], [99, -1]], [[0, 0], [0, -1]], [2, 1])
    with pytest.raises(LabelError, match="lengths go from 3 to 3; the arrays have 2 columns"):
        decode_batch(vocabulary, [[0, 0]], [[0, 0]], [[0, 0]], [3])
    with pytest.raises(LabelError, match=r"u holds float64 shaped \(1, 2\)"):
        decode_batch(vocabulary, [[0, 0]], [[0, 0]], [[0.5, 0]], [2])
    with pytest.raises(LabelError, match=r"c holds int64 shaped \(1, 1\); give integers shaped \(1, 2\)"):
        decode_batch(vocabulary, [[0, 0]], [[0]], [[0, 0]], [2])


def test_inputs_are_left_as_they_are() -> None:
    vocabulary = loose_vocabulary("rel")
    lengths = np.array([5, 9])
    batch = random_batch(vocabulary, lengths, seed=4)
    copies = [ids.copy() for ids in batch]
    decode_batch(vocabulary, *batch, lengths)
    assert all((ids == copy).all() for ids, copy in zip(batch, copies, strict=True))
