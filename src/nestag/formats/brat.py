"""brat's standoff: a text file, and next to it an .ann file with a line for each annotation.

    report.txt   the president of the USA
    report.ann   T1	PER 0 24	the president of the USA
                 T2	GPE 17 24	the USA

A path is one .ann file with its .txt, or a folder of such pairs at any depth. BioNLP's .a1 and .a2 files are read as
one .ann file in two parts. Offsets count characters, including line ends (CRLF is two). A span over several lines is
written as brat does, in parts (`T1 PER 0 5;6 10`), and read as one span again. The trigger of an event is an entity.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise
from pathlib import Path

from nestag.data.document import Document, TextSpan, documents_of, same_text, sentences_of, span_in
from nestag.data.report import Report
from nestag.data.segment import Offsets, Options
from nestag.data.sentence import Sentence
from nestag.errors import DataError, InputError
from nestag.formats.files import read_lines, read_text, writing, writing_folder, writing_together
from nestag.formats.folders import document_name, files_in, named_documents, only_document
from nestag.formats.registry import Format, skipping
from nestag.formats.shared.tags import refuse_deep

_ENTITY = re.compile(r"T\S*\t(\S+) (\d{1,18} \d{1,18}(?:;\d{1,18} \d{1,18})*)(?:\t(.*))?", re.DOTALL)
_DROPPED = {
    "E": "event", "R": "relation", "*": "relation", "A": "attribute", "M": "attribute", "N": "link", "#": "note"
}  # fmt: skip
_EVENT = re.compile(r"E\S*\t\S+?:(T\S*)")
_LINE = re.compile(r"[^\n]+")
_ENDS = (".ann", ".a1", ".a2")


def read(path: str | Path, options: Options, report: Report) -> Iterator[Sentence]:
    """Yield the sentences of a pair of files, or of all pairs in a folder."""
    for files, name in _pairs(Path(path), report):
        text = read_text(_text_of(files[0]))
        spans = tuple(span for file in files for span in _spans(file, text, options, report))
        with skipping(options, report, files[0]):
            yield from list(sentences_of(Document(name, text, spans), options, report))


def write(sentences: Iterable[Sentence], path: str | Path, options: Options, report: Report) -> None:
    """Write a pair of files for the only document if the path ends in .ann, else a folder with a pair for each."""
    documents = documents_of(sentences, report)
    if str(path).endswith((".gz", *_ENDS[1:])):
        raise InputError("brat's files are written as .ann and .txt, not packed; name an .ann file", str(path))
    if str(path).endswith(".ann"):
        document = only_document(documents, path, document_name(Path(path).stem), report)
        with writing_together(Path(path).parent) as part:
            _write_pair(document, part / Path(path).name, report)
        return
    with writing_folder(path) as folder:
        for name, document in named_documents(documents, report):
            _write_pair(document, folder / f"{name}.ann", report)


def looks_like(head: str) -> bool:
    """Say whether one of the first lines of a file is an entity."""
    return any(_ENTITY.fullmatch(line.rstrip("\r")) for line in head.split("\n", 100)[:100])


def _pairs(path: Path, report: Report) -> Iterator[tuple[list[Path], str]]:
    """Yield the files of annotations of each document, and its name."""
    if not path.is_dir():
        parts = [path.with_suffix(end) for end in _ENDS[1:]] if path.suffix in _ENDS[1:] else [path]
        yield [part for part in parts if part == path or part.exists()], document_name(path.stem)
        return
    annotated: dict[Path, list[Path]] = {}
    for file, _ in files_in(path, _ENDS):
        annotated.setdefault(file.with_suffix(""), []).append(file)
    for stem, files in annotated.items():
        yield files, document_name(stem.relative_to(path).as_posix())
    for file, _ in files_in(path, (*_ENDS, ".txt")):
        if file.suffix == ".txt" and file.with_suffix("") not in annotated:
            report.add("text without an .ann file skipped", str(file), "brat lists texts that have one")


def _text_of(annotations: Path) -> Path:
    if annotations.suffix.lower() not in _ENDS:
        raise InputError("not an .ann file; name that file, or the folder it is in", str(annotations))
    text = annotations.with_suffix(".txt")
    if annotations.exists() and not text.exists():
        raise InputError(f"there is no {text.name} next to it; put the text there", str(annotations))
    return text


def _spans(path: Path, text: str, options: Options, report: Report) -> Iterator[TextSpan]:
    for number, line in read_lines(path):
        place = f"{path}:{number}"
        if line[:1] in _DROPPED:
            report.add(f"{_DROPPED[line[0]]} dropped", place, line[:60])
            if event := _EVENT.match(line):
                report.add("trigger of an event read as an entity", place, event[1])
        elif line.strip():
            with skipping(options, report, path, number):
                if span := _span(line, text, place, report):
                    yield span


def _span(line: str, text: str, place: str, report: Report) -> TextSpan | None:
    """Return the span of a T line, or None if it has parts with words between them."""
    match = _ENTITY.fullmatch(line)
    if not match:
        raise DataError(f"{line[:60]!r} is not an annotation; write T1, a tab, TYPE START END, a tab, text")
    kind, offsets, covered = match.groups()
    parts = []
    for start, end in (map(int, part.split(" ")) for part in offsets.split(";")):
        parts.append(span_in(text, start, end, kind))
    if covered is not None and not same_text(covered, "".join(text[a:b] for a, b, _ in parts)):
        report.add("text that differs from what the offsets cover", place, line[:80])
    if any(a.end > b.start or text[a.end : b.start].strip() for a, b in pairwise(parts)):
        report.lose("discontinuous entity dropped", place, line[:80])
        return None
    return TextSpan(parts[0].start, parts[-1].end, kind)


def _write_pair(document: Document, annotations: Path, report: Report) -> None:
    refuse_deep(document.spans, str(annotations))
    with writing(annotations.with_suffix(".txt")) as texts:
        texts.write(document.text)
    with writing(annotations) as lines:
        for number, (start, end, kind) in enumerate(document.spans, 1):
            if re.search(r"\s", kind):
                raise InputError(
                    f"brat cannot hold the type {kind!r}, which has white space; rename it", str(annotations)
                )
            parts = _parts(document.text, start, end)
            if not parts:
                report.add("entity of white space dropped", document.id, f"{start} to {end} {kind}")
                continue
            if (parts[0][0], parts[-1][1]) != (start, end):
                report.add("white space at the ends of an entity dropped", document.id, f"T{number} {kind}")
            offsets = ";".join(f"{a} {b}" for a, b in parts)
            covered = " ".join(document.text[a:b] for a, b in parts).replace("\r", " ")
            lines.write(f"T{number}\t{kind} {offsets}\t{covered}\n")


def _parts(text: str, start: int, end: int) -> list[Offsets]:
    """Return a span line by line, without the white space where lines end and begin."""
    parts = []
    for line in _LINE.finditer(text, start, end):
        first, last = line.span()
        if first > start:
            first += len(line[0]) - len(line[0].lstrip())
        if last < end:
            last -= len(line[0]) - len(line[0].rstrip())
        if first < last:
            parts.append((first, last))
    return parts


FORMAT = Format(
    "brat", "brat's standoff, a pair of files or a folder", (".ann", ".a1", ".a2"), read, write, looks_like,
    raw_text=True, folder=_ENDS,
)  # fmt: skip
