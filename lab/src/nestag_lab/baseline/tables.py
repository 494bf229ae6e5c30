"""The tables that compare recipes with CNN-NER, from lab/results/recipes.jsonl.

A line of the file is a run (model, trial, corpus, seed, F1 on dev and test) or what is known of a model once: its size
and its speed on a GPU. Runs with an empty trial are the recipe as it is in the package.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from nestag.inspect.tables import over_seeds

MODELS = {
    "cnn-ner": "CNN-NER",
    "light": "nestag `light`",
    "default": "nestag `default`",
    "accurate": "nestag `accurate`",
}
CORPORA = {"genia": "GENIA", "litbank": "LitBank", "gum": "GUM", "germeval2014": "GermEval"}
Line = dict[str, Any]


def recipe_tables(path: Path) -> dict[str, str]:
    """Return the tables by name, as Markdown; none if there is no such file."""
    if not path.exists():
        return {}
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return {"comparison": comparison(lines), "f1": f1_table(lines)}


def comparison(lines: Sequence[Line]) -> str:
    """Return mean F1 on test, speed and size: a row for each model."""
    rows = []
    for model, name in MODELS.items():
        facts = next(line for line in lines if line["model"] == model and "megabytes" in line)
        runs = [over_seeds(scores(lines, model, corpus, "test")) for corpus in CORPORA]
        speed = facts.get("sentences_per_second")
        f1 = [f"{run.value:.1f}" if run else "–" for run in runs]
        rows.append([name, *f1, f"{speed:,.0f}" if speed else "–", f"{facts['megabytes']} MB"])
    return markdown(["Model", *CORPORA.values(), "Sentences/s, GPU", "Size"], rows)


def f1_table(lines: Sequence[Line]) -> str:
    """Return F1 on test with deviation and number of seeds: a row for each model."""
    rows = []
    for model, name in MODELS.items():
        runs = [over_seeds(scores(lines, model, corpus, "test")) for corpus in CORPORA]
        rows.append([name, *(f"{run} ({run.count})" if run else "–" for run in runs)])
    return markdown(["Model", *CORPORA.values()], rows)


def scores(lines: Sequence[Line], model: str, corpus: str, split: str) -> list[float]:
    """Return the scores of a model as it is in the package, a number for each seed."""
    wanted = {"model": model, "corpus": corpus, "trial": ""}.items()
    return [line[split] for line in lines if wanted <= line.items()]


def markdown(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table; the cells may hold Markdown."""
    lines = [columns, ["---", *["---:"] * (len(columns) - 1)], *rows]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)
