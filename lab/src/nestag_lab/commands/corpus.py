"""corpus: the paper's four corpora, LitBank and GUM from what their owners hand out, as train, dev and test files."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from nestag.cli.terminal import log, progress
from nestag.data.report import Report
from nestag.errors import InputError

if TYPE_CHECKING:
    from nestag.formats.folders import Split
    from nestag_lab.corpora.build import SplitCounts
    from nestag_lab.corpora.split import SplitSentence


KnownCorpus = Literal["genia", "nne", "ace2004", "ace2005", "litbank", "gum"]
"""A corpus of the paper, or one that is free."""


def corpus(
    name: Annotated[
        KnownCorpus, typer.Argument(metavar="NAME", help="One of genia, nne, ace2004, ace2005, litbank and gum.")
    ],
    source: Annotated[
        str, typer.Argument(metavar="SOURCE", help="The corpus as distributed: a folder, or GENIA's file.")
    ],
    output: Annotated[str, typer.Option("-o", "--output", metavar="DIR", help="The folder to write into.")],
    gzip: Annotated[bool, typer.Option("--gzip", help="Compress the files with gzip.")] = False,
    treebank: Annotated[
        str | None,
        typer.Option(
            metavar="DIR", help="nne: the folder of the Penn Treebank's parsed wsj files, which hold the words."
        ),
    ] = None,
    heads: Annotated[bool, typer.Option("--heads", help="ACE: use the heads of mentions, not their extents.")] = False,
    split: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="ACE: your own split, a file with one split name and document id per line."),
    ] = None,
) -> None:
    """Write train, dev and test files of a corpus, and compare its counts with the paper's if the paper has it."""
    from nestag_lab.corpora.build import build

    _refuse_idle_options(name, {"--treebank": treebank, "--heads": heads, "--split": split})
    report = Report()
    sentences = _sentences(name, source, treebank, heads, split, report)
    tallies = build(progress(sentences, "reading"), output, packed=gzip, report=report)
    for line in table(name, tallies):
        typer.echo(line)
    for line in (*_remarks(name, treebank, heads, split), *report.summary()):
        log(line)


def table(name: str, tallies: dict[Split, SplitCounts]) -> Iterator[str]:
    """Return the counts of each split and in total, and those of the paper if it has that corpus."""
    from nestag_lab.corpora.build import whole
    from nestag_lab.paper.published import published

    counts = [*tallies.values(), whole(tallies.values())]
    rows = {
        "": [*tallies, "all"],
        "sentences": [f"{one.sentences:,}" for one in counts],
        "entities": [f"{one.entities:,}" for one in counts],
        "tokens per sentence": [f"{one.mean_length:.1f}" for one in counts],
        "deepest": [f"{one.deepest:,}" for one in counts],
    }
    paper = published().datasets.get(name)
    theirs = ("",) * len(rows)
    if paper:
        length, depth = f"{paper.length.mean:.1f}", f"{paper.depth.largest:,}"
        theirs = ("paper", f"{paper.sentences:,}", f"{paper.entities:,}", length, depth)
    for (title, values), last in zip(rows.items(), theirs, strict=True):
        yield _row(title, [*values, last])


def _row(title: str, values: list[str]) -> str:
    return (f"{title:<20}" + "".join(f"{value:>10}" for value in values)).rstrip()


def _sentences(
    name: KnownCorpus, source: str, treebank: str | None, heads: bool, split: str | None, report: Report
) -> Iterator[SplitSentence]:
    from nestag_lab.corpora import ace, genia, gum, litbank, nne
    from nestag_lab.corpora.split import published_list, read_list

    if name == "genia":
        return genia.read(source, report)
    if name == "litbank":
        return litbank.read(source, report)
    if name == "gum":
        return gum.read(source, report)
    if name == "nne":
        return nne.read(source, treebank, report)
    splits = read_list(split) if split else published_list(name)
    return ace.read(source, splits, "head" if heads else "extent", report)


def _refuse_idle_options(name: KnownCorpus, given: dict[str, object]) -> None:
    """Refuse options that belong to another corpus."""
    taken = {
        "nne": ("--treebank",),
        "ace2004": ("--heads", "--split"),
        "ace2005": ("--heads", "--split"),
    }.get(name, ())
    for option, value in given.items():
        if value and option not in taken:
            raise InputError(f"{option} is not for {name}; leave it out", "nestag corpus")


def _remarks(name: KnownCorpus, treebank: str | None, heads: bool, split: str | None) -> Iterator[str]:
    """Remarks on the counts."""
    if name == "nne" and not treebank:
        yield "the standoff files of NNE hold no words: tokens are _ unless --treebank names the Penn Treebank"
    if name in ("ace2004", "ace2005"):
        yield f"documents are split as {f'{split} says' if split else 'Lu and Roth (2015) did'}"
        yield "sentences and words are made by rules, so their numbers differ a little from the paper's (CoreNLP)"
    if name == "gum":
        yield "genres without a free licence are dropped"
    if heads:
        yield "entities are the heads of mentions; the paper takes their extents"
