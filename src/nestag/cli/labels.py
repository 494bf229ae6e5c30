"""encode, decode, vocabulary and show: sentences as labels, and the way back."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from itertools import islice
from typing import Annotated

import typer

from nestag.cli.options import From, Reading
from nestag.cli.terminal import progress, tell
from nestag.corpora.formats import jsonl
from nestag.corpora.labelling import decode_file, encode_file, nesting, read_vocabulary, write_vocabulary
from nestag.corpora.registry import format_of
from nestag.corpora.report import Report
from nestag.data import Sentence
from nestag.encodings import available, encoding
from nestag.encodings.base import Encoding
from nestag.errors import InputError, UnknownNameError
from nestag.files import PIPE
from nestag.vocabulary import Vocabulary


class OnCrossing(StrEnum):
    """What to do with entities that overlap without nesting."""

    error = "error"
    set_aside = "set-aside"


class Keep(StrEnum):
    """Which of several names given to one node it keeps."""

    first = "first"
    majority = "majority"


def _encoding(name: str) -> Encoding:
    try:
        return encoding(name)
    except UnknownNameError as error:
        raise typer.BadParameter(str(error)) from None


_EXISTING = ", ".join(sorted(available()))
Sentences = Annotated[
    str, typer.Argument(metavar="IN", help="A corpus in any format, also .gz; - reads JSON Lines from standard input.")
]
Output = Annotated[
    str, typer.Option("-o", "--output", metavar="OUT", help="The output file; .gz is compressed, - is standard output.")
]
EncodingOption = Annotated[
    Encoding, typer.Option("-e", "--encoding", metavar="E", parser=_encoding, help=f"One of {_EXISTING}.")
]
Policy = Annotated[OnCrossing, typer.Option(help="Crossing entities: stop at the first, or set the fewest aside.")]


def encode(
    source: Sentences,
    *,
    output: Output = PIPE,
    by: EncodingOption = "rel",  # type: ignore[assignment]
    crossing: Policy = OnCrossing.error,
    vocabulary: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="A vocabulary that orders same-span types; unseen labels are counted."),
    ] = None,
    format: From = None,
    reading: Reading,
) -> None:
    """Encode sentences as one label per word: token, n, c and u, tab-separated, a blank line between sentences."""
    known = read_vocabulary(vocabulary) if vocabulary else None
    if known and known.encoding != by.name:
        raise InputError(f"the vocabulary is for {known.encoding}; use --encoding {known.encoding}", str(vocabulary))
    report = Report()
    sentences = _read(source, format, reading, report)
    if crossing is OnCrossing.set_aside:
        sentences = nesting(sentences, source, report)
    tally = encode_file(progress(sentences, "encoding"), source, output, by, known)
    tell(f"encoded {tally.sentences:,} sentences, {tally.tokens:,} tokens, {tally.entities:,} entities as {by.name}")
    if known:
        tell(f"{tally.unseen:,} label parts are not in the vocabulary")
    for line in report.summary():
        tell(line)


def decode(
    source: Annotated[str, typer.Argument(metavar="IN", help="A label file, also .gz; - is standard input.")],
    output: Output = PIPE,
    by: EncodingOption = "rel",  # type: ignore[assignment]
    naming: Annotated[
        Keep, typer.Option(help="If a node gets several names, keep the first or the most frequent.")
    ] = Keep.first,
) -> None:
    """Decode labels into sentences with entities, repairing labels that describe no tree; the inverse of encode."""
    tally = decode_file(source, output, by, naming.value)
    tell(f"decoded {tally.sentences:,} sentences, {tally.tokens:,} tokens, {tally.entities:,} entities from {by.name}")
    tell(f"repaired {tally.repaired:,} labels in {tally.repaired_sentences:,} sentences")


def vocabulary(
    source: Sentences,
    *,
    output: Output = PIPE,
    by: EncodingOption = "rel",  # type: ignore[assignment]
    crossing: Policy = OnCrossing.error,
    format: From = None,
    reading: Reading,
) -> None:
    """Collect the labels of a training corpus, and the order of types over the same tokens."""
    report = Report()
    sentences = _read(source, format, reading, report)
    if crossing is OnCrossing.set_aside:
        sentences = nesting(sentences, source, report)
    learned = Vocabulary.learn(progress(sentences, "learning"), by)
    write_vocabulary(learned, output)
    tell(f"learned {len(learned.n):,} n, {len(learned.c):,} c and {len(learned.u):,} u for {by.name}")
    for line in report.summary():
        tell(line)


def show(
    source: Sentences,
    *,
    by: Annotated[
        Encoding | None,
        typer.Option("-e", "--encoding", metavar="E", parser=_encoding, help="Show the labels of this encoding too."),
    ] = None,
    limit: Annotated[int, typer.Option(min=0, help="How many sentences to show; 0 shows all.")] = 10,
    html: Annotated[str | None, typer.Option(metavar="FILE", help="Write a page for a browser instead.")] = None,
    format: From = None,
    reading: Reading,
) -> None:
    """Draw sentences in the terminal: nested entities below the words, the tree, and the labels."""
    from rich.console import Console

    from nestag.cli.draw import drawing, print_lines, write_page

    console = Console(highlight=False)
    report = Report()
    sentences = _read(source, format, reading, report)
    if html:
        write_page(islice(sentences, limit or None), html, source)
    else:
        for sentence in islice(sentences, limit or None):
            print_lines(console, drawing(sentence, by, console.width))
    if limit and next(sentences, None):
        tell(f"stopped after {limit} sentences; --limit 0 shows all")
    for line in report.summary():
        tell(line)


def _read(source: str, format: str | None, reading: Reading, report: Report) -> Iterator[Sentence]:
    """The sentences of a file; a pipe holds JSON Lines unless another format is named."""
    chosen = jsonl.FORMAT if source == PIPE and format is None else format_of(source, format)
    return chosen.read(source, reading.options, report)
