"""The page: tables, figures and mistakes of an experiment in one HTML file that loads nothing, and figures as files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

from nestag.errors import InputError
from nestag.evaluation.report import stylesheet, template
from nestag.evaluation.result import KINDS
from nestag.formats.files import writing, writing_bytes, writing_together
from nestag.inspect.rendering import Html
from nestag.inspect.table_forms import to_html
from nestag_lab.experiment.result import RunResult, read_results
from nestag_lab.paper.pages import F1, Page, Pages, read_pages
from nestag_lab.report.browse import Case, cases
from nestag_lab.report.gallery import Plate, gallery, slug
from nestag_lab.report.groups import RunGroup, best_way, decodings, encodings, setups, splits, title_of
from nestag_lab.report.summary import Times, best_methods, facts, times
from nestag_lab.report.topics import TOPICS, Topic


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


class Choice(NamedTuple):
    """What a reader can choose by among the mistakes."""

    key: str
    name: str
    options: list[str]
    chosen: str | None  # the one that the page opens on


def report(folder: str | Path, split: str = "test", png: bool = True) -> ReportPage:
    """The report of an experiment's folder."""
    results = read_results(folder)
    if not results:
        raise InputError("no run is finished; let nestag experiment finish one first", str(folder))
    found = splits(results)
    if split not in found:
        raise InputError(
            f"no run was evaluated on {split!r}; there is {', '.join(found) or 'no evaluation'}", str(folder)
        )
    name = Path(folder).resolve().name
    return made(name, results, read_pages(folder, split), split, times(folder), png)


def made(
    name: str, results: Sequence[RunResult], pages: Pages, split: str, when: Times | None, png: bool = True
) -> ReportPage:
    """The report of these runs and tables; equal input gives equal bytes."""
    frame = template(resource("page.html.jinja"))  # first: without its library, nothing need be drawn
    plates = gallery(results, split, png)
    shelves = [Shelf(topic, [plate for plate in plates if plate.topic == topic]) for topic in TOPICS]
    groups = list(setups(results))
    shown = cases(results)
    missing = (*pages.missing, *_boxes(plates))
    page = frame.render(
        name=name,
        split=split,
        facts=facts(results, when),
        best_methods=best_methods(results, split),
        shelves=[shelf for shelf in shelves if shelf.plates],
        missing=missing,
        sheets=[sheet(page) for page in pages.pages],
        cases=shown,
        titles={setup: title_of(setup, groups) for setup in groups},
        choices=choices(results, shown, groups, split),
        kinds=KINDS,
        style=stylesheet(),
        script=resource("page.js"),
    )
    return ReportPage(page, {name: content for plate in plates for name, content in plate.files.items()}, missing)


def _boxes(plates: Sequence[Plate]) -> list[str]:
    """A note on figures with missing glyphs, if there are any."""
    names = [name for plate in plates for name in plate.boxes]
    told = f"no font for some letters, which are boxes in {', '.join(names)}; the SVG of the same name has them"
    return [told] if names else []


def choices(
    results: Sequence[RunResult], shown: Sequence[Case], groups: Sequence[RunGroup], split: str
) -> list[Choice]:
    """What the cases that are shown differ in; the page opens on the best of the first setup."""
    named = {title_of(case.setup, groups) for case in shown}
    titles = {title_of(setup, groups): setup for setup in groups if title_of(setup, groups) in named}
    first = next(iter(titles.values()), None)
    best = best_way(setups(results)[first], split) if first else None
    return [
        Choice("setup", "corpus", list(titles), next(iter(titles), None)),
        Choice("encoding", "encoding", encodings(results), best and best.encoding),
        Choice("decoding", "decoding", decodings(results)[::-1], best and best.decoding),
        Choice("split", "split", splits(results), split),
    ]


def sheet(page: Page) -> Sheet:
    """A table as HTML."""
    table = page.table
    return Sheet(slug(f"table-{page.name}"), table.title, Html(to_html(table)), table.note, page.name == F1)


def resource(name: str) -> Html:
    """A file that comes with the package."""
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
    """The files of a folder that are called as figures of a report are."""
    return {file.name for topic in TOPICS for end in ("png", "svg") for file in folder.glob(f"{topic.name}-*.{end}")}
