"""How fast the spaCy component is beside the engine alone, on the same words, in one run.

    python lab/benchmarks/spacy_pipe.py MODEL CORPUS [--times N]

Printed are seconds of the pipeline without the component, with it, and of the engine alone; and the share of the
engine's speed that the component reaches: what it adds to the pipeline is held against the engine's own time.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import spacy

from nestag.data.document import Document, sentences_of
from nestag.data.report import Report
from nestag.data.segment import DEFAULT
from nestag.formats.corpus import Corpus
from nestag.model.model_folder import load


def seconds(work: Callable[[], object]) -> float:
    """How long it takes, the better of two."""
    best = float("inf")
    for _ in range(2):
        begun = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - begun)
    return best


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model")
    parser.add_argument("corpus")
    parser.add_argument("--times", type=int, default=1)
    given = parser.parse_args()
    texts = [" ".join(sentence.tokens) for sentence in Corpus.read(given.corpus)] * given.times
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    bare = seconds(lambda: list(nlp.pipe(texts)))
    nlp.add_pipe("nestag", config={"model": given.model, "device": "cpu"})
    whole = seconds(lambda: list(nlp.pipe(texts)))
    recognizer = load(given.model, "cpu")
    cut = [sentence for text in texts for sentence in sentences_of(Document("x", text), DEFAULT, Report())]
    engine = seconds(lambda: recognizer(cut))
    words = sum(map(len, cut))
    for name, spent in (("pipeline without it", bare), ("pipeline with it", whole), ("engine alone", engine)):
        print(f"{name:22} {spent:8.2f} s {words / spent:10,.0f} words/s")
    print(f"{'ratio':22} {engine / (whole - bare):8.2f} of the engine's speed")


if __name__ == "__main__":
    main()
