"""demo: the main job on the embedded corpus, from training to nested entities in new sentences."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from nestag.cli.terminal import hush, tell
from nestag.data import Entity, Sentence

FIGURE = Sentence(
    ["Lincoln", "was", "president", "of", "the", "USA"],
    [Entity(0, 1, "PER"), Entity(2, 6, "PER"), Entity(4, 6, "GPE")],
)
NEW = (
    "The governor of the Bank of Norway met Prime Minister Ilse Brandt in Oslo on Tuesday.",
    "Mutations in the promoter of the GATA3 gene were found in CD4 T cells of patients with lymphoma.",
    "Counsel for Marlow Shipping Ltd relied on Section 4 of the Carriage Act 1986.",
)


def demo(
    idea: Annotated[bool, typer.Option("--idea", help="Show the idea alone: a sentence, its tree and labels.")] = False,
    output: Annotated[
        str | None, typer.Option("-o", "--output", metavar="DIR", help="Keep the model in this folder.")
    ] = None,
) -> None:
    """Show the idea, train a recognizer on the embedded corpus, score it, and tag new sentences with it."""
    show_idea()
    if idea:
        return
    hush()
    with tempfile.TemporaryDirectory() as temporary:
        train_and_tag(output or str(Path(temporary) / "model"))


def show_idea() -> None:
    """A sentence, its tree, its labels in every encoding, and the way back."""
    from rich.console import Console
    from rich.table import Table

    from nestag.cli.draw import branches, nested, print_lines
    from nestag.encodings import available, decode, encode
    from nestag.encodings.notation import write_chain, write_name

    console = Console(highlight=False)
    console.print("A sentence with nested entities:\n")
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


def train_and_tag(folder: str) -> None:
    """Train on the embedded corpus, print scores, and draw what is found in new sentences."""
    from rich.console import Console

    from nestag import sample
    from nestag.cli.draw import nested, print_lines
    from nestag.cli.train import one, summary
    from nestag.corpora.splits import SPLITS
    from nestag.recognizer import NestedNER
    from nestag.training.recipe import load_recipe

    splits: dict[str, list[Sentence]] = {name: sample.sentences(name) for name in SPLITS}
    told = ", ".join(f"{len(found)} {name}" for name, found in splits.items())
    for line in ("", f"Training on the embedded corpus ({told} sentences) on this machine's processor:", ""):
        tell(line)
    row = one(splits, folder, load_recipe("default"), 1, (), cpu=True)
    tell("")
    for line in summary([row]):
        tell(line)
    console = Console(highlight=False)
    console.print("\nNested entities in new sentences:\n")
    recognizer = NestedNER.from_pretrained(folder, "cpu")
    for sentence in tagged(recognizer, NEW):
        print_lines(console, [*nested(sentence, console.width), []])


def tagged(recognizer: object, texts: Sequence[str]) -> list[Sentence]:
    """Texts as sentences with the entities that a recognizer finds."""
    from nestag.corpora.document import Document, sentences_of
    from nestag.corpora.format import DEFAULT
    from nestag.corpora.report import Report
    from nestag.recognizer import NestedNER

    assert isinstance(recognizer, NestedNER)
    sentences = [s for text in texts for s in sentences_of(Document("new", text), DEFAULT, Report())]
    return list(recognizer.annotate(sentences))
