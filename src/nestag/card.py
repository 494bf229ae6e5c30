"""Model cards: what a model was trained on and how well it does, written for whoever finds it later."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from dataclasses import asdict
from importlib.metadata import version

from nestag.data import Entity, Sentence
from nestag.evaluation import Score, by_type, score
from nestag.recipe import Recipe
from nestag.statistics import depths_of

DEEPEST = 2
"""Entities nested this deep or deeper are scored together."""

Predictions = Sequence[Sequence[Entity]]


def card(
    name: str,
    recipe: Recipe,
    seed: int,
    splits: dict[str, Sequence[Sentence]],
    predicted: dict[str, Predictions],
) -> str:
    """A model card in Markdown; `predicted` holds what the model says of some of the splits."""
    lines = [
        "---",
        "library_name: nestag",
        "tags: [nested-ner, token-classification]",
        "---",
        f"# {name}",
        "",
        "A recognizer of nested named entities, trained with [nestag](https://pypi.org/project/nestag/).",
        "",
        "    from nestag import NestedNER",
        f'    NestedNER.from_pretrained("{name}").predict_text("...")',
        "",
        "## Data",
        "",
        "| split | sentences | tokens | entities |",
        "|---|---|---|---|",
        *(
            f"| {split} | {len(found):,} | {sum(map(len, found)):,} | {sum(len(s.entities) for s in found):,} |"
            for split, found in splits.items()
        ),
    ]
    for split, guesses in predicted.items():
        lines += ["", f"## Scores on {split}", "", *_scores(splits[split], guesses)]
    lines += ["", "## Settings", "", f"Seed {seed}.", "", "| setting | value |", "|---|---|"]
    lines += [f"| {key} | {value} |" for key, value in asdict(recipe).items()]
    packages = ("nestag", "torch", "transformers", "numpy")
    lines += [
        "",
        "Versions: Python " + platform.python_version(),
        *(f"· {package} {_version(package)}" for package in packages),
    ]
    return "\n".join(lines) + "\n"


def _scores(sentences: Sequence[Sentence], guesses: Predictions) -> list[str]:
    """Strict scores in all, by type and by depth."""
    gold = [sentence.entities for sentence in sentences]
    rows = [("all", score(gold, guesses))]
    rows += [(kind, found) for kind, found in by_type(gold, guesses).items()]
    for depth in range(DEEPEST + 1):
        name = f"depth {depth}" + " and more" * (depth == DEEPEST)
        rows.append((name, score(at_depth(gold, depth), at_depth(guesses, depth))))
    return ["| | precision | recall | F1 | entities |", "|---|---|---|---|---|", *(_row(*row) for row in rows)]


def at_depth(entities: Sequence[Sequence[Entity]], depth: int) -> list[list[Entity]]:
    """The entities at one depth of their own sentence, `DEEPEST` meaning that and more."""
    return [
        [entity for entity, found in zip(inside, depths_of(inside), strict=True) if min(found, DEEPEST) == depth]
        for inside in entities
    ]


def _row(name: str, found: Score) -> str:
    shown = " | ".join(f"{100 * value:.2f}" for value in (found.precision, found.recall, found.f1))
    return f"| {name.replace('|', '&#124;')} | {shown} | {found.gold:,} |"


def _version(package: str) -> str:
    from nestag import __version__

    return __version__ if package == "nestag" else version(package)
