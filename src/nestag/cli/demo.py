"""demo: the core at work on one sentence."""

from __future__ import annotations

from nestag.data import Entity, Sentence

SENTENCE = Sentence(
    ["Lincoln", "was", "president", "of", "the", "USA"],
    [Entity(0, 1, "PER"), Entity(2, 6, "PER"), Entity(4, 6, "GPE")],
)


def demo() -> None:
    """Show a sentence, its tree, its labels in every encoding, and the way back."""
    from rich.console import Console
    from rich.table import Table

    from nestag.cli.draw import branches, nested
    from nestag.encodings import available, decode, encode
    from nestag.encodings.notation import write_chain, write_name

    console = Console(highlight=False)
    console.print("A sentence with nested entities:\n")
    console.print(*nested(SENTENCE, console.width), sep="\n")
    console.print("\nits constituent tree:\n")
    console.print(branches(SENTENCE))
    table = Table("", *SENTENCE.tokens, box=None)
    for name in ("abs", "rel", "dyn", "4tg"):
        labels = encode(SENTENCE, name)
        write_n = available()[name].write_n
        table.add_row(name, *(f"{write_n(n)} {write_name(c)} {write_chain(u)}" for n, c, u in labels))
    console.print("\nthe tree as one label (n, c, u) for each word, in four encodings:\n")
    console.print(table)
    console.print("\nand the entities read back from the labels, the same from each:\n")
    for entity in decode(encode(SENTENCE, "dyn"), "dyn"):
        words = " ".join(SENTENCE.tokens[entity.start : entity.end])
        console.print(f"  {entity.type:4} {entity.start}-{entity.end}  {words}")
