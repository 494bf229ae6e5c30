"""How far confidences can be trusted: of the entities predicted with a confidence near p, the share p should be right.

    python benchmarks/calibration.py MODEL [GOLD]

GOLD is a corpus in any format; without it, dev and test of the embedded corpus.
"""

from __future__ import annotations

import argparse

import numpy as np

from nestag import sample
from nestag.corpora.registry import format_of
from nestag.data import Sentence
from nestag.recognizer import NestedNER

BINS = 10


def main() -> None:
    """Print a row for each tenth of confidence, and the mean distance."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("model")
    arguments.add_argument("gold", nargs="?")
    options = arguments.parse_args()
    held_out = [*sample.sentences("dev"), *sample.sentences("test")]
    gold = list(format_of(options.gold).read(options.gold)) if options.gold else held_out
    confidence, right = rated(NestedNER.from_pretrained(options.model), gold)
    print("| confidence | entities | mean confidence | right |\n|---|---|---|---|")
    place = np.clip((confidence * BINS).astype(int), 0, BINS - 1)
    distance = 0.0
    for number in range(BINS):
        inside = place == number
        if inside.any():
            mean, share = confidence[inside].mean(), right[inside].mean()
            distance += inside.mean() * abs(mean - share)
            print(f"| {number / BINS:.1f} to {(number + 1) / BINS:.1f} | {inside.sum()} | {mean:.3f} | {share:.3f} |")
    print(f"\n{len(right):,} entities; expected calibration error {distance:.3f};", end=" ")
    print(f"Brier score {((confidence - right) ** 2).mean():.3f}")


def rated(recognizer: NestedNER, gold: list[Sentence]) -> tuple[np.ndarray, np.ndarray]:
    """The confidence of each predicted entity, and whether it is right."""
    rows = [
        (confidence, entity in set(sentence.entities))
        for sentence, found in zip(gold, recognizer.predict_scored(gold), strict=True)
        for entity, confidence in found
    ]
    return np.array([row[0] for row in rows]), np.array([row[1] for row in rows], dtype=float)


if __name__ == "__main__":
    main()
