"""Confidences match enumeration of all valid sequences."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from enumeration import Heads, Shares, binary_trees, rate_by_hand
from nestag.data.sentence import Sentence
from nestag.decoding import Scores, Search, candidate_entities, decode_scores
from nestag.decoding import posterior as posterior_module
from nestag.decoding import scores as scores_module
from nestag.decoding.decode import decoder_of
from nestag.encodings.vocabulary import Vocabulary
from random_scores import RICH, by_sentence, gold_scores, learned, random_scores
from strategies import ENCODINGS, loose_vocabulary, sentences

DEPTHS = ENCODINGS[:3]
DEEPEST = 4
seeds = st.integers(0, 2**32 - 1)
corpora = st.just(RICH) | st.lists(sentences(most=5), max_size=3)


def columns(spans: list[tuple[int, int]]) -> tuple[np.ndarray, np.ndarray]:
    start, end = np.array(spans, dtype=np.int64).reshape(-1, 2).T
    return start, end


@pytest.mark.parametrize("encoding", ENCODINGS)
@settings(max_examples=25, deadline=None)
@given(corpus=corpora, length=st.integers(2, 4), seed=seeds, impossible=st.sampled_from([0, 0.4]))
def test_confidences_match_enumeration(
    encoding: str, corpus: list[Sentence], length: int, seed: int, impossible: float
) -> None:
    vocabulary = learned(corpus, encoding)
    batch = random_scores(vocabulary, [length], seed, impossible)
    shares = Shares(vocabulary, Heads.of(vocabulary, *batch), length, DEEPEST)
    scores = Scores.of(vocabulary, *batch, [length])
    posterior = decoder_of(vocabulary).posterior(scores, np.array([True]), Search(deepest=DEEPEST))
    found = posterior.span_probabilities(*columns([*shares.span]))
    assert found == pytest.approx(list(shares.span.values()), abs=1e-5)
    named = 0 if encoding == "4tg" else sum(share for root, share in shares.root.items() if root > 1)
    assert posterior.named_root == pytest.approx([named], abs=1e-5)


def test_number_of_binary_trees() -> None:
    assert [len(list(binary_trees(0, length))) for length in range(1, 7)] == [1, 1, 2, 5, 14, 42]


def check_confidences(vocabulary: Vocabulary, length: int, seed: int, decoding: str) -> None:
    batch = random_scores(vocabulary, [length], seed)
    search = Search(deepest=DEEPEST)
    table = decode_scores(vocabulary, *batch, [length], decoding, confidence=True, search=search)
    heads = Heads.of(vocabulary, *batch)
    found = list(table.to_lists()[0])
    expected = rate_by_hand(vocabulary, heads, Shares(vocabulary, heads, length, DEEPEST), found)
    assert table.confidence == pytest.approx(expected, abs=1e-5)


decodings = st.sampled_from(["constrained", "greedy"])


@pytest.mark.parametrize("encoding", ENCODINGS)
@settings(max_examples=25, deadline=None)
@given(corpora, st.integers(1, 4), seeds, decodings)
def test_confidences_match_a_worked_example(
    encoding: str, corpus: list[Sentence], length: int, seed: int, decoding: str
) -> None:
    check_confidences(learned(corpus, encoding), length, seed, decoding)


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_confidences_with_every_kind_of_node_label(encoding: str) -> None:
    vocabulary = learned(RICH, encoding)
    for seed in range(60):
        check_confidences(vocabulary, 2 + seed % 3, seed, ["constrained", "greedy"][seed % 2])


@pytest.mark.parametrize("encoding", ENCODINGS)
@settings(max_examples=15, deadline=None)
@given(corpus=st.lists(sentences(), min_size=1, max_size=3), seed=seeds)
def test_confident_gold_labels_have_probability_1(encoding: str, corpus: list[Sentence], seed: int) -> None:
    vocabulary = learned(corpus, encoding)
    batch, lengths = gold_scores(vocabulary, corpus, seed)
    table = decode_scores(vocabulary, *batch, lengths, confidence=True, search=Search(deepest=20))
    assert table.to_lists() == [sentence.entities for sentence in corpus]
    assert table.confidence == pytest.approx(1)


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("decoding", ["constrained", "greedy"])
@pytest.mark.parametrize("impossible", [0, 0.5, 1])
def test_any_scores_give_probabilities(encoding: str, decoding: str, impossible: float) -> None:
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
def test_confidences_do_not_depend_on_block_size(encoding: str, monkeypatch: pytest.MonkeyPatch) -> None:
    vocabulary = loose_vocabulary(encoding)
    lengths = [*np.random.default_rng(0).integers(0, 12, 8).tolist(), 30]
    batch = random_scores(vocabulary, lengths, 4)
    together = decode_scores(vocabulary, *batch, lengths, confidence=True)
    monkeypatch.setattr(scores_module, "WIDTH", 2)
    monkeypatch.setattr(posterior_module, "STATES", 1)
    apart = decode_scores(vocabulary, *batch, lengths, confidence=True)
    assert apart.to_lists() == together.to_lists()
    assert apart.confidence == pytest.approx(together.confidence, abs=1e-9)
    monkeypatch.setattr(scores_module, "CELLS", 1)
    assert decode_scores(vocabulary, *batch, lengths).to_lists() == together.to_lists()


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_long_sentences_do_not_underflow(encoding: str) -> None:
    vocabulary = loose_vocabulary(encoding)
    batch = random_scores(vocabulary, [5_000, 5], 6)
    table = decode_scores(vocabulary, *batch, [5_000, 5], confidence=True)
    short = decode_scores(vocabulary, *(head[5_000:] for head in batch), [5], confidence=True)
    assert table.confidence is not None
    sure = table.start[(table.sentence == 0) & (table.end - table.start > 1) & (table.confidence > 0.01)]
    assert np.histogram(sure, bins=5, range=(0, 5_000))[0].min() > 10  # from the first word to the last
    assert table.confidence[table.sentence == 1] == pytest.approx(short.confidence, abs=1e-9)


def test_entities_deeper_than_the_search_have_probabilities() -> None:
    sentence = Sentence(["w"] * 14, [(i, 14, "X") for i in range(1, 13)])
    for encoding in ENCODINGS:
        vocabulary = learned([sentence], encoding)
        batch, _ = gold_scores(vocabulary, [sentence], 0)
        table = decode_scores(vocabulary, *batch, [14], "greedy", confidence=True, search=Search(deepest=6))
        assert table.to_lists() == [sentence.entities]
        assert table.confidence is not None
        assert (table.confidence[-3:] == 0).all()


@pytest.mark.parametrize("encoding", ["abs", "rel", "dyn"])
def test_search_of_depth_one_has_no_inner_entities(encoding: str) -> None:
    sentence = Sentence(["w"] * 4, [(1, 3, "X")])
    vocabulary = learned([sentence], encoding)
    batch, lengths = gold_scores(vocabulary, [sentence], 0)
    table = decode_scores(vocabulary, *batch, lengths, "greedy", confidence=True, search=Search(deepest=1))
    assert table.to_lists() == [sentence.entities]
    assert table.confidence is not None
    assert table.confidence.tolist() == [0]


@pytest.mark.parametrize("certain", [-30, -1_000])
@pytest.mark.parametrize("mark", ["rR", "rL", "lR", "lL"])
def test_marks_above_the_root_give_finite_numbers(mark: str, certain: float) -> None:
    vocabulary = learned(RICH, "4tg")
    n, c, u = random_scores(vocabulary, [80], 0)
    n = np.where([label == mark for label in vocabulary.n], 0.0, certain + n)
    for table in (
        decode_scores(vocabulary, n, c, u, [80], confidence=True),
        candidate_entities(vocabulary, n, c, u, [80], floor=0.1),
    ):
        assert table.confidence is not None
        assert ((table.confidence >= 0) & (table.confidence <= 1)).all()
