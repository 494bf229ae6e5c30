"""PubTator: a title and an abstract on a line each, then the mentions in them, and a blank line after a document.

    10091616|t|Worsening of angina by nifedipine.
    10091616|a|Two patients were seen.
    10091616	23	33	nifedipine	Chemical	D009543

Offsets count the characters of title and abstract with one character between them, a line end here. Relations are
counted and left. A text with further line ends has spaces instead of them when it is written, which is counted. Where
the text of a mention is not what its offsets cover, the offsets count, and so does the report.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from nestag.data.document import Document, TextSpan, documents_of, sentences_at
from nestag.data.report import Report
from nestag.data.segment import Options
from nestag.data.sentence import Sentence
from nestag.errors import InputError
from nestag.formats.columns import blocks
from nestag.formats.files import Line, writing
from nestag.formats.format import Format, skipping

_TEXT = re.compile(r"([^|\t]+)\|([a-z])\|(.*)", re.DOTALL)
_MENTION = re.compile(r"([^\t]+)\t(\d{1,15})\t(\d{1,15})\t([^\t]*)\t([^\t]+)(?:\t.*)?", re.DOTALL)
_LINE_END = re.compile("[\n\r]")
_UNHOLDABLE = re.compile("[\t\n\r|\ufeff]")


def read(path: str | Path, options: Options, report: Report) -> Iterator[Sentence]:
    """The sentences of the documents of a file."""
    for block in blocks(path):
        document = None
        with skipping(options, report):
            document = _document(block, str(path), options, report)
        if document:
            yield from sentences_at(document, options, report, str(path), block[0].number)


def write(sentences: Iterable[Sentence], path: str | Path, options: Options, report: Report) -> None:
    """A block of lines for each document; those without a name are numbered."""
    with writing(path) as stream:
        for number, document in enumerate(documents_of(sentences, report), 1):
            name = _UNHOLDABLE.sub("_", document.id) or str(number)
            if name != document.id:
                report.add("document renamed because its name cannot be held", document.id, name)
            title, _, rest = document.text.removesuffix("\n").partition("\n")
            title, rest = _LINE_END.sub(" ", title), _LINE_END.sub(" ", rest)
            text = f"{title}\n{rest}" if rest else title
            if text != document.text.removesuffix("\n"):
                report.add("text whose line ends were not kept", name, repr(document.text[:40]))
            lines = [f"{name}|t|{title}", f"{name}|a|{rest}"]
            lines += (_mention(name, span, text, path) for span in _inside(document, len(text), report))
            stream.write("\n".join(lines) + "\n\n")


def looks_like(head: str) -> bool:
    """Whether the first line that is not blank is a title."""
    first = next((line for line in head.removeprefix("\ufeff").split("\n") if line.strip()), "")
    match = _TEXT.fullmatch(first.rstrip("\r"))
    return match is not None and match[2] == "t"


def _document(block: list[Line], source: str, options: Options, report: Report) -> Document:
    texts = [match for line in block if (match := _TEXT.fullmatch(line.text))]
    if not texts:
        raise InputError("no title; write PMID|t|TITLE and PMID|a|ABSTRACT first", source, block[0].number)
    name = texts[0][1]
    text = "\n".join(match[3] for match in texts)
    text = text[:-1] if len(texts) > 1 and not texts[-1][3] else text  # an empty abstract adds nothing
    spans: list[TextSpan] = []
    for line in block[len(texts) :]:
        with skipping(options, report):
            if span := _span(line, name, text, source, report):
                spans.append(span)
    return Document(name, text, tuple(spans))


def _span(line: Line, name: str, text: str, source: str, report: Report) -> TextSpan | None:
    place = f"{source}:{line.number}"
    match = _MENTION.fullmatch(line.text)
    columns = line.text.split("\t")
    if not match and len(columns) >= 3 and not columns[1].isdecimal():
        report.add("relation left out", place, line.text[:60])
        return None
    if not match:
        raise InputError(
            f"{line.text[:60]!r} is no mention; write PMID, START, END, TEXT and TYPE with tabs between",
            source, line.number,
        )  # fmt: skip
    start, end = int(match[2]), int(match[3])
    if match[1] != name:
        raise InputError(f"a mention of {match[1]} among those of {name}; put a blank line before", source, line.number)
    if not start < end <= len(text):
        raise InputError(
            f"{start} to {end} is not inside the text of {len(text)} characters; count from 0, the end exclusive",
            source, line.number,
        )  # fmt: skip
    if "".join(match[4].split()) != "".join(text[start:end].split()):
        report.add("text that differs from what the offsets cover", place, line.text[:80])
    return TextSpan(start, end, match[5])


def _inside(document: Document, length: int, report: Report) -> Iterator[TextSpan]:
    """The spans of a document without the line end after its text, which is not written."""
    for start, end, kind in document.spans:
        if end <= length:
            yield TextSpan(start, end, kind)
        elif start < length:
            report.add("white space at the ends of an entity left out", document.id, f"{start} to {end} {kind}")
            yield TextSpan(start, length, kind)
        else:
            report.lose("entity of white space left out", document.id, f"{start} to {end} {kind}")


def _mention(name: str, span: TextSpan, text: str, path: str | Path) -> str:
    start, end, kind = span
    if re.search("[\t\n\r]", kind):
        raise InputError(f"PubTator cannot hold the type {kind!r}, which has a tab or line end; rename it", str(path))
    covered = " ".join(re.split("[\t\n]", text[start:end]))
    return f"{name}\t{start}\t{end}\t{covered}\t{kind}"


FORMAT = Format(
    "pubtator", "PubTator's titles, abstracts and mentions", (".pubtator",), read, write, looks_like, raw_text=True
)
