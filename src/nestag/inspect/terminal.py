"""Sentences drawn in the terminal: nested entities below the words, the tree, the labels; or as a page.

Lincoln was president of the USA
╰─PER─╯                  ╰─GPE─╯
            ╰────────PER───────╯
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, groupby
from typing import NamedTuple

from rich.cells import cell_len
from rich.console import Console
from rich.segment import Segment, Segments
from rich.style import Style

from nestag.data.crossing import crossing_pairs
from nestag.data.sentence import Entity, Sentence
from nestag.data.tree import Tree
from nestag.encodings import encode
from nestag.encodings.base import Encoding
from nestag.encodings.notation import write_chain, write_name
from nestag.errors import visible
from nestag.evaluation.mistakes import Mistake, mistakes_of
from nestag.evaluation.result import Shown
from nestag.formats.files import writing
from nestag.inspect.rendering import Drawing, Html, colour_of, render

COLOURS = (
    *("blue", "yellow", "green", "magenta", "bright_blue"),
    *("red", "cyan", "bright_green", "bright_magenta", "bright_black"),
)
"""Colours like those of `rendering.css`, in the same order."""

PLAIN = str.maketrans("╰─╯│├└", "\\-/|+`")
"""What to draw with where a terminal has no lines, as on Windows with cp1252."""

StyledLine = list[Segment]
"""A line in pieces of one style each. rich prints them as they are; to lay out a long sentence takes it a minute."""


class DrawnEntity(NamedTuple):
    """An entity and the row below the words that it is drawn in, counted from 0."""

    entity: Entity
    row: int


class Branch(NamedTuple):
    """A node of the tree or a run of words, its indentation, and whether it is its parent's last child."""

    item: Tree | list[str]
    indent: str
    is_last: bool


def print_lines(console: Console, lines: Iterable[StyledLine]) -> None:
    """Print lines, in colours if the console has them; nothing is cut or broken."""
    pieces = (piece for line in lines for piece in (*line, Segment.line()))
    if not _has_lines(console.encoding):
        pieces = (piece._replace(text=piece.text.translate(PLAIN)) for piece in pieces)
    console.print(Segments(pieces), end="", crop=False)


def _has_lines(encoding: str) -> bool:
    try:
        return bool("".join(map(chr, PLAIN)).encode(encoding))
    except UnicodeEncodeError:
        return False


def styled(text: str, style: str = "") -> Segment:
    """Text in a style as rich writes it: `bold`, `cyan`."""
    return Segment(text, Style.parse(style) if style else None)


def drawing(sentence: Sentence, encoding: Encoding | None, width: int) -> Iterator[StyledLine]:
    """All that `nestag show` prints of a sentence."""
    if sentence.id:
        yield [styled(visible(sentence.id), "bold")]
    yield from nested(sentence, width)
    if next(crossing_pairs(sentence.entities), None):
        yield [styled("entities cross, so there is no tree", "red")]
    else:
        yield from branches(sentence, width)
        yield from label_table(sentence, encoding) if encoding else ()
    yield []


def write_page(sentences: Iterable[Sentence], path: str, title: str) -> None:
    """The sentences with their entities as a page for a browser."""
    drawn = Html("".join(render(sentence).html for sentence in sentences))
    with writing(path) as stream:
        stream.write(Drawing(drawn).page(title))


def nested(sentence: Sentence, width: int) -> Iterator[StyledLine]:
    """The words, as many as fit a line, with a bracket below them for each entity, inner ones nearer."""
    placed = rows(sentence.entities)
    words = [visible(token) for token in sentence.tokens]
    widths = columns(words, placed)
    waiting = sorted(placed, key=lambda place: place.entity.start, reverse=True)
    here: list[DrawnEntity] = []
    for first, last in chunks(widths, width):
        yield [styled(" ".join(pad(words[i], widths[i]) for i in range(first, last)).rstrip())]
        while waiting and waiting[-1].entity.start < last:
            here.append(waiting.pop())
        here = [place for place in here if place.entity.end > first]
        begins = [0, *accumulate(needed + 1 for needed in widths[first:last])]
        for _, row in groupby(sorted(here, key=lambda p: (p.row, p.entity.start)), key=lambda p: p.row):
            yield brackets((place.entity for place in row), begins, first)


def brackets(entities: Iterable[Entity], begins: Sequence[int], first: int) -> StyledLine:
    """A row of brackets below the words from `first` on; `begins` has the column of each word, and of the end."""
    line: StyledLine = []
    last, reached = first + len(begins) - 1, 0
    for entity in entities:
        start, end = begins[max(entity.start, first) - first], begins[min(entity.end, last) - first] - 1
        line.append(styled(" " * (start - reached)))
        line.append(styled(bracket(entity, end - start, first, last), colour(entity.type)))
        reached = end
    return line


