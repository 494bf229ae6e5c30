"""Batches are repaired like single sentences."""

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nestag.data.sentence import Sentence
from nestag.decoding import decode_batch
from nestag.encodings import decode
from nestag.encodings.base import Naming
from nestag.encodings.vocabulary import LabelIds, Vocabulary
from strategies import ENCODINGS, loose_vocabulary, sentences

TOKENS = 1_000 * settings.default.max_examples  # of each encoding and naming; CI draws more


def random_batch(vocabulary: Vocabulary, lengths: np.ndarray, seed: int) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    return [rng.integers(0, len(table), lengths.sum()) for table in (vocabulary.n, vocabulary.c, vocabulary.u)]


def one_by_one(vocabulary: Vocabulary, batch: Sequence[np.ndarray], lengths: np.ndarray, naming: Naming) -> list:
    labels = vocabulary.labels(LabelIds(*(ids.tolist() for ids in batch)))
    ends = np.cumsum(lengths).tolist()
    cuts = zip([0, *ends], ends, strict=False)
    return [decode(labels[first:end], vocabulary.encoding, naming) for first, end in cuts]


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("naming", ["first", "majority"])
def test_batch_equals_single_sentences(encoding: str, naming: Naming) -> None:
    vocabulary = loose_vocabulary(encoding)
    lengths = np.random.default_rng(0).integers(0, 60, TOKENS // 60)
    batch = random_batch(vocabulary, lengths, seed=1)
    found = decode_batch(vocabulary, *batch, lengths, naming)
    assert found.to_lists() == one_by_one(vocabulary, batch, lengths, naming)


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("naming", ["first", "majority"])
def test_small_batches_equal_single_sentences(encoding: str, naming: Naming) -> None:
    vocabulary = loose_vocabulary(encoding)
    for seed in range(100):
        lengths = np.random.default_rng(seed).integers(0, 5, 3)
        batch = random_batch(vocabulary, lengths, seed)
        table = decode_batch(vocabulary, *batch, lengths, naming)
        assert table.to_lists() == one_by_one(vocabulary, batch, lengths, naming)


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_long_and_deep_sentences_are_repaired(encoding: str) -> None:
    vocabulary = loose_vocabulary(encoding)
    lengths = np.array([4_000, 1, 0, 3_000])
    batch = random_batch(vocabulary, lengths, seed=2)
    if encoding == "rel":
        batch[0][:4_000] = vocabulary.n.index(1)  # one step down at every token
    assert decode_batch(vocabulary, *batch, lengths).to_lists() == one_by_one(vocabulary, batch, lengths, "first")


@pytest.mark.parametrize("encoding", ENCODINGS)
@given(corpus=st.lists(sentences(), max_size=4))
def test_gold_labels_round_trip(encoding: str, corpus: list[Sentence]) -> None:
    vocabulary = Vocabulary.learn(corpus, encoding)
    ids = [vocabulary.ids(vocabulary.encode(sentence)) for sentence in corpus]
    batch = [[number for row in ids for number in row[head]] for head in range(3)]
    table = decode_batch(vocabulary, *batch, [len(sentence) for sentence in corpus])
    assert table.to_lists() == [sentence.entities for sentence in corpus]


def test_repair_does_not_change_its_input() -> None:
    vocabulary = loose_vocabulary("rel")
    lengths = np.array([5, 9])
    batch = random_batch(vocabulary, lengths, seed=4)
    copies = [ids.copy() for ids in batch]
    decode_batch(vocabulary, *batch, lengths)
    assert all((ids == copy).all() for ids, copy in zip(batch, copies, strict=True))
