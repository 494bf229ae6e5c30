"""build: a recognizer to take home, made from corpora that anybody may download."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from nestag.cli.terminal import hush, tell
from nestag.errors import InputError


class ReleasedModel(StrEnum):
    """A recognizer that can be built."""

    english = "english"


def build(
    name: Annotated[ReleasedModel, typer.Argument(metavar="NAME", help="english: persons, places and organizations.")],
    output: Annotated[str, typer.Option("-o", "--output", metavar="DIR", help="The folder to create.")],
    litbank: Annotated[str, typer.Option(metavar="DIR", help="A copy of github.com/dbamman/litbank.")],
    gum: Annotated[str, typer.Option(metavar="DIR", help="A copy of github.com/amir-zeldes/gum.")],
    recipe: Annotated[str, typer.Option(metavar="R", help="A recipe, or a .toml file; default is MiniLM's.")] = "light",
    encoder: Annotated[str | None, typer.Option(metavar="E", help="Another encoder than the recipe's.")] = None,
    seed: Annotated[int, typer.Option(help="The random seed.")] = 1,
    cpu: Annotated[bool, typer.Option("--cpu", help="Train on the CPU even if there is a GPU.")] = False,
) -> None:
    """Train a recognizer for everybody and export it in eight bits, with a card; the same command resumes.

    What was trained is kept in DIR-training, in float32.
    """
    hush()
    from nestag.cli.train import one
    from nestag.model.recognizer import NestedNER
    from nestag.training.recipe import load_recipe
    from nestag_lab.release.build import release, told
    from nestag_lab.release.english import corpora, joined

    if Path(output).exists():
        raise InputError("is there already; remove it, or write to a new folder", output)
    chosen = load_recipe(recipe).changed({"encoder": encoder} if encoder else {}, "--encoder")
    found = corpora(litbank, gum)
    for corpus, splits in found.items():
        tell(f"{corpus}: " + ", ".join(f"{len(sentences):,} {split}" for split, sentences in splits.items()))
    training = f"{Path(output)}-training"
    one({"train": joined(found, "train"), "dev": joined(found, "dev")}, training, chosen, seed, (), cpu)
    typed = f"nestag build {name.value} -o {Path(output).name} --litbank litbank --gum gum"
    typed += f" --recipe {Path(recipe).name}" if recipe != "light" else ""
    typed += f" --seed {seed}" if seed != 1 else ""
    done = release(NestedNER.from_pretrained(training, "cpu"), output, found, chosen, seed, typed)
    for corpus, result in done.scores.items():
        tell(f"{corpus}: F1 {100 * result.f1:.2f}")
    tell(told(done))
    tell(f"wrote {output}; try: nestag predict {output} article.txt --show")
