"""Measure decoding: sentences per second on one core, from scores to a table of entities.

    python benchmarks/decoding.py [--corpus FOLDER] [--write build/measured/decoding.md]

FOLDER has train, dev and test.jsonl.gz; by default it is genia under NESTAG_CORPORA, or else the embedded corpus,
repeated. The scores are log-probabilities in float32 in which gold labels stand out from noise, in batches of
sentences sorted by length. Times are seconds of this process, the shortest of several runs.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import cycle, islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nestag.data.sentence import Sentence
from nestag.decoding import decode_scores
from nestag.encodings import available
from nestag.encodings.vocabulary import Vocabulary
from nestag.formats import jsonl, sample
from nestag.formats.files import writing

BATCH = 500
TIMES = 5
MARGIN = 5.0
"""The margin of gold labels over noise with standard deviation 1."""

STEPS: dict[str, dict[str, Any]] = {
    "repair (greedy)": {"decoding": "greedy"},
    "constrained": {"decoding": "constrained"},
    "constrained + confidence": {"decoding": "constrained", "confidence": True},
}


class ScoredBatch(NamedTuple):
    """Scores of three heads, words x labels, and the lengths of the sentences."""

    n: NDArray[np.float32]
    c: NDArray[np.float32]
    u: NDArray[np.float32]
    lengths: NDArray[np.int64]


def main() -> None:
    """Measure every encoding and print a table."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--corpus", type=Path, help="a folder with train, dev and test.jsonl.gz")
    arguments.add_argument("--write", type=Path, help="also write the table to this file")
    options = arguments.parse_args()
    sentences = read(options.corpus)
    words = sum(map(len, sentences))
    lines = [f"{len(sentences):,} sentences, {words:,} words, batches of {BATCH} sentences.", ""]
    lines += [f"| encoding | {' | '.join(f'{step}, sentences/s' for step in STEPS)} |", "|---" * (len(STEPS) + 1) + "|"]
    print("\n".join(lines))
    for name in available():
        speeds = [f"{len(sentences) / seconds:,.0f}" for seconds in measured(sentences, name)]
        lines.append(f"| {name} | {' | '.join(speeds)} |")
        print(lines[-1], flush=True)
    if options.write:
        with writing(options.write) as stream:
            stream.write("# Decoding\n\n" + "\n".join(lines) + "\n")


def read(folder: Path | None) -> list[Sentence]:
    """Return the sentences of a corpus, sorted by length."""
    folder = folder or Path(os.environ.get("NESTAG_CORPORA", "")) / "genia"
    paths = [folder / f"{split}.jsonl.gz" for split in ("train", "dev", "test")]
    if all(path.exists() for path in paths):
        sentences = [sentence for path in paths for sentence in jsonl.read(path)]
    else:
        sentences = list(islice(cycle(sample.sentences()), 20_000))
    return sorted(sentences, key=len)


def measured(sentences: Sequence[Sentence], name: str) -> Iterator[float]:
    """Yield the seconds of each step."""
    vocabulary = Vocabulary.learn(sentences, name)
    batches = list(noisy(sentences, vocabulary))
    for options in STEPS.values():

        def decode_all(options: dict[str, Any] = options) -> None:
            for batch in batches:
                decode_scores(vocabulary, *batch, **options)

        yield min(seconds(decode_all) for _ in range(TIMES))


def noisy(sentences: Sequence[Sentence], vocabulary: Vocabulary) -> Iterator[ScoredBatch]:
    """Yield batches of log-probabilities in which gold labels stand out from noise."""
    rng = np.random.default_rng(0)
    for first in range(0, len(sentences), BATCH):
        group = sentences[first : first + BATCH]
        ids = [vocabulary.ids(vocabulary.encode(sentence)) for sentence in group]
        n, c, u = (
            log_probabilities(rng, np.concatenate([labels[head] for labels in ids]), len(table))
            for head, table in enumerate((vocabulary.n, vocabulary.c, vocabulary.u))
        )
        yield ScoredBatch(n, c, u, np.array([len(sentence) for sentence in group]))


def log_probabilities(rng: np.random.Generator, gold: NDArray[np.int64], labels: int) -> NDArray[np.float32]:
    """Return noise in which the gold label of each word stands out."""
    scores = rng.normal(0, 1, (len(gold), labels))
    scores[np.arange(len(gold)), gold] += MARGIN
    scores -= np.log(np.exp(scores).sum(axis=1, keepdims=True))
    return scores.astype(np.float32)


def seconds(action: Callable[[], object]) -> float:
    """Return the CPU seconds of an action."""
    begin = time.process_time()
    action()
    return time.process_time() - begin


if __name__ == "__main__":
    main()
