"""convert and split: from one format into another, and from one corpus into three."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

import nestag
from nestag.cli.options import From, Reading, SeedOption, To, output_option
from nestag.cli.terminal import log, log_all, show
from nestag.data.report import Report
from nestag.formats.corpus import OnCrossing
from nestag.inspect.splitting import check_shares
from nestag.inspect.table_forms import TableForm


class Listing(Report):
    """A report that prints every finding immediately."""

    def add(self, kind: str, place: str, what: str) -> None:
        """Count and print."""
        super().add(kind, place, what)
        log(f"{place}: {kind}: {what}")


def convert(
    source: Annotated[str, typer.Argument(metavar="IN", help="A file or folder, also .gz; - is standard input.")],
    target: Annotated[
        str, typer.Argument(metavar="OUT", help="The output file; .gz is compressed, - is standard output.")
    ],
    *,
    crossing: Annotated[
        OnCrossing, typer.Option(help="Crossing entities: stop at the first, keep them, or drop as few as possible.")
    ] = "keep",
    listed: Annotated[bool, typer.Option("--list", help="List every finding, not only the counts.")] = False,
    to: To = None,
    format: From = None,
    reading: Reading,
) -> None:
    """Write a corpus in another format; what the format cannot represent is counted on stderr.

    The formats are bioc, bioc-json, brackets, brat, cas, columns, conllu, doccano, dygie, gliner, jsonl, labelstudio,
    nner, oneie, parquet, prodigy, pubtator, spacy, spacy2, spert, text, w2ner and webanno; they are detected from
    suffix and content, unless you name them with --from and --to. docs/reference/formats.md shows each.
    """
    corpus = reading.corpus(source, format, report=Listing() if listed else None)
    done = nestag.convert(corpus, target, to=to, crossing=crossing)
    log(f"converted {done.counts} from {corpus.format.name} to {done.format}")
    log_all(done.report.summary())


def split(
    source: Annotated[str, typer.Argument(metavar="IN", help="A file or folder, also .gz.")],
    output: Annotated[str, output_option("DIR", "The folder to write into.")],
    *,
    shares: Annotated[str, typer.Option(metavar="A/B/C", help="The percentages of train, dev and test.")] = "70/15/15",
    seed: SeedOption = 0,
    by: Annotated[
        Literal["document", "sentence"], typer.Option(help="The unit that is never split: a document or a sentence.")
    ] = "document",
    to: To = None,
    format: From = None,
    reading: Reading,
) -> None:
    """Split a corpus into train, dev and test by document, with every type in proportion."""
    percentages = shares_from(shares)
    done = nestag.split(reading.corpus(source, format), output, shares=percentages, seed=seed, by=by, to=to)
    log_all(done.report.summary())
    show(done.table(), TableForm.text)


def shares_from(text: str) -> list[float]:
    """Return three shares, of which one or two may be 0.

    >>> shares_from("80/10/10")
    [80.0, 10.0, 10.0]
    """
    try:
        shares = [float(part) for part in text.split("/")]
    except ValueError:
        shares = []
    check_shares(shares, text)
    return shares
