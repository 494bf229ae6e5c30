"""PubTator: a title and an abstract on a line each, then the mentions in them, and a blank line after a document.

    10091616|t|Worsening of angina by nifedipine.
    10091616|a|Two patients were seen.
    10091616	23	33	nifedipine	Chemical	D009543

Offsets count the characters of title and abstract with one character between them, here a line end.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from nestag.data.document import Document, TextSpan, documents_of, same_text, sentences_of, span_in
from nestag.data.report import Report
from nestag.data.segment import Options
from nestag.data.sentence import Sentence
from nestag.errors import DataError, InputError
from nestag.formats.columns import blocks
from nestag.formats.files import Line, writing
from nestag.formats.registry import Format, skipping
from nestag.formats.shared.tags import refuse_deep

_TEXT = re.compile(r"([^|\t]+)\|([a-z])\|(.*)", re.DOTALL)
_MENTION = re.compile(r"([^\t]+)\t(\d{1,15})\t(\d{1,15})\t([^\t]*)\t([^\t]+)(?:\t.*)?", re.DOTALL)
_LINE_END = re.compile("[\n\r]")
_NOT_IN_NAMES = re.compile("[\t\n\r|\ufeff]")


def read(path: str | Path, options: Options, report: Report) -> Iterator[Sentence]:
    """Yield the sentences of the documents of a file."""
    for block in blocks(path):
        with skipping(options, report, path, block[0].number):
            yield from list(sentences_of(_document(block, path, options, report), options, report))


def write(sentences: Iterable[Sentence], path: str | Path, options: Options, report: Report) -> None:
    """Write the lines of each document; documents without a name are numbered."""
    with writing(path) as stream:
        for number, document in enumerate(documents_of(sentences, report), 1):
            refuse_deep(document.spans, document.id)
            name = _NOT_IN_NAMES.sub("_", document.id) or str(number)
            if name != document.id:
                report.add("document renamed because PubTator cannot hold its name", document.id, name)
            title, _, rest = document.text.removesuffix("\n").partition("\n")
            title, rest = _LINE_END.sub(" ", title), _LINE_END.sub(" ", rest)
            text = f"{title}\n{rest}" if rest else title
            if text != document.text.removesuffix("\n"):
                report.add("text whose line ends became spaces", name, repr(document.text[:40]))
            lines = [f"{name}|t|{title}", f"{name}|a|{rest}"]
            lines += (_mention(name, span, text, path) for span in _inside(document, len(text), report))
            stream.write("\n".join(lines) + "\n\n")


def looks_like(head: str) -> bool:
    """Say whether the first line that is not blank is a title."""
    first = next((line for line in head.removeprefix("\ufeff").split("\n") if line.strip()), "")
    match = _TEXT.fullmatch(first.rstrip("\r"))
    return match is not None and match[2] == "t"


def _document(block: list[Line], path: str | Path, options: Options, report: Report) -> Document:
    texts = [match for line in block if (match := _TEXT.fullmatch(line.text))]
    if not texts:
        raise DataError("no title; write PMID|t|TITLE and PMID|a|ABSTRACT first")
    name = texts[0][1]
    text = "\n".join(match[3] for match in texts)
    text = text[:-1] if len(texts) > 1 and not texts[-1][3] else text  # an empty abstract adds nothing
    spans: list[TextSpan] = []
    for number, line in block[len(texts) :]:
        with skipping(options, report, path, number):
            if span := _span(line, name, text, f"{path}:{number}", report):
                spans.append(span)
    return Document(name, text, tuple(spans))


def _span(line: str, name: str, text: str, place: str, report: Report) -> TextSpan | None:
    """Return the span of a mention, or None for a relation."""
    match = _MENTION.fullmatch(line)
    if not match:
        columns = line.split("\t")
        if len(columns) < 3 or columns[1].isdecimal():
            raise DataError(f"{line[:60]!r} is not a mention; write PMID, START, END, TEXT and TYPE with tabs between")
        report.add("relation dropped", place, line[:60])
        return None
    if match[1] != name:
        raise DataError(f"a mention of {match[1]} among those of {name}; put a blank line before")
    span = span_in(text, int(match[2]), int(match[3]), match[5])
    if not same_text(match[4], text[span.start : span.end]):
        report.add("text that differs from what the offsets cover", place, line[:80])
    return span


def _inside(document: Document, length: int, report: Report) -> Iterator[TextSpan]:
    """Yield the spans without the line end after the text, which is not written."""
    for start, end, kind in document.spans:
        if start < length < end:
            report.add("white space at the ends of an entity dropped", document.id, f"{start} to {end} {kind}")
        if start < length:
            yield TextSpan(start, min(end, length), kind)
        else:
            report.lose("entity of white space dropped", document.id, f"{start} to {end} {kind}")


def _mention(name: str, span: TextSpan, text: str, path: str | Path) -> str:
    start, end, kind = span
    if re.search("[\t\n\r]", kind):
        raise InputError(f"PubTator cannot hold the type {kind!r}, which has a tab or line end; rename it", str(path))
    covered = " ".join(re.split("[\t\n]", text[start:end]))
    return f"{name}\t{start}\t{end}\t{covered}\t{kind}"


FORMAT = Format(
    "pubtator", "PubTator's titles, abstracts and mentions", (".pubtator",), read, write, looks_like, raw_text=True
)
