r"""Entities as brackets in the text, a sentence per line, to be read and written by people.

    # doc: lincoln
    [PER Lincoln] was [PER president of [GPE the USA]] .

`# doc: NAME` begins a document, whose sentences have the ids NAME-1, NAME-2 and so on; a blank line ends it. Other
lines that begin with `# ` are comments. A backslash precedes `[`, `]`, itself and a `#` that begins a line; `\s` is a
space in a token or type, and tabs and line ends are written as in encodings/notation.py.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from nestag.data.crossing import crossing_pairs
from nestag.data.report import Report, describe
from nestag.data.segment import Options
from nestag.data.sentence import Entity, Sentence, refuse_half_characters
from nestag.encodings.notation import read_field, write_field
from nestag.errors import CrossingError, DataError, InputError, LabelError
from nestag.formats.files import read_lines, writing
from nestag.formats.registry import Format, skipping
from nestag.formats.shared.tags import writable

DOCUMENT = "# doc: "
MOST_PIECES = 1_000_000  # the largest number of words and opening brackets of a sentence; each needs 200 bytes
_PIECE = re.compile(r"(?P<opens>\[?)(?P<word>(?:[^\\\[\]]|\\.)*)(?P<closes>\]*)", re.DOTALL)
_MISREAD = re.compile("[\\[\\] \ufeff]")
_WRITTEN = {"[": r"\[", "]": r"\]", " ": r"\s", "\ufeff": r"\ufeff"}
_PAIR = re.compile(r"\\.", re.DOTALL)
_NUMBERED = re.compile(r"(.+)-([1-9][0-9]*)", re.DOTALL)


def read(path: str | Path, options: Options, report: Report) -> Iterator[Sentence]:
    """Yield the sentences of a file; an InputError names the line and column of an invalid one."""
    document, number = "", 0
    for line in read_lines(path):
        with skipping(options, report, path, line.number):
            if not line.text.strip(" \t"):
                document = ""
            elif line.text.startswith(DOCUMENT):
                document, number = _read_word(line.text.removeprefix(DOCUMENT).strip(" "), len(DOCUMENT) + 1), 0
                if not document:
                    raise DataError(f"the document has no name; write {DOCUMENT}NAME")
            elif line.text != "#" and not line.text.startswith("# "):
                number += 1
                tokens, entities = _parse(line.text)
                name = f"{document}-{number}" if document else None
                yield report.sentence(tokens, entities, name, f"{path}:{line.number}")


def write(sentences: Iterable[Sentence], path: str | Path, options: Options, report: Report) -> None:
    """Write a line for each sentence, and report ids that do not number the sentences of a document from 1."""
    document, number = "", 0
    with writing(path) as stream:
        for place, sentence in writable(sentences, path, report, ids=True):
            before = document
            document, number = _next_number(sentence.id, document, number)
            if sentence.id is not None and not document:
                report.add("sentence id dropped", place, sentence.id)
            head = "\n" if before and number < 2 else ""
            head += f"{DOCUMENT}{_write_word(document)}\n" if number == 1 else ""
            try:
                stream.write(f"{head}{render(sentence)}\n")
            except CrossingError as error:
                name = "" if sentence.id is None else f" ({sentence.id})"
                raise InputError(str(error), place + name) from None


def looks_like(head: str) -> bool:
    """Say whether the file begins with a document's name."""
    return head.lstrip("\ufeff\r\n").startswith(DOCUMENT)


def parse(line: str) -> Sentence:
    """Return the sentence of a line, or raise a DataError that names the invalid column.

    >>> parse("[PER president of [GPE the USA]]").entities
    (Entity(start=0, end=4, type='PER'), Entity(start=2, end=4, type='GPE'))
    """
    return Sentence(*_parse(line))


def render(sentence: Sentence) -> str:
    r"""Invert `parse`; a CrossingError names two entities that cross.

    >>> print(render(Sentence(["see", "[1]"], [Entity(1, 2, "foot note")])))
    see [foot\snote \[1\]]
    """
    for a, b in crossing_pairs(sentence.entities):
        raise CrossingError(
            f"entities {describe(a)} and {describe(b)} cross, which brackets cannot write; drop crossing entities or"
            " choose another format"
        )
    opening, closing = ([""] * len(sentence) for _ in range(2))
    for start, end, kind in sorted(sentence.annotated, key=lambda e: (e.start, -e.end)):
        opening[start] += f"[{_write_word(kind)} "
        closing[end - 1] += "]"
    words = map(_write_word, sentence.tokens)
    line = " ".join(o + word + c for o, word, c in zip(opening, words, closing, strict=True))
    return "\\" + line if line.startswith("#") else line


def _parse(line: str) -> tuple[list[str], list[Entity]]:
    """Return tokens and entities, with duplicates, in the order in which they open."""
    tokens: list[str] = []
    entities: list[Entity] = []
    opened: list[tuple[int, int]] = []  # the number of the entity, and its column
    column = 1
    if line.count(" ") >= MOST_PIECES:
        raise DataError(f"more than {MOST_PIECES:,} words and brackets; put each sentence on a separate line")
    for piece in line.split(" "):
        match = _PIECE.fullmatch(piece)
        if not match or not match["word"] or (match["opens"] and match["closes"]):
            raise _misplaced(piece, column)
        word = _read_word(match["word"], column)
        if match["opens"]:
            opened.append((len(entities), column))
            entities.append(Entity(len(tokens), 0, word))
        else:
            tokens.append(word)
        for place in range(match.start("closes"), match.end("closes")):
            if not opened:
                raise DataError(f"column {column + place}: ] closes nothing; open an entity with [TYPE, or write \\]")
            number, _ = opened.pop()
            entities[number] = entities[number]._replace(end=len(tokens))
        column += len(piece) + 1
    if opened:
        number, column = opened[-1]
        raise DataError(f"column {column}: [{entities[number].type} is not closed; close it with ], or write \\[")
    return tokens, entities


def _misplaced(piece: str, column: int) -> DataError:
    """Explain why a piece between two spaces is neither a token nor the beginning of an entity."""
    if not piece.strip("[]"):
        return DataError(f"column {column}: a token or type is missing; write [TYPE token] with single spaces between")
    rest = _PIECE.sub("", piece, count=1)
    if not rest:
        return DataError(f"column {column}: the entity {piece} has no tokens; write [TYPE token], or \\[ and \\]")
    place = len(piece) - len(rest) - (rest[0] not in "[]\\")  # the character after a ] is not a mark
    return DataError(f"column {column + place}: {piece[place]} inside {piece!r}; write \\{piece[place]}")


def _write_word(text: str) -> str:
    return _MISREAD.sub(lambda match: _WRITTEN[match[0]], write_field(text))


def _read_word(text: str, column: int) -> str:
    r"""Invert `_write_word`; the text may also have `\#`."""
    if "\\" not in text:
        return text
    try:
        word = read_field(_PAIR.sub(lambda match: r"\u0020" if match[0] == r"\s" else match[0], text), "\\[]#")
        refuse_half_characters(word)
    except (LabelError, DataError) as error:
        raise DataError(f"column {column}: {error}") from None
    return word


def _next_number(name: str | None, document: str, number: int) -> tuple[str, int]:
    """Return the document and number of a sentence after another's, or nothing if they cannot be written."""
    match = _NUMBERED.fullmatch(name or "")
    if match and match[2] == "1":
        return match[1], 1
    if match and document == match[1] and match[2] == str(number + 1):
        return document, number + 1
    return "", 0


FORMAT = Format(
    "brackets", "entities as brackets, a sentence a line", (".nested", ".brackets"), read, write, looks_like
)
