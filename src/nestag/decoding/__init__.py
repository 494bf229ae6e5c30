"""From a tagger's output to entities, a whole batch at a time.

scores or label ids -> greedy repair (repair.py) or constrained search (depth.py, tetra.py) -> entities.py
                    -> confidences and candidates (posterior.py) or verification by a span head (verification.py)
"""

from nestag.decoding.decode import Decoding, candidate_entities, confidences, decode_batch, decode_scores
from nestag.decoding.decoder import Decoder, decodes
from nestag.decoding.entities import EntityTable, filter_entities, join_entities
from nestag.decoding.scores import LabelBatch, Scores, Search
from nestag.decoding.verification import (
    JudgeSpans,
    SpanPlaces,
    Verification,
    judged,
    likely_entities,
    propose_entities,
    verify_entities,
)

__all__ = [
    "Decoder",
    "Decoding",
    "EntityTable",
    "JudgeSpans",
    "LabelBatch",
    "Scores",
    "Search",
    "SpanPlaces",
    "Verification",
    "candidate_entities",
    "confidences",
    "decode_batch",
    "decode_scores",
    "decodes",
    "filter_entities",
    "join_entities",
    "judged",
    "likely_entities",
    "propose_entities",
    "verify_entities",
]
