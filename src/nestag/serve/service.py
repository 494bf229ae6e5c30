"""The recognizer as a service: requests -> sentences -> entities -> answers.

Texts are cut into sentences by one thread, while another tags what was cut before.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version
from itertools import count

from nestag.data.document import Document, joined_offsets
from nestag.data.segment import segments
from nestag.data.validation import to_mapping
from nestag.model.predictor import Predictor
from nestag.serve.batcher import Batcher, ClosedError, Entities, ExpiredError, UntaggableError, count_words
from nestag.serve.limits import RefusedError, ServerLimits, busy
from nestag.serve.metrics import Metrics
from nestag.serve.schema import (
    Asked,
    AskedSentences,
    AskedText,
    AskedTexts,
    AskedTokens,
    EntitiesAnswer,
    FoundEntity,
    FoundSentence,
    ModelAnswer,
    Result,
)

RUNTIMES = {"NestedNER": "torch", "OnnxNER": "onnxruntime"}
WARMING = "The mayor of Utrecht resigned."


class Service:
    """A recognizer, the thread that calls it, and what it may be asked."""

    def __init__(self, predictor: Predictor, name: str, limits: ServerLimits, metrics: Metrics) -> None:
        """The first call of a recognizer is slow, so it is made here."""
        self.predictor, self.name, self.limits, self.metrics = predictor, name, limits, metrics
        self._documents = count()
        predictor(WARMING)
        self._cutting = ThreadPoolExecutor(1, "nestag-cutting")
        self._batcher = Batcher(predictor.pipe, limits.batch_words, metrics)

    @property
    def alive(self) -> bool:
        """Whether the thread that tags lives."""
        return self._batcher.alive

    @property
    def ready(self) -> bool:
        """Whether requests are taken."""
        return self._batcher.open

    def close(self) -> None:
        """Finish what was accepted."""
        self._cutting.shutdown()
        self._batcher.close()

    def model(self) -> ModelAnswer:
        """What is served."""
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

    async def entities(self, asked: Asked, deadline: float) -> EntitiesAnswer:
        """The answer to a request, or a RefusedError; `deadline` is a time of the monotonic clock."""
        self._check_size(asked)
        try:
            async with asyncio.timeout(deadline - time.monotonic()):
                texts = await asyncio.get_running_loop().run_in_executor(self._cutting, self._tokenize, asked)
                self._check_words(texts)
                found = await asyncio.wrap_future(self._batcher.submit(texts, deadline))
        except (TimeoutError, ExpiredError):
            raise busy(f"not answered within {self.limits.max_seconds:g} s; send less at once, or later") from None
        except UntaggableError:
            raise RefusedError(500, "the model failed at this request; it was tried alone") from None
        except ClosedError:
            raise busy("the server is stopping; try again") from None
        return EntitiesAnswer(results=[result_of(entities, asked) for entities in found])

    def _check_size(self, asked: Asked) -> None:
        """Refuse what is over a limit."""
        pieces = pieces_of(asked)
        if len(pieces) > self.limits.max_texts:
            what = "texts" if isinstance(asked, AskedTexts) else "sentences"
            raise RefusedError(413, f"{len(pieces):,} {what} in a request; the limit is {self.limits.max_texts:,}")
        characters = sum(len(piece) if isinstance(piece, str) else sum(map(len, piece)) for piece in pieces)
        if characters > self.limits.max_characters:
            raise RefusedError(
                413, f"{characters:,} characters in a request; the limit is {self.limits.max_characters:,}"
            )

    def _check_words(self, texts: Sequence[Document]) -> None:
        """Refuse what is many words though few characters: words are what tagging costs."""
        words = sum(map(count_words, texts))
        if words > self.limits.max_words:
            raise RefusedError(413, f"{words:,} words in a request; the limit is {self.limits.max_words:,}")

    def _tokenize(self, asked: Asked) -> list[Document]:
        """The texts of a request with their words; each is its own document, so that no text is context of another."""
        options = self.predictor.settings.reading  # as in training
        return [
            Document(str(next(self._documents)), piece, (), tuple(segments(piece, options)))
            if isinstance(piece, str)
            else Document("", " ".join(piece), (), (joined_offsets(piece),))
            for piece in pieces_of(asked)
        ]


def pieces_of(asked: Asked) -> Sequence[str] | Sequence[list[str]]:
    """The texts or sentences of a request."""
    match asked:
        case AskedText(text=text):
            return [text]
        case AskedTexts(texts=texts):
            return texts
        case AskedTokens(tokens=tokens):
            return [tokens]
        case AskedSentences(sentences=sentences):
            return sentences
    raise AssertionError(asked)


def result_of(found: Entities, asked: Asked) -> Result:
    """What was found in a text, as JSON."""
    entities = [FoundEntity(**entity.record()) for entity in found if entity.confidence >= asked.threshold]
    text, words = found.source.text, found.source.words or ()
    sentences = [
        FoundSentence(tokens=[text[start:end] for start, end in offsets], offsets=offsets) for offsets in words
    ]
    return Result(entities=entities, sentences=sentences if asked.tokens_too else None)
