"""demo: nested entities in new sentences, the idea behind them, and a model trained in a minute."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from tempfile import gettempdir
from typing import TYPE_CHECKING, Annotated

import typer

from nestag.cli.terminal import hush, tell
from nestag.data.sentence import Entity, Sentence
from nestag.errors import InputError
from nestag.formats.files import new_part

if TYPE_CHECKING:
    from nestag.model.predictor import Predictor

FIGURE = Sentence(
    ["Lincoln", "was", "president", "of", "the", "USA"],
    [Entity(0, 1, "PER"), Entity(2, 6, "PER"), Entity(4, 6, "GPE")],
)
ENGLISH = (
    "The governor of the Bank of Norway met Prime Minister Ilse Brandt in Oslo on Tuesday.",
    "Maya Okafor, a former editor of the Lagos Herald, now teaches at the University of Cape Town.",
    "Police in Bristol questioned the brother of the owner of the hotel.",
)
"""New sentences for the English model."""

SAMPLE = (
    "The governor of the Bank of Norway met Prime Minister Ilse Brandt in Oslo on Tuesday.",
    "Mutations in the promoter of the GATA3 gene were found in CD4 T cells of patients with lymphoma.",
    "Counsel for Marlow Shipping Ltd relied on Section 4 of the Carriage Act 1986.",
)
"""New sentences for a model of the embedded corpus."""

NEXT = """\
Next:

  nestag predict english article.txt --show    find entities in your own text
  nestag serve english                         try it on a page, or ask over HTTP
  nestag demo --train                          train a model on an embedded corpus, in about a minute
  nestag train --train train.jsonl --dev dev.jsonl -o model --encoder light
"""


def demo(
    idea: Annotated[bool, typer.Option("--idea", help="Show the idea alone: a sentence, its tree and labels.")] = False,
    train: Annotated[
        bool, typer.Option("--train", help="Train a light model on the embedded corpus, score it, and tag with it.")
    ] = False,
    output: Annotated[
        str | None, typer.Option("-o", "--output", metavar="DIR", help="Keep the model of --train in this folder.")
    ] = None,
) -> None:
    """Find nested entities in new sentences with the English model, and show the idea and what to do next."""
    if output is not None and not train:
        raise InputError("only a model that is trained can be saved; add --train", "--output")
    if train:
        hush()
        with new_part(Path(gettempdir()), is_folder=True) as part:
            train_and_tag(output or str(part / "model"), kept=output is not None)
        return
    if not idea:
        from nestag.model.model_folder import load

        draw_entities(load("english"), ENGLISH)
    show_idea()
    if not idea:
        typer.echo(f"\n{NEXT}", nl=False)


def show_idea() -> None:
    """A sentence, its tree, its labels in every encoding, and the way back."""
    from rich.console import Console
    from rich.table import Table

    from nestag.encodings import available, decode, encode
    from nestag.encodings.notation import write_chain, write_name
    from nestag.inspect.terminal import branches, nested, print_lines

    console = Console(highlight=False)
    console.print("The idea. A sentence with nested entities:\n")
    print_lines(console, nested(FIGURE, console.width))
    console.print("\nits constituent tree:\n")
    print_lines(console, branches(FIGURE, console.width))
    table = Table("", *FIGURE.tokens, box=None)
    for name in ("abs", "rel", "dyn", "4tg"):
        write_n = available()[name].write_n
        labels = (f"{write_n(n)} {write_name(c)} {write_chain(u)}" for n, c, u in encode(FIGURE, name))
        table.add_row(name, *labels)
    console.print("\nthe tree as one label (n, c, u) for each word, in four encodings:\n")
    console.print(table)
    console.print("\nand the entities read back from the labels, the same from each:\n")
    for entity in decode(encode(FIGURE, "dyn"), "dyn"):
        words = " ".join(FIGURE.tokens[entity.start : entity.end])
        console.print(f"  {entity.type:4} {entity.start}-{entity.end}  {words}")


def train_and_tag(folder: str, kept: bool) -> None:
    """Train on the embedded corpus, print scores, and draw what is found in new sentences."""
    from rich.console import Console

    from nestag import train
    from nestag.formats import sample
    from nestag.formats.folders import SPLITS
    from nestag.model.model_folder import load
    from nestag.training.display import TrainingDisplay

    splits: dict[str, list[Sentence]] = {name: sample.sentences(name) for name in SPLITS}
    told = ", ".join(f"{len(found)} {name}" for name, found in splits.items())
    tell(f"Training a light model on the embedded corpus ({told} sentences), on the CPU:")
    with TrainingDisplay("demo", Path(folder) if kept else None) as display:
        run = train(splits["train"], splits["dev"], folder, "light", test=splits["test"], watch=display, use_cpu=True)
        display.finish(run)
    Console(highlight=False).print("\nNested entities in new sentences:\n")
    draw_entities(load(folder, "cpu"), SAMPLE)


def draw_entities(recognizer: Predictor, texts: Iterable[str]) -> None:
    """Draw each text with the entities found in it below the words."""
    from rich.console import Console

    from nestag.inspect.terminal import nested, print_lines

    console = Console(highlight=False)
    for found in recognizer.pipe(texts):
        sentence = Sentence(found.tokens, [entity.entity for entity in found])
        print_lines(console, [*nested(sentence, console.width), []])
