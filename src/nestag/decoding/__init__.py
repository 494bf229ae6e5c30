"""From a tagger's output to entities, a whole batch at a time."""

from nestag.decoding.batch import decode_batch
from nestag.decoding.best import Decoding, decode_scores
from nestag.decoding.entities import EntityTable, filter_entities
from nestag.decoding.scores import Search

__all__ = ["Decoding", "EntityTable", "Search", "decode_batch", "decode_scores", "filter_entities"]
