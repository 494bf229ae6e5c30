"""A text with its nested entities as HTML, drawn as in notebooks and reports; the page fills it in."""

from __future__ import annotations

from collections.abc import Collection
from itertools import islice

from nestag.crossing import crossing_pairs
from nestag.data import Entity
from nestag.errors import DataError
from nestag.rendering import COLOURS, Html, Mark, boxes, colours_of
from nestag.serve.limits import ServerLimits
from nestag.serve.problems import RefusedError
from nestag.serve.schema import DrawingRequest

MOST_CROSSING = 20_000
"""Pairs of entities that cross: each cuts one of the two into another piece."""


def drawing_of(asked: DrawingRequest, types: Collection[str], limits: ServerLimits) -> Html:
    """The drawing, its boxes numbered as the entities were given.

    A type has the same colour in every text while there are enough colours for all types of the model.
    """
    if len(asked.text) > limits.characters:
        raise RefusedError(413, f"{len(asked.text):,} characters in a request; the limit is {limits.characters:,}")
    crossing = crossing_pairs(Entity(entity.start, entity.end, entity.type) for entity in asked.entities)
    if next(islice(crossing, MOST_CROSSING, None), None):
        raise RefusedError(413, f"more than {MOST_CROSSING:,} pairs of entities cross; send fewer of them")
    marks = [Mark(entity.start, entity.end, entity.type, entity.confidence) for entity in asked.entities]
    kinds = {mark.type for mark in marks}
    if len(kinds.union(types)) <= COLOURS:
        kinds.update(types)
    try:
        return boxes(asked.text, marks, colours_of(kinds), numbered=True)
    except DataError as error:
        raise RefusedError(422, str(error)) from None
