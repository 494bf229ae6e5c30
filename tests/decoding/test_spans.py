"""Decoding of a span grid matches a literal implementation."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from enumeration import Heads, Shares
from nestag.data.sentence import Entity
from nestag.decoding import (
    EntityTable,
    Scores,
    Search,
    SpanBatch,
    SpanCells,
    SpanScores,
    confidences,
    decode_scores,
    decode_spans,
    grid_entities,
    without_crossing,
)
from nestag.decoding.spans import MOST_SPANS
from nestag.encodings.vocabulary import Vocabulary
from random_scores import RICH, by_sentence, learned, random_scores
from strategies import ENCODINGS, crosses

LENGTHS = [0, 1, 4, 9, 0, 2, 17, 30, 5, 0]
WIDTH = 6


def grid_of(vocabulary: Vocabulary, seed: int, lengths: list[int] = LENGTHS) -> tuple[np.ndarray, SpanScores]:
    """Random logits (words x width x types), and those above -3 as the engine has them."""
    rng = np.random.default_rng(seed)
    logits = rng.normal(-4, 3, (sum(lengths), WIDTH, len(vocabulary.types))).astype(np.float32)
    remaining = np.concatenate([np.arange(length, 0, -1) for length in lengths])
    word, column, kind = (logits >= -3).nonzero()
    cells = SpanCells(word, column + 1, kind, logits[word, column, kind])
    return logits, SpanScores.of([cells], np.minimum(WIDTH, remaining))


def literal(vocabulary: Vocabulary, logits: np.ndarray, scores: list[np.ndarray], threshold: float) -> list[Entity]:
    """The entities of one sentence: probable spans first, then longer entities of the labels that cross none."""
    length = len(logits)
    rated = {
        Entity(start, start + size + 1, kind): 1 / (1 + np.exp(-float(logits[start, size, number])))
        for start in range(length)
        for size in range(min(WIDTH, length - start))
        for number, kind in enumerate(vocabulary.types)
    }
    entities: list[Entity] = []
    for entity in sorted(rated, key=lambda entity: -rated[entity]):
        if rated[entity] >= threshold and not any(crosses(entity, other) for other in entities):
            entities.append(entity)
    (labelled,) = decode_scores(vocabulary, *scores, [length]).to_lists()
    longer = [entity for entity in labelled if entity.end - entity.start > WIDTH]
    return entities + [entity for entity in longer if not any(crosses(entity, other) for other in entities)]


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("seed", range(4))
def test_spans_match_the_definition(encoding: str, seed: int) -> None:
    vocabulary = learned(RICH, encoding)
    heads = random_scores(vocabulary, LENGTHS, seed)
    logits, spans = grid_of(vocabulary, seed)
    batch = SpanBatch(vocabulary, spans, Scores.of(vocabulary, *heads, LENGTHS))
    table = decode_spans(batch, 0.4, confidence=True, search=Search())
    ends = np.cumsum(LENGTHS)
    parts = [logits[end - length : end] for end, length in zip(ends, LENGTHS, strict=True)]
    expected = [
        literal(vocabulary, part, scores, 0.4) if len(part) else []
        for part, scores in zip(parts, by_sentence(heads, LENGTHS), strict=True)
    ]
    assert [set(entities) for entities in table.to_lists()] == [set(entities) for entities in expected]
    assert sum(map(len, expected)) > 20
    assert table.confidence is not None
    longer = table.end - table.start > WIDTH
    assert table.confidence[~longer].min() >= 0.4
    rated = confidences(vocabulary, batch.scores, table.at(longer), Search())
    np.testing.assert_allclose(table.confidence[longer], rated)
    plain = decode_spans(batch, 0.4, confidence=False, search=Search())
    assert plain.to_lists() == table.to_lists()


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_spans_that_are_improbable_by_the_labels_are_dropped(encoding: str) -> None:
    vocabulary, kept, dropped = learned(RICH, encoding), 0, 0
    search = Search(deepest=4, min_node_probability=0.2)
    for seed in range(20):
        heads = random_scores(vocabulary, [4], seed)
        shares = Shares(vocabulary, Heads.of(vocabulary, *heads), 4, 4)
        if encoding != "4tg":
            shares.span[0, 4] += sum(share for root, share in shares.root.items() if root > 1)
        batch = SpanBatch(vocabulary, grid_of(vocabulary, seed, [4])[1], Scores.of(vocabulary, *heads, [4]))
        (spans,) = grid_entities(batch, 0.4).to_lists()
        (left,) = decode_spans(batch, 0.4, confidence=False, search=search, cross=True).to_lists()
        short = [span for span in spans if span.end - span.start == 1 or shares.span[span.start, span.end] >= 0.2]
        assert list(left) == short
        kept, dropped = kept + len(left), dropped + len(spans) - len(left)
    assert min(kept, dropped) > 5


def test_candidates_may_cross() -> None:
    vocabulary = learned(RICH, "rel")
    _, spans = grid_of(vocabulary, 1)
    batch = SpanBatch(vocabulary, spans, Scores.of(vocabulary, *random_scores(vocabulary, LENGTHS, 1), LENGTHS))
    table = decode_spans(batch, 0.2, confidence=False, search=Search(), cross=True)
    assert any(crosses(a, b) for entities in table.to_lists() for a in entities for b in entities)


def test_a_higher_temperature_moves_probabilities_towards_one_half() -> None:
    vocabulary = learned(RICH, "rel")
    _, spans = grid_of(vocabulary, 2)
    batch = SpanBatch(vocabulary, spans, Scores.of(vocabulary, *random_scores(vocabulary, LENGTHS, 2), LENGTHS))
    one, two = (grid_entities(batch, 0.05, temperature) for temperature in (1.0, 2.0))
    assert one.confidence is not None
    assert two.confidence is not None
    assert len(two.start) >= len(one.start)
    assert two.confidence.max() < one.confidence.max()


def test_too_many_spans_keep_the_most_probable() -> None:
    vocabulary, words = learned(RICH, "rel"), 50
    first = np.repeat(np.arange(words), WIDTH * len(vocabulary.types))
    length = np.tile(np.repeat(np.arange(WIDTH) + 1, len(vocabulary.types)), words)
    kind = np.tile(np.arange(len(vocabulary.types)), words * WIDTH)
    logit = np.linspace(1, 2, len(first), dtype=np.float32)
    limit = np.minimum(WIDTH, np.arange(words, 0, -1))
    spans = SpanScores.of([SpanCells(first, length, kind, logit)], limit)
    scores = Scores.of(vocabulary, *random_scores(vocabulary, [words], 0), [words])
    table = grid_entities(SpanBatch(vocabulary, spans, scores), 0.5)
    assert len(spans.cells.first) > MOST_SPANS * words
    assert len(table.start) == MOST_SPANS * words
    least = np.sort(spans.cells.logit)[-MOST_SPANS * words]
    assert table.confidence is not None
    assert table.confidence.min() == pytest.approx(1 / (1 + np.exp(-least)), abs=1e-6)


def test_without_sentences_there_are_no_entities() -> None:
    vocabulary = learned(RICH, "rel")
    scores = Scores.of(vocabulary, *random_scores(vocabulary, [], 0), [])
    batch = SpanBatch(vocabulary, SpanScores.of([], np.zeros(0, dtype=np.int64)), scores)
    assert decode_spans(batch, 0.5, confidence=True, search=Search()).to_lists() == []


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 9), st.integers(1, 6), st.integers(0, 3)), max_size=25))
def test_more_probable_of_two_crossing_entities_is_kept(drawn: list[tuple[int, int, int, int]]) -> None:
    rows = sorted({(sentence, start, start + size): value for sentence, start, size, value in drawn}.items(),
                  key=lambda row: (row[0][0], row[0][1], -row[0][2]))  # fmt: skip
    sentence, start, end = np.array([row for row, _ in rows], dtype=np.int64).reshape(-1, 3).T
    value = np.array([value for _, value in rows], dtype=np.float64)
    table = EntityTable(sentence, start, end, np.zeros(len(rows), dtype=np.int64), ("A",), 3)
    staying: list[int] = []
    for row in sorted(range(len(rows)), key=lambda row: -value[row]):
        entity = Entity(int(start[row]), int(end[row]), "A")
        others = [Entity(int(start[one]), int(end[one]), "A") for one in staying if sentence[one] == sentence[row]]
        if not any(crosses(entity, other) for other in others):
            staying.append(row)
    assert np.flatnonzero(without_crossing(table, value)).tolist() == sorted(staying)
