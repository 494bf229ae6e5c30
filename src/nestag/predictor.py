"""Predictors: whatever scores words as something that is called with texts and sentences.

Everything here needs an engine alone. What scores is torch's tagger (recognizer.py) or a graph of ONNX (runtime.py).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from typing import Any, Literal, NamedTuple, overload

from nestag.chunks import Chunk, Item
from nestag.corpora.document import Document, document_of, sentences_of
from nestag.corpora.format import Options, TokenizerName
from nestag.corpora.report import Report
from nestag.data import Entity, Sentence
from nestag.decoding import Decoding, EntityTable, Search, Verification
from nestag.encoders import Precision
from nestag.encodings.base import Naming
from nestag.engine import CHUNK, ChunkScores, Engine, Scorer
from nestag.errors import SettingError
from nestag.rendering import render
from nestag.subwords import Cut, LayoutMaker
from nestag.validation import setting
from nestag.vocabulary import Vocabulary

Tokens = Sequence[str] | Sentence

CALLS = 'ner("A text."), ner(["One text.", "Another."]), or for words ner([["One", "sentence"]]) or ner(sentences)'
"""What a recognizer can be called with, for errors."""

PROBE = ["a", "☃"]
"""Words that the tokenizer of a model must be able to read, whether it knows them or not."""


@dataclass(frozen=True)
class Settings:
    """How a recognizer reads and decodes; stored beside the weights."""

    max_length: int = setting(512, minimum=8, help="maximum subwords in a window")
    windows: Cut = setting("overlapping", help="how windows of longer sentences are laid out; MaChAmp's are disjoint")
    context: int = setting(
        0, minimum=0, help="add neighbouring sentences as context up to this many subwords; 0 for none"
    )
    decoding: Decoding = setting("legal", help="the most probable legal labels, or greedy as in the paper")
    naming: Naming = setting("first", help="which of several names for one node greedy decoding keeps")
    batch_subwords: int = setting(0, minimum=0, help="maximum subwords in a batch; 0 chooses by device")
    precision: Precision = setting(
        "auto", help="precision on a GPU: bfloat16 if supported, float32, or float32 with TF32 matrix products"
    )
    entities: Literal["best", "likely"] = setting(
        "best", help="entities of the best labels, or all entities above their threshold"
    )
    verifier: bool = setting(False, help="whether a span head verifies legal entities")
    verification: Verification | None = setting(None, help="parameters of the verifier, fitted on held-out sentences")
    temperature: float = setting(1.0, above=0, help="temperature of confidences, fitted on held-out sentences")
    threshold: float = setting(0.0, minimum=0, maximum=1, help="minimum confidence of an entity")
    thresholds: dict[str, float] = setting(factory=dict, minimum=0, maximum=1, help="minimum confidence by type")
    tokenizer: TokenizerName = setting("spacy", help="tokenizer of raw text, as in training")
    language: str = setting("en", help="spaCy's language code for raw text, as in training")

    @property
    def verified_by(self) -> Verification | None:
        """How spans are judged; None if they are not."""
        if not self.verifier or self.decoding != "legal":
            return None
        if self.verification is None:
            raise SettingError("the model has no verifier; train one with verifier = true, or leave it off", "verifier")
        return self.verification

    @property
    def reading(self) -> Options:
        """How raw text is cut into words and sentences."""
        return Options(tokenizer=self.tokenizer, language=self.language)


class TextEntity(NamedTuple):
    """An entity in a text: its characters, its type, what it says, and how sure the model is."""

    start: int
    end: int
    type: str
    text: str
    confidence: float


class TextEntities(list[TextEntity]):
    """The entities of a text, which it keeps; notebooks draw them."""

    def __init__(self, text: str, entities: Iterable[TextEntity] = ()) -> None:
        """A list that knows its text."""
        super().__init__(entities)
        self.text = text

    def _repr_html_(self) -> str:
        return render(self.text, self)._repr_html_()


class ScoredEntity(NamedTuple):
    """An entity of tokens and how sure the model is of it."""

    start: int
    end: int
    type: str
    confidence: float

    @property
    def entity(self) -> Entity:
        """The entity alone."""
        return Entity(self.start, self.end, self.type)


class Predictor(ABC):
    """A recognizer of nested entities, whatever computes its scores."""

    tokenizer: Any
    vocabulary: Vocabulary
    settings: Settings

    @abstractmethod
    def scorer(self) -> Scorer:
        """What scores words, with the current settings."""

    def __call__(self, text: Any) -> Any:
        """The entities of a text, or of each of several texts or sentences.

        `ner("The mayor of Utrecht resigned.")`, `ner(["One text.", "Another."])`, `ner([["tokens", "of", "one"]])`.
        """
        if isinstance(text, str):
            return next(self.pipe([text]))
        if isinstance(text, Sentence):
            return self.predict([text], confidence=True)[0]
        if isinstance(text, Mapping | bytes) or not isinstance(text, Iterable):
            raise TypeError(f"{text!r:.80} is neither text nor sentences; call {CALLS}")
        items = list(text)
        if all(isinstance(item, str) for item in items):
            return list(self.pipe(items))
        return self.predict(items, confidence=True)

    @overload
    def predict(self, sentences: Iterable[Tokens], confidence: Literal[False] = False) -> list[tuple[Entity, ...]]: ...
    @overload
    def predict(self, sentences: Iterable[Tokens], confidence: Literal[True]) -> list[tuple[ScoredEntity, ...]]: ...
    def predict(self, sentences: Iterable[Tokens], confidence: bool = False) -> list[Any]:
        """The entities of each sentence of tokens, in canonical order; with `confidence`, how sure the model is."""
        return [found for _, found in self._stream(map(item_of, sentences), confidence)]

    def annotate(self, sentences: Iterable[Sentence]) -> Iterator[Sentence]:
        """Stream the sentences, in order, with the entities found in them."""
        for sentence, entities in self._stream(map(item_of, sentences), confidence=False):
            yield sentence.with_entities(entities)

    def annotate_scored(self, sentences: Iterable[Sentence]) -> Iterator[tuple[Sentence, tuple[ScoredEntity, ...]]]:
        """Stream each sentence with the entities found in it and their confidences."""
        yield from self._stream(map(item_of, sentences), confidence=True)

    def pipe(
        self, texts: Iterable[str], batch_size: int = CHUNK, options: Options | None = None
    ) -> Iterator[TextEntities]:
        """The entities of each text, with character offsets, as they stream by; `batch_size` counts sentences.

        Texts are cut into words and sentences as the model's settings say, unless `options` are given.
        """
        cutting = options or self.settings.reading
        items = (
            Item(sentence.tokens, str(number), (number, text, sentence))
            for number, text in enumerate(map(_text, texts))
            for sentence in sentences_of(Document(str(number), text), cutting, Report())  # one at least
        )
        found = self._stream(items, confidence=True, chunk_size=batch_size)
        for (_, text), sentences in groupby(found, key=lambda pair: pair[0][:2]):
            entities = (one for (_, _, sentence), scored in sentences for one in _in_text(sentence, scored))
            yield TextEntities(text, entities)

    @cached_property
    def layout_maker(self) -> LayoutMaker:
        """Lays sentences out for the encoder, and remembers the words it has seen."""
        settings = self.settings
        return LayoutMaker(self.tokenizer, settings.max_length, settings.context, settings.windows)

    def engine(self, chunk_size: int = 0) -> Engine:
        """The engine that tags with the current settings; a `chunk_size` of 0 suits what scores."""
        settings = self.settings
        return Engine(
            self.scorer(),
            self.layout_maker,
            self.vocabulary,
            settings.decoding,
            Search(temperature=settings.temperature),
            settings.threshold,
            settings.thresholds,
            chunk_size,
            settings.naming,
            settings.entities == "likely",
            settings.verified_by,
        )

    def _stream(self, items: Iterable[Item], confidence: bool, chunk_size: int = 0) -> Iterator[tuple[Any, Any]]:
        """The source of each item, and its entities."""
        for found, table in self.engine(chunk_size).run(items, confidence):
            entities = scored_lists(table) if confidence else table.to_lists()
            yield from zip((item.source for item in found), entities, strict=True)

    def scores(self, sentences: Sequence[Sequence[str]], documents: Sequence[str] | None = None) -> ChunkScores:
        """The log-probabilities of the three heads for every word, the sentences one after the other."""
        items = list(map(Item, sentences, documents or [""] * len(sentences)))
        engine = self.engine(max(1, len(items)))
        return engine.score(engine.lay_out(Chunk(items, 0, len(items))))


def scored_lists(table: EntityTable) -> list[tuple[ScoredEntity, ...]]:
    """A table's entities with their confidences, sentence by sentence."""
    assert table.confidence is not None
    values = iter(table.confidence.tolist())
    return [tuple(ScoredEntity(*entity, next(values)) for entity in entities) for entities in table.to_lists()]


def _in_text(sentence: Sentence, scored: Iterable[ScoredEntity]) -> Iterator[TextEntity]:
    """Entities of a sentence with their characters in its text."""
    assert sentence.origin is not None
    for first, last, kind, confidence in scored:
        start, end, text = sentence.origin.characters(first, last)
        yield TextEntity(start, end, kind, text, confidence)


def item_of(sentence: Tokens) -> Item:
    """A sentence for the engine; a string is not a list of words."""
    if isinstance(sentence, Sentence):
        return Item(sentence.tokens, document_of(sentence), sentence)
    listed = isinstance(sentence, Sequence) and not isinstance(sentence, str)
    if not listed or not all(isinstance(token, str) for token in sentence):
        raise TypeError(f"{sentence!r:.80} is no list of words; call {CALLS}")
    return Item(tuple(sentence), "", sentence)


def _text(text: object) -> str:
    if not isinstance(text, str):
        raise TypeError(f"{text!r:.80} is no text; call {CALLS}")
    return text
