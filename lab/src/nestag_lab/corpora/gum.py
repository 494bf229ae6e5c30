"""GUM: CoNLL-U files of many genres, of which those are read whose texts anybody may use and change.

    gum/dep/GUM_news_homeopathic.conllu, ...    gum/splits.md

The source is a copy of github.com/amir-zeldes/gum; splits.md says which document is for what. Every mention is
annotated, named or not, pronouns too, with ten types. Annotations are CC BY 4.0; what the texts allow is in `LICENCES`.
Genres that may not be used commercially (essay, fiction, letter, podcast, whow, reddit) or are not said to be free
(conversation) are dropped, and so are textbooks that are not OpenStax's.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from nestag.data.report import Report
from nestag.errors import InputError
from nestag.formats import conllu
from nestag.formats.files import read_lines
from nestag.formats.folders import SPLITS, Split
from nestag_lab.corpora.split import SplitSentence

LICENCES = {
    "academic": "CC BY 4.0",
    "bio": "CC BY-SA 3.0",
    "court": "CC BY 4.0",
    "interview": "CC BY 2.5",
    "news": "CC BY 2.5",
    "speech": "public domain",
    "textbook": "CC BY 4.0",
    "vlog": "CC BY 3.0",
    "voyage": "CC BY-SA 3.0",
}
"""The genres that are read, and the licence of their texts by GUM's LICENSE.txt and that of UD English GUM."""

_HEADING = re.compile(r"## *(\w+)")
_DOCUMENT = re.compile(r"\s*\* *(GUM_(\w+?)_\w+)")
_SOURCE = "# meta::sourceURL ="


def read(source: str | Path, report: Report | None = None) -> Iterator[SplitSentence]:
    """Return the sentences of the free documents that splits.md names, split by split."""
    report = Report() if report is None else report
    folder = Path(source)
    for document, split in split_list(folder / "splits.md").items():
        path = folder / "dep" / f"{document}.conllu"
        if genre_of(document) in LICENCES and _is_free(path):
            for sentence in conllu.FORMAT.read(path, report=report):
                yield SplitSentence(split, sentence)


def genre_of(name: str) -> str:
    """Return the genre of a document or sentence by its name.

    >>> genre_of("GUM_news_homeopathic-3")
    'news'
    """
    return name.split("_")[1] if name.startswith("GUM_") else ""


def split_list(path: Path) -> dict[str, Split]:
    """Return the split of each document in splits.md."""
    placed: dict[str, Split] = {}
    split: Split | None = None
    for line in read_lines(path):
        if heading := _HEADING.match(line.text):
            split = next((name for name in SPLITS if name == heading[1]), None)
        elif split and (document := _DOCUMENT.match(line.text)):
            placed[document[1]] = split
    if not placed:
        raise InputError("it lists no documents; name a copy of github.com/amir-zeldes/gum", str(path))
    return placed


def _is_free(path: Path) -> bool:
    """Return whether a document is free; of the textbooks, only OpenStax's are."""
    if genre_of(path.name) != "textbook":
        return True
    sources = (line.text for line in read_lines(path) if line.text.startswith(_SOURCE))
    return "openstax.org" in next(sources, "")
