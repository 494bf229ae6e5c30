"""How good a recipe is on corpora of every size: one run for each corpus, size, recipe and seed, many at once.

    export NESTAG_CORPORA=...
    python lab/benchmarks/sizes.py lab/results/sizes.jsonl [--at-once 16] [--minutes 9] [--encoder minilm]
        [--recipes default paper searched]
    python lab/benchmarks/sizes.py lab/results/sizes.jsonl --again lab/results/sizes-again.jsonl --write docs/results

A training corpus of N sentences is the first N of a fixed random order, in the order of the corpus; dev is whole. Each
finished run is one line of the file. Runs that have a line are not done again, so the same command goes on after an
interruption, and with `--minutes` a run is only begun while there is time. `--write` makes the table and the plot;
`--again` has runs of the recipes as they are now, whose `default` stands beside the others.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from training_runs import read, side_by_side, trained

from nestag.evaluation.result import OverSeeds

SIZES = (100, 250, 500, 1_000, 2_000, 4_000, 0)
"""Training sentences; 0 is all of them."""

TUNED_ON = ("genia", "litbank", "gum")
HELD_OUT = ("germeval2014",)
SEARCHED: Mapping[int, dict[str, int]] = {
    100: {"batch_subwords": 256, "steps": 600, "early_stopping_patience": 0},
    250: {"batch_subwords": 512, "steps": 800, "early_stopping_patience": 0},
    500: {"batch_subwords": 1024, "steps": 1500, "early_stopping_patience": 0},
    1_000: {"batch_subwords": 1024, "steps": 1500, "early_stopping_patience": 0},
    2_000: {"batch_subwords": 512, "steps": 3000, "evaluations": 20},
    4_000: {"batch_subwords": 2048, "steps": 1500, "early_stopping_patience": 0},
    0: {"batch_subwords": 2048, "steps": 2500, "early_stopping_patience": 0},
}
"""The settings that were best for a size in the search, over the corpora that were searched."""

RECIPES = ("paper", "default", "searched")
NOW = "default now"
SHOWN = {NOW: "default now", "default": "default", "searched": "best found", "paper": "paper"}
"""Columns, by the recipe of their runs."""

BEGIN, END = "<!-- table -->", "<!-- end of table -->"

TOO_LONG = {("germeval2014", 0, "paper")}
"""A run that would take longer than all others together."""


class Job(NamedTuple):
    """One run."""

    corpus: str
    sentences: int
    recipe: str  # default, paper or searched
    seed: int


class CurvePoint(NamedTuple):
    """Runs that differ by their seeds alone."""

    corpus: str
    sentences: int
    recipe: str


def jobs(recipes: Sequence[str]) -> list[Job]:
    """Every run of some recipes, the longest first."""
    found: list[Job] = []
    for size in sorted(SIZES, key=lambda size: -(size or 10**9)):
        for recipe in recipes:
            for corpus in TUNED_ON if recipe == "searched" else (*TUNED_ON, *HELD_OUT):
                found += [Job(corpus, size, recipe, seed) for seed in range(1, 1 + seeds(corpus, size, recipe))]
    return found


def seeds(corpus: str, size: int, recipe: str) -> int:
    """How many runs there are of a kind: three where they are short, or where one would say too little."""
    if (corpus, size, recipe) in TOO_LONG:
        return 0
    return 3 if 0 < size <= 1_000 or (size == 0 and recipe != "paper" and corpus in TUNED_ON) else 1


def do(job: Job, encoder: str) -> dict[str, Any]:
    """Train one recognizer and score it."""
    searched = job.recipe == "searched"
    settings = SEARCHED[job.sentences] if searched else {}
    recipe = "default" if searched else job.recipe
    return trained(job.corpus, job.sentences, recipe, job.seed, **settings, encoder=encoder)


def means(records: list[dict[str, Any]], split: str) -> dict[CurvePoint, OverSeeds]:
    """F1 over seeds for each corpus, size and recipe."""
    grouped: defaultdict[CurvePoint, list[float]] = defaultdict(list)
    for record in records:
        grouped[CurvePoint(record["corpus"], record["sentences"], record["recipe"])].append(record[split])
    return {point: OverSeeds(tuple(values)) for point, values in grouped.items()}


def table(records: list[dict[str, Any]]) -> Iterator[str]:
    """F1 on dev and test for each corpus and size, as lines of Markdown."""
    dev, test = means(records, "dev"), means(records, "test")
    columns = [(dev, recipe, f"{name}, dev") for recipe, name in SHOWN.items()]
    columns += [(test, recipe, f"{name}, test") for recipe, name in SHOWN.items() if recipe != "searched"]
    yield "| corpus | sentences | steps × subwords | " + " | ".join(title for *_, title in columns) + " |"
    yield "|---|---:|---:|" + "---:|" * len(columns)
    for corpus in (*TUNED_ON, *HELD_OUT):
        for size in SIZES:
            plans = [r for r in records if (r["corpus"], r["sentences"], r["recipe"]) == (corpus, size, "default")]
            plan = f"{plans[0]['steps']:,} × {plans[0]['batch_subwords']:,}" if plans else "–"
            row = [str(found.get(CurvePoint(corpus, size, recipe), "–")) for found, recipe, _ in columns]
            yield f"| {corpus} | {f'{size:,}' if size else 'all'} | {plan} | " + " | ".join(row) + " |"


def plot(records: list[dict[str, Any]], path: Path) -> None:
    """F1 on dev by size, a panel for each corpus."""
    import matplotlib as mpl

    mpl.use("Agg")
    mpl.rcParams["svg.hashsalt"] = "nestag"
    from matplotlib import pyplot

    found = means(records, "dev")
    corpora = (*TUNED_ON, *HELD_OUT)
    figure, axes = pyplot.subplots(1, len(corpora), figsize=(3.2 * len(corpora), 3.0), sharey=True)
    for axis, corpus in zip(axes, corpora, strict=True):
        for recipe, style in ((NOW, "C3o-"), ("default", "C0o-"), ("searched", "C1x"), ("paper", "C2s--")):
            points = sorted(
                (point.sentences or 16_000, f1.mean)
                for point, f1 in found.items()
                if (point.corpus, point.recipe) == (corpus, recipe)
            )
            axis.plot(*zip(*points, strict=True), style, label=SHOWN[recipe]) if points else None
        axis.set(title=corpus, xscale="log", xlabel="training sentences", ylim=(0, 80))
        axis.set_xticks([100, 1_000, 16_000], ["100", "1,000", "all"])
        axis.grid(alpha=0.3)
    axes[0].set_ylabel("F1 on dev")
    axes[0].legend(loc="lower right")
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})


def main() -> None:
    """Do the runs, or show what came of them."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("results", type=Path)
    arguments.add_argument("--at-once", type=int, default=1)
    arguments.add_argument("--minutes", type=float, default=10_000.0)
    arguments.add_argument("--encoder", default="minilm")
    arguments.add_argument("--recipes", nargs="+", default=RECIPES, choices=RECIPES)
    arguments.add_argument("--again", type=Path, metavar="FILE", help="runs of the recipes as they are now")
    arguments.add_argument("--write", type=Path, metavar="DIR", help="write the table and the plot here")
    options = arguments.parse_args()
    if options.write:
        again = read(options.again) if options.again else []
        records = read(options.results) + [{**one, "recipe": NOW} for one in again if one["recipe"] == "default"]
        page = options.write / "sizes.md"
        before, _, rest = page.read_text(encoding="utf-8").partition(BEGIN)
        text = "\n".join([BEGIN, *table(records), END])
        page.write_text(f"{before}{text}{rest.partition(END)[2]}", encoding="utf-8")
        plot(records, options.write / "figures" / "sizes.svg")
    else:
        do_one = partial(do, encoder=options.encoder)
        side_by_side(jobs(options.recipes), do_one, options.results, options.at_once, options.minutes)


if __name__ == "__main__":
    main()
