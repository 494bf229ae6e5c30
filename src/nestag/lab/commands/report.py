"""report: one page on the runs of an experiment, with its figures, or on one model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from nestag.cli.options import From, Reading
from nestag.cli.terminal import progress, tell
from nestag.errors import InputError
from nestag.lab.commands.tables import ScoredSplit
from nestag.model_folder import is_finished


def report(
    *,
    folder: Annotated[
        str, typer.Argument(metavar="DIR", help="A model folder, or the output folder of nestag experiment.")
    ],
    test: Annotated[str | None, typer.Option(metavar="FILE", help="An annotated corpus to test the model on.")] = None,
    output: Annotated[
        str | None, typer.Option("-o", "--output", metavar="FILE", help="The page (default: DIR/report.html).")
    ] = None,
    split: Annotated[
        ScoredSplit, typer.Option(help="The split of an experiment whose scores are shown.")
    ] = ScoredSplit.TEST,
    figures: Annotated[
        bool, typer.Option(help="Also save the figures of an experiment in DIR/figures, as PNG and SVG.")
    ] = True,
    device: Annotated[
        str | None, typer.Option(metavar="D", help="cpu, cuda or cuda:1 (default: a GPU if there is one).")
    ] = None,
    format: From = None,
    reading: Reading,
) -> None:
    """Write one page that needs nothing else: how good a model is, or the runs of an experiment side by side."""
    file = output or str(Path(folder) / "report.html")
    if test is not None:
        of_model(folder, test, file, device, format, reading)
        return
    if is_finished(Path(folder)):
        raise InputError("it is a model; say with --test FILE what to test it on", folder)
    of_experiment(folder, file, split, figures)


def of_model(folder: str, test: str, file: str, device: str | None, format: str | None, reading: Reading) -> None:
    """The page of a model, tested on a file."""
    from nestag.cli.predict import loaded
    from nestag.corpora.corpus import Corpus
    from nestag.files import writing
    from nestag.lab.report.model import Trial, model_page

    recognizer = loaded(folder, device, {})
    gold = Corpus.read(test, format, reading.options_for(recognizer.settings.reading))
    for line in gold.report.summary():
        tell(line)
    found = [scored for _, scored in recognizer.annotate_scored(progress(iter(gold), "tagging"))]
    page = model_page(Trial(Path(folder).resolve().name, Path(test).name, gold, found))
    with writing(file) as stream:
        stream.write(page)
    tell(f"report written to {file}; open it in a browser")


def of_experiment(folder: str, file: str, split: ScoredSplit, figures: bool) -> None:
    """The page of an experiment, and its figures."""
    from nestag.lab.report.page import report as page_of
    from nestag.lab.report.write import write_report

    gallery = Path(folder) / "figures"
    found = page_of(folder, split.value, png=figures)
    write_report(found, file, gallery if figures else None)
    for line in found.missing:
        tell(line)
    if figures:
        tell(f"{len(found.figures)} figures written to {gallery}")
    tell(f"report written to {file} ({len(found.page.encode()) / 2**20:.1f} MiB); open it in a browser")
