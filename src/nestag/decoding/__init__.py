"""From a tagger's output to entities, a whole batch at a time.

scores or label ids -> greedy repair (repair.py) or constrained search (depth.py, tetra.py) -> entities.py
                    -> confidences and candidates (posterior.py), or the entities of a span grid (spans.py)
"""

from nestag.decoding.decode import (
    Decoder,
    Decoding,
    candidate_entities,
    confidences,
    decode_batch,
    decode_scores,
    decodes,
    node_probabilities,
)
from nestag.decoding.entities import EntityTable, filter_entities, join_entities
from nestag.decoding.scores import LabelBatch, Scores, Search
from nestag.decoding.spans import (
    SpanBatch,
    SpanCells,
    SpanScores,
    decode_spans,
    grid_entities,
    without_crossing,
)

__all__ = [
    "Decoder",
    "Decoding",
    "EntityTable",
    "LabelBatch",
    "Scores",
    "Search",
    "SpanBatch",
    "SpanCells",
    "SpanScores",
    "candidate_entities",
    "confidences",
    "decode_batch",
    "decode_scores",
    "decode_spans",
    "decodes",
    "filter_entities",
    "grid_entities",
    "join_entities",
    "node_probabilities",
    "without_crossing",
]
