"""Words -> subwords -> windows -> arrays for an encoder, with NumPy alone.

A chunk of sentences is tokenized (`words`), cut into windows that fit the encoder (`windows`), and turned into padded
arrays a batch at a time (`layout`). Nothing here loops over words in Python except to look each one up.
"""

from nestag.model.subwords.layout import NOTHING, Arrays, Layout, LayoutMaker
from nestag.model.subwords.windows import Cut, Windows, batches, join_windows, sentence_batches, windows_of
from nestag.model.subwords.words import SHAPES, Subwords, WordTable

__all__ = [
    "NOTHING",
    "SHAPES",
    "Arrays",
    "Cut",
    "Layout",
    "LayoutMaker",
    "Subwords",
    "Windows",
    "WordTable",
    "batches",
    "join_windows",
    "sentence_batches",
    "windows_of",
]
