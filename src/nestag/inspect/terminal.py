"""Sentences drawn in the terminal: nested entities below the words, the tree, the labels; or as a page.

Lincoln was president of the USA
╰─PER─╯                  ╰─GPE─╯
            ╰────────PER───────╯
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, groupby

from rich.cells import cell_len, set_cell_size
from rich.console import Console
from rich.segment import Segment, Segments

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
from nestag.inspect.table_forms import lines, styled
from nestag.inspect.tables import Section, Table

COLOURS = (
    *("bright_blue", "yellow", "green", "magenta", "blue"),
    *("red", "bright_green", "cyan", "bright_magenta", "bright_black"),
)
"""Colours like those of `rendering.css`, in the same order."""

PLAIN = str.maketrans("╰─╯│├└", "\\-/|+`")  # for terminals without box-drawing characters, as on Windows with cp1252

StyledLine = list[Segment]
"""A line in pieces of one style each, which rich prints as they are; rich's own layout of long sentences is slow."""


def print_lines(console: Console, lines: Iterable[StyledLine]) -> None:
    """Print lines without cropping or wrapping, in colours if the console has them."""
    pieces = (piece for line in lines for piece in (*line, Segment.line()))
    try:
        "".join(map(chr, PLAIN)).encode(console.encoding)
    except UnicodeEncodeError:
        pieces = (piece._replace(text=piece.text.translate(PLAIN)) for piece in pieces)
    console.print(Segments(pieces), end="", crop=False)


def draw_sentence(sentence: Sentence, encoding: Encoding | None, width: int) -> Iterator[StyledLine]:
    """Yield what `nestag show` prints of a sentence."""
    if sentence.id:
        yield [styled(visible(sentence.id), "bold")]
    yield from draw_nested(sentence, width)
    if next(crossing_pairs(sentence.entities), None):
        yield [styled("entities cross, so there is no tree", "red")]
    else:
        yield from draw_tree(sentence, width)
        yield from draw_labels(sentence, encoding, width) if encoding else ()
    yield []


def write_page(sentences: Iterable[Sentence], path: str, title: str) -> None:
    """Write the sentences with their entities as a page for a browser."""
    page = Drawing(Html("".join(render(sentence).html for sentence in sentences))).page(title)
    with writing(path) as stream:
        stream.write(page)


def draw_nested(sentence: Sentence, width: int) -> Iterator[StyledLine]:
    """Yield the words, as many as fit a line, with a bracket below them for each entity, inner ones nearer."""
    row_of = rows_of(sentence.entities)
    words = [visible(token) for token in sentence.tokens]
    widths = word_widths(words, row_of)
    pending = sorted(row_of, key=lambda entity: entity.start, reverse=True)
    here: list[Entity] = []
    for first, last in line_ranges(widths, width):
        yield [styled(" ".join(map(set_cell_size, words[first:last], widths[first:last])).rstrip())]
        while pending and pending[-1].start < last:
            here.append(pending.pop())
        here = [entity for entity in here if entity.end > first]
        begins = [0, *accumulate(needed + 1 for needed in widths[first:last])]
        for _, row in groupby(sorted(here, key=lambda e: (row_of[e], e.start)), key=row_of.__getitem__):
            yield draw_brackets(row, begins, first)


def draw_brackets(entities: Iterable[Entity], begins: Sequence[int], first: int) -> StyledLine:
    """Return a row of brackets below the words from `first` on; `begins` has the column of each word, and the end."""
    line: StyledLine = []
    last, reached = first + len(begins) - 1, 0
    for entity in entities:
        start, end = begins[max(entity.start, first) - first], begins[min(entity.end, last) - first] - 1
        line.append(styled(" " * (start - reached)))
        line.append(styled(draw_bracket(entity, end - start, first, last), COLOURS[colour_of(entity.type)]))
        reached = end
    return line


def rows_of(entities: Sequence[Entity]) -> dict[Entity, int]:
    """Return for each entity a row below all entities that it contains or crosses, counted from 0."""
    lowest = [0] * max((entity.end for entity in entities), default=0)  # the first row that is free below each word
    row_of: dict[Entity, int] = {}
    for entity in sorted(entities, key=lambda e: (e.end - e.start, e.start, e.type)):
        row_of[entity] = max(lowest[entity.start : entity.end])
        lowest[entity.start : entity.end] = [row_of[entity] + 1] * (entity.end - entity.start)
    return row_of


