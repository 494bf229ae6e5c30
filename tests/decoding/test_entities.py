"""Entity tables are filtered by confidence and joined."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nestag.data.sentence import Sentence
from nestag.data.tree import Tree
from nestag.decoding import EntityTable, decode_scores, filter_entities, join_entities
from nestag.errors import LabelError, UnknownNameError
from random_scores import by_sentence, random_scores
from strategies import loose_vocabulary, sentences


@settings(max_examples=30)
@given(st.lists(sentences(), max_size=4), st.randoms(use_true_random=False))
def test_filtering_keeps_entities_above_the_threshold(corpus: list[Sentence], rng) -> None:
    kinds = tuple(sorted({entity.type for sentence in corpus for entity in sentence.entities}))
    rows = [(i, *entity) for i, sentence in enumerate(corpus) for entity in sentence.entities]
    values = [rng.random() for _ in rows]
    integers = [np.array([row[k] for row in rows], dtype=np.int64) for k in range(3)]
    numbers = np.array([kinds.index(row[3]) for row in rows], dtype=np.int64)
    table = EntityTable(*integers, numbers, kinds, len(corpus), np.array(values))
    own = {kind: rng.random() for kind in kinds if rng.random() < 0.5}
    kept = filter_entities(table, 0.5, own)
    expected = [row for row, value in zip(rows, values, strict=True) if value >= own.get(row[3], 0.5)]
    lists = kept.to_lists()
    assert [(i, *entity) for i, entities in enumerate(lists) for entity in entities] == expected
    for sentence, entities in zip(corpus, lists, strict=True):
        Tree.from_entities(len(sentence), entities)  # refuses entities that cross
    assert filter_entities(table).to_lists() == table.to_lists()
    assert len(filter_entities(table, min(values, default=1)).type) == len(values)
    assert filter_entities(table, 1.1).to_lists() == [()] * len(corpus)


def test_filtering_needs_confidences_and_known_types() -> None:
    vocabulary = loose_vocabulary("abs")
    batch = random_scores(vocabulary, [5], 3)
    with pytest.raises(LabelError, match="the table has no confidences; decode the scores with confidence=True"):
        filter_entities(decode_scores(vocabulary, *batch, [5]), 0.5)
    with pytest.raises(UnknownNameError, match="no type is called 'Q'; there are A, B, S"):
        filter_entities(decode_scores(vocabulary, *batch, [5], confidence=True), 0.5, {"Q": 0.5})


@pytest.mark.parametrize("confidence", [False, True])
def test_joined_tables_cover_all_sentences(confidence: bool) -> None:
    vocabulary = loose_vocabulary("dyn")
    lengths = [4, 0, 9, 1]
    batch = random_scores(vocabulary, lengths, 5)
    parts = [decode_scores(vocabulary, *heads, [length], confidence=confidence)
             for heads, length in zip(by_sentence(batch, lengths), lengths, strict=True)]  # fmt: skip
    joined, whole = join_entities(parts), decode_scores(vocabulary, *batch, lengths, confidence=confidence)
    assert joined.to_lists() == whole.to_lists()
    assert (joined.confidence is not None) == confidence
    if confidence:
        assert joined.confidence == pytest.approx(whole.confidence)
