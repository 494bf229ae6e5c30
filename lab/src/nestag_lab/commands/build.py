"""build: a pretrained model, from corpora and text that are free to download."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

import nestag
from nestag.cli.terminal import log, silence_libraries
from nestag.errors import InputError
from nestag_lab.release.english import SENTENCES, STEPS, TEACHER, TEXT


class ReleasedModel(StrEnum):
    """A recognizer that can be built."""

    english = "english"


def build(
    name: Annotated[ReleasedModel, typer.Argument(metavar="NAME", help="english: persons, places and organizations.")],
    output: Annotated[str, typer.Option("-o", "--output", metavar="DIR", help="The folder to create.")],
    litbank: Annotated[str, typer.Option(metavar="DIR", help="A copy of github.com/dbamman/litbank.")],
    gum: Annotated[str, typer.Option(metavar="DIR", help="A copy of github.com/amir-zeldes/gum.")],
    text: Annotated[
        str | None,
        typer.Option(
            metavar="DIR", help="Raw text that a teacher tags, as python -m nestag_lab.release.text saves it."
        ),
    ] = None,
    recipe: Annotated[str, typer.Option(metavar="R", help="The recipe of the model, or a .toml file.")] = "light",
    encoder: Annotated[str | None, typer.Option(metavar="E", help="Another encoder than the recipe's.")] = None,
    teacher_recipe: Annotated[str, typer.Option(metavar="R", help="The recipe of the teacher.")] = TEACHER,
    steps: Annotated[int, typer.Option(min=1, help="Training steps of a distilled model.")] = STEPS,
    seed: Annotated[int, typer.Option(help="The random seed.")] = 1,
    cpu: Annotated[bool, typer.Option("--cpu", help="Train on the CPU even if there is a GPU.")] = False,
) -> None:
    """Train a model that comes with nestag, and export it as int8 with a card; the same command resumes.

    With text, a larger teacher is trained first and the model is distilled from it. The teacher is kept in DIR-teacher,
    the model in float32 in DIR-training.
    """
    silence_libraries()
    from nestag.model.recognizer import NestedNER
    from nestag.training.distillation import distill
    from nestag.training.recipe import load_recipe
    from nestag_lab.release.build import describe, release
    from nestag_lab.release.english import corpora, joined
    from nestag_lab.release.text import read_texts

    if Path(output).exists():
        raise InputError("is there already; remove it, or write to a new folder", output)
    chosen = load_recipe(recipe).changed({"encoder": encoder} if encoder else {}, "--encoder")
    texts = [f"{text}/{name}.txt.xz" for name in TEXT] if text else []
    splits = corpora(litbank, gum)
    for corpus, parts in splits.items():
        log(f"{corpus}: " + ", ".join(f"{len(sentences):,} {split}" for split, sentences in parts.items()))
    training, train, dev = f"{Path(output)}-training", joined(splits, "train"), joined(splits, "dev")
    if text:
        teacher = f"{Path(output)}-teacher"
        nestag.train(train, dev, teacher, teacher_recipe, seed=seed, quiet=False, use_cpu=cpu)
        done = distill(
            teacher, read_texts(texts), train, dev, training, chosen, encoder=chosen.encoder, seed=seed,
            max_sentences=SENTENCES, steps=steps, use_cpu=cpu,
        )  # fmt: skip
        log(str(done.text))
    else:
        nestag.train(train, dev, training, chosen, seed=seed, quiet=False, use_cpu=cpu)
    command = f"nestag build {name.value} -o {Path(output).name} --litbank litbank --gum gum"
    command += f" --text {Path(text).name}" if text else ""
    command += f" --recipe {Path(recipe).name}" if recipe != "light" else ""
    command += f" --seed {seed}" if seed != 1 else ""
    released = release(NestedNER.from_pretrained(training, "cpu"), output, splits, chosen, seed, command)
    for corpus, result in released.scores.items():
        log(f"{corpus}: F1 {100 * result.f1:.2f}")
    log(describe(released))
    log(f"wrote {output}; try: nestag predict ./{Path(output).name} article.txt --show")
