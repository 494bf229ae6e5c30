"""Evaluations as tables: one for each breakdown, each figure with its 95 % interval and its counts.

People see the interval behind its figure, `75.20 (74.1–76.3)`; programs get its ends as numbers in columns of their
own. Shares are in percent, and a share of nothing is not shown as 0 but as nothing. Which figures there are and what
they mean says result.py; how a table is written is left to `tables`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import Enum, auto

from rich.cells import cell_len

from nestag.evaluation.result import (
    ALL,
    DEPTHS,
    LENGTHS,
    MACRO,
    PAPER_LENGTH,
    PAPER_LENGTHS,
    SAME_DEPTH,
    Comparison,
    Confused,
    Evaluation,
    Group,
    Intervals,
    Score,
    macro,
    spread,
)
from nestag.inspect.tables import NOTHING, Cell, Figure, Percent, Row, Section, Table, lines, shown

MOST_TYPES = 12
"""Types that have a row and a column of their own in the confusion matrix."""

SURE = 0.05
"""The p value from which on a difference may be chance."""

MEANINGS = {
    "type": "the right span, another type",
    "boundary": "the right type, another span that overlaps",
    "boundary and type": "another type, another span that overlaps",
    "missed": "in gold, without a partner in the prediction",
    "spurious": "predicted, without a partner in gold",
}
NESTING = "right span and type, another depth than in gold"


class Detail(Enum):
    """How intervals are shown."""

    FULL = auto()  # behind every figure
    NARROW = auto()  # behind F1 only, where there is no room for more
    NUMBERS = auto()  # their ends as numbers in columns of their own, for programs


_LEGENDS = {
    Detail.FULL: "In parentheses: 95 % intervals, by drawing {drawn} again and again.",
    Detail.NARROW: "In parentheses: the 95 % interval of F1; those of the rest need more columns, or a table as CSV.",
    Detail.NUMBERS: "",
}


def tables(evaluation: Evaluation, paper: bool = False, detail: Detail = Detail.FULL) -> dict[str, Table]:
    """All tables by name."""
    return {
        "overall": overall(evaluation, detail),
        "types": by_type(evaluation, detail),
        "depths": by_depth(evaluation, paper, detail),
        "lengths": by_length(evaluation, paper, detail),
        "nesting": by_nesting(evaluation, detail),
        "mistakes": mistakes(evaluation),
        "confusion": all_confusions(evaluation) if detail is Detail.NUMBERS else confusion(evaluation),
    }


def tables_within(evaluation: Evaluation, paper: bool, width: int) -> dict[str, Table]:
    """The tables, fitted to a terminal's width: only F1 has intervals, and rare types are merged, if not all fits."""
    full, narrow = (tables(evaluation, paper, detail) for detail in (Detail.FULL, Detail.NARROW))
    changed = [name for name in full if full[name] != narrow[name]]
    found = full if all(_fits(full[name], width) for name in changed) else narrow
    sizes = (confusion(evaluation, most) for most in range(MOST_TYPES, 1, -1))
    return found | {"confusion": next((table for table in sizes if _fits(table, width)), confusion(evaluation, 1))}


def _fits(table: Table, width: int) -> bool:
    return all(cell_len(line.text) <= width for line in lines(table, width))


def overall(evaluation: Evaluation, detail: Detail = Detail.FULL) -> Table:
    """The micro average, which counts entities, and the macro average, which counts types."""
    known = evaluation.intervals
    means = macro(evaluation.types) if evaluation.types else (None,) * 3
    rows = (
        _score_row("micro", evaluation.overall, known.get(ALL), detail),
        ("macro", *_figures(means, known.get(MACRO), detail), None, None, None),
    )
    title = f"Scores of {_counted(evaluation.sentences, 'sentence')}"
    drawn = _counted(evaluation.documents, "document") if evaluation.documents else "sentences"
    legend = _LEGENDS[detail].format(drawn=drawn)
    note = f"macro: the mean over {_counted(len(evaluation.types), 'type')}. {legend}".rstrip()
    return Table(title, _columns("average", detail), _only(rows), note)


def by_type(evaluation: Evaluation, detail: Detail = Detail.FULL) -> Table:
    """Each type, the most frequent first, and how F1 differs between them."""
    columns = _columns("type", detail)
    named = {kind: f"type {kind}" for kind in types_of(evaluation)}
    sections = [Section("", tuple(_rows(evaluation, named, detail)))]
    found = spread(evaluation.types)
    if found:
        values = {
            f"best: {found.best_type}": evaluation.types[found.best_type].f1,
            f"worst: {found.worst_type}": evaluation.types[found.worst_type].f1,
            "mean": found.mean,
            "deviation": found.deviation,
        }
        sections.append(Section("F1 of the types of gold", tuple(_f1_row(columns, *item) for item in values.items())))
    return Table("By type", columns, tuple(sections))