def rows(entities: Sequence[Entity]) -> list[DrawnEntity]:
    """Each entity below all those that it holds or crosses."""
    lowest = [0] * max((entity.end for entity in entities), default=0)  # the first row that is free below each word
    placed: list[DrawnEntity] = []
    for entity in sorted(entities, key=lambda e: (e.end - e.start, e.start, e.type)):
        row = max(lowest[entity.start : entity.end])
        lowest[entity.start : entity.end] = [row + 1] * (entity.end - entity.start)
        placed.append(DrawnEntity(entity, row))
    return placed


def columns(words: Sequence[str], placed: Sequence[DrawnEntity]) -> list[int]:
    """How wide each word is drawn, so that every type name fits between the corners of its bracket."""
    widths = [cell_len(word) for word in words]
    for (start, end, kind), _ in placed:
        needed = cell_len(visible(kind)) + 2 - (end - start - 1)  # beside the blanks between the words
        if needed > 0:  # else no need to add up the words, which may be many
            widths[end - 1] += max(0, needed - sum(widths[start:end]))
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


def branches(sentence: Sentence, width: int) -> Iterator[StyledLine]:
    """The constituent tree, neighbouring words without entities together."""
    tree = Tree.from_entities(len(sentence), sentence.entities)
    yield [styled(write_name(tree.name))]
    pending = below(tree, sentence.tokens, "")
    while pending:
        item, indent, is_last = pending.pop()
        corner, side = ("└── ", "    ") if is_last else ("├── ", "│   ")
        if isinstance(item, Tree):
            name = styled(visible("+".join(item.name.types)), colour(item.name.types[0]))
            yield [styled(indent + corner), name]
            pending += below(item, sentence.tokens, indent + side)
            continue
        for first, last in chunks([cell_len(word) for word in item], width - len(indent + side)):
            yield [styled(indent + (side if first else corner)), styled(" ".join(item[first:last]), "dim")]


def below(node: Tree, tokens: Sequence[str], indent: str) -> list[Branch]:
    """What is drawn below a node, the last of it first."""
    items: list[Tree | list[str]] = []
    for child in node.children:
        if isinstance(child, Tree):
            items.append(child)
        elif items and isinstance(items[-1], list):
            items[-1].append(visible(tokens[child]))
        else:
            items.append([visible(tokens[child])])
    return [Branch(item, indent, place == 0) for place, item in enumerate(reversed(items))]


def label_table(sentence: Sentence, encoding: Encoding) -> Iterator[StyledLine]:
    """Token, n, c and u, a row for each word."""
    names = "token", "n", "c", "u"
    table = [names]
    for token, label in zip(sentence.tokens, encode(sentence, encoding), strict=True):
        cells = token, encoding.write_n(label.n), write_name(label.c), write_chain(label.u)
        table.append((visible(cells[0]), visible(cells[1]), visible(cells[2]), visible(cells[3])))
    widths = [max(map(cell_len, column)) for column in zip(*table, strict=True)]
    yield [styled(encoding.name, "italic")]
    for row in table:
        text = "  ".join(map(pad, row, widths)).rstrip()
        yield [styled(f" {text}", "bold" if row is names else "")]


def colour(kind: str) -> str:
    """Return the colour of a type, like the one in HTML."""
    return COLOURS[colour_of(kind)]


def pad(word: str, width: int) -> str:
    """The word and spaces up to `width` cells."""
    return word + " " * (width - cell_len(word))


def draw_mistakes(sentences: Sequence[Shown], width: int) -> Iterator[StyledLine]:
    """Sentences with their gold entities, then with the predicted ones, and what is wrong in words."""
    for place, shown in enumerate(sentences, 1):
        name, tokens = shown.id, shown.tokens
        found = mistakes_of(shown.gold, shown.predicted)
        times = f"{len(found):,} mistake{'s' * (len(found) != 1)}"
        yield []
        yield [styled(f"Worst {place}: {times}{f', {visible(name)}' if name else ''}", "bold")]
        for title, entities in (("gold", shown.gold), ("predicted", shown.predicted)):
            yield [styled(title, "italic")]
            yield from nested(Sentence(tokens, entities), width)
        yield from ([styled(_in_words(mistake, tokens))] for mistake in found)


def _in_words(mistake: Mistake, tokens: Sequence[str]) -> str:
    """A mistake in a line.

    >>> _in_words(Mistake("boundary", Entity(0, 2, "GPE"), Entity(1, 2, "GPE")), ["the", "USA"])
    'boundary: GPE "the USA" predicted as GPE "USA"'
    """
    kind, gold, predicted = mistake
    sides = [f'{side.type} "{" ".join(tokens[side.start : side.end])}"' for side in (gold, predicted) if side]
    if gold and predicted and gold[:2] == predicted[:2]:
        sides[1] = predicted.type
    return visible(f"{kind}: {' predicted as '.join(sides)}")