def word_widths(words: Sequence[str], entities: Iterable[Entity]) -> list[int]:
    """Return how wide to draw each word, so that every type name fits between the corners of its bracket."""
    widths = [cell_len(word) for word in words]
    for start, end, kind in entities:
        needed = cell_len(visible(kind)) + 2 - (end - start - 1)  # the blanks between the words count too
        if needed > 0:  # otherwise do not add up the words, which may be many
            widths[end - 1] += max(0, needed - sum(widths[start:end]))
    return widths


def line_ranges(widths: Sequence[int], width: int) -> Iterator[tuple[int, int]]:
    """Yield the first and last word of each line, the last exclusive."""
    first, used = 0, 0
    for i, needed in enumerate(widths):
        if i > first and used + needed > width:
            yield first, i
            first, used = i, 0
        used += needed + 1
    if widths:
        yield first, len(widths)


def draw_bracket(entity: Entity, width: int, first: int, last: int) -> str:
    """Return `╰─PER─╯`, open on a side where the entity continues on another line."""
    left = "╰" if entity.start >= first else "─"
    right = "╯" if entity.end <= last else "─"
    name = visible(entity.type)
    free = width - 2 - cell_len(name)
    if free < 0:  # a piece of an entity that has its name on another line
        return (left + "─" * (width - 2) + right)[:width]
    return left + "─" * (free // 2) + name + "─" * (free - free // 2) + right


def draw_tree(sentence: Sentence, width: int) -> Iterator[StyledLine]:
    """Yield the constituent tree, with neighbouring words that are in no deeper entity on one line."""
    tree = Tree.from_entities(len(sentence), sentence.entities)
    yield [styled(write_name(tree.name))]
    pending = [("", *child) for child in children(tree, sentence.tokens)]
    while pending:
        indent, item, is_last = pending.pop()
        corner, side = ("└── ", "    ") if is_last else ("├── ", "│   ")
        if isinstance(item, Tree):
            name = styled(visible("+".join(item.name.types)), COLOURS[colour_of(item.name.types[0])])
            yield [styled(indent + corner), name]
            pending += [(indent + side, *child) for child in children(item, sentence.tokens)]
            continue
        for first, last in line_ranges([cell_len(word) for word in item], width - len(indent + side)):
            yield [styled(indent + (side if first else corner)), styled(" ".join(item[first:last]), "dim")]


def children(node: Tree, tokens: Sequence[str]) -> list[tuple[Tree | list[str], bool]]:
    """Return the inner nodes and runs of words below a node, the last one first, and whether each is the last."""
    items: list[Tree | list[str]] = []
    for child in node.children:
        if isinstance(child, Tree):
            items.append(child)
        elif items and isinstance(items[-1], list):
            items[-1].append(visible(tokens[child]))
        else:
            items.append([visible(tokens[child])])
    return [(item, place == 0) for place, item in enumerate(reversed(items))]


def draw_labels(sentence: Sentence, encoding: Encoding, width: int) -> Iterator[StyledLine]:
    """Yield token, n, c and u, a row for each word."""
    labels = zip(sentence.tokens, encode(sentence, encoding), strict=True)
    rows = tuple((token, encoding.write_n(n), write_name(c), write_chain(u)) for token, (n, c, u) in labels)
    yield from ([line] for line in lines(Table(encoding.name, ("token", "n", "c", "u"), (Section("", rows),)), width))


def draw_mistakes(sentences: Sequence[Shown], width: int) -> Iterator[StyledLine]:
    """Yield sentences with their gold entities, then with the predicted ones, then their mistakes in words."""
    for place, shown in enumerate(sentences, 1):
        name, tokens = shown.id, shown.tokens
        mistakes = mistakes_of(shown.gold, shown.predicted)
        times = f"{len(mistakes):,} mistake{'s' * (len(mistakes) != 1)}"
        yield []
        yield [styled(f"Worst {place}: {times}{f', {visible(name)}' if name else ''}", "bold")]
        for title, entities in (("gold", shown.gold), ("predicted", shown.predicted)):
            yield [styled(title, "italic")]
            yield from draw_nested(Sentence(tokens, entities), width)
        yield from ([styled(_describe(mistake, tokens))] for mistake in mistakes)


def _describe(mistake: Mistake, tokens: Sequence[str]) -> str:
    """Describe a mistake in a line.

    >>> _describe(Mistake("boundary", Entity(0, 2, "GPE"), Entity(1, 2, "GPE")), ["the", "USA"])
    'boundary: GPE "the USA" predicted as GPE "USA"'
    """
    kind, gold, predicted = mistake
    sides = [f'{side.type} "{" ".join(tokens[side.start : side.end])}"' for side in (gold, predicted) if side]
    if gold and predicted and gold[:2] == predicted[:2]:
        sides[1] = predicted.type
    return visible(f"{kind}: {' predicted as '.join(sides)}")