def by_depth(evaluation: Evaluation, paper: bool = False, detail: Detail = Detail.FULL) -> Table:
    """Groups of depths; `paper` counts as right only what is gold at the very depth it is predicted at."""
    title = "By depth"
    note = "Depth 0: in no other entity. Correct: by depth in the prediction. Found: by depth in gold."
    if paper:
        title = "By depth, as the paper scores it"
        note = (
            "Precision asks for the same depth in gold as in the prediction; recall does so only where several depths"
            " are taken together."
        )
    rows = _rows(evaluation, _groups(SAME_DEPTH if paper else "depth", DEPTHS), detail, both_sides=True)
    return Table(title, _columns("depth", detail, both_sides=True), _only(rows), note)


def by_length(evaluation: Evaluation, paper: bool = False, detail: Detail = Detail.FULL) -> Table:
    """Groups of lengths; `paper` counts them as the authors' code does, a token longer than each heading says."""
    title, note, groups = "By length in tokens", "", _groups("length", LENGTHS)
    if paper:
        title = "By length, as the code of the paper's authors counts it"
        note = "Each class holds entities that are one token longer than its heading; those of one token are in none."
        groups = _groups(PAPER_LENGTH, PAPER_LENGTHS)
    return Table(title, _columns("tokens", detail), _only(_rows(evaluation, groups, detail)), note)


def by_nesting(evaluation: Evaluation, detail: Detail = Detail.FULL) -> Table:
    """Flat, outer and inner entities, and those seen and unseen in training if that is known."""
    rows = _rows(evaluation, {name: name for name in (*evaluation.nesting, *evaluation.familiar)}, detail, True)
    note = "Outer: holds others and is in none. Inner: in another, or over the same tokens."
    if evaluation.familiar:
        note += " Seen: train has an entity of that type with the same words."
    title = "By nesting" + (", and whether train has it" if evaluation.familiar else "")
    return Table(title, _columns("entities", detail, both_sides=True), _only(rows), note)


def mistakes(evaluation: Evaluation) -> Table:
    """What is wrong, how often, and what share that is of all mistakes."""
    kinds = evaluation.mistakes.kinds
    total = sum(kinds.values())
    rows = tuple(
        (kind, times, Percent(100 * times / total) if total else None, MEANINGS[kind]) for kind, times in kinds.items()
    )
    nesting = ("nesting", evaluation.mistakes.nesting, None, NESTING)
    columns = ("mistake", "times", "%", "what it is")
    return Table("Mistakes", columns, (Section("", rows), Section("counted as right", (nesting,))))


def confusion(evaluation: Evaluation, most: int = MOST_TYPES) -> Table:
    """Which types stand over the same span, gold in rows and predicted in columns; rare types are put together."""
    kinds = types_of(evaluation)
    rare = dict.fromkeys(kinds[most:], f"{len(kinds) - most:,} others")
    times: Counter[tuple[str | None, str | None]] = Counter()
    for gold, predicted, count in evaluation.mistakes.confusion:
        times[gold and rare.get(gold, gold), predicted and rare.get(predicted, predicted)] += count
    names: list[str | None] = [*kinds[:most], *dict.fromkeys(rare.values()), None]
    rows = (
        (_or_nothing(gold), *(times[gold, predicted] if gold or predicted else None for predicted in names))
        for gold in names
    )
    note = "Rows are gold, columns predicted; – is no partner over that span."
    return Table("Types over the same span", ("gold", *map(_or_nothing, names)), _only(rows), note)


def all_confusions(evaluation: Evaluation) -> Table:
    """The same for programs, a pair of types a row: none is put together, and no type takes another's column."""
    return Table("Types over the same span", Confused._fields, _only(evaluation.mistakes.confusion))


def comparison(found: Comparison, names: tuple[str, str], detail: Detail = Detail.FULL) -> Table:
    """Two systems side by side, and in a sentence whether they differ."""
    first, second, difference, low, high = (
        100 * share for share in (found.first, found.second, found.difference, *found.interval)
    )
    rows: list[Row] = [
        (f"F1 of {names[0]}", Percent(first)),
        (f"F1 of {names[1]}", Percent(second)),
        ("difference", Figure(difference, form="+.2f", note=f"({low:+.1f} to {high:+.1f})")),
        ("p by the bootstrap", Figure(found.bootstrap, form=".4f")),
        ("p by randomization", Figure(found.randomization, form=".4f")),
    ]
    columns: tuple[str, ...] = ("figure", "value")
    if detail is Detail.NUMBERS:
        columns = (*columns, "low", "high")
        rows = [(*row, None, None) for row in rows]
        rows[2] = ("difference", difference, low, high)
    return Table("Comparison", columns, _only(rows), verdict(found, names))


