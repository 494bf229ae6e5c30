"""Words and sentences by rules: words close to those of the Penn Treebank and of GENIA, sentences of news text.

What white space parts is a candidate; marks are taken off its left and right end one by one, and what is left is cut
at the few places where words are written together:

    (NF)-kappa B's 5' site(s) cannot rise >2%.    ( NF ) -kappa B 's 5' site ( s ) can not rise > 2 % .

Brackets that belong to a word stay in it: t(8;21), [3H]thymidine, CD4(+), 1,25(OH)2D3.

Sentences end at a blank line, and after a mark that ends one. A full stop that belongs to an abbreviation ends none,
unless the word after it begins a sentence:

    Mr. Li of the U.S. team left. The U.S. The plan ...    Mr. Li of the U.S. team left. | The U.S. | The plan ...
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
"""Brackets that are one word with their content: a sign such as (+), an isotope such as [3H]."""
_KEPT_IN = re.compile(r"[+\-/]+|\d.*|[ACGTNRY]/[ACGTNRY/]+|[pq]\d.*|[A-Z][a-z]?\d?[+-]|[a-z][+-]?")
"""The content of a bracket that begins a longer word: signs, numbers, bases, bands, ions."""

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
    """Return the start and end of each word.

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
    """Return the length of the punctuation mark at the beginning of a word; 0 if there is none."""
    if word[:1] in _CLOSING:
        return int(_opens(word))
    mark = _OPENING_MARK.match(word)
    return mark.end() if mark and mark.end() < len(word) else 0


def _opens(word: str) -> bool:
    """Return whether the bracket at the beginning is not part of the word."""
    close = _partner(word)
    if close is None:
        return True
    inside, after = word[1:close], word[close + 1 :]
    if _ENDS.fullmatch(after):
        return not _KEPT_ALONE.fullmatch(inside)
    return word[0] == "(" and after[0] in "-/" and not _KEPT_IN.fullmatch(inside)


def _partner(word: str) -> int | None:
    """Return where the bracket at the beginning closes."""
    depth = 0
    for place, character in enumerate(word):
        depth += (character == word[0]) - (character == _CLOSING[word[0]])
        if depth == 0:
            return place
    return None


def _closing(word: str, last: bool, quoted: bool) -> int:
    """Return the length of the punctuation mark at the end of a word; 0 if there is none."""
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
    """Return the pieces of a word that was written without spaces."""
    if not word:
        return
    cuts = {place for match in _CUTS.finditer(word) for place in match.span()}
    if match := _AFTER_BRACKET.match(word):
        cuts.update(match.span(1))
    if _VOLUME.fullmatch(word):
        cuts.update(place for match in _IN_CITATIONS.finditer(word) for place in match.span())
    yield from pairwise(sorted(cuts | {0, len(word)}))


_BLANK_LINE = re.compile(r"\n[^\S\n]*\n\s*")
_MARK = re.compile(r"(?<!\.)(?:\.|[!?]+)(?:''|[\"'”’)\]])*(?=\s)")
_BEFORE = re.compile(r"[^\s(\[\"'“‘]*$")

_NEVER_LAST = re.compile(
    r"""messrs|mrs?|ms|dr|prof|gen|sens?|reps?|gov|lt|col|sgt|capt|cpl|pvt|adm|maj|cmdr|rev|hon|pres|amb|st|mt|ft
    |jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec|vs""",
    re.VERBOSE | re.IGNORECASE,
)
"""Abbreviations before a name or a number."""
_PERHAPS_LAST = re.compile(
    r"""(?i:inc|corp|cos?|ltd|jr|sr|bros|dept|assn|intl|(?:[^\W\d]\.)+[^\W\d])
    |Ala|Ariz|Ark|Calif|Colo|Conn|Fla|Ga|Ill|Ind|Kan|Ky|La|Mass|Mich|Minn|Mo|Mont|Neb|Nev|Okla|Ore|Pa|Tenn|Tex|Va|Vt
    |Wash|Wis|Wyo""",
    re.VERBOSE,
)
_NUMBERED = re.compile(r"(?i:nos?)\.\s+\d")
_BEGINS = re.compile(
    r"""\s+(?:A|After|All|Although|An|And|Another|As|At|Because|Before|But|By|Each|For|From|He|Her|Here|His|However|How
    |I|If|In|It|Its|Many|Meanwhile|Most|My|No|None|Not|Now|On|One|Our|Several|She|Since|So|Some|Such|That|The|Their
    |Then|There|These|They|This|Those|Though|To|Under|Until|We|What|When|Where|Which|While|Who|Why|With|Yet|You
    |Your)\b(?!\.)""",
    re.VERBOSE,
)
"""Words that with a capital letter begin a sentence."""


def sentences(text: str) -> Iterator[Offsets]:
    r"""Return the start and end of each sentence, without the white space around it.

    >>> text = "Mr. Li left.\n\nThe U.S. The end"
    >>> [text[start:end] for start, end in sentences(text)]
    ['Mr. Li left.', 'The U.S.', 'The end']
    """
    start = 0
    for blank in _BLANK_LINE.finditer(text):
        yield from _in_block(text, start, blank.start())
        start = blank.end()
    yield from _in_block(text, start, len(text))


def _in_block(text: str, start: int, end: int) -> Iterator[Offsets]:
    """Return the sentences of a piece of text without blank lines."""
    for mark in _MARK.finditer(text, start, end):
        if text[mark.start()] != "." or not _abbreviates(text, start, mark):
            yield from _trimmed(text, start, mark.end())
            start = mark.end()
    yield from _trimmed(text, start, end)


def _abbreviates(text: str, start: int, mark: re.Match[str]) -> bool:
    """Return whether the full stop belongs to the word before it."""
    before = _BEFORE.search(text, max(start, mark.start() - 40), mark.start())
    word = before[0] if before else ""
    if _NEVER_LAST.fullmatch(word) or (len(word) == 1 and word.isupper()):
        return True
    if _PERHAPS_LAST.fullmatch(word):
        return not _BEGINS.match(text, mark.end())
    return _NUMBERED.match(text, mark.start() - len(word)) is not None


def _trimmed(text: str, start: int, end: int) -> Iterator[Offsets]:
    piece = text[start:end]
    if piece.strip():
        start += len(piece) - len(piece.lstrip())
        yield start, start + len(piece.strip())
