"""Model cards: what a model was trained on and how well it does, written for whoever finds it later."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from dataclasses import asdict
from importlib.metadata import version

from nestag.data import Entity, Sentence
from nestag.evaluation.display import by_depth, by_type, overall
from nestag.evaluation.judge import judged
from nestag.evaluation.matching import Pair
from nestag.tables import Form, write
from nestag.training.recipe import Recipe

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
    """Strict scores in all, by type and by depth, as tables."""
    found = judged(Pair(one, one.with_entities(guess)) for one, guess in zip(sentences, guesses, strict=True))
    return [write(table(found), Form.markdown) for table in (overall, by_type, by_depth)]


def _version(package: str) -> str:
    from nestag import __version__

    return __version__ if package == "nestag" else version(package)
