"""The page: tables and figures of an experiment in one HTML file that loads nothing, and figures as files."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

from nestag.errors import InputError
from nestag.evaluation.report import stylesheet, template
from nestag.formats.files import writing, writing_bytes, writing_together
from nestag.inspect.rendering import Html
from nestag.inspect.table_forms import to_html
from nestag.inspect.tables import duration
from nestag_lab.experiment.result import RunResult, read_results
from nestag_lab.paper.pages import F1, Page, Pages, read_pages
from nestag_lab.paper.runs import size_of
from nestag_lab.report.gallery import TOPICS, Plate, Topic, gallery, slug
from nestag_lab.report.groups import Method, best_way, decodings, encodings, f1, of_way, setups, splits, title_of


@dataclass(frozen=True)
class ReportPage:
    """A page, the files of its figures by name, and what could not be shown."""

    page: str
    figures: dict[str, bytes]
    missing: tuple[str, ...]


class Shelf(NamedTuple):
    """The figures of a topic."""

    topic: Topic
    plates: list[Plate]


class Sheet(NamedTuple):
    """A table as a page shows it."""

    name: str
    title: str
    html: Html
    note: str
    open: bool  # whether it is shown at once


def report(folder: str | Path, split: str = "test", png: bool = True) -> ReportPage:
    """Return the report of an experiment's folder."""
    results = read_results(folder)
    if not results:
        raise InputError("no run is finished; let nestag experiment finish one first", str(folder))
    found = splits(results)
    if split not in found:
        raise InputError(
            f"no run was evaluated on {split!r}; there is {', '.join(found) or 'no evaluation'}", str(folder)
        )
    name = Path(folder).resolve().name
    return made(name, results, read_pages(folder, split), split, png)


def made(name: str, results: Sequence[RunResult], pages: Pages, split: str, png: bool = True) -> ReportPage:
    """Return the report of these runs and tables; equal input gives equal bytes."""
    frame = template(resource("page.html.jinja"))  # first: without its library, nothing need be drawn
    plates = gallery(results, split, png)
    shelves = [Shelf(topic, [plate for plate in plates if plate.topic == topic]) for topic in TOPICS]
    page = frame.render(
        name=name,
        split=split,
        facts=facts(results),
        best_methods=best_methods(results, split),
        shelves=[shelf for shelf in shelves if shelf.plates],
        missing=pages.missing,
        sheets=[sheet(page) for page in pages.pages],
        style=stylesheet(),
    )
    return ReportPage(page, {name: content for plate in plates for name, content in plate.files.items()}, pages.missing)


def sheet(page: Page) -> Sheet:
    """Return a table as HTML."""
    table = page.table
    return Sheet(slug(f"table-{page.name}"), table.title, Html(to_html(table)), table.note, page.name == F1)


def resource(name: str) -> Html:
    """Return a file that comes with the package."""
    return Html((files("nestag_lab.report") / name).read_text(encoding="utf-8"))


def write_report(report: ReportPage, file: str | Path, figures: Path | None = None) -> None:
    """Write the page, and the figures to a folder if one is given, replacing those of an older report."""
    if figures is None:
        _write_page(report, file)
        return
    with writing_together(figures, stale=_ours(figures)) as part:
        for name, content in report.figures.items():
            with writing_bytes(part / name) as stream:
                stream.write(content)
        _write_page(report, file)  # if that fails, the old figures stay too


def _write_page(report: ReportPage, file: str | Path) -> None:
    with writing(file) as stream:
        stream.write(report.page)


def _ours(folder: Path) -> set[str]:
    """Return the figures of an earlier report."""
    return {file.name for topic in TOPICS for end in ("png", "svg") for file in folder.glob(f"{topic.name}-*.{end}")}


class Fact(NamedTuple):
    """A line of the summary."""

    name: str
    text: str


class BestMethod(NamedTuple):
    """The best encoding and decoding of a setup, by mean F1."""

    title: str
    way: Method
    mean: float
    deviation: float
    seeds: int


def facts(results: Sequence[RunResult]) -> list[Fact]:
    """Return the facts about all runs."""
    return [
        Fact("runs", f"{len(results):,}"),
        Fact("corpora", _names(result.key.corpus for result in results)),
        Fact("encoders", ", ".join(_encoders(results))),
        Fact("encodings", ", ".join(encodings(results))),
        Fact("decodings", ", ".join(decodings(results))),
        Fact("recipes", _names(result.key.recipe for result in results)),
        Fact("seeds", ", ".join(map(str, sorted({result.key.seed for result in results})))),
        Fact("trained on", _names(result.device for result in results)),
        Fact("training time", f"{duration(sum(result.seconds for result in results))} in all"),
        Fact("versions", ", ".join(_versions(results))),
    ]


def best_methods(results: Sequence[RunResult], split: str) -> list[BestMethod]:
    """Return the best encoding and decoding of each setup."""
    found = []
    groups = setups(results)
    for setup, runs in groups.items():
        way = best_way(runs, split)
        spread = f1(of_way(runs, split, way)) if way else None
        if way and spread:
            seeds = len(of_way(runs, split, way))
            found.append(BestMethod(title_of(setup, groups), way, spread.value, spread.deviation or 0.0, seeds))
    return found


def _names(names: Iterable[str]) -> str:
    return ", ".join(sorted(set(names)))


def _encoders(results: Sequence[RunResult]) -> list[str]:
    """Return each encoder with the size of its models."""
    names = sorted({result.key.encoder for result in results})
    return [
        f"{name} ({size_of([result.parameters for result in results if result.key.encoder == name])} parameters)"
        for name in names
    ]


def _versions(results: Sequence[RunResult]) -> list[str]:
    """Return every library with its versions."""
    found: dict[str, set[str]] = {}
    for result in results:
        for library, version in result.versions.items():
            found.setdefault(library, set()).add(version)
    return [f"{library} {' and '.join(sorted(versions))}" for library, versions in sorted(found.items())]
