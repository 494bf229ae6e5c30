"""How good the light encoder is: a run for each corpus, number of sentences, variant and seed, many at once.

    export NESTAG_CORPORA=...
    python lab/benchmarks/light.py lab/results/light.jsonl [--at-once 12] [--minutes 9] [--encoder light:FOLDER]
        [--corpora genia gum] [--sentences 400 1200 0] [--variants light masked] [--seeds 1 2 3]

A variant is the recipe `light` with some settings changed; variants are compared on dev. A training corpus of N
sentences is the first N of a fixed random order, the same as for spaCy (peers/spancat.py); dev is whole. Each finished
run is a line of the file. Runs that have a line are not done again, so the same command goes on after an interruption,
and with `--minutes` a run is only begun while there is time. lab/benchmarks/light_page.py writes the page.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from training_runs import side_by_side, trained

CORPORA = ("genia", "litbank", "gum")
SIZES = (400, 1_200, 0)
"""Training sentences; 0 is all of them."""

PASSES = {"epochs": 30}
VARIANTS: Mapping[str, dict[str, Any]] = {
    "light": {},
    "30 passes": PASSES,
    "slow table": {**PASSES, "learning_rate": 1e-3},
    "fast table": {**PASSES, "learning_rate": 1e-2},
    "masked": {**PASSES, "masked_subwords": 0.15},
    "rdrop": {**PASSES, "rdrop": 1.0},
    "rdrop, masked": {**PASSES, "rdrop": 1.0, "masked_subwords": 0.15},
    "six layers": {"conv_layers": 6},
    "deep": {**PASSES, "conv_layers": 6},
    "128 numbers": {"light_size": 128},
    "64 numbers": {"light_size": 64},
    "narrow": {**PASSES, "conv_size": 128, "conv_layers": 6},
}
"""What is changed in the recipe `light`."""


class Job(NamedTuple):
    """One run."""

    corpus: str
    sentences: int
    variant: str
    seed: int


def do(job: Job, encoder: str) -> dict[str, Any]:
    """Train one recognizer and score it."""
    settings = VARIANTS[job.variant]
    found = trained(job.corpus, job.sentences, "light", job.seed, **settings, encoder=encoder)
    return {"settings": settings, **found}


def jobs(options: argparse.Namespace) -> list[Job]:
    """What is wanted, the largest corpora first."""
    return [
        Job(corpus, size, variant, seed)
        for size in sorted(options.sentences, key=lambda size: -(size or 10**9))
        for seed in options.seeds
        for corpus in options.corpora
        for variant in options.variants
    ]


def main() -> None:
    """Do the runs."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("results", type=Path)
    arguments.add_argument("--at-once", type=int, default=1)
    arguments.add_argument("--minutes", type=float, default=10_000.0)
    arguments.add_argument("--encoder", default="light")
    arguments.add_argument("--corpora", nargs="+", default=list(CORPORA))
    arguments.add_argument("--sentences", nargs="+", type=int, default=list(SIZES), help="0 is all of them")
    arguments.add_argument("--variants", nargs="+", default=list(VARIANTS), choices=list(VARIANTS))
    arguments.add_argument("--seeds", nargs="+", type=int, default=[1])
    options = arguments.parse_args()
    do_one = partial(do, encoder=options.encoder)
    side_by_side(jobs(options), do_one, options.results, options.at_once, options.minutes)


if __name__ == "__main__":
    main()
