"""Other views of a sentence, for which no model is used: a drawing, and the tree and labels for teaching."""

from __future__ import annotations

from collections.abc import Collection
from itertools import islice

from nestag.data.crossing import crossing_pairs
from nestag.data.sentence import Entity, Sentence
from nestag.data.tree import Tree
from nestag.encodings import available, encode
from nestag.encodings.notation import write_chain, write_name
from nestag.errors import DataError
from nestag.inspect.rendering import COLOURS, Html, Mark, boxes, colours_of
from nestag.serve.limits import RefusedError, ServerLimits
from nestag.serve.schema import DrawingRequest, LabelRow, LabelsAnswer, LabelsRequest, Node

MOST_CROSSING = 20_000
"""Pairs of entities that cross: each cuts one of the two into another piece."""

MOST_NAMES = 200_000
"""Characters of types, once for each word they cover: each encoding writes most of them."""


def drawing_of(asked: DrawingRequest, types: Collection[str], limits: ServerLimits) -> Html:
    """The drawing, its boxes numbered as the entities were given.

    A type has the same colour in every text while there are enough colours for all types of the model.
    """
    if len(asked.text) > limits.max_characters:
        raise RefusedError(413, f"{len(asked.text):,} characters in a request; the limit is {limits.max_characters:,}")
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


def labels_of(asked: LabelsRequest) -> LabelsAnswer:
    """The tree and the labels; refused if an entity cannot be, two cross, or the answer would be too long."""
    if sum((entity.end - entity.start) * len(entity.type) for entity in asked.entities) > MOST_NAMES:
        raise RefusedError(413, "the labels of so many entities are too long to be shown; send fewer of them")
    entities = [Entity(entity.start, entity.end, entity.type) for entity in asked.entities]
    try:
        sentence = Sentence(asked.tokens, entities)
        tree = Tree.from_entities(len(sentence), sentence.entities)
    except DataError as error:
        raise RefusedError(422, str(error)) from None
    return LabelsAnswer(tree=nodes_of(tree, sentence), labels=rows_of(sentence))


def nodes_of(tree: Tree, sentence: Sentence) -> list[Node]:
    """The nodes of a tree, top down and from left to right."""
    nodes: list[Node] = []
    waiting: list[tuple[Tree | int, int]] = [(tree, 0)]
    while waiting:
        node, depth = waiting.pop()
        if isinstance(node, int):
            nodes.append(Node(depth=depth, name=sentence.tokens[node], token=node))
            continue
        nodes.append(Node(depth=depth, name=write_name(node.name), token=None))
        waiting += [(child, depth + 1) for child in reversed(node.children)]
    return nodes


def rows_of(sentence: Sentence) -> dict[str, list[LabelRow]]:
    """The labels of each encoding, as `nestag show` writes them."""
    return {
        name: [
            LabelRow(n=encoding.write_n(n), c=write_name(c), u=write_chain(u)) for n, c, u in encode(sentence, encoding)
        ]
        for name, encoding in available().items()
    }
