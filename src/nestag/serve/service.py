"""Requests -> answers: entities from the recognizer, and drawings, trees and labels, which need no model.

One thread splits texts into sentences while another tags.
"""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version
from itertools import count, islice

from nestag.data.crossing import crossing_pairs
from nestag.data.document import Document, join_offsets
from nestag.data.segment import segments
from nestag.data.sentence import Entity, Sentence
from nestag.data.tree import Tree
from nestag.data.validation import to_mapping
from nestag.encodings import available, encode
from nestag.encodings.notation import write_chain, write_name
from nestag.errors import DataError
from nestag.inspect.rendering import Html, Mark, boxes
from nestag.model.predictor import Predictor
from nestag.serve.batcher import Batcher, Entities, count_words
from nestag.serve.limits import RefusedError, ServerLimits, busy, too_large
from nestag.serve.middleware import Metrics
from nestag.serve.schema import (
    DrawingRequest,
    EntitiesAnswer,
    EntitiesRequest,
    EntityAnswer,
    LabelRow,
    LabelsAnswer,
    LabelsRequest,
    ModelAnswer,
    Node,
    Result,
    Runtime,
    SentenceAnswer,
)

RUNTIMES: dict[str, Runtime] = {"NestedNER": "torch", "OnnxNER": "onnxruntime"}
WARM_UP = "The mayor of Utrecht resigned."
MAX_CROSSING = 20_000
"""Maximum pairs of crossing entities; each cuts a box into two pieces."""

MAX_NAMES = 200_000
"""Maximum characters of types, once for each word of an entity; each encoding writes most of them."""


class Service:
    """A recognizer and its limits."""

    def __init__(self, predictor: Predictor, name: str, limits: ServerLimits) -> None:
        """Call the recognizer once, because the first call is slow."""
        self.predictor, self.name, self.limits, self.metrics = predictor, name, limits, Metrics()
        self._documents = count()
        predictor(WARM_UP)
        self._tokenizing = ThreadPoolExecutor(1, "nestag-tokenizing")
        self._batcher = Batcher(predictor.pipe, limits.batch_words, self.metrics)

    @property
    def ready(self) -> bool:
        """Whether requests are accepted."""
        return self._batcher.open

    def close(self) -> None:
        """Accept no more requests, and end the threads."""
        self._batcher.close()
        self._tokenizing.shutdown()

    def model(self) -> ModelAnswer:
        """Describe the model."""
        settings, vocabulary = self.predictor.settings, self.predictor.vocabulary
        return ModelAnswer(
            name=self.name,
            version=version("nestag"),
            runtime=RUNTIMES.get(type(self.predictor).__name__, "other"),
            encoding=vocabulary.encoding,
            decoding=settings.decoding,
            types=list(vocabulary.types),
            threshold=settings.threshold,
            thresholds=dict(settings.thresholds),
            limits=to_mapping(self.limits),
        )

    async def entities(self, request: EntitiesRequest, deadline: float) -> EntitiesAnswer:
        """Return the answer to a request, or raise a RefusedError; `deadline` is a time of the event loop."""
        check_size(request, self.limits)
        try:
            async with asyncio.timeout_at(deadline):
                texts = await asyncio.get_running_loop().run_in_executor(self._tokenizing, self._tokenize, request)
                words = sum(map(count_words, texts))
                if words > self.limits.max_words:  # few characters can be many words, and tagging takes time by words
                    raise too_large(words, "words", self.limits.max_words)
                results = await self._batcher.tag(texts)
        except TimeoutError:
            raise busy(f"not answered within {self.limits.max_seconds:g} s; send less at once, or later") from None
        return EntitiesAnswer(results=[result_of(entities, request) for entities in results])

    def _tokenize(self, request: EntitiesRequest) -> list[Document]:
        """Split texts into sentences; each text is a document, so that no text is the context of another."""
        options = self.predictor.settings.reading  # as in training
        return [
            Document(str(next(self._documents)), item, (), tuple(segments(item, options)))
            if isinstance(item, str)
            else Document("", " ".join(item), (), (join_offsets(item),))
            for item in request.items
        ]


def check_size(request: EntitiesRequest, limits: ServerLimits) -> None:
    """Refuse a request with too many texts or characters."""
    items = request.items
    if len(items) > limits.max_texts:
        raise too_large(len(items), "texts" if isinstance(items[0], str) else "sentences", limits.max_texts)
    characters = sum(len(item) if isinstance(item, str) else sum(map(len, item)) for item in items)
    if characters > limits.max_characters:
        raise too_large(characters, "characters", limits.max_characters)


def result_of(entities: Entities, request: EntitiesRequest) -> Result:
    """Return the entities of a text as JSON."""
    text, words = entities.source.text, entities.source.words or ()
    return Result(
        entities=[EntityAnswer(**entity.record()) for entity in entities if entity.confidence >= request.threshold],
        sentences=[
            SentenceAnswer(tokens=[text[start:end] for start, end in offsets], offsets=offsets) for offsets in words
        ]
        if request.tokens_too
        else None,
    )


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
    """Return the tree of a sentence and its labels in each encoding."""
    if sum((entity.end - entity.start) * len(entity.type) for entity in request.entities) > MAX_NAMES:
        raise RefusedError(413, "the labels of so many entities are too long to show; send fewer entities")
    entities = [Entity(entity.start, entity.end, entity.type) for entity in request.entities]
    try:
        sentence = Sentence(request.tokens, entities)
        tree = Tree.from_entities(len(sentence), sentence.entities)
    except DataError as error:
        raise RefusedError(422, str(error)) from None
    labels = {
        name: [
            LabelRow(n=encoding.write_n(n), c=write_name(c), u=write_chain(u)) for n, c, u in encode(sentence, encoding)
        ]
        for name, encoding in available().items()
    }
    return LabelsAnswer(tree=list_nodes(tree, sentence), labels=labels)


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
