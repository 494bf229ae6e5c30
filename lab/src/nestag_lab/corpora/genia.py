"""The GENIA term corpus 3.02: XML with nested terms -> sentences of five classes.

    <article><articleinfo><bibliomisc>MEDLINE:1</bibliomisc></articleinfo><title>
    <sentence><cons lex="x" sem="G#DNA_domain_or_region"><cons lex="y" sem="G#protein_molecule">IL-2</cons> gene</cons>
    </sentence></title>...

`GENIAcorpus3.02.xml` has text alone: its words are made by rules (words.py) and cut where a term begins or ends.
`GENIAcorpus3.02.merged.xml` has the words too, `<w c="NN">gene</w>`, which are taken as they are. The five classes and
the split in corpus order are those of Shibuya and Hovy (2020).
"""

from __future__ import annotations

import re
import tarfile
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import BinaryIO, NamedTuple, cast

from nestag.data.report import Report
from nestag.data.segment import Offsets
from nestag.data.sentence import Entity, Sentence
from nestag.errors import InputError
from nestag.formats.files import reading
from nestag.formats.files.sources import BROKEN
from nestag.formats.folders import SPLITS
from nestag_lab.corpora.markup import CharacterData, EndTag, Event, StartTag, events
from nestag_lab.corpora.split import SplitSentence
from nestag_lab.corpora.words import words

CLASSES = ("DNA", "RNA", "protein", "cell_line", "cell_type")
"""In the order in which they are looked for in a term that names several."""
SIZES = (15_022, 1_669, 1_855)
"""Sentences of train, dev and test, in corpus order."""
NAMES = ("GENIAcorpus3.02.merged.xml", "GENIAcorpus3.02.xml")
"""The files that are read, the better one first."""
LONGEST = 1_000_000
"""Characters of one sentence beyond which a file is taken for something else."""

_RUN = re.compile(r"\S+")


class Term(NamedTuple):
    """A `<cons>`: its place in the sentence, and its `sem`."""

    start: int
    end: int
    meaning: str


def read(source: str | Path, report: Report | None = None, sizes: Sequence[int] = SIZES) -> Iterator[SplitSentence]:
    """Return the sentences of the XML file, of the archive or of the folder that it is in."""
    report = Report() if report is None else report
    last = [sum(sizes[: number + 1]) for number in range(len(sizes))]
    with _opened(source) as (stream, name):
        for number, marked in enumerate(_marked(events(stream, name), name, report)):
            split = bisect_right(last, number)
            if split == len(last):
                raise InputError(f"there are more than {last[-1]} sentences; is this GENIA 3.02?", name)
            yield SplitSentence(SPLITS[split], marked.sentence(report))


def class_of(meaning: str) -> str | None:
    """Return the class that a `sem` names, or None; of several, the first in the order of `CLASSES`.

    >>> class_of("G#protein_molecule"), class_of("(AND G#RNA_N/A G#DNA_N/A)"), class_of("G#virus")
    ('protein', 'DNA', None)
    """
    return next((name for name in CLASSES if f"G#{name}" in meaning), None)


class _Marked:
    """A sentence as it is read: its text, its terms, and its words if they are given."""

    def __init__(self, id: str, line: int, source: str) -> None:
        self.id = id
        self.place = f"{source}:{line}"
        self.pieces: list[str] = []
        self.length = 0
        self.opened: list[tuple[StartTag, int]] = []
        self.terms: list[Term] = []
        self.words: list[Offsets] = []

    def take(self, event: Event) -> None:
        match event:
            case StartTag():
                self.opened.append((event, self.length))
            case EndTag():
                tag, start = self.opened.pop()
                if tag.name == "cons":
                    self.terms.append(Term(start, self.length, tag.attributes.get("sem", "")))
                elif tag.name == "w":
                    self.words.append((start, self.length))
            case CharacterData(text):
                self.pieces.append(text)
                self.length += len(text)

    def sentence(self, report: Report) -> Sentence:
        text = "".join(self.pieces)
        terms = [Term(*_trimmed(text, term.start, term.end), term.meaning) for term in self.terms]
        borders = sorted({place for term in terms for place in term[:2]})
        tokens = list(_cut(text, self._words(text, report), borders))
        entities = list(self._entities(text, terms, tokens, report))
        return report.sentence([text[start:end] for start, end in tokens], entities, self.id, self.place)

    def _words(self, text: str, report: Report) -> list[Offsets]:
        """Return the words of the file and unmarked text as words; without any, words made by rules."""
        if not self.words:
            report.add(f"sentence whose words are made by rules ({NAMES[0]} has them)", self.place, self.id)
            return words(text)
        found = [(start, end) for start, end in (_trimmed(text, *word) for word in self.words) if start < end]
        between = [0, *(place for word in found for place in word), len(text)]
        for start, end in zip(between[::2], between[1::2], strict=True):
            for run in _RUN.finditer(text, start, end):
                found.append(run.span())
                report.add("text outside <w> taken as a word", self.place, run[0])
        return sorted(found)

    def _entities(
        self, text: str, terms: Iterable[Term], tokens: Sequence[Offsets], report: Report
    ) -> Iterator[Entity]:
        for start, end, meaning in sorted(terms, key=lambda term: (term.start, -term.end)):
            kind = class_of(meaning)
            first = bisect_left(tokens, start, key=lambda token: token[0])
            last = bisect_right(tokens, end, key=lambda token: token[1])
            if kind is None:
                report.add("term of another class dropped", self.place, f"{meaning or 'no sem'} {text[start:end]!r}")
            elif first >= last:
                report.add("term without a word dropped", self.place, meaning)
            else:
                yield Entity(first, last, kind)


