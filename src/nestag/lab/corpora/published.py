"""What the paper says of its corpora (its appendix, "Dataset details"), to hold against what is read."""

from __future__ import annotations

from typing import NamedTuple


class Figures(NamedTuple):
    """A corpus in four numbers."""

    sentences: int
    entities: int
    tokens_per_sentence: float
    deepest: int
    """How many entities stand in one another at most."""


PUBLISHED = {
    "ace2004": Figures(7_762, 27_751, 21.8, 6),
    "ace2005": Figures(9_335, 30_956, 18.8, 6),
    "genia": Figures(18_549, 57_063, 26.5, 4),
    "nne": Figures(49_211, 279_796, 23.9, 6),
}
