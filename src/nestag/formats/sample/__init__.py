"""The embedded corpus: 648 sentences of news, biomedicine and law, written and annotated for nestag.

    >>> len(sentences("train")), len(sentences("dev")), len(sentences("test"))
    (456, 96, 96)

Each domain is a file of 36 documents in the notation of formats/brackets.py. A document is entirely in one split; of
every 20 documents in the order of the files, 14 are for training, 3 for development and 3 for testing.
"""

from __future__ import annotations

from importlib.resources import as_file, files
from itertools import groupby

from nestag.data.document import document_of
from nestag.data.sentence import Sentence
from nestag.errors import UnknownNameError
from nestag.formats import brackets
from nestag.formats.folders import SPLITS, Split

DOMAINS = ("news", "biomedical", "legal")
_CYCLE = 20
_DEV = (3, 10, 16)
_TEST = (6, 13, 19)


def sentences(split: Split | None = None) -> list[Sentence]:
    """Return the sentences of a split, or all of them, in the order of the files.

    >>> brackets.render(sentences()[1]), sentences()[1].id
    ('The announcement surprised almost everyone .', 'news-01-2')
    """
    return [sentence for document in documents(split) for sentence in document]


def documents(split: Split | None = None) -> list[list[Sentence]]:
    """Return the same, each document a list of its sentences."""
    if split is not None and split not in SPLITS:
        raise UnknownNameError(f"the sample has no split {split!r}; there are {', '.join(SPLITS)}")
    corpus: list[Sentence] = []
    for domain in DOMAINS:
        with as_file(files(__name__) / f"{domain}.nested") as path:
            corpus += brackets.FORMAT.read(path)
    numbered = enumerate(list(document) for _, document in groupby(corpus, document_of))
    return [document for number, document in numbered if split in (None, _split(number))]


def _split(number: int) -> Split:
    if number % _CYCLE in _DEV:
        return "dev"
    return "test" if number % _CYCLE in _TEST else "train"
