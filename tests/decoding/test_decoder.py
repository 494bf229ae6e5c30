"""Encodings bring their decoder; others are repaired and decoded greedily."""

from collections.abc import Iterator
from importlib.metadata import EntryPoint, EntryPoints

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import nestag.encodings as registry
from fifth_encoding import FromTheRight
from nestag.data.sentence import Sentence
from nestag.decoding import Decoder, EntityTable, LabelBatch, Scores, Search, decode_batch, decode_scores, decodes
from nestag.decoding import decode as decoders
from nestag.decoding.decode import DepthDecoder, decoder_of
from nestag.encodings import Encoding, decode, encode
from nestag.encodings.depth import AbsoluteDepth
from nestag.encodings.vocabulary import LabelIds, Vocabulary
from nestag.errors import LabelError, UnknownNameError
from random_scores import random_scores
from strategies import loose_vocabulary, sentences


@pytest.fixture(autouse=True)
def right(monkeypatch: pytest.MonkeyPatch) -> Iterator[FromTheRight]:
    """The fifth encoding, known while a test runs."""
    monkeypatch.setattr(registry, "_registered", {})
    monkeypatch.setattr(decoders, "_DECODERS", dict(decoders._DECODERS))
    added = FromTheRight()
    registry.register(added)
    yield added
    decoders._decoder.cache_clear()


class Backwards(AbsoluteDepth):
    """One of the family of depths: the same with their sign turned."""

    name = "backwards"

    def to_n(self, before: int, depth: int) -> int:
        return -depth

    def to_depth(self, before: int, n: object) -> int:
        return -super().to_depth(before, n)  # type: ignore[arg-type]


def vocabulary_of(added: Encoding) -> Vocabulary:
    loose = loose_vocabulary("abs")
    return Vocabulary(added.name, loose.n, loose.c, loose.u)


@given(sentence=sentences())
def test_fifth_encoding_is_valid(sentence: Sentence) -> None:
    assert decode(encode(sentence, FromTheRight()), FromTheRight()) == sentence.entities


@pytest.mark.parametrize("added", [Backwards(), FromTheRight()])
@pytest.mark.parametrize("naming", ["first", "majority"])
def test_repair_works_for_any_encoding(added: Encoding, naming: registry.Naming) -> None:
    registry.register(added)
    vocabulary = vocabulary_of(added)
    rng = np.random.default_rng(3)
    lengths = [7, 0, 3, 12]
    batch = [rng.integers(0, len(table), 22) for table in (vocabulary.n, vocabulary.c, vocabulary.u)]
    labels = vocabulary.labels(LabelIds(*(ids.tolist() for ids in batch)))
    alone = [decode(labels[a:b], added, naming) for a, b in ((0, 7), (7, 7), (7, 10), (10, 22))]
    assert decode_batch(vocabulary, *batch, lengths, naming).to_lists() == alone


def test_depth_encodings_share_the_search() -> None:
    registry.register(Backwards())
    loose = loose_vocabulary("abs")
    turned = Vocabulary("backwards", tuple(-n for n in loose.n), loose.c, loose.u)  # type: ignore[operator]
    assert type(decoder_of(turned)) is DepthDecoder
    batch = random_scores(loose, [9, 4], 1)
    expected = decode_scores(loose, *batch, [9, 4], confidence=True)
    found = decode_scores(turned, *batch, [9, 4], confidence=True)
    assert found.to_lists() == expected.to_lists()
    assert found.confidence == pytest.approx(expected.confidence)


def test_constrained_decoding_without_search_warns_and_is_greedy(right: FromTheRight) -> None:
    vocabulary = vocabulary_of(right)
    batch = random_scores(vocabulary, [5, 8], 9)
    with pytest.warns(
        UserWarning, match="encoding 'right' has no search for the best valid labels; decoding is greedy"
    ):
        found = decode_scores(vocabulary, *batch, [5, 8])
    assert found.to_lists() == decode_scores(vocabulary, *batch, [5, 8], "greedy").to_lists()


@given(seed=st.integers(0, 1_000), temperature=st.sampled_from([1.0, 2.0]))
def test_fallback_confidence_is_the_mean_label_probability(seed: int, temperature: float) -> None:
    vocabulary = vocabulary_of(FromTheRight())
    batch = random_scores(vocabulary, [5, 0, 8], seed, impossible=0.1)
    search = Search(temperature=temperature)
    table = decode_scores(vocabulary, *batch, [5, 0, 8], "greedy", confidence=True, search=search)
    assert table.confidence is not None
    first = [0, 5, 5]
    for sentence, start, end, value in zip(table.sentence, table.start, table.end, table.confidence, strict=True):
        rows = [row for head in batch for row in head[first[sentence] + start : first[sentence] + end]]
        chances = [1 / np.exp((row - row.max()) / temperature).sum() for row in rows if row.max() > -np.inf]
        chances += [1 / len(row) for row in rows if row.max() == -np.inf]
        assert value == pytest.approx(np.prod(chances) ** (1 / len(chances)))


def test_registered_decoder_serves_subclasses(right: FromTheRight) -> None:
    vocabulary = vocabulary_of(right)
    assert type(decoder_of(vocabulary)) is Decoder

    @decodes(FromTheRight)
    class Own(Decoder[FromTheRight]):
        def search(self, scores: Scores, settings: Search) -> EntityTable:
            labels = LabelBatch(*(np.zeros(len(scores.n), dtype=np.int64) for _ in range(3)), scores.lengths)
            return self.repair(labels, "majority")

    class Further(FromTheRight):
        name = "further"

    registry.register(Further())
    for added in (right, Further()):
        assert type(decoder_of(vocabulary_of(added))) is Own
        batch = random_scores(vocabulary, [5], 9)
        expected = decode_batch(vocabulary, *[np.zeros(5, dtype=int)] * 3, [5], "majority").to_lists()
        assert decode_scores(vocabulary_of(added), *batch, [5]).to_lists() == expected


def test_builtin_names_cannot_be_replaced() -> None:
    with pytest.raises(LabelError, match="nestag has an encoding called 'abs'; give yours another name"):
        registry.register(AbsoluteDepth())


def test_encoding_is_found_by_entry_point(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_registered", {})
    with pytest.raises(UnknownNameError, match=r"no encoding is called 'right'.*import the module that registers it"):
        registry.encoding("right")
    points = EntryPoints([EntryPoint("right", "fifth_encoding:FromTheRight", registry.ENTRY_POINTS)])
    monkeypatch.setattr(registry, "entry_points", lambda **chosen: points.select(**chosen))
    assert isinstance(registry.encoding("right"), FromTheRight)
    assert "right" in registry.available()
