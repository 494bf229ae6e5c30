"""The words of a sentence, by rules close to those of the Penn Treebank and of GENIA's.

What white space parts is a candidate; marks are taken off its left and right end one by one, and what is left is cut
at the few places where words are written together:

    (NF)-kappa B's 5' site(s) cannot rise >2%.    ( NF ) -kappa B 's 5' site ( s ) can not rise > 2 % .

Brackets that belong to a word stay in it: t(8;21), [3H]thymidine, CD4(+), 1,25(OH)2D3.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from nestag.data.segment import Offsets

_CANDIDATE = re.compile(r"\S+")
_CLOSING = {"(": ")", "[": "]", "{": "}"}
_OPENING = {close: opening for opening, close in _CLOSING.items()}

_AFTER_END = " \t\r\n)]}\"'”’"
"""What may follow the full stop that ends a sentence."""
_OPENING_MARK = re.compile(r"``|''(?=\w)|[\"“‘«¿¡]|'(?=[^\W\d]{2})(?!(?:re|ve|ll)\b)")
_CLOSING_MARK = re.compile(r"''|[,;:?!\"”»%]|(?i:n['’]t|['’](?:s|re|ve|ll|d|m))")
_ENDS = re.compile(r"[\])}.,;:?!\"'%]*")
_KEPT_ALONE = re.compile(r"[+-]|\d+H")
"""A word of its own with its brackets: a sign such as (+), an isotope such as [3H]."""
_KEPT_IN = re.compile(r"[+\-/]+|\d.*|[ACGTNRY]/[ACGTNRY/]+|[pq]\d.*|[A-Z][a-z]?\d?[+-]|[a-z][+-]?")
"""What stands in a bracket that begins a longer word: signs, numbers, bases, bands, ions."""

_INITIALS = re.compile(r"(?:[^\W\d]\.){2,}")
"""A word whose full stops are its own: p.m., U.S."""

_CUTS = re.compile(
    r"""
    (?i:(?<=^can)(?=not$) | (?<=^gon)(?=na$) | (?<=^wan)(?=na$) | (?<=^got)(?=ta$))
    | (?<=[a-z])\((?=s\)$) | (?<=[a-z]\(s)\)$      # factor(s)
    | ^-(?=(?:and|or|but)$)
    | -{2,}>? | [<>=]+ | \.{2,} | [—…]
    | ^[A-Z]{,3}[$£€](?=[\d.])                      # US$5
    | (?<=[^\W\d]),(?=[A-Z])                        # a comma without its space
    """,
    re.VERBOSE,
)
_WRITTEN_TOGETHER = {"cannot", "gonna", "wanna", "gotta"}
_AFTER_BRACKET = re.compile(r"[^\W\d][^()\[\]]*(\))(?=[-/])")
"""A bracket whose opening was taken off: NF)-kappa."""
_VOLUME = re.compile(r".*:\d{3,}(?:-\d+)?")
"""A citation such as 27;271(52):33705."""
_IN_CITATIONS = re.compile(r"[:;()]")


def words(sentence: str) -> list[Offsets]:
    """The start and end of each word.

    >>> text = "(NF)-kappa B's site(s) can't rise >2%."
    >>> " ".join(text[start:end] for start, end in words(text))
    "( NF ) -kappa B 's site ( s ) ca n't rise > 2 % ."
    """
    stop = len(sentence.rstrip(_AFTER_END))
    found: list[Offsets] = []
    for candidate in _CANDIDATE.finditer(sentence):
        start, end = candidate.span()
        if candidate[0].isalnum() and candidate[0].lower() not in _WRITTEN_TOGETHER:
            found.append((start, end))
            continue
        while size := _opening(sentence[start:end]):
            found.append((start, start + size))
            start += size
        after: list[Offsets] = []
        while size := _closing(sentence[start:end], end == stop, "'" in sentence[:start]):
            after.append((end - size, end))
            end -= size
        found += ((start + a, start + b) for a, b in _inside(sentence[start:end]))
        found += reversed(after)
    return found


def _opening(word: str) -> int:
    """How many characters a mark takes at the beginning of what is left of a word; 0 if there is none."""
    if word[:1] in _CLOSING:
        return int(_opens(word))
    mark = _OPENING_MARK.match(word)
    return mark.end() if mark and mark.end() < len(word) else 0


def _opens(word: str) -> bool:
    """Whether the bracket at the beginning stands before the word, not in it."""
    close = _partner(word)
    if close is None:
        return True
    inside, after = word[1:close], word[close + 1 :]
    if _ENDS.fullmatch(after):
        return not _KEPT_ALONE.fullmatch(inside)
    return word[0] == "(" and after[0] in "-/" and not _KEPT_IN.fullmatch(inside)


def _partner(word: str) -> int | None:
    """Where the bracket at the beginning closes."""
    depth = 0
    for place, character in enumerate(word):
        depth += (character == word[0]) - (character == _CLOSING[word[0]])
        if depth == 0:
            return place
    return None


def _closing(word: str, last: bool, quoted: bool) -> int:
    """How many characters a mark takes at the end of what is left of a word; 0 if there is none."""
    if len(word) < 2:
        return 0
    final = word[-1]
    if final in _OPENING:
        return int(word.count(_OPENING[final]) < word.count(final))
    if final == ".":
        dots = len(word) - len(word.rstrip("."))
        return dots % len(word) if dots > 1 else int(last and not _INITIALS.fullmatch(word))
    if final in "'’" and not word.endswith("''"):
        return int(word[-2] == "s" or (quoted and word[-2].islower()))
    return next((size for size in (3, 2, 1) if size < len(word) and _CLOSING_MARK.fullmatch(word[-size:])), 0)


def _inside(word: str) -> Iterator[Offsets]:
    """The word, cut where several are written together."""
    if not word:
        return
    cuts = {place for match in _CUTS.finditer(word) for place in match.span()}
    if match := _AFTER_BRACKET.match(word):
        cuts.update(match.span(1))
    if _VOLUME.fullmatch(word):
        cuts.update(place for match in _IN_CITATIONS.finditer(word) for place in match.span())
    yield from pairwise(sorted(cuts | {0, len(word)}))
