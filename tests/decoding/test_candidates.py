"""Candidates are as probable as, among the label sequences of all trees, those that have them."""

import numpy as np
import pytest

from enumeration import label_sequences
from nestag.data import Entity
from nestag.decoding import Search, candidate_entities, decode_scores
from nestag.decoding.depth import marginals as depth_marginals
from nestag.decoding.opened import ClosedNodes
from nestag.decoding.scores import Scores
from nestag.decoding.tetra import marginals as tetra_marginals
from nestag.errors import LabelError
from nestag.tree import Name
from nestag.vocabulary import Vocabulary
from random_scores import RICH, by_sentence, gold_scores, learned, random_scores
from strategies import ENCODINGS, loose_vocabulary

DEEPEST = 4


@pytest.fixture
def everything(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is left out for being improbable."""
    for module in (depth_marginals, tetra_marginals):
        monkeypatch.setattr(module.node_shares, "__defaults__", (0.0, 1_000_000))


def candidates(vocabulary: Vocabulary, batch: list[np.ndarray], lengths: list[int]) -> list[dict[Entity, float]]:
    table = candidate_entities(vocabulary, *batch, lengths, floor=0, search=Search(deepest=DEEPEST))
    rated = iter(table.confidence.tolist())
    return [{entity: next(rated) for entity in entities} for entities in table.to_lists()]


@pytest.mark.usefixtures("everything")
@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("loose", [False, True])
def test_candidates_are_the_marginals_of_all_trees(encoding: str, loose: bool) -> None:
    vocabulary = loose_vocabulary(encoding) if loose else learned(RICH, encoding)
    lengths = [1, 4, 3, 2, 4, 4, 3, 2, 1, *([] if loose else [5, 5, 5])]
    for seed in range(6):
        batch = random_scores(vocabulary, lengths, seed)
        found = candidates(vocabulary, batch, lengths)
        for entities, heads, length in zip(found, by_sentence(batch, lengths), lengths, strict=True):
            sequences = label_sequences(vocabulary, length, DEEPEST)
            assert sequences is not None
            longer = {entity: share for entity, share in entities.items() if entity.end - entity.start > 1}
            assert longer == pytest.approx(sequences.marginals(*heads[:2]), abs=1e-9)


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_words_are_as_probable_as_their_u(encoding: str) -> None:
    vocabulary = loose_vocabulary(encoding)  # its u are none, A, B+A and S+S; no tree has the last two
    batch = random_scores(vocabulary, [3, 1], 1)
    found = candidates(vocabulary, batch, [3, 1])
    for (none, a, *_), (sentence, place) in zip(batch[2], [(0, 0), (0, 1), (0, 2), (1, 0)], strict=True):
        words = {entity: share for entity, share in found[sentence].items() if entity[:2] == (place, place + 1)}
        assert words == {Entity(place, place + 1, "A"): pytest.approx(1 / (1 + np.exp(none - a)))}


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_what_is_left_out_changes_little(encoding: str, monkeypatch: pytest.MonkeyPatch) -> None:
    vocabulary = learned(RICH, encoding)
    gold, lengths = gold_scores(vocabulary, RICH * 5, 3)
    batch = [np.where(head > 500, head - 995, head) / 3 + (head > 500) * 3 for head in gold]  # as sure as a model
    quick = candidates(vocabulary, batch, lengths)
    for module in (depth_marginals, tetra_marginals):
        monkeypatch.setattr(module.node_shares, "__defaults__", (1e-7, 5_000))
    for some, full in zip(quick, candidates(vocabulary, batch, lengths), strict=True):
        for entity, share in full.items():
            assert some.get(entity, 0) == pytest.approx(share, abs=0.02)


def test_what_is_improbable_is_not_even_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    vocabulary = learned(RICH, "4tg")
    gold, lengths = gold_scores(vocabulary, RICH, 3)
    made, tried = tetra_marginals.openings_of, []

    def kept(*given: np.ndarray) -> tuple[np.ndarray, ...]:
        tried.append(made(*given))
        return tried[-1]

    monkeypatch.setattr(tetra_marginals, "openings_of", kept)
    assert [tuple(found) for found in candidates(vocabulary, gold, lengths)] == [one.entities for one in RICH]
    assert [openings.width.max() for openings in tried] == [1]


def test_candidates_of_a_long_sentence_do_not_underflow() -> None:
    """What is far ahead changes nothing at the beginning."""
    vocabulary = loose_vocabulary("4tg")
    batch = random_scores(vocabulary, [900], 6)
    (long,) = candidates(vocabulary, batch, [900])
    (short,) = candidates(vocabulary, [head[:200] for head in batch], [200])
    near = {entity: share for entity, share in short.items() if entity.end <= 30 and share > 0.01}
    assert len(near) > 20
    assert {entity: long.get(entity, 0) for entity in near} == pytest.approx(near, abs=1e-6)


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_the_floor_is_kept(encoding: str) -> None:
    vocabulary = learned(RICH, encoding)
    batch = [3 * head for head in random_scores(vocabulary, [6, 0, 8], 4)]
    table = candidate_entities(vocabulary, *batch, [6, 0, 8], floor=0.2)
    assert table.confidence is not None
    assert table.sentences == 3
    assert ((table.confidence >= 0.2) & (table.confidence <= 1)).all()
    everything = candidate_entities(vocabulary, *batch, [6, 0, 8], floor=0)
    assert len(everything.type) >= len(table.type)


def test_a_floor_is_a_probability() -> None:
    vocabulary = learned(RICH, "abs")
    with pytest.raises(LabelError, match=r"floor is 1\.5; give a probability from 0 to 1"):
        candidate_entities(vocabulary, *random_scores(vocabulary, [2], 0), [2], floor=1.5)


@pytest.mark.usefixtures("everything")
@pytest.mark.parametrize("encoding", ENCODINGS)
def test_exact_confidences_are_marginals(encoding: str) -> None:
    vocabulary = learned(RICH, encoding)
    lengths = [4, 1, 5, 0, 3]
    batch = random_scores(vocabulary, lengths, 7)
    search = Search(deepest=DEEPEST, pooling="exact", temperature=2)
    for decoding in ("legal", "greedy"):
        table = decode_scores(vocabulary, *batch, lengths, decoding, confidence=True, search=search)
        rated = candidate_entities(vocabulary, *batch, lengths, floor=0, search=search)
        marginals = dict(zip(zip(*rated[:4], strict=True), rated.confidence, strict=True))
        expected = [marginals.get(entity, 0) for entity in zip(*table[:4], strict=True)]
        assert len(expected) > 3
        assert table.confidence == pytest.approx(expected)


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_a_vocabulary_that_can_write_nothing_has_no_candidates(encoding: str) -> None:
    nothing = Vocabulary(encoding, ("rL",) if encoding == "4tg" else (7,), (Name((), prime=True),), ((),))
    assert candidate_entities(nothing, *[np.zeros((5, 1))] * 3, [4, 1], floor=0).to_lists() == [(), ()]


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("loose", [False, True])
def test_where_legal_decoding_finds_entities_there_are_candidates(encoding: str, loose: bool) -> None:
    vocabulary = loose_vocabulary(encoding) if loose else learned(RICH, encoding)
    lengths = [10, 30, 60, 10, 20, 5, 10]
    batch = random_scores(vocabulary, lengths, 5)
    legal = decode_scores(vocabulary, *batch, lengths, search=Search(joint=True))
    likely = candidate_entities(vocabulary, *batch, lengths)
    several = [set(table.sentence[table.end - table.start > 1].tolist()) for table in (legal, likely)]
    assert len(several[0]) >= 6
    assert several[0] <= several[1]


@pytest.mark.parametrize("encoding", [name for name in ENCODINGS if name != "4tg"])
def test_where_no_way_is_left_the_best_depths_are(encoding: str, monkeypatch: pytest.MonkeyPatch) -> None:
    vocabulary = loose_vocabulary(encoding)
    lengths = [20, 12]
    batch = [np.concatenate([head[:20] / 10, head[20:]]) for head in random_scores(vocabulary, lengths, 2)]
    monkeypatch.setattr(depth_marginals, "WIDEST", 1)
    monkeypatch.setattr(depth_marginals.node_shares, "__defaults__", (1e-3, 1))
    monkeypatch.setattr(depth_marginals, "_node_shares", _nothing_left)
    found = candidates(vocabulary, batch, lengths)
    legal = decode_scores(vocabulary, *batch, lengths, search=Search(deepest=DEEPEST)).to_lists()
    for rated, entities in zip(found, legal, strict=True):
        longer = [entity for entity in entities if entity.end - entity.start > 1]
        assert longer
        assert set(longer) <= set(rated)
        assert all(0 <= share <= 1 for share in rated.values())


def _nothing_left(
    machine: object, vocabulary: Vocabulary, scores: Scores, *limits: float
) -> tuple[ClosedNodes, np.ndarray]:
    none = np.zeros(0, dtype=np.int64)
    return ClosedNodes(none, none, none, np.zeros(0)), np.ones(len(scores.lengths), dtype=bool)
