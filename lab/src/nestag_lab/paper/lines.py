"""The lines of a table: the figures of a model by corpus, before layout.

side_by_side      a column for each corpus and measure, a section for each source     abs   genia F1   gum F1
one_by_one        a section for each corpus and source, a column for each measure     abs   precision   recall   F1
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeVar

from nestag.inspect.tables import Cell, Figure, Row, Section, Table
from nestag_lab.paper.published import Measured, Reported, published_name
from nestag_lab.paper.runs import FinishedRuns, ModelKey, ScoredRun

T = TypeVar("T")


class ModelLine(NamedTuple):
    """A row before layout."""

    source: str
    """The source of its figures, which is the title of a section."""
    head: tuple[str, ...]
    """Its first cells: the encoding or system, and a group of entities if it has one."""
    cells: dict[str, Row]
    """The cells of all measures, by corpus."""
    ours: bool


def our_lines(runs: FinishedRuns, measure: Callable[[Sequence[ScoredRun]], Row], *group: str) -> Iterator[ModelLine]:
    """Return a line for each setup and encoding."""
    for setup in runs.setups:
        for encoding in runs.encodings:
            models = {corpus: runs.models.get(ModelKey(corpus, setup, encoding)) for corpus in runs.corpora}
            cells = {corpus: measure(found) for corpus, found in models.items() if found}
            if cells:
                yield ModelLine(runs.title(setup), (encoding, *group), cells, ours=True)


def paper_lines(
    reported: Iterable[Reported[T]], runs: FinishedRuns, cells: Callable[[T], Row], *group: str
) -> Iterator[ModelLine]:
    """Return a line for each model or system in the paper that has figures for our corpora (test only)."""
    if runs.split != "test":
        return
    for one in reported:
        names = {corpus: published_name(corpus) for corpus in runs.corpora}
        known = {corpus: cells(one.figures[name]) for corpus, name in names.items() if name in one.figures}
        if known:
            yield ModelLine(one.source, (one.name, *group), known, ours=False)


@dataclass(frozen=True)
class TableLayout:
    """Title, columns and notes of a table."""

    title: str
    heads: tuple[str, ...]  # names of the columns that lines begin with
    measures: tuple[str, ...]  # an empty name is omitted next to that of a corpus
    note: str
    reported: str = ""  # a note on the paper's figures, where there are any
    bold: frozenset[str] = frozenset()  # measures whose best figure of ours is set in bold


def side_by_side(layout: TableLayout, corpora: Sequence[str], lines: Iterable[ModelLine]) -> Table:
    """Return a table with a column for each corpus and measure."""
    nothing = (None,) * len(layout.measures)
    columns = [f"{corpus} {measure}".rstrip() for corpus in corpora for measure in layout.measures]
    sections: dict[str, list[Row]] = {}
    arranged = _arranged(lines, layout)
    for line in arranged:
        cells = [cell for corpus in corpora for cell in line.cells.get(corpus, nothing)]
        sections.setdefault(line.source, []).append((*line.head, *cells))
    return _table(layout, columns, sections, arranged)


def one_by_one(layout: TableLayout, corpora: Sequence[str], lines: Iterable[ModelLine]) -> Table:
    """Return a table with a section for each corpus and source."""
    sections: dict[str, list[Row]] = {}
    arranged = _arranged(lines, layout)
    for corpus in corpora:
        for line in arranged:
            if corpus in line.cells:
                sections.setdefault(f"{corpus}: {line.source}", []).append((*line.head, *line.cells[corpus]))
    return _table(layout, layout.measures, sections, arranged)


def _table(
    layout: TableLayout, columns: Sequence[str], sections: dict[str, list[Row]], lines: Sequence[ModelLine]
) -> Table:
    parts = tuple(Section(title, tuple(rows)) for title, rows in sections.items())
    notes = [layout.note]
    if layout.bold:
        notes.append("Our best figure is bold.")
    if not all(line.ours for line in lines):
        notes.append(layout.reported)
    return Table(layout.title, (*layout.heads, *columns), parts, " ".join(notes))


def _arranged(lines: Iterable[ModelLine], layout: TableLayout) -> list[ModelLine]:
    """Group lines by source and then by encoding, in order of first appearance."""
    sources: dict[str, dict[str, list[ModelLine]]] = {}
    for line in lines:
        sources.setdefault(line.source, {}).setdefault(line.head[0], []).append(line)
    found = [line for names in sources.values() for same in names.values() for line in same]
    return _bolded(found, [place for place, measure in enumerate(layout.measures) if measure in layout.bold])


def _bolded(lines: Sequence[ModelLine], places: Sequence[int]) -> list[ModelLine]:
    """Return the lines with the best of our figures set in bold, for each corpus, measure and group of entities."""
    top: dict[tuple[str, int, tuple[str, ...]], float] = {}
    for line in lines:
        for corpus, cells in line.cells.items():
            for place in places:
                value, key = _rounded(cells[place]), (corpus, place, line.head[1:])
                if line.ours and value:  # zeros are never bold
                    top[key] = max(value, top.get(key, value))

    def marked(line: ModelLine, corpus: str, place: int, cell: Cell) -> Cell:
        best = line.ours and place in places and _rounded(cell) == top.get((corpus, place, line.head[1:]), ...)
        return replace(cell, bold=True) if best and isinstance(cell, Figure) else cell

    return [
        line._replace(
            cells={
                corpus: tuple(marked(line, corpus, place, cell) for place, cell in enumerate(cells))
                for corpus, cells in line.cells.items()
            }
        )
        for line in lines
    ]


def figure(measured: Measured) -> Figure:
    """Return a figure of the paper, with the decimals that it prints."""
    return Figure(measured.mean, measured.deviation, form=".1f")


def _rounded(cell: Cell) -> float | None:
    """Return a figure rounded as it is printed."""
    return float(f"{cell.value:{cell.form}}") if isinstance(cell, Figure) else None
