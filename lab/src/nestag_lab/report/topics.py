"""What the figures of a report are about, in the order of the page, and how each is read."""

from __future__ import annotations

from typing import NamedTuple


class Topic(NamedTuple):
    """What several figures are about, each of another corpus."""

    name: str
    short: str  # for navigation
    title: str
    text: str


F1 = Topic(
    "f1",
    "F1",
    "F1 by encoding",
    "Small signs are seeds, the large one is their mean with its deviation. The scale need not begin at 0.",
)
DEPTH = Topic(
    "depth",
    "Depth",
    "F1 by depth",
    "Means over seeds; an entity at depth 0 is in no other, n counts gold entities. Precision asks for the depth in"
    " the prediction, recall for that in gold. The scale need not begin at 0.",
)
LENGTH = Topic(
    "length",
    "Length",
    "F1 by length",
    "Means over seeds, by the number of tokens of an entity; n counts gold entities. The scale need not begin at 0.",
)
CURVES = Topic(
    "curves",
    "Learning",
    "Learning curves",
    "F1 on the development set and the loss after each epoch, a line a run.",
)
KINDS = Topic(
    "kinds",
    "Kinds",
    "What went wrong",
    "A mistaken entity is paired with at most one other. Type: the same tokens, another type. Boundary: the same type,"
    " some of the tokens. Boundary and type: both. Missed and spurious ones are left without a partner.",
)
CONFUSION = Topic(
    "confusion",
    "Confusion",
    "Confusion of types",
    "Which types stand over the same tokens, with the best encoding and decoding of a corpus, in the run closest to"
    " their mean F1. Each row is shaded by its shares; – is no entity there.",
)
CALIBRATION = Topic(
    "calibration",
    "Calibration",
    "Calibration",
    "Of the entities predicted with a confidence near p, p % should be right: the line from corner to corner."
    " Constrained decoding, all seeds together; below, how many entities there are, on a logarithmic scale.",
)
TOPICS = (F1, DEPTH, LENGTH, KINDS, CONFUSION, CURVES, CALIBRATION)
