"""convert and split: from one format into another, and from one corpus into three."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import StrEnum
from math import inf
from pathlib import Path
from typing import Annotated

import typer

from nestag.cli.options import From, Reading
from nestag.cli.output import show
from nestag.cli.splits import SplitFile
from nestag.cli.terminal import progress, tell
from nestag.cli.writers import writer_of
from nestag.corpora.format import Format
from nestag.corpora.labelling import LabellingTally, nesting, place_of
from nestag.corpora.registry import format_for, format_named, format_of
from nestag.corpora.report import Report, describe
from nestag.corpora.splits import SPLITS
from nestag.crossing import crossing_pairs
from nestag.data import Sentence
from nestag.diagnosis.splitting import Load, UnitName, by_document, by_sentence, loads_of, stratified, sum_of
from nestag.errors import DataError, InputError
from nestag.files import is_stream, writing_together
from nestag.tables import Percent, Row, Section, Table, TableForm


class Crossing(StrEnum):
    """What to do with entities that overlap without nesting."""

    ERROR = "error"
    KEEP = "keep"
    SET_ASIDE = "set-aside"


class Unit(StrEnum):
    """What a split keeps together."""

    DOCUMENT = "document"
    SENTENCE = "sentence"


UNITS = {Unit.DOCUMENT: by_document, Unit.SENTENCE: by_sentence}
To = Annotated[str | None, typer.Option("--to", metavar="FORMAT", help="The output format, if it cannot be guessed.")]


class Listing(Report):
    """A report that prints every finding as it comes."""

    def add(self, kind: str, place: str, what: str) -> None:
        """Count and tell."""
        super().add(kind, place, what)
        tell(f"{place}: {kind}: {what}")


def convert(
    source: Annotated[str, typer.Argument(metavar="IN", help="A file or folder, also .gz; - is standard input.")],
    target: Annotated[
        str, typer.Argument(metavar="OUT", help="The output file; .gz is compressed, - is standard output.")
    ],
    *,
    read_as: From = None,
    write_as: To = None,
    crossing: Annotated[
        Crossing, typer.Option(help="Crossing entities: stop at the first, keep them, or set the fewest aside.")
    ] = Crossing.KEEP,
    listed: Annotated[bool, typer.Option("--list", help="List every finding, not only the counts.")] = False,
    reading: Reading,
) -> None:
    """Write a corpus in another format; whatever cannot be represented there is counted on the error stream.

    The formats are bioc, bioc-json, brackets, brat, cas, columns, conllu, doccano, dygie, gliner, jsonl, labelstudio,
    nner, oneie, parquet, prodigy, pubtator, spacy, spacy2, spert, text, w2ner and webanno; a file's suffix and content
    say which it is, unless --from or --to does. docs/formats.md shows each.
    """
    origin, goal = format_of(source, read_as), format_for(target, write_as)
    write = writer_of(goal)
    report = Listing() if listed else Report()
    tally = LabellingTally()
    sentences = judged(origin.read(source, reading.options, report), source, crossing, report)
    write(progress(counted(sentences, tally), "converting"), target, reading.options, report)
    tell(
        f"converted {tally.sentences:,} sentences, {tally.tokens:,} tokens, {tally.entities:,} entities"
        f" from {origin.name} to {goal.name}"
    )
    for line in report.summary():
        tell(line)


def counted(sentences: Iterable[Sentence], tally: LabellingTally) -> Iterator[Sentence]:
    """The sentences as they are, counted."""
    for sentence in sentences:
        tally.see(sentence)
        yield sentence


def judged(sentences: Iterable[Sentence], source: str, crossing: Crossing, report: Report) -> Iterable[Sentence]:
    """The sentences with their crossing entities kept, set aside, or refused."""
    if crossing is Crossing.KEEP:
        return kept(sentences, source, report)
    return nesting(sentences, source, report) if crossing is Crossing.SET_ASIDE else refused(sentences, source)


def kept(sentences: Iterable[Sentence], source: str, report: Report) -> Iterator[Sentence]:
    """The sentences as they are; pairs of entities that cross are counted."""
    for number, sentence in enumerate(sentences, 1):
        for first, second in crossing_pairs(sentence.entities):
            place = place_of(source, sentence, number)
            report.add("pair of crossing entities kept", place, f"{describe(first)} and {describe(second)}")
        yield sentence


def refused(sentences: Iterable[Sentence], source: str) -> Iterator[Sentence]:
    """The sentences up to the first with crossing entities, which is an InputError."""
    for number, sentence in enumerate(sentences, 1):
        for first, second in crossing_pairs(sentence.entities):
            raise InputError(
                f"entities {describe(first)} and {describe(second)} cross; use --crossing keep or set-aside",
                place_of(source, sentence, number),
            )
        yield sentence


def split(
    source: Annotated[str, typer.Argument(metavar="IN", help="A file or folder, also .gz.")],
    output: Annotated[str, typer.Option("-o", "--output", metavar="DIR", help="The folder to write into.")],
    *,
    shares: Annotated[str, typer.Option(metavar="A/B/C", help="The percentages of train, dev and test.")] = "70/15/15",
    seed: Annotated[int, typer.Option(help="The random seed.")] = 0,
    by: Annotated[Unit, typer.Option(help="The unit that is never split: a document or a sentence.")] = Unit.DOCUMENT,
    read_as: From = None,
    write_as: To = None,
    reading: Reading,
) -> None:
    """Split a corpus into train, dev and test by document, with every type in proportion."""
    if is_stream(source):
        raise InputError("a split reads its input more than once; save it to a file first", source)
    wanted = shares_from(shares)
    corpus = SplitFile("corpus", source, read_as, reading.options)
    writing = format_named(write_as) if write_as else format_of(source, read_as)
    writer_of(writing)
    report = Report()
    loads = loads_of(corpus.read(report), UNITS[by])
    try:
        places = stratified(loads, wanted, seed)
    except DataError as error:
        instead = ", or split by sentence (--by sentence)" if by is Unit.DOCUMENT else ""
        raise InputError(f"{error}{instead}", source) from None
    targets = targets_in(Path(output), source, writing, write_as is None)
    with writing_together(output) as folder:
        for number, target in enumerate(targets):
            if wanted[number]:
                part = part_of(corpus, UNITS[by], places, number)
                writer_of(writing)(part, folder / target.name, corpus.options, report)
    report.rename(str(folder), output)
    for line in report.summary():
        tell(line)
    show(split_table(loads, places), TableForm.text)


def shares_from(text: str) -> list[float]:
    """Three shares, of which one or two may be 0.

    >>> shares_from("80/10/10")
    [80.0, 10.0, 10.0]
    """
    try:
        shares = [float(part) for part in text.split("/")]
    except ValueError:
        shares = []
    if len(shares) != len(SPLITS) or not all(share >= 0 for share in shares) or not 0 < sum(shares) < inf:
        raise InputError(f"{text!r} is no three shares; write them like 70/15/15", "--shares")
    return shares


def targets_in(folder: Path, source: str, format: Format, same: bool) -> list[Path]:
    """The files to write, named like the source where its format is kept."""
    lower = source.lower()
    packed = ".gz" if lower.endswith(".gz") else ""
    plain = lower.removesuffix(".gz")
    default = format.suffixes[0] if format.suffixes else ""
    suffix = next((end for end in format.suffixes if plain.endswith(end)), default) if same else default
    is_folder = bool(format.folder) and Path(source).is_dir()
    targets = [folder / (name if same and is_folder else f"{name}{suffix}{packed}") for name in SPLITS]
    for target in targets:
        if target.exists() and target.samefile(source):
            raise InputError("it would be overwritten by a split of itself; choose another --output", source)
    return targets


def part_of(
    corpus: SplitFile, unit: Callable[[Sentence, int], UnitName], places: Mapping[UnitName, int], number: int
) -> Iterator[Sentence]:
    """The sentences of one split, in the order of the corpus."""
    return (
        sentence for place, sentence in enumerate(corpus.read()) if places[unit(sentence, place)] == number
    )  # fmt: skip


def split_table(loads: Mapping[UnitName, Load], places: Mapping[UnitName, int]) -> Table:
    """What each split got, and in percent."""
    held = [sum_of(loads[key] for key, place in places.items() if place == number) for number in range(len(SPLITS))]
    total = sum_of(held)
    kinds = sorted(total.types, key=lambda kind: (-total.types[kind], kind))
    overview = (
        _split_row("documents", [load.documents for load in held]),
        _split_row("sentences", [load.sentences for load in held]),
        _split_row("tokens", [load.tokens for load in held]),
        _split_row("entities", [load.types.total() for load in held]),
    )
    by_type = tuple(_split_row(kind, [load.types[kind] for load in held]) for kind in kinds)
    columns = ("", *SPLITS, "all", *(f"{name} %" for name in SPLITS))
    return Table("Splits", columns, (Section("", overview), Section("entities of type", by_type)))


def _split_row(name: str, counts: list[int]) -> Row:
    total = sum(counts)
    shares = (Percent(100 * count / total) if total else None for count in counts)
    return (name, *counts, total, *shares)
