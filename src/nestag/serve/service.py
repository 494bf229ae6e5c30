"""The recognizer as a service: requests -> sentences -> entities -> answers.

One thread splits texts into sentences while another tags.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version
from itertools import count

from nestag.data.document import Document, joined_offsets
from nestag.data.segment import segments
from nestag.data.validation import to_mapping
from nestag.model.predictor import Predictor
from nestag.serve.batcher import Batcher, Entities, count_words
from nestag.serve.limits import ServerLimits, busy, too_large
from nestag.serve.metrics import Metrics
from nestag.serve.schema import (
    EntitiesAnswer,
    EntitiesRequest,
    EntityAnswer,
    ModelAnswer,
    Result,
    SentenceAnswer,
)

RUNTIMES = {"NestedNER": "torch", "OnnxNER": "onnxruntime"}
WARM_UP = "The mayor of Utrecht resigned."


class Service:
    """A recognizer and its limits."""

    def __init__(self, predictor: Predictor, name: str, limits: ServerLimits, metrics: Metrics) -> None:
        """Call the recognizer once, because the first call is slow."""
        self.predictor, self.name, self.limits, self.metrics = predictor, name, limits, metrics
        self._documents = count()
        predictor(WARM_UP)
        self._tokenizing = ThreadPoolExecutor(1, "nestag-tokenizing")
        self._batcher = Batcher(predictor.pipe, limits.batch_words, metrics)

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
        return ModelAnswer.model_validate(
            {
                "name": self.name,
                "version": version("nestag"),
                "runtime": RUNTIMES.get(type(self.predictor).__name__, "other"),
                "encoding": vocabulary.encoding,
                "decoding": settings.decoding,
                "types": list(vocabulary.types),
                "threshold": float(settings.threshold),
                "thresholds": dict(settings.thresholds),
                "limits": to_mapping(self.limits),
            }
        )

    async def entities(self, request: EntitiesRequest, deadline: float) -> EntitiesAnswer:
        """Return the answer to a request, or raise a RefusedError; `deadline` is a time of the event loop."""
        self._check_size(request)
        try:
            async with asyncio.timeout_at(deadline):
                texts = await asyncio.get_running_loop().run_in_executor(self._tokenizing, self._tokenize, request)
                self._check_words(texts)
                results = await self._batcher.tag(texts)
        except TimeoutError:
            raise busy(f"not answered within {self.limits.max_seconds:g} s; send less at once, or later") from None
        return EntitiesAnswer(results=[result_of(entities, request) for entities in results])

    def _check_size(self, request: EntitiesRequest) -> None:
        items = request.items
        if len(items) > self.limits.max_texts:
            raise too_large(len(items), "texts" if isinstance(items[0], str) else "sentences", self.limits.max_texts)
        characters = sum(len(item) if isinstance(item, str) else sum(map(len, item)) for item in items)
        if characters > self.limits.max_characters:
            raise too_large(characters, "characters", self.limits.max_characters)

    def _check_words(self, texts: Sequence[Document]) -> None:
        """Refuse few characters that are many words, because the time to tag depends on words."""
        words = sum(map(count_words, texts))
        if words > self.limits.max_words:
            raise too_large(words, "words", self.limits.max_words)

    def _tokenize(self, request: EntitiesRequest) -> list[Document]:
        """Split texts into sentences; each text is a document, so that no text is the context of another."""
        options = self.predictor.settings.reading  # as in training
        return [
            Document(str(next(self._documents)), item, (), tuple(segments(item, options)))
            if isinstance(item, str)
            else Document("", " ".join(item), (), (joined_offsets(item),))
            for item in request.items
        ]


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
