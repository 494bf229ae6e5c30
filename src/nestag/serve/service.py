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

from nestag.corpora.document import Document, sentences_of
from nestag.corpora.report import Report
from nestag.data import Sentence
from nestag.predictor import Predictor
from nestag.serve.batcher import Batcher, ClosedError, ExpiredError, TaggedSentence, UntaggableError
from nestag.serve.limits import ServerLimits
from nestag.serve.metrics import Metrics
from nestag.serve.problems import RefusedError, busy
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
from nestag.validation import to_mapping

RUNTIMES = {"NestedNER": "torch", "OnnxNER": "onnxruntime"}
WARMING = "The mayor of Utrecht resigned."


class Service:
    """A recognizer, the thread that calls it, and what it may be asked."""

    def __init__(self, predictor: Predictor, name: str, limits: ServerLimits, metrics: Metrics) -> None:
        """The first call of a recognizer is slow, so it is made here."""
        self.predictor, self.name, self.limits, self.metrics = predictor, name, limits, metrics
        self._documents = count()
        list(predictor.annotate_scored(self._cut([WARMING])[0]))
        self._cutting = ThreadPoolExecutor(1, "nestag-cutting")
        self._batcher = Batcher(predictor.annotate_scored, limits.batch_words, metrics)

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
                texts = await asyncio.get_running_loop().run_in_executor(self._cutting, self._sentences, asked)
                self._check_words(texts)
                found = await asyncio.wrap_future(self._batcher.submit(texts, deadline))
        except (TimeoutError, ExpiredError):
            raise busy(f"not answered within {self.limits.seconds:g} s; send less at once, or later") from None
        except UntaggableError:
            raise RefusedError(500, "the model failed at this request; it was tried alone") from None
        except ClosedError:
            raise busy("the server is stopping; try again") from None
        return EntitiesAnswer(results=[result_of(tagged, asked) for tagged in found])

    def _check_size(self, asked: Asked) -> None:
        """Refuse what is over a limit."""
        pieces = pieces_of(asked)
        if len(pieces) > self.limits.texts:
            what = "texts" if isinstance(asked, AskedTexts) else "sentences"
            raise RefusedError(413, f"{len(pieces):,} {what} in a request; the limit is {self.limits.texts:,}")
        characters = sum(len(piece) if isinstance(piece, str) else sum(map(len, piece)) for piece in pieces)
        if characters > self.limits.characters:
            raise RefusedError(413, f"{characters:,} characters in a request; the limit is {self.limits.characters:,}")

    def _check_words(self, texts: Sequence[Sequence[Sentence]]) -> None:
        """Refuse what is many words though few characters: words are what tagging costs."""
        words = sum(len(sentence) for text in texts for sentence in text)
        if words > self.limits.words:
            raise RefusedError(413, f"{words:,} words in a request; the limit is {self.limits.words:,}")

    def _sentences(self, asked: Asked) -> list[list[Sentence]]:
        """The sentences of each text, or each sentence that was given."""
        pieces = pieces_of(asked)
        if isinstance(asked, AskedText | AskedTexts):
            return self._cut([piece for piece in pieces if isinstance(piece, str)])
        return [[Sentence(piece)] for piece in pieces]

    def _cut(self, texts: Sequence[str]) -> list[list[Sentence]]:
        """Texts as sentences; each is a document of its own, so that no text is context of another."""
        options = self.predictor.settings.reading  # texts are cut as the model was trained
        return [list(sentences_of(Document(str(next(self._documents)), text), options, Report())) for text in texts]


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


def result_of(tagged: Sequence[TaggedSentence], asked: Asked) -> Result:
    """What was found in a text, as JSON."""
    entities = [
        found_entity(sentence, *entity)
        for sentence, found in tagged
        for entity in found
        if entity.confidence >= asked.threshold
    ]
    sentences = [found_sentence(sentence) for sentence, _ in tagged if sentence.tokens] if asked.tokens_too else None
    return Result(entities=entities, sentences=sentences)


def found_entity(sentence: Sentence, start: int, end: int, kind: str, confidence: float) -> FoundEntity:
    """An entity with the characters of its text, or with its tokens where there is none."""
    confidence = min(1.0, max(0.0, round(float(confidence), 4)))
    if sentence.origin:
        start, end, text = sentence.origin.characters(start, end)
    else:
        text = " ".join(sentence.tokens[start:end])
    return FoundEntity(start=start, end=end, type=kind, text=text, confidence=confidence)


def found_sentence(sentence: Sentence) -> FoundSentence:
    """The tokens of a sentence with their characters; those of given tokens are joined by blanks."""
    if sentence.origin:
        return FoundSentence(tokens=list(sentence.tokens), offsets=list(sentence.origin.offsets))
    offsets, at = [], 0
    for token in sentence.tokens:
        offsets.append((at, at + len(token)))
        at += len(token) + 1
    return FoundSentence(tokens=list(sentence.tokens), offsets=offsets)
