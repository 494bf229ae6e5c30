"""Views of a sentence that need no model: a drawing, and the tree and labels for teaching."""

from __future__ import annotations

from itertools import islice

from nestag.data.crossing import crossing_pairs
from nestag.data.sentence import Entity, Sentence
from nestag.data.tree import Tree
from nestag.encodings import available, encode
from nestag.encodings.notation import write_chain, write_name
from nestag.errors import DataError
from nestag.inspect.rendering import Html, Mark, boxes
from nestag.serve.limits import RefusedError, ServerLimits, too_large
from nestag.serve.schema import DrawingRequest, LabelRow, LabelsAnswer, LabelsRequest, Node

MAX_CROSSING = 20_000
"""Maximum pairs of crossing entities; each cuts a box into two pieces."""

MAX_NAMES = 200_000
"""Maximum characters of types, once for each word of an entity; each encoding writes most of them."""


def draw(request: DrawingRequest, limits: ServerLimits) -> Html:
    """Draw a text with boxes that are numbered like the entities."""
    if len(request.text) > limits.max_characters:
        raise too_large(len(request.text), "characters", limits.max_characters)
    crossing = crossing_pairs(Entity(entity.start, entity.end, entity.type) for entity in request.entities)
    if next(islice(crossing, MAX_CROSSING, None), None):
        raise RefusedError(413, f"more than {MAX_CROSSING:,} pairs of entities cross; send fewer entities")
    marks = [Mark(entity.start, entity.end, entity.type, entity.confidence) for entity in request.entities]
    try:
        return boxes(request.text, marks, numbered=True)
    except DataError as error:
        raise RefusedError(422, str(error)) from None


def describe_labels(request: LabelsRequest) -> LabelsAnswer:
    """Return the tree and the labels of a sentence."""
    if sum((entity.end - entity.start) * len(entity.type) for entity in request.entities) > MAX_NAMES:
        raise RefusedError(413, "the labels of so many entities are too long to show; send fewer entities")
    entities = [Entity(entity.start, entity.end, entity.type) for entity in request.entities]
    try:
        sentence = Sentence(request.tokens, entities)
        tree = Tree.from_entities(len(sentence), sentence.entities)
    except DataError as error:
        raise RefusedError(422, str(error)) from None
    return LabelsAnswer(tree=list_nodes(tree, sentence), labels=list_labels(sentence))


def list_nodes(tree: Tree, sentence: Sentence) -> list[Node]:
    """Return the nodes of a tree, top down and from left to right."""
    nodes: list[Node] = []
    stack: list[tuple[Tree | int, int]] = [(tree, 0)]
    while stack:
        node, depth = stack.pop()
        if isinstance(node, int):
            nodes.append(Node(depth=depth, name=sentence.tokens[node], token=node))
            continue
        nodes.append(Node(depth=depth, name=write_name(node.name), token=None))
        stack += [(child, depth + 1) for child in reversed(node.children)]
    return nodes


def list_labels(sentence: Sentence) -> dict[str, list[LabelRow]]:
    """Return the labels of each encoding, as `nestag show` writes them."""
    return {
        name: [
            LabelRow(n=encoding.write_n(n), c=write_name(c), u=write_chain(u)) for n, c, u in encode(sentence, encoding)
        ]
        for name, encoding in available().items()
    }
