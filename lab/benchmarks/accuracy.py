"""How accurate variants of the recipe are: a run for each corpus, variant and seed, many at once.

    export NESTAG_CORPORA=...
    python lab/benchmarks/accuracy.py lab/results/accuracy.jsonl [--at-once 6] [--minutes 9] [--corpora genia]
        [--variants default accurate] [--seeds 1 2 3] [--encoders minilm=FOLDER gte-small=FOLDER]
    python lab/benchmarks/accuracy.py lab/results/accuracy.jsonl --write docs/results/accuracy.md

A variant is a packaged recipe with some settings changed; variants are compared on dev. Runs that have a line are not
done again, so the same command goes on after an interruption. `--write` makes the table, with means over seeds.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from training_runs import read, side_by_side, trained

from nestag.evaluation.result import OverSeeds
from nestag.formats.files import writing


class Variant(NamedTuple):
    """A recipe, an encoder, and what is changed in the recipe."""

    recipe: str
    encoder: str = "minilm"
    settings: Mapping[str, Any] = {}


CONTEXT = {"context": 192}
SLOW = {"learning_rate": 1e-4}
LAYERS = {"layer_decay": 0.8, "learning_rate": 3e-4}
WIDE = {"conv_size": 512, "conv_layers": 3}
VARIANTS = {
    "default": Variant("default"),
    "accurate": Variant("accurate"),
    "accurate, a tenth of the subwords masked": Variant("accurate", settings={"masked_subwords": 0.1}),
    "accurate, R-Drop 3": Variant("accurate", settings={"rdrop": 3.0}),
    "accurate, 12 passes": Variant("accurate", settings={"epochs": 12, "evaluations": 20}),
    "accurate, encoder half as fast": Variant("accurate", settings=SLOW),
    "accurate, layer decay 0.8": Variant("accurate", settings=LAYERS),
    "accurate, dropout 0.4": Variant("accurate", settings={"dropout": 0.4}),
    "accurate, three wide convolutions": Variant("accurate", settings=WIDE),
    "accurate, both": Variant("accurate", settings={**LAYERS, **WIDE}),
    "default, layer decay 0.8": Variant("default", settings=LAYERS),
    "accurate, layer decay 0.8, context": Variant("accurate", settings={**LAYERS, **CONTEXT}),
    "default, context": Variant("default", settings=CONTEXT),
    "accurate, context": Variant("accurate", settings=CONTEXT),
    "gte-small, accurate": Variant("accurate", "gte-small", SLOW),
    "gte-small, default, context": Variant("default", "gte-small", {**CONTEXT, **SLOW}),
    "gte-small, accurate, context": Variant("accurate", "gte-small", {**CONTEXT, **SLOW}),
    "adapted in 30 passes, default": Variant("default", "minilm-adapted-30"),
    "adapted, default": Variant("default", "minilm-adapted"),
    "adapted, accurate": Variant("accurate", "minilm-adapted"),
    "adapted, accurate, layer decay 0.8": Variant("accurate", "minilm-adapted", LAYERS),
    "adapted, accurate, context": Variant("accurate", "minilm-adapted", CONTEXT),
    "adapted gte-small, accurate, context": Variant("accurate", "gte-small-adapted", {**CONTEXT, **SLOW}),
}


class Job(NamedTuple):
    """One run."""

    corpus: str
    variant: str
    seed: int


def do(job: Job, encoders: Mapping[str, str]) -> dict[str, Any]:
    """Train one recognizer and score it."""
    recipe, encoder, settings = VARIANTS[job.variant]
    found = trained(job.corpus, 0, recipe, job.seed, **settings, encoder=encoders.get(encoder, encoder))
    return {"recipe": recipe, "encoder": encoder, "settings": settings, **found}


def page(records: Sequence[dict[str, Any]]) -> Iterator[str]:
    """F1 on dev and test, constrained and verified, for each corpus and variant, as lines of Markdown."""
    yield "# How accurate variants of the recipe are"
    yield ""
    yield "Written by `lab/benchmarks/accuracy.py` from the runs in"
    yield "[accuracy.jsonl](../../lab/results/accuracy.jsonl): strict F1 in percent,"
    yield "`rel`, all of train, means and deviations over seeds. Choices are made on dev. An adapted encoder has read"
    yield "the training text of the corpus it stands beside (`nestag adapt`)."
    yield ""
    yield "| corpus | variant | seeds | dev, constrained | dev, verified | test, constrained | test, verified | s |"
    yield "|---|---|---:|---:|---:|---:|---:|---:|"
    for corpus in dict.fromkeys(one["corpus"] for one in records):
        for variant in VARIANTS:
            same = [one for one in records if (one["corpus"], one["variant"]) == (corpus, variant)]
            if same:
                columns = [cell for split in ("dev", "test") for cell in cells(same, split)]
                seconds = sum(one["seconds"] for one in same) / len(same)
                yield f"| {corpus} | {variant} | {len(same)} | {' | '.join(columns)} | {seconds:.0f} |"
    yield ""
    yield "The last column is the time of a run while others ran on the same GPU."


def cells(records: Sequence[dict[str, Any]], split: str) -> list[str]:
    """What constrained decoding reached on a split, and what the verifier did where there is one."""
    verified = tuple(one["verified"][split] for one in records if "verified" in one)
    return [str(OverSeeds(tuple(one[split] for one in records))), str(OverSeeds(verified)) if verified else "–"]


def main() -> None:
    """Do the runs, or write the page."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("results", type=Path)
    arguments.add_argument("--at-once", type=int, default=1)
    arguments.add_argument("--minutes", type=float, default=10_000.0)
    arguments.add_argument("--encoders", nargs="+", default=[], metavar="NAME=FOLDER")
    arguments.add_argument("--corpora", nargs="+", default=["genia"])
    arguments.add_argument("--variants", nargs="+", default=list(VARIANTS), choices=list(VARIANTS))
    arguments.add_argument("--seeds", nargs="+", type=int, default=[1])
    arguments.add_argument("--write", type=Path, help="make the page")
    options = arguments.parse_args()
    if options.write:
        with writing(options.write) as stream:
            stream.write("\n".join(page(read(options.results))) + "\n")
        return
    encoders = dict(pair.split("=", 1) for pair in options.encoders)
    wanted = [
        Job(corpus, variant, seed)
        for corpus in options.corpora
        for seed in options.seeds
        for variant in options.variants
    ]
    side_by_side(wanted, partial(do, encoders=encoders), options.results, options.at_once, options.minutes)


if __name__ == "__main__":
    main()