def verdict(found: Comparison, names: tuple[str, str]) -> str:
    """Whether two systems differ, in a sentence.

    >>> verdict(Comparison(0.75, 0.72, 0.03, (0.01, 0.05), 0.002, 0.001), ("a", "b"))
    'a is better than b by 3.00 points of F1 (95 % interval 1.00 to 5.00, p 0.0010); that is unlikely to be chance.'
    """
    if not found.difference:
        return f"{names[0]} and {names[1]} have the same F1."
    better = "better" if found.difference > 0 else "worse"
    low, high = sorted(100 * bound * (1 if found.difference > 0 else -1) for bound in found.interval)
    chance = "may be chance" if found.randomization >= SURE else "is unlikely to be chance"
    return (
        f"{names[0]} is {better} than {names[1]} by {abs(100 * found.difference):.2f} points of F1"
        f" (95 % interval {low:.2f} to {high:.2f}, p {found.randomization:.4f}); that {chance}."
    )


def types_of(evaluation: Evaluation) -> list[str]:
    """The types, those with the most gold entities first, then those predicted most."""
    found = evaluation.types
    return sorted(found, key=lambda kind: (-found[kind].gold, -found[kind].predicted, kind))


def _groups(word: str, groups: Sequence[Group]) -> dict[str, str]:
    return {group.name: f"{word} {group.name}" for group in groups}


def _only(rows: Iterable[Row]) -> tuple[Section, ...]:
    return (Section("", tuple(rows)),)


def _counted(number: int, what: str) -> str:
    return f"{number:,} {what}{'s' * (number != 1)}"


def _or_nothing(name: str | None) -> str:
    return NOTHING if name is None else name


def _columns(first: str, detail: Detail, both_sides: bool = False) -> tuple[str, ...]:
    """The names of what `_score_row` makes."""
    figures: tuple[str, ...] = ("precision", "recall", "F1")
    if detail is Detail.NUMBERS:
        figures = tuple(f"{name}{part}" for name in figures for part in ("", " low", " high"))
    return (first, *figures, "gold", *(["found"] if both_sides else []), "predicted", "correct")


def _rows(evaluation: Evaluation, named: Mapping[str, str], detail: Detail, both_sides: bool = False) -> Iterator[Row]:
    """A row for each figure, under the name it is to have."""
    scores = evaluation.figures()
    for name, figure in named.items():
        yield _score_row(name, scores[figure], evaluation.intervals.get(figure), detail, both_sides)


def _score_row(name: str, found: Score, bounds: Intervals | None, detail: Detail, both_sides: bool = False) -> Row:
    """Precision, recall and F1, each if there is anything to take a share of, and the counts."""
    shares = (
        found.precision if found.predicted else None,
        found.recall if found.gold else None,
        found.f1 if found.predicted or found.gold else None,
    )
    middle = (found.found,) if both_sides else ()
    return (name, *_figures(shares, bounds, detail), found.gold, *middle, found.predicted, found.correct)


def _f1_row(columns: tuple[str, ...], name: str, value: float) -> Row:
    """A row that has nothing but an F1."""
    cells: dict[str, Cell] = {columns[0]: name, "F1": Percent(100 * value)}
    return tuple(cells.get(column) for column in columns)


def _figures(shares: Sequence[float | None], bounds: Intervals | None, detail: Detail) -> Iterator[Cell]:
    """Precision, recall and F1 in percent with their intervals, one cell each for people and three for programs."""
    for place, (share, interval) in enumerate(zip(shares, bounds or (None,) * 3, strict=True)):
        value = None if share is None else Percent(100 * share)
        low, high = (None, None) if share is None or interval is None else (100 * bound for bound in interval)
        is_hidden = detail is Detail.NARROW and place < 2
        if detail is Detail.NUMBERS:
            yield from (value, low, high)
        elif value is None or low is None or is_hidden:
            yield value
        else:
            is_near_the_end = not shown(value)[0].isdigit()  # `>99.99`: two decimals would say all
            yield Figure(value, form=".4f" if is_near_the_end else ".2f", note=f"({low:.1f}–{high:.1f})")
