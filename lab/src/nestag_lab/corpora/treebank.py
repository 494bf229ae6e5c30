"""The words and parts of speech of Penn Treebank trees, without traces.

    ( (S (NP-SBJ-1 (NNP Ada) ) (VP (VBD slept) (NP (-NONE- *T*-1) )) (. .) ))

Words are as the trees write them: brackets are -LRB- and -RRB-, as in the corpora made from the treebank.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from nestag.errors import InputError
from nestag.formats.files import read_lines

TRACE = "-NONE-"
MOST_LEAVES = 100_000
"""Words of one tree beyond which a file is taken for something else."""

_PART = re.compile(r"[()]|[^\s()]+")


class Leaf(NamedTuple):
    """A word and its part of speech."""

    word: str
    pos: str


def read(path: str | Path) -> Iterator[list[Leaf]]:
    """The leaves of each tree of a file; an InputError names the line where brackets do not fit."""
    leaves: list[Leaf] = []
    symbols: list[list[str]] = []  # what each open bracket holds so far
    number = 1
    for number, text in read_lines(path):
        for part in _PART.findall(text):
            if part == "(":
                symbols.append([])
            elif not symbols:
                raise InputError(f"{part[:40]!r} stands outside a tree; is this a file of trees?", str(path), number)
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
    """A closed bracket as a leaf, if it is one: a part of speech and a word."""
    if len(symbols) > 2:
        raise InputError(f"({' '.join(symbols)[:60]}) holds more than a word; write (POS word)", source, line)
    if len(symbols) < 2 or symbols[0] == TRACE:
        return []
    return [Leaf(symbols[1], symbols[0])]


def find(folder: str | Path, what: str = "the treebank's wsj sections") -> dict[str, Path]:
    """The `.mrg` files of a folder and those in it, by name."""
    found: dict[str, Path] = {}
    for path in sorted(Path(folder).rglob("*.mrg")):
        if path.name in found:
            raise InputError(f"there is another {path.name}, {found[path.name]}; name the folder of one", str(path))
        found[path.name] = path
    if not found:
        raise InputError(f"the folder has no .mrg file; name the folder of {what}", str(folder))
    return found
