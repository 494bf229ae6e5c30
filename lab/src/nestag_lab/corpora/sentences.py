"""Where sentences end in news text, by rules: at a blank line, and after a mark that ends one.

A full stop that belongs to an abbreviation ends nothing, except where the word after it shows that a sentence begins:

    Mr. Li of the U.S. team left. The U.S. The plan ...    Mr. Li of the U.S. team left. | The U.S. | The plan ...
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from nestag.data.segment import Offsets

_BLANK_LINE = re.compile(r"\n[^\S\n]*\n\s*")
_MARK = re.compile(r"(?<!\.)(?:\.|[!?]+)(?:''|[\"'”’)\]])*(?=\s)")
_BEFORE = re.compile(r"[^\s(\[\"'“‘]*$")

_NEVER_LAST = re.compile(
    r"""messrs|mrs?|ms|dr|prof|gen|sens?|reps?|gov|lt|col|sgt|capt|cpl|pvt|adm|maj|cmdr|rev|hon|pres|amb|st|mt|ft
    |jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec|vs""",
    re.VERBOSE | re.IGNORECASE,
)
"""Abbreviations that stand before a name, a number or the other side."""
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
    r"""The start and end of each sentence, without the white space around it.

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
    """The sentences of a piece of text without blank lines."""
    for mark in _MARK.finditer(text, start, end):
        if text[mark.start()] != "." or not _abbreviates(text, start, mark):
            yield from _trimmed(text, start, mark.end())
            start = mark.end()
    yield from _trimmed(text, start, end)


def _abbreviates(text: str, start: int, mark: re.Match[str]) -> bool:
    """Whether the full stop belongs to the word before it."""
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
