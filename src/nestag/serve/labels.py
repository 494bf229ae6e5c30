"""The tree of a sentence and its labels in every encoding, for those who want to see how it is done."""

from __future__ import annotations

from nestag.data import Entity, Sentence
from nestag.encodings import available, encode
from nestag.encodings.notation import write_chain, write_name
from nestag.errors import DataError
from nestag.serve.problems import RefusedError
from nestag.serve.schema import LabelRow, LabelsAnswer, LabelsRequest, Node
from nestag.tree import Tree

MOST_NAMES = 200_000
"""Characters of types, once for each word they cover: each encoding writes most of them."""


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
