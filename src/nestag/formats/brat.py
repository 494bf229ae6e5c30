"""brat's standoff: a text file, and beside it an .ann file with a line for each annotation.

    report.txt   the president of the USA
    report.ann   T1	PER 0 24	the president of the USA
                 T2	GPE 17 24	the USA

A path is one .ann file with its .txt, or a folder of such pairs, however deep; other files in it, such as
annotation.conf, are left alone. BioNLP's .a1 and .a2 files are read as one .ann file in two parts. Offsets count
characters, line ends (CRLF is two) and all. A span over several lines is written as brat does, in parts
(`T1 PER 0 5;6 10`), and read as one span again; a span in parts with words between them is counted and set aside.
Events, relations, attributes and notes are counted and left; the trigger of an event is an entity, and counted too.
Where the text of a line is not what its offsets cover, the offsets count, and so does the report.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path

from nestag.data.document import Document, TextSpan, documents_of, sentences_at
from nestag.data.report import Report
from nestag.data.segment import Options
from nestag.data.sentence import Sentence
from nestag.errors import InputError
from nestag.formats.files import Line, read_lines, read_text, writing, writing_folder, writing_together
from nestag.formats.folders import Names, document_name, only_document, visible_files
from nestag.formats.format import Format, skipping

_ENTITY = re.compile(r"T\S*\t(\S+) (\d{1,18} \d{1,18}(?:;\d{1,18} \d{1,18})*)(?:\t(.*))?", re.DOTALL)
_LEFT = {"E": "event", "R": "relation", "*": "relation", "A": "attribute", "M": "attribute", "N": "link", "#": "note"}
_EVENT = re.compile(r"E\S*\t\S+?:(T\S*)")
_LINE = re.compile(r"[^\n]+")
_ENDS = (".ann", ".a1", ".a2")


def read(path: str | Path, options: Options, report: Report) -> Iterator[Sentence]:
    """The sentences of a pair of files, or of all pairs in a folder."""
    for files, name in _pairs(Path(path), report):
        text = read_text(_text_beside(files[0]))
        spans = tuple(span for file in files for span in _spans(file, text, options, report))
        yield from sentences_at(Document(name, text, spans), options, report, str(files[0]))


def write(sentences: Iterable[Sentence], path: str | Path, options: Options, report: Report) -> None:
    """A pair of files for the one document, if the path ends in .ann; else a folder with a pair for each."""
    documents = documents_of(sentences, report)
    if str(path).endswith((".gz", *_ENDS[1:])):
        raise InputError("brat's files are written as .ann and .txt, not packed; name an .ann file", str(path))
    if str(path).endswith(".ann"):
        document = only_document(documents, path, document_name(Path(path).stem), report)
        with writing_together(Path(path).parent) as part:
            _write_pair(document, part / Path(path).name, report)
        return
    names = Names(report)
    with writing_folder(path) as folder:
        for document in documents:
            _write_pair(document, folder / f"{names.of(document.id)}.ann", report)


def looks_like(head: str) -> bool:
    """Whether one of the first lines of a file is an entity."""
    return any(_ENTITY.fullmatch(line.rstrip("\r")) for line in head.split("\n", 100)[:100])


def _pairs(path: Path, report: Report) -> Iterator[tuple[list[Path], str]]:
    """The files of annotations of each document, and its name."""
    if not path.is_dir():
        parts = [path.with_suffix(end) for end in _ENDS[1:]] if path.suffix in _ENDS[1:] else [path]
        yield (
            [part for part in parts if part == path or part.exists()],
            document_name(path.name.removesuffix(path.suffix)),
        )
        return
    found = [file for file in visible_files(path) if file.suffix in (*_ENDS, ".txt")]
    annotated: dict[Path, list[Path]] = {}
    for file in found:
        if file.suffix in _ENDS:
            annotated.setdefault(file.with_suffix(""), []).append(file)
    if not annotated:
        raise InputError("the folder has no .ann file; name one that has pairs of .txt and .ann", str(path))
    for stem, files in annotated.items():
        yield files, document_name(stem.relative_to(path).as_posix())
    for file in found:
        if file.suffix == ".txt" and file.with_suffix("") not in annotated:
            report.add("text without an .ann file left out", str(file), "brat lists texts that have one")


def _text_beside(annotations: Path) -> Path:
    if annotations.suffix not in _ENDS:
        raise InputError("not an .ann file; name that file, or the folder it is in", str(annotations))
    text = annotations.with_suffix(".txt")
    if annotations.exists() and not text.exists():
        raise InputError(f"there is no {text.name} beside it; put the text there", str(annotations))
    return text


def _spans(path: Path, text: str, options: Options, report: Report) -> Iterator[TextSpan]:
    for line in read_lines(path):
        if not line.text.strip():
            continue
        place = f"{path}:{line.number}"
        if line.text[0] in _LEFT:
            report.add(f"{_LEFT[line.text[0]]} left out", place, line.text[:60])
            if event := _EVENT.match(line.text):
                report.add("trigger of an event read as an entity", place, event[1])
            continue
        with skipping(options, report):
            if span := _span(line, text, path, report):
                yield span


def _span(line: Line, text: str, path: Path, report: Report) -> TextSpan | None:
    """The span of a T line; None if it has parts with words between them."""
    match = _ENTITY.fullmatch(line.text)
    if not match:
        raise InputError(
            f"{line.text[:60]!r} is no annotation; write T1, a tab, TYPE START END, a tab, text", str(path), line.number
        )
    kind, offsets, covered = match.groups()
    parts = [(int(start), int(end)) for start, end in (part.split(" ") for part in offsets.split(";"))]
    if not all(0 <= start < end <= len(text) for start, end in parts):
        raise InputError(
            f"{offsets} is not inside the text of {len(text)} characters; count from 0, the end exclusive",
            str(path), line.number,
        )  # fmt: skip
    place = f"{path}:{line.number}"
    if covered is not None and _plain(covered) != _plain("".join(text[start:end] for start, end in parts)):
        report.add("text that differs from what the offsets cover", place, line.text[:80])
    if any(a[1] > b[0] or text[a[1] : b[0]].strip() for a, b in pairwise(parts)):
        report.lose("discontinuous entity set aside", place, line.text[:80])
        return None
    return TextSpan(parts[0][0], parts[-1][1], kind)


def _write_pair(document: Document, annotations: Path, report: Report) -> None:
    with writing(annotations.with_suffix(".txt")) as texts:
        texts.write(document.text)
    with writing(annotations) as lines:
        for number, span in enumerate(document.spans, 1):
            if re.search(r"\s", span.type):
                raise InputError(
                    f"brat cannot hold the type {span.type!r}, which has white space; rename it", str(annotations)
                )
            parts = _parts(document.text, span)
            if parts:
                if (parts[0][0], parts[-1][1]) != span[:2]:
                    report.add("white space at the ends of an entity left out", document.id, f"T{number} {span.type}")
                lines.write(f"T{number}\t{span.type} {_offsets(parts)}\t{_covered(document.text, parts)}\n")
            else:
                report.add("entity of white space left out", document.id, f"{span.start} to {span.end} {span.type}")


def _parts(text: str, span: TextSpan) -> list[tuple[int, int]]:
    """A span line by line, without the white space where lines end and begin."""
    parts = []
    for line in _LINE.finditer(text, span.start, span.end):
        start, end = line.span()
        if start > span.start:
            start += len(line[0]) - len(line[0].lstrip())
        if end < span.end:
            end -= len(line[0]) - len(line[0].rstrip())
        if start < end:
            parts.append((start, end))
    return parts


def _offsets(parts: Sequence[tuple[int, int]]) -> str:
    return ";".join(f"{start} {end}" for start, end in parts)


def _covered(text: str, parts: Sequence[tuple[int, int]]) -> str:
    return " ".join(text[start:end] for start, end in parts).replace("\r", " ")


def _plain(text: str) -> str:
    return "".join(text.split())


FORMAT = Format(
    "brat", "brat's standoff, a pair of files or a folder", (".ann", ".a1", ".a2"), read, write, looks_like,
    raw_text=True, folder=_ENDS,
)  # fmt: skip
