"""NNE: entities of the Wall Street Journal as standoff files, joined with the words of the Penn Treebank.

    0 1 2 3 4
    NNP NNP VBD RB .
    0,1 PER|0,0 FIRST|1,1 NAME

Three lines a sentence (positions, parts of speech, entities whose ends are inclusive; the third may be empty) and a
blank line. The files hold no words: without the treebank every token is `_`. Files joined with the words already, as
the authors' script makes them, have words in the first line and need no treebank.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from nestag.data.report import Report
from nestag.data.sentence import Entity, Sentence
from nestag.errors import DataError, InputError
from nestag.formats.files import Line, read_lines
from nestag.formats.folders import Split
from nestag_lab.corpora.split import SplitSentence

NO_WORD = "_"
DEV_SECTIONS = ("02",)
TEST_SECTIONS = ("23", "24")

_NAME = re.compile(r"wsj_(\d\d)\d\d\.mrg")
_MENTION = re.compile(r"(\d+),(\d+) (.+)", re.DOTALL)


TRACE = "-NONE-"
MOST_LEAVES = 100_000
"""Words of one tree beyond which a file is taken for something else."""

_PART = re.compile(r"[()]|[^\s()]+")


class Standoff(NamedTuple):
    """The lines of one sentence, and where they begin."""

    words: list[str] | None
    pos: list[str]
    mentions: str
    line: int


def read(source: str | Path, trees: str | Path | None = None, report: Report | None = None) -> Iterator[SplitSentence]:
    """Return the sentences of one or all standoff files, with the words of the treebank if it is given."""
    report = Report() if report is None else report
    words = find_files(trees) if trees else {}
    for path in _files(Path(source)):
        split = split_of(path.name)
        if trees and path.name not in words:
            raise InputError(f"the treebank in {trees} has no {path.name}; name the whole treebank", str(path))
        for sentence in _sentences(path, words.get(path.name), report):
            yield SplitSentence(split, sentence)


def split_of(name: str) -> Split:
    """Return the split of a file, by its section.

    >>> split_of("wsj_0001.mrg"), split_of("wsj_0201.mrg"), split_of("wsj_2454.mrg")
    ('train', 'dev', 'test')
    """
    match = _NAME.fullmatch(name)
    section = match[1] if match else ""
    return "dev" if section in DEV_SECTIONS else "test" if section in TEST_SECTIONS else "train"


def _files(source: Path) -> list[Path]:
    files = list(find_files(source, "NNE's sections (no-text)").values()) if source.is_dir() else [source]
    for path in files:
        if not _NAME.fullmatch(path.name):
            raise InputError("the name is not wsj_SSNN.mrg, so its section is not known; rename it", str(path))
    return sorted(files, key=lambda path: path.name)


def _sentences(path: Path, trees: Path | None, report: Report) -> Iterator[Sentence]:
    leaves = read_trees(trees) if trees else None
    number = -1
    for number, standoff in enumerate(_standoff(path)):
        tokens = standoff.words
        if leaves is not None:
            tokens = _joined(standoff, next(leaves, None), f"{trees}: tree {number + 1}", str(path))
        elif tokens is None:
            report.add("sentence without words (every token is _)", str(path), f"sentence {number + 1}")
        yield _sentence(standoff, tokens or [NO_WORD] * len(standoff.pos), f"{path.stem}-{number}", path, report)
    if leaves is not None and next(leaves, None) is not None:
        raise InputError(f"{trees} has more than its {number + 1} sentences; are both of one release?", str(path))


def _standoff(path: Path) -> Iterator[Standoff]:
    """Return the sentences of a file, three lines each; the third may be empty."""
    lines = read_lines(path)
    for first in lines:
        if not first.text.strip():
            continue
        tokens = first.text.split()
        pos = _next(lines, first, path).text.split()
        mentions = _next(lines, first, path).text
        if len(tokens) != len(pos):
            raise InputError(
                f"{len(tokens)} positions, but {len(pos)} parts of speech in the next line; get the file again",
                str(path),
                first.number,
            )
        positions = tokens == [str(position) for position in range(len(tokens))]
        yield Standoff(None if positions else tokens, pos, mentions, first.number)


def _next(lines: Iterator[Line], first: Line, path: Path) -> Line:
    line = next(lines, None)
    if line is None:
        raise InputError("the sentence has fewer than three lines; is the file whole?", str(path), first.number)
    return line


def _joined(standoff: Standoff, leaves: list[Leaf] | None, tree: str, source: str) -> list[str]:
    """Return the words of the tree, which must match the sentence."""
    if leaves is None:
        raise InputError(f"there is no {tree}; are both of one release?", source, standoff.line)
    found = [leaf.pos for leaf in leaves]
    if found != standoff.pos:
        raise InputError(
            f"{_difference(standoff.pos, found)} ({tree}); are both of one release?", source, standoff.line
        )
    return [leaf.word for leaf in leaves]


def _difference(ours: Sequence[str], theirs: Sequence[str]) -> str:
    """Return the first place where two sentences differ.

    >>> _difference(["NNP", "VBD"], ["NNP", "VBZ"])
    'token 1 is VBD here and VBZ in the treebank'
    """
    for position, (one, other) in enumerate(zip(ours, theirs, strict=False)):
        if one != other:
            return f"token {position} is {one} here and {other} in the treebank"
    return f"{len(ours)} tokens here and {len(theirs)} in the treebank"


def _sentence(standoff: Standoff, tokens: list[str], id: str, path: Path, report: Report) -> Sentence:
    place = f"{path}:{standoff.line + 2}"
    found = [part for part in standoff.mentions.strip().split("|") if part]
    entities = [entity for part in found if (entity := _entity(part, place, report, path, standoff.line + 2))]
    try:
        return report.sentence(tokens, entities, id, place)
    except DataError as error:
        raise InputError(str(error), str(path), standoff.line + 2) from None


def _entity(part: str, place: str, report: Report, path: Path, line: int) -> Entity | None:
    """`start,end TYPE` with an inclusive end; None if the end comes before the start."""
    match = _MENTION.fullmatch(part.strip())
    if not match:
        raise InputError(f"{part[:60]!r} is not an entity; write start,end TYPE", str(path), line)
    start, end = int(match[1]), int(match[2])
    if end < start:
        report.add("entity with inverted boundaries dropped", place, part.strip())
        return None
    return Entity(start, end + 1, match[3])


class Leaf(NamedTuple):
    """A word and its part of speech."""

    word: str
    pos: str


def read_trees(path: str | Path) -> Iterator[list[Leaf]]:
    """Return the leaves of each tree of a file; an InputError names the line where brackets do not fit.

        ( (S (NP-SBJ-1 (NNP Ada) ) (VP (VBD slept) (NP (-NONE- *T*-1) )) (. .) ))

    Words are as the trees write them: brackets are -LRB- and -RRB-, as in the corpora made from the treebank.
    """
    leaves: list[Leaf] = []
    symbols: list[list[str]] = []  # what each open bracket holds so far
    number = 1
    for number, text in read_lines(path):
        for part in _PART.findall(text):
            if part == "(":
                symbols.append([])
            elif not symbols:
                raise InputError(f"{part[:40]!r} is outside a tree; is this a file of trees?", str(path), number)
            elif part == ")":
                leaves += _leaf(symbols.pop(), str(path), number)
                if not symbols:
                    yield leaves
                    leaves = []
            else:
                symbols[-1].append(part)
        if len(leaves) + len(symbols) > MOST_LEAVES:
            raise InputError(f"a tree has more than {MOST_LEAVES} words; is this a file of trees?", str(path), number)
    if symbols:
        raise InputError(f"{len(symbols)} brackets are still open; is the file whole?", str(path), number)


def _leaf(symbols: list[str], source: str, line: int) -> list[Leaf]:
    """Return the leaf of a closed bracket, if it holds a part of speech and a word."""
    if len(symbols) > 2:
        raise InputError(f"({' '.join(symbols)[:60]}) holds more than a word; write (POS word)", source, line)
    if len(symbols) < 2 or symbols[0] == TRACE:
        return []
    return [Leaf(symbols[1], symbols[0])]


def find_files(folder: str | Path, what: str = "the treebank's wsj sections") -> dict[str, Path]:
    """Return the `.mrg` files of a folder and those in it, by name."""
    found: dict[str, Path] = {}
    for path in sorted(Path(folder).rglob("*.mrg")):
        if path.name in found:
            raise InputError(f"there is another {path.name}, {found[path.name]}; name the folder of one", str(path))
        found[path.name] = path
    if not found:
        raise InputError(f"the folder has no .mrg file; name the folder of {what}", str(folder))
    return found
