"""demo: nested entities in new sentences, the idea behind them, and a model trained in a minute."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from tempfile import gettempdir
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

import nestag
from nestag.cli.options import output_option
from nestag.cli.predict import draw
from nestag.cli.terminal import log, silence_libraries
from nestag.data.sentence import Entity, Sentence
from nestag.encodings import available, decode, encode
from nestag.encodings.notation import write_chain, write_name
from nestag.errors import InputError
from nestag.formats import sample
from nestag.formats.files import new_part
from nestag.formats.folders import SPLITS
from nestag.inspect.terminal import draw_nested, draw_tree, print_lines

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
    idea: Annotated[
        bool, typer.Option("--idea", help="Show only how it works: a sentence, its tree and labels.")
    ] = False,
    train: Annotated[
        bool, typer.Option("--train", help="Train a light model on the embedded corpus, score it, and tag with it.")
    ] = False,
    output: Annotated[str | None, output_option("DIR", "Keep the model of --train in this folder.")] = None,
) -> None:
    """Find nested entities in example sentences with the English model, then show how it works and what to do next."""
    if output is not None and not train:
        raise InputError("only a model that is trained can be saved; add --train", "--output")
    if train:
        silence_libraries()
        with new_part(Path(gettempdir()), is_folder=True) as part:
            train_and_tag(output or str(part / "model"), is_kept=output is not None)
        return
    if not idea:
        draw_entities(nestag.load("english"), ENGLISH)
    show_idea()
    if not idea:
        typer.echo(f"\n{NEXT}", nl=False)


def show_idea() -> None:
    """Print a sentence, its tree, its labels in every encoding, and the entities read back from them."""
    console = Console(highlight=False)
    console.print("The idea. A sentence with nested entities:\n")
    print_lines(console, draw_nested(FIGURE, console.width))
    console.print("\nits constituent tree:\n")
    print_lines(console, draw_tree(FIGURE, console.width))
    table = Table("", *FIGURE.tokens, box=None)
    for name in ("abs", "rel", "dyn", "4tg"):
        write_n = available()[name].write_n
        labels = (f"{write_n(n)} {write_name(c)} {write_chain(u)}" for n, c, u in encode(FIGURE, name))
        table.add_row(name, *labels)
    console.print("\nthe tree as one label (n, c, u) for each word, in four encodings:\n")
    console.print(table)
    console.print("\nand the entities read back from the labels, the same from each:\n")
    for start, end, kind in decode(encode(FIGURE, "dyn"), "dyn"):
        console.print(f"  {kind:4} {start}-{end}  {' '.join(FIGURE.tokens[start:end])}")


def train_and_tag(folder: str, is_kept: bool) -> None:
    """Train on the embedded corpus, print scores, and draw the entities in new sentences."""
    from nestag.training.display import TrainingDisplay

    splits: dict[str, Any] = {name: sample.sentences(name) for name in SPLITS}
    sizes = ", ".join(f"{len(sentences)} {name}" for name, sentences in splits.items())
    log(f"Training a light model on the embedded corpus ({sizes} sentences), on the CPU:")
    with TrainingDisplay("demo", Path(folder) if is_kept else None) as display:
        run = nestag.train(**splits, output=folder, recipe="light", watch=display, use_cpu=True)
        display.finish(run)
    typer.echo("\nNested entities in new sentences:\n")
    draw_entities(nestag.load(folder, "cpu"), SAMPLE)


def draw_entities(recognizer: Predictor, texts: Iterable[str]) -> None:
    """Draw each text with its entities below the words."""
    draw(Sentence(text.tokens, [entity.entity for entity in text]) for text in recognizer.pipe(texts))
