"""Sentences drawn for the terminal: nested entities below the words, the tree, the labels; or as a page.

Lincoln was president of the USA
╰─PER─╯                  ╰─GPE─╯
            ╰────────PER───────╯
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, groupby
from typing import NamedTuple

from rich.cells import cell_len
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text
from rich.tree import Tree as RichTree

from nestag.crossing import crossing_pairs
from nestag.data import Entity, Sentence
from nestag.encodings import encode
from nestag.encodings.base import Encoding
from nestag.encodings.notation import write_chain, write_name
from nestag.files import writing
from nestag.rendering import Drawing, Html, render
from nestag.tree import Tree
from nestag.visible import visible

COLOURS = ("cyan", "magenta", "green", "yellow", "blue", "red", "bright_cyan", "bright_magenta", "bright_green")


class Placed(NamedTuple):
    """An entity and the row below the words that it is drawn in, counted from 0."""

    entity: Entity
    row: int


def drawing(sentence: Sentence, encoding: Encoding | None, width: int) -> RenderableType:
    """All that `nestag show` prints of a sentence."""
    parts: list[RenderableType] = [Text(visible(sentence.id), style="bold")] if sentence.id else []
    parts.extend(nested(sentence, width))
    if next(crossing_pairs(sentence.entities), None):
        parts.append(Text("entities cross, so there is no tree", style="red"))
    else:
        parts.append(branches(sentence))
        if encoding:
            parts.append(label_table(sentence, encoding))
    return Group(*parts, "")


def write_page(sentences: Iterable[Sentence], path: str, title: str) -> None:
    """The sentences with their entities as a page for a browser."""
    drawn = Html("".join(render(sentence).html for sentence in sentences))
    with writing(path) as stream:
        stream.write(Drawing(drawn).page(title))


def nested(sentence: Sentence, width: int) -> Iterator[Text]:
    """The words, as many as fit a line, with a bracket below them for each entity, inner ones nearer."""
    placed = rows(sentence.entities)
    words = [visible(token) for token in sentence.tokens]
    widths = columns(words, placed)
    waiting = sorted(placed, key=lambda place: place.entity.start, reverse=True)
    here: list[Placed] = []
    for first, last in chunks(widths, width):
        begins = [0, *accumulate(needed + 1 for needed in widths[first:last])]
        yield Text(" ".join(pad(words[i], widths[i]) for i in range(first, last)).rstrip())
        while waiting and waiting[-1].entity.start < last:
            here.append(waiting.pop())
        here = [place for place in here if place.entity.end > first]
        for _, row in groupby(sorted(here, key=lambda p: (p.row, p.entity.start)), key=lambda p: p.row):
            line = Text()
            for entity, _ in row:
                start, end = max(entity.start, first) - first, min(entity.end, last) - first
                line.append(" " * (begins[start] - line.cell_len))
                line.append(bracket(entity, begins[end] - 1 - begins[start], first, last), style=colour(entity.type))
            yield line


def rows(entities: Sequence[Entity]) -> list[Placed]:
    """Each entity below all those that it holds or crosses."""
    lowest = [0] * max((entity.end for entity in entities), default=0)  # the first row that is free below each word
    placed: list[Placed] = []
    for entity in sorted(entities, key=lambda e: (e.end - e.start, e.start, e.type)):
        row = max(lowest[entity.start : entity.end])
        lowest[entity.start : entity.end] = [row + 1] * (entity.end - entity.start)
        placed.append(Placed(entity, row))
    return placed


def columns(words: Sequence[str], placed: Sequence[Placed]) -> list[int]:
    """How wide each word is drawn, so that every type name fits between the corners of its bracket."""
    widths = [cell_len(word) for word in words]
    for (start, end, kind), _ in placed:
        lacking = cell_len(visible(kind)) + 2 - (sum(widths[start:end]) + end - start - 1)
        widths[end - 1] += max(0, lacking)
    return widths


def chunks(widths: Sequence[int], width: int) -> Iterator[tuple[int, int]]:
    """Words that fit one line, from and to."""
    first, used = 0, 0
    for i, needed in enumerate(widths):
        if i > first and used + needed > width:
            yield first, i
            first, used = i, 0
        used += needed + 1
    if widths:
        yield first, len(widths)


def bracket(entity: Entity, width: int, first: int, last: int) -> str:
    """`╰─PER─╯`, open on a side where the entity goes on in another line."""
    left = "╰" if entity.start >= first else "─"
    right = "╯" if entity.end <= last else "─"
    name = visible(entity.type)
    free = width - 2 - cell_len(name)
    if free < 0:  # a piece of an entity that has its name on another line
        return (left + "─" * (width - 2) + right)[:width]
    return left + "─" * (free // 2) + name + "─" * (free - free // 2) + right


def branches(sentence: Sentence) -> RichTree:
    """The constituent tree, neighbouring words without entities on one line."""
    tree = Tree.from_entities(len(sentence), sentence.entities)
    drawn = RichTree(Text(write_name(tree.name)))
    pending = [(tree, drawn)]
    while pending:
        node, branch = pending.pop()
        for is_leaf, group in groupby(node.children, key=lambda child: isinstance(child, int)):
            if is_leaf:
                branch.add(
                    Text(" ".join(visible(sentence.tokens[i]) for i in group if isinstance(i, int)), style="dim")
                )
                continue
            for child in group:
                if isinstance(child, Tree):
                    name = visible("+".join(child.name.types))
                    pending.append((child, branch.add(Text(name, style=colour(child.name.types[0])))))
    return drawn


def label_table(sentence: Sentence, encoding: Encoding) -> Table:
    """Token, n, c and u, a row for each word."""
    table = Table("token", "n", "c", "u", title=encoding.name, title_justify="left", box=None)
    for token, label in zip(sentence.tokens, encode(sentence, encoding), strict=True):
        cells = token, encoding.write_n(label.n), write_name(label.c), write_chain(label.u)
        table.add_row(*(Text(visible(cell)) for cell in cells))
    return table


def colour(kind: str) -> str:
    """The same colour for the same type, in every run."""
    return COLOURS[sum(kind.encode("utf-8", "replace")) % len(COLOURS)]


def pad(word: str, width: int) -> str:
    """The word and spaces up to `width` cells."""
    return word + " " * (width - cell_len(word))
