"""A spaCy component: nested entities as `doc.spans["nestag"]`, with their confidences in the group's `attrs`.

    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    nlp.add_pipe("nestag", config={"model": "folder"})

spaCy finds it by its entry point, without an import. `nlp.evaluate` scores its span group.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np
from spacy import blank
from spacy.language import Language
from spacy.pipeline import Pipe
from spacy.scorer import Scorer
from spacy.tokens import Doc, Span, SpanGroup
from spacy.training import Example
from spacy.util import filter_spans, minibatch

from nestag.data.document import Document
from nestag.data.segment import Options, group_words, split_before
from nestag.errors import InputError
from nestag.model.model_folder import PACKAGED, copy_model, load, local_folder, saved_vocabulary
from nestag.model.predictor import Predictor, TextEntity

Words = Literal["auto", "doc", "model"]
"""Which tokens to tag: those of the Doc, or those of the model's tokenizer; auto takes the Doc's if both are equal."""


@Language.factory("nestag", assigns=["doc.spans"])
def make_component(
    nlp: Language,
    name: str,
    model: str = "",
    spans_key: str = "nestag",
    ents: bool = False,
    words: Words = "auto",
    threshold: float | None = None,
    decoding: str | None = None,
    device: str | None = None,
) -> Recognizer:
    """Return the component of a model; `ents` also sets the outermost entities as `doc.ents`."""
    options = {"threshold": threshold, "decoding": decoding}
    changes = {key: value for key, value in options.items() if value is not None}
    has_usual_tokenizer = type(nlp.tokenizer) is type(blank(nlp.lang or "xx").tokenizer)
    language = nlp.lang if has_usual_tokenizer else None
    return Recognizer(name, model, spans_key, ents, words, changes, device, language)


@dataclass(eq=False)
class Recognizer(Pipe):
    """A recognizer of nested entities as a spaCy component; its model is loaded when it is first needed."""

    name: str = field()  # without a default, although Pipe has an attribute of this name
    model: str
    spans_key: str
    ents: bool
    words: Words
    changes: dict[str, Any]  # of the model's settings
    device: str | None
    language: str | None  # of the pipeline's tokenizer; None if it is not spaCy's
    loaded: Predictor | None = None
    process: int = field(default_factory=os.getpid)

    @property
    def predictor(self) -> Predictor:
        """The model."""
        if self.loaded is None:
            if not self.model:
                raise InputError('no model is named; nlp.add_pipe("nestag", config={"model": PATH})', self.name)
            self.loaded = load(self.model, self.device, **self.changes)
        if self.process != os.getpid():
            self.process = os.getpid()
            _one_thread(self.loaded)
        return self.loaded

    @property
    def labels(self) -> tuple[str, ...]:
        """The entity types of the model; empty before one is loaded."""
        if self.loaded is not None:
            return self.loaded.vocabulary.types
        vocabulary = saved_vocabulary(PACKAGED.get(self.model, Path(self.model))) if self.model else None
        return vocabulary.types if vocabulary else ()

    def __call__(self, doc: Doc) -> Doc:
        """Return the Doc with its entities."""
        handle = self.get_error_handler()
        try:
            self.set_annotations([doc], self.predict([doc]))
        except Exception as error:  # noqa: BLE001 - spaCy handles it
            handle(self.name, self, [doc], error)
        return doc

    def pipe(self, stream: Iterable[Doc], *, batch_size: int = 1000) -> Iterator[Doc]:
        """Yield the Docs with their entities, in batches."""
        handle: Callable[..., None] = self.get_error_handler()
        for docs in minibatch(stream, size=batch_size):  # type: ignore[no-untyped-call]
            try:
                self.set_annotations(docs, self.predict(docs))
            except Exception as error:  # noqa: BLE001 - spaCy handles it
                handle(self.name, self, docs, error)
            else:
                yield from docs

    def predict(self, docs: Sequence[Doc]) -> list[Sequence[TextEntity]]:
        """Return the entities of each Doc without writing them."""
        options = self.predictor.settings.reading
        same = options.tokenizer == "spacy" and options.language == self.language
        if self.words == "doc" or (self.words == "auto" and same):
            return list(self.predictor.pipe(document_from(doc, options, number) for number, doc in enumerate(docs)))
        return list(self.predictor.pipe(doc.text for doc in docs))

    def set_annotations(self, docs: Iterable[Doc], predicted: Iterable[Sequence[TextEntity]]) -> None:
        """Write the entities of each Doc."""
        for doc, entities in zip(docs, predicted, strict=True):
            spans = [span_of(doc, entity) for entity in entities]
            group = SpanGroup(doc, name=self.spans_key, spans=spans)
            group.attrs["scores"] = np.array([entity.confidence for entity in entities], dtype=np.float32)
            doc.spans[self.spans_key] = group
            if self.ents:
                set_outermost(doc, spans)

    def score(self, examples: Iterable[Example], **_: Any) -> dict[str, Any]:
        """Score the span group, overall and by type, as `nlp.evaluate` does for spaCy's own components."""
        return Scorer.score_spans(
            examples,
            f"spans_{self.spans_key}",
            getter=lambda doc, _: doc.spans.get(self.spans_key, []),
            has_annotation=lambda doc: self.spans_key in doc.spans,
            allow_overlap=True,
        )

    def to_disk(self, path: str | Path, exclude: Iterable[str] = ()) -> None:
        """Save the model in a folder."""
        copy_model(local_folder(str(self.model)), Path(path))

    def from_disk(self, path: str | Path, exclude: Iterable[str] = ()) -> Recognizer:
        """Use the model of a folder instead of the configured one."""
        self.model, self.loaded = str(path), None
        return self


def document_from(doc: Doc, options: Options, number: int) -> Document:
    """Return the tokens of a Doc without white space, in its sentences, or in those of the rules."""
    words = [(token.idx, token.idx + len(token)) for token in doc if not token.is_space]
    if doc.has_annotation("SENT_START"):
        segments = split_before(words, (sentence.start_char for sentence in doc.sents))
    else:
        segments = group_words(words, doc.text, options)
    return Document(str(number), doc.text, (), tuple(segments))


def span_of(doc: Doc, entity: TextEntity) -> Span:
    """Return the tokens that an entity touches; where tokenizers differ, whole tokens of the Doc."""
    span = doc.char_span(entity.start, entity.end, label=entity.type, alignment_mode="expand")
    assert span is not None
    return span


def set_outermost(doc: Doc, spans: Iterable[Span]) -> None:
    """Write the outermost entities as `doc.ents`, and keep existing ones that do not overlap."""
    outermost = filter_spans(spans)
    taken = {token for span in outermost for token in range(span.start, span.end)}
    others = [span for span in doc.ents if taken.isdisjoint(range(span.start, span.end))]
    doc.set_ents([*outermost, *others])


def _one_thread(predictor: Predictor) -> None:
    """Limit torch to one thread in a forked process, where the threads of the parent do not exist."""
    if hasattr(predictor, "model"):
        import torch

        torch.set_num_threads(1)
