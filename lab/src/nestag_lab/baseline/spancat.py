"""SpaCy's SpanCategorizer, as `spacy init config --pipeline spancat --optimize efficiency` sets it up for a CPU.

It has a convolutional tok2vec and no vectors. What differs from spaCy's own settings costs time without changing what
is learned, or was chosen on dev: NumPy multiplies matrices (two to three times as fast as BLIS), dev is read once, 32
sentences are predicted at once, and the best step and the threshold are those with the best strict F1 on dev.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from nestag.data.sentence import Entity, Sentence
from nestag.evaluation import Score, score

SPANS = "sc"  # where spaCy's configuration has the spans of a Doc
THRESHOLDS = (0.02, *(step / 20 for step in range(1, 15)))
BATCH = 32
COVERED = 0.98
"""The share of the training entities that are short enough to be suggested."""


class SpanCategorizer:
    """A trained pipeline and its threshold."""

    def __init__(self, nlp: Any, dev: Sequence[Sentence]) -> None:
        self.nlp, self.threshold = nlp, 0.5
        guesses, gold = list(self.rated(dev)), [sentence.entities for sentence in dev]
        self.threshold = max(THRESHOLDS, key=lambda threshold: score(gold, above(guesses, threshold)).f1)
        nlp.get_pipe("spancat").cfg["threshold"] = self.threshold

    def rated(self, sentences: Sequence[Sentence]) -> Iterator[dict[Entity, float]]:
        """Return the spans of each sentence with their probabilities."""
        from spacy.tokens import Doc

        docs = (Doc(self.nlp.vocab, words=list(sentence.tokens)) for sentence in sentences)
        return map(spans_of, self.nlp.pipe(docs, batch_size=BATCH))

    def predict(self, sentences: Sequence[Sentence]) -> list[list[Entity]]:
        """Return the entities of each sentence."""
        return above(self.rated(sentences), self.threshold)


def above(guesses: Iterable[dict[Entity, float]], threshold: float) -> list[list[Entity]]:
    """Return the spans of each sentence that reach a threshold."""
    return [[entity for entity, probability in spans.items() if probability >= threshold] for spans in guesses]


def spans_of(doc: Any) -> dict[Entity, float]:
    """Return the spans of a Doc with their probabilities; 1 for gold ones."""
    spans = doc.spans.get(SPANS, ())
    probabilities = spans.attrs.get("scores", [1.0] * len(spans)) if spans else ()
    entities = (Entity(span.start, span.end, span.label_) for span in spans)
    return {entity: float(value) for entity, value in zip(entities, probabilities, strict=True)}


def train(
    training: Sequence[Sentence], dev: Sequence[Sentence], folder: Path, seed: int, max_steps: int = 20_000
) -> SpanCategorizer:
    """Train with spaCy's own loop; the model is written to a folder."""
    import spacy
    from spacy.training.initialize import init_nlp
    from spacy.training.loop import train as train_pipeline
    from spacy.util import registry
    from thinc.api import NumpyOps, set_current_ops

    set_current_ops(NumpyOps(use_blis=False))
    registry.readers.register("nestag.train", func=lambda: reader(training))
    registry.readers.register("nestag.dev", func=lambda: reader(dev))
    registry.scorers.register("nestag.strict", func=lambda: best_score)
    lengths = [entity.end - entity.start for sentence in training for entity in sentence.entities]
    longest = int(np.quantile(lengths, COVERED, method="higher"))
    folder.mkdir(parents=True, exist_ok=True)
    train_pipeline(init_nlp(config(longest, seed, max_steps)), folder)
    return SpanCategorizer(spacy.load(folder / "model-best"), dev)


def config(longest: int, seed: int, max_steps: int) -> Any:
    """Return spaCy's configuration of spancat, with spans of up to so many tokens."""
    from spacy.cli.init_config import init_config

    settings = init_config(lang="en", pipeline=["spancat"], optimize="efficiency", gpu=False)
    for name in ("train", "dev"):
        settings["corpora"][name] = {"@readers": f"nestag.{name}"}
    settings["system"]["seed"] = seed
    settings["nlp"]["batch_size"] = BATCH
    settings["training"].update(max_steps=max_steps, eval_frequency=min(200, max_steps))
    settings["training"]["batcher"]["size"].update(stop=300)
    spancat = settings["components"]["spancat"]
    spancat["suggester"] = {"@misc": "spacy.ngram_range_suggester.v1", "min_size": 1, "max_size": longest}
    spancat.update(threshold=min(THRESHOLDS), scorer={"@scorers": "nestag.strict"})
    return settings


def reader(sentences: Sequence[Sentence]) -> Callable[[Any], Iterator[Any]]:
    """Return spaCy's examples of some sentences."""
    from spacy.tokens import Doc, Span
    from spacy.training import Example

    def examples(nlp: Any) -> Iterator[Any]:
        for sentence in sentences:
            reference = Doc(nlp.vocab, words=list(sentence.tokens))
            reference.spans[SPANS] = [Span(reference, start, end, kind) for start, end, kind in sentence.entities]
            yield Example(Doc(nlp.vocab, words=list(sentence.tokens)), reference)

    return examples


def best_score(examples: Iterable[Any], **_: object) -> dict[str, float]:
    """Return the scores of the best threshold, by which spaCy chooses the best step."""
    pairs = [(spans_of(example.reference), spans_of(example.predicted)) for example in examples]
    gold, guesses = [list(spans) for spans, _ in pairs], [spans for _, spans in pairs]
    scores: list[Score] = [score(gold, above(guesses, threshold)) for threshold in THRESHOLDS]
    best = max(scores, key=lambda one: one.f1)
    return {"spans_sc_p": best.precision, "spans_sc_r": best.recall, "spans_sc_f": best.f1}
