"""From a tagger's output to entities, a whole batch at a time."""

from nestag.decoding.batch import EntityTable, decode_batch

__all__ = ["EntityTable", "decode_batch"]
