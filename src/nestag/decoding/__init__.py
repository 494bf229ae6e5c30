"""From a tagger's output to entities, a whole batch at a time."""

from nestag.decoding.batch import decode_batch
from nestag.decoding.entities import EntityTable

__all__ = ["EntityTable", "decode_batch"]
