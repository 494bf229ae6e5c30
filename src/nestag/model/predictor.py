"""Predictors: the only way from texts to entities.

    text -> sentences of tokens -> engine -> entities with character offsets

The command line, the server, batch inference, spaCy and Hugging Face all call `Predictor.pipe`. The scores come from
torch (recognizer.py) or from an ONNX graph (onnx_runtime.py).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from itertools import chain, groupby, pairwise
from typing import Any, Generic, NamedTuple, TypeVar, overload

import numpy as np

from nestag.data.document import Document, document_of, join_offsets, words_of
from nestag.data.segment import Offsets, Options
from nestag.data.sentence import Entity, Sentence
from nestag.decoding import EntityTable
from nestag.encodings.vocabulary import Vocabulary
from nestag.inspect.rendering import Drawing, Html, render
from nestag.model.engine import Chunk, ChunkScores, Engine, Item, Scorer
from nestag.model.settings import Settings
from nestag.model.subwords import WordTokenizer
from nestag.model.windows import LayoutMaker

Tokens = Sequence[str] | Sentence
InputT = TypeVar("InputT", bound=str | Document | Sentence | Sequence[str], covariant=True)

CALLS = 'ner("A text."), ner(["One text.", "Another."]), or for tokens ner([["One", "sentence"]]) or ner(sentences)'
DECIMALS = 4  # of confidences in records
SHOWN_TYPES = 10  # maximum in the repr of a recognizer
SHOWN_TEXTS = 20  # maximum of a list in a notebook


class TextEntity(NamedTuple):
    """An entity as every interface reports it, described in docs/how-to/predict.md; positions are half-open."""

    start: int  # in characters of the text; tokens without a text are joined by spaces
    end: int
    type: str
    text: str
    confidence: float
    start_token: int  # in tokens of all sentences of the text
    end_token: int

    @property
    def entity(self) -> Entity:
        """The entity in tokens, as in corpora."""
        return Entity(self.start_token, self.end_token, self.type)

    def record(self) -> dict[str, Any]:
        """Return the entity as JSON."""
        return self._asdict() | {"confidence": round(self.confidence, DECIMALS)}


class TextEntities(list[TextEntity], Generic[InputT]):
    """The entities of a text, outermost first in each sentence. Notebooks draw them."""

    def __init__(self, source: InputT, tokens: Sequence[str], entities: Iterable[TextEntity] = ()) -> None:
        super().__init__(entities)
        self.source, self.tokens = source, tokens

    @property
    def text(self) -> str:
        """The text; for a sentence of a document, its part of the text."""
        match self.source:
            case str(text) | Document(text=text):
                return text
            case Sentence(origin=origin) if origin:
                return origin.text
        return " ".join(self.tokens)

    def records(self) -> list[dict[str, Any]]:
        """Return the entities as JSON."""
        return [entity.record() for entity in self]

    def drawing(self) -> Drawing:
        """Draw the text and its entities."""
        if isinstance(self.source, Sentence):
            return render(self.source.with_entities(entity.entity for entity in self))
        return render(self.text, self)

    def _repr_html_(self) -> str:
        return self.drawing()._repr_html_()


class SeveralTexts(list[TextEntities[InputT]]):
    """The entities of several texts. Notebooks draw the first of them."""

    def __repr__(self) -> str:
        more = f", ... {len(self) - SHOWN_TEXTS:,} more" if len(self) > SHOWN_TEXTS else ""
        return f"[{', '.join(map(repr, self[:SHOWN_TEXTS]))}{more}]"

    def _repr_html_(self) -> str:
        more = f"<p>and {len(self) - SHOWN_TEXTS:,} more</p>" if len(self) > SHOWN_TEXTS else ""
        return Drawing(Html("".join(part.drawing().html for part in self[:SHOWN_TEXTS]) + more))._repr_html_()


class Predictor(ABC):
    """A recognizer of nested entities; subclasses compute the scores."""

    tokenizer: WordTokenizer
    vocabulary: Vocabulary
    settings: Settings

    @abstractmethod
    def scorer(self) -> Scorer:
        """Return the scorer with the current settings."""

    @property
    def types(self) -> tuple[str, ...]:
        """The entity types of the model."""
        return self.vocabulary.types

    @property
    def size(self) -> str:
        """A description of the encoder and its size."""
        return "ONNX graph"

    def __repr__(self) -> str:
        types = [*self.types[:SHOWN_TYPES], *["…"] * (len(self.types) > SHOWN_TYPES)]
        return f"<{type(self).__name__}: {self.size}; {len(self.types)} types: {', '.join(types)}>"

    @overload
    def __call__(self, inputs: str) -> TextEntities[str]: ...  # type: ignore[overload-overlap]

    @overload
    def __call__(self, inputs: Document) -> TextEntities[Document]: ...

    @overload
    def __call__(self, inputs: Sentence) -> TextEntities[Sentence]: ...

    @overload
    def __call__(self, inputs: Iterable[InputT]) -> list[TextEntities[InputT]]: ...

    def __call__(self, inputs: Any) -> Any:
        """Return the entities of a text or sentence, or a list with those of each of several.

        `ner("The mayor of Utrecht resigned.")`, `ner(["One text.", "Another."])`, `ner([["tokens", "of", "one"]])`.
        """
        if isinstance(inputs, str | Document | Sentence):
            return next(self.pipe([inputs]))
        if isinstance(inputs, Mapping | bytes) or not isinstance(inputs, Iterable):
            raise TypeError(f"{inputs!r:.80} is neither text nor sentences; call {CALLS}")
        return SeveralTexts(self.pipe(inputs))

    def pipe(
        self, inputs: Iterable[InputT], batch_size: int = 0, options: Options | None = None
    ) -> Iterator[TextEntities[InputT]]:
        """Stream the entities of each text, document, sentence or list of tokens, in order.

        Texts are tokenized as in training by default. `batch_size` is the number of sentences that are tagged together;
        0 chooses by device.
        """
        reading = options or self.settings.reading
        items = (item for number, source in enumerate(inputs) for item in _items(number, source, reading))
        chunks = self.engine(batch_size).run(items, confidence=True)
        sentences = (pair for chunk, table in chunks for pair in zip(chunk, _in_texts(chunk, table), strict=True))
        for _, pairs in groupby(sentences, key=lambda pair: pair[0].source.number):
            yield _join(list(pairs))

    def predict(self, sentences: Iterable[Tokens]) -> list[tuple[Entity, ...]]:
        """Return the entities of each sentence in tokens, without confidences."""
        return [entities for _, entities in self._stream(sentences)]

    def annotate(self, sentences: Iterable[Sentence]) -> Iterator[Sentence]:
        """Stream the sentences, in order, with their predicted entities."""
        for sentence, entities in self._stream(sentences):
            yield sentence.with_entities(entities)

    def _stream(self, sentences: Iterable[Tokens]) -> Iterator[tuple[Any, tuple[Entity, ...]]]:
        for chunk, table in self.engine().run(map(item_of, sentences)):
            yield from zip((item.source for item in chunk), table.to_lists(), strict=True)

    @cached_property
    def layout_maker(self) -> LayoutMaker:
        """The layout maker, with a cache of tokenized words."""
        settings = self.settings
        return LayoutMaker(self.tokenizer, settings.max_length, settings.context, settings.windows)

    def engine(self, chunk_size: int = 0) -> Engine:
        """Return an engine with the current settings; a `chunk_size` of 0 chooses by scorer."""
        return Engine(self.scorer(), self.layout_maker, self.vocabulary, self.settings, chunk_size)

    def scores(self, sentences: Sequence[Sequence[str]], documents: Sequence[str] | None = None) -> ChunkScores:
        """Return the log-probabilities of the three heads for every word of all sentences, concatenated."""
        items = list(map(Item, sentences, documents or [""] * len(sentences)))
        engine = self.engine(max(1, len(items)))
        return engine.score(engine.lay_out(Chunk(items, 0, len(items))))


class _InputPlace(NamedTuple):
    """The place of a sentence in the inputs."""

    number: int  # of the input
    source: Any  # the input
    text: str | None = None  # None: the tokens are joined by spaces
    begin: int = 0  # of the text in its document
    offsets: Sequence[Offsets] = ()  # in the document
    first: int = 0  # tokens of the input before the sentence


def _items(number: int, source: Any, options: Options) -> Iterator[Item]:
    """Yield the sentences of an input for the engine, at least one."""
    if isinstance(source, Sentence):
        in_text = (source.origin.text, source.origin.start, source.origin.offsets) if source.origin else ()
        yield Item(source.tokens, document_of(source), _InputPlace(number, source, *in_text))
    elif isinstance(source, str | Document):
        document = source if isinstance(source, Document) else Document(str(number), source)
        text, first = document.text, 0
        for segment in words_of(document, options) or [[]]:
            place = _InputPlace(number, source, text, 0, segment, first)
            yield Item([text[start:end] for start, end in segment], document.id, place)
            first += len(segment)
    else:
        yield item_of(source)._replace(source=_InputPlace(number, source))


def _in_texts(items: Sequence[Item], table: EntityTable) -> Iterator[list[TextEntity]]:
    """Yield the entities of each sentence with character offsets; column by column, which takes half the time."""
    assert table.confidence is not None
    borders = np.searchsorted(table.sentence, np.arange(table.sentences + 1)).tolist()
    first, last, confidence = table.start.tolist(), table.end.tolist(), table.confidence.tolist()
    kind = [table.types[row] for row in table.type.tolist()]
    for item, (a, b) in zip(items, pairwise(borders), strict=True):
        if a == b:
            yield []
            continue
        _, _, text, begin, offsets, before = item.source
        if text is None:
            text, offsets = " ".join(item.tokens), join_offsets(item.tokens)
        start = [offsets[token][0] for token in first[a:b]]
        end = [offsets[token - 1][1] for token in last[a:b]]
        texts = [text[i - begin : j - begin] for i, j in zip(start, end, strict=True)]
        first_token, last_token = ([before + token for token in column[a:b]] for column in (first, last))
        rows = zip(start, end, kind[a:b], texts, confidence[a:b], first_token, last_token, strict=True)
        yield list(map(partial(tuple.__new__, TextEntity), rows))


def _join(sentences: Sequence[tuple[Item, list[TextEntity]]]) -> TextEntities[Any]:
    item, entities = sentences[0]
    tokens = item.tokens
    if len(sentences) > 1:
        tokens = list(chain.from_iterable(item.tokens for item, _ in sentences))
        entities = list(chain.from_iterable(entities for _, entities in sentences))
    return TextEntities(item.source.source, tokens, entities)


def item_of(sentence: Tokens) -> Item:
    """Return a sentence or list of tokens for the engine."""
    if isinstance(sentence, Sentence):
        return Item(sentence.tokens, document_of(sentence), sentence)
    is_list = isinstance(sentence, Sequence) and not isinstance(sentence, str | bytes)
    if not is_list or not all(isinstance(token, str) for token in sentence):
        raise TypeError(f"{sentence!r:.80} is not a list of tokens; call {CALLS}")
    return Item(tuple(sentence), "", sentence)