def _marked(found: Iterable[Event], source: str, report: Report) -> Iterator[_Marked]:
    """Return every `<sentence>` with its id: article and number, and `@2` if the article occurred before."""
    names: Counter[str] = Counter()
    inside: list[str] = []
    article, number = "", 0
    marked: _Marked | None = None
    for event in found:
        if isinstance(event, StartTag):
            inside.append(event.name)
            if event.name == "article":
                article, number = "", 0
            if event.name == "sentence":
                marked = _begun(marked, _named(article, number, names), event, source)
                number += 1
                continue
        elif isinstance(event, EndTag):
            inside.pop()
            if event.name == "bibliomisc":
                names[article] += 1
            if event.name == "sentence" and marked:
                yield marked
                marked = None
        elif marked is None and event.text.strip():
            if inside[-1:] == ["bibliomisc"]:
                article += event.text.strip()
            else:
                report.add("text outside a sentence dropped", source, event.text.strip()[:60])
        if marked:
            _bounded(marked, source).take(event)


def _begun(before: _Marked | None, id: str, event: StartTag, source: str) -> _Marked:
    if before:
        raise InputError("a <sentence> is inside another; is this GENIA 3.02?", source, event.line)
    return _Marked(id, event.line, source)


def _named(article: str, number: int, names: Counter[str]) -> str:
    again = f"@{names[article]}" if names[article] > 1 else ""
    return f"{article or 'article'}-{number}{again}"


def _bounded(marked: _Marked, source: str) -> _Marked:
    if marked.length > LONGEST:
        raise InputError(f"sentence {marked.id} is longer than {LONGEST} characters; is this GENIA 3.02?", source)
    return marked


def _trimmed(text: str, start: int, end: int) -> Offsets:
    """Return the span without white space at its ends."""
    piece = text[start:end]
    start += len(piece) - len(piece.lstrip())
    return start, max(start, end - (len(piece) - len(piece.rstrip())))


def _cut(text: str, found: Iterable[Offsets], borders: Sequence[int]) -> Iterator[Offsets]:
    """Return the words, split wherever a term begins or ends inside one."""
    for start, end in found:
        inside = borders[bisect_right(borders, start) : bisect_left(borders, end)]
        for piece in pairwise([start, *inside, end]):
            first, last = _trimmed(text, *piece)
            if first < last:
                yield first, last


@contextmanager
def _opened(source: str | Path) -> Iterator[tuple[BinaryIO, str]]:
    """Return the XML file as a stream, with its name for messages."""
    path = _found(Path(source))
    try:
        if path.name.endswith((".tgz", ".tar.gz", ".tar")):
            with tarfile.open(path) as archive:
                member = _member(archive, path)
                yield cast(BinaryIO, archive.extractfile(member)), f"{path}/{member.name}"
        else:
            with reading(path) as stream:
                yield stream, str(path)
    except (tarfile.TarError, *BROKEN) as error:
        raise InputError(f"not a whole archive ({error}); get it again", str(path)) from None
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror or error}); check the path", str(path)) from None


def _found(source: Path) -> Path:
    """Return the file itself, or the best one in a folder."""
    if not source.is_dir():
        return source
    wanted = (*NAMES, *(f"{name}.gz" for name in NAMES), "GENIAcorpus3.02*.tgz")
    found = (path for pattern in wanted for path in sorted(source.rglob(pattern)))
    if first := next(found, None):
        return first
    raise InputError(f"the folder has none of {', '.join(wanted)}; name the file itself", str(source))


def _member(archive: tarfile.TarFile, path: Path) -> tarfile.TarInfo:
    files = {Path(member.name).name: member for member in archive if member.isfile()}
    for name in NAMES:
        if name in files:
            return files[name]
    raise InputError(f"the archive has neither {' nor '.join(NAMES)}; name the XML file itself", str(path))
