"""Conversion: a corpus of one format -> a file of another, with a report of what that format cannot hold."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from nestag.data.crossing import crossing_pairs
from nestag.data.report import Report, describe
from nestag.data.segment import DEFAULT
from nestag.data.sentence import Sentence
from nestag.errors import InputError, named
from nestag.formats.corpus import CorpusSource, corpus_of, path_of, report_of
from nestag.formats.labels import LabellingTally, nesting, place_of
from nestag.formats.registry import format_for

OnCrossing = Literal["error", "keep", "set-aside"]
"""Entities that overlap without nesting: stop at the first, keep them, or drop as few as possible."""


@dataclass(frozen=True)
class Conversion:
    """What was converted."""

    counts: LabellingTally
    format: str  # of the target
    report: Report  # of what changed in reading and writing


def convert(
    source: CorpusSource, target: str | Path, *, to: str | None = None, crossing: OnCrossing = "keep"
) -> Conversion:
    """Write a corpus in another format: that of the target's suffix, or the one named by `to`.

    The source is a file, or sentences, e.g. `read_corpus("a.tsv", columns=(1, 4))`.
    """
    goal = format_for(target, to)
    corpus = corpus_of(source)
    report, counts = report_of(corpus), LabellingTally()

    def sentences() -> Iterator[Sentence]:
        for sentence in handle_crossing(corpus, path_of(corpus, "source"), crossing, report):
            counts.see(sentence)
            yield sentence

    goal.write(sentences(), target, getattr(corpus, "options", DEFAULT), report)
    return Conversion(counts, goal.name, report)


def handle_crossing(
    sentences: Iterable[Sentence], source: str, crossing: OnCrossing, report: Report
) -> Iterator[Sentence]:
    """Yield the sentences with their crossing entities kept and counted, dropped, or refused by an InputError."""
    if crossing == "set-aside":
        yield from nesting(sentences, source, report)
        return
    for number, sentence in enumerate(sentences, 1):
        for first, second in crossing_pairs(sentence.entities):
            place, pair = place_of(source, sentence, number), f"{describe(first)} and {describe(second)}"
            if crossing == "error":
                remedy = f"{named('crossing', 'set-aside')} drops as few as possible"
                raise InputError(f"entities {pair} cross; {remedy}", place)
            report.add("pair of crossing entities kept", place, pair)
        yield sentence
