"""LitBank: a hundred works of fiction in brat's files, with the words and lines of these files.

    litbank/entities/brat/105_persuasion_brat.txt, 105_persuasion_brat.ann, ...

The source is a copy of github.com/dbamman/litbank. Books are split as Bamman, Popat and Shen (2019) did. Names and
descriptions of people, places and the like are annotated, pronouns are not. Texts are in the public domain, annotations
are CC BY 4.0.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from nestag.data.document import document_of
from nestag.data.report import Report
from nestag.data.segment import Options
from nestag.data.sentence import Sentence
from nestag.errors import InputError
from nestag.formats import brat
from nestag.formats.folders import Split
from nestag_lab.corpora.split import SplitSentence, published_list

FOLDER = "entities/brat"
ENDING = "_brat"


def read(
    source: str | Path, report: Report | None = None, splits: dict[str, Split] | None = None
) -> Iterator[SplitSentence]:
    """Return the sentences of the books that the split names, in the order of their files."""
    splits = published_list("litbank") if splits is None else splits
    folder = _found(Path(source))
    missing = [book for book in splits if not (folder / f"{book}{ENDING}.ann").is_file()]
    if missing:
        raise InputError(f"there is no {missing[0]}{ENDING}.ann; is the copy of LitBank whole?", str(folder))
    for sentence in brat.FORMAT.read(folder, Options(tokenizer="whitespace"), report):
        book = document_of(sentence).removesuffix(ENDING)
        if book in splits and sentence.tokens:
            name = str(sentence.id).replace(ENDING, "", 1)
            yield SplitSentence(splits[book], Sentence(sentence.tokens, sentence.entities, name))


def _found(source: Path) -> Path:
    """Return the folder of brat's files: the one given, or the one in a copy of the repository."""
    for folder in (source / FOLDER, source):
        if any(folder.glob(f"*{ENDING}.ann")):
            return folder
    raise InputError(f"the folder has no {FOLDER}; name a copy of github.com/dbamman/litbank", str(source))
