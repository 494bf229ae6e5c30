"""Evaluations as tables: one for each breakdown, with 95% intervals and counts.

People see the interval behind its figure, `75.20 (74.1–76.3)`; programs get its ends as numbers in separate columns.
Shares are in percent; a share of nothing is empty. result.py defines the figures.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal

from rich.cells import cell_len

from nestag.evaluation.result import (
    ALL,
    DEPTHS,
    LENGTHS,
    MACRO,
    Comparison,
    Confused,
    Evaluation,
    Intervals,
    Score,
    macro,
)
from nestag.inspect.table_forms import lines
from nestag.inspect.tables import Cell, Figure, Percent, Row, Section, Table, percentage, shown

MOST_TYPES = 12
"""Maximum number of types in the confusion matrix and in a summary; rarer types are merged."""

SIGNIFICANT = 0.05
"""A difference with a p value of at least this may be chance."""

MEANINGS = {
    "type": "correct span, another type",
    "boundary": "correct type, another span that overlaps",
    "boundary and type": "another type, another span that overlaps",
    "missed": "in gold, nothing predicted for it",
    "spurious": "predicted, nothing in gold for it",
}
NESTING = "correct span and type, another depth"
NESTING_NOTE = "Outer: holds others and is in none. Inner: in another, or over the same tokens."
DEPTH_NOTE = "Depth 0: in no other entity. Correct: by depth in the prediction. Found: by depth in gold."


Detail = Literal["full", "narrow", "numbers"]
"""Intervals behind every figure, or behind F1 only, or (for programs) their ends as numbers in separate columns."""


def tables(evaluation: Evaluation, detail: Detail = "full") -> dict[str, Table]:
    """Return all tables by name."""
    types = {kind: f"type {kind}" for kind in types_of(evaluation)}
    depths = {group.name: f"depth {group.name}" for group in DEPTHS}
    lengths = {group.name: f"length {group.name}" for group in LENGTHS}
    nesting = {name: name for name in (*evaluation.nesting, *evaluation.familiar)}
    nesting_title, nesting_note = "By nesting", NESTING_NOTE
    if evaluation.familiar:
        nesting_title += ", and whether train has it"
        nesting_note += " Seen: train has an entity of that type with the same words."
    every_confusion = Table("Types over the same span", Confused._fields, _only(evaluation.mistakes.confusion))
    return {
        "overall": overall(evaluation, detail),
        "types": _breakdown(evaluation, "By type", "type", types, detail),
        "depths": _breakdown(evaluation, "By depth", "depth", depths, detail, DEPTH_NOTE, both_sides=True),
        "lengths": _breakdown(evaluation, "By length in tokens", "tokens", lengths, detail),
        "nesting": _breakdown(evaluation, nesting_title, "entities", nesting, detail, nesting_note, both_sides=True),
        "mistakes": mistakes(evaluation),
        "confusion": every_confusion if detail == "numbers" else confusion(evaluation),
    }


def tables_within(evaluation: Evaluation, width: int) -> dict[str, Table]:
    """Return the tables for a terminal of that width; rare types are merged until the confusion matrix fits."""
    sizes = (confusion(evaluation, most) for most in range(MOST_TYPES, 1, -1))
    fits = (table for table in sizes if all(cell_len(line.text) <= width for line in lines(table, width)))
    fitting = next(fits, confusion(evaluation, 1))
    return tables(evaluation, "narrow") | {"confusion": fitting}


def summary(evaluation: Evaluation) -> Table:
    """Return the averages and the most frequent types in one table, as an evaluation prints itself."""
    narrow = tables(evaluation, "narrow")
    averages, types = narrow["overall"], narrow["types"].rows
    hidden = len(types) - MOST_TYPES
    note = f"{averages.note} {_counted(hidden, 'rarer type')} not shown." if hidden > 0 else averages.note
    sections = (Section("", averages.rows), Section("by type", types[:MOST_TYPES]))
    return Table(averages.title, averages.columns, sections, note)


def overall(evaluation: Evaluation, detail: Detail = "full") -> Table:
    """Return the micro average over entities and the macro average over types."""
    bounds = evaluation.intervals
    means = macro(evaluation.types) if evaluation.types else (None,) * 3
    rows = (
        _score_row("micro", evaluation.overall, bounds.get(ALL), detail),
        ("macro", *_figures(means, bounds.get(MACRO), detail), None, None, None),
    )
    title = f"Scores of {_counted(evaluation.sentences, 'sentence')}"
    note = f"macro: the mean over {_counted(len(evaluation.types), 'type')}."
    if detail != "numbers":
        which = "95% intervals" if detail == "full" else "the 95% interval of F1"
        drawn = _counted(evaluation.documents, "document") if evaluation.documents else "sentences"
        note += f" In parentheses: {which}, by drawing {drawn} with replacement."
    return Table(title, _columns("average", detail), _only(rows), note)


def mistakes(evaluation: Evaluation) -> Table:
    """Return how often each kind of mistake occurs."""
    kinds = evaluation.mistakes.kinds
    total = sum(kinds.values())
    rows = tuple((kind, times, percentage(times, total), MEANINGS[kind]) for kind, times in kinds.items())
    nesting = ("nesting", evaluation.mistakes.nesting, None, NESTING)
    columns = ("mistake", "times", "%", "what it is")
    return Table("Mistakes", columns, (Section("", rows), Section("counted as correct", (nesting,))))


def confusion(evaluation: Evaluation, most: int = MOST_TYPES) -> Table:
    """Return the confusion matrix of types over the same span, gold in rows; rare types are merged."""
    kinds = types_of(evaluation)
    rare = dict.fromkeys(kinds[most:], f"{len(kinds) - most:,} others")
    times: Counter[tuple[str | None, str | None]] = Counter()
    for gold, predicted, count in evaluation.mistakes.confusion:
        times[gold and rare.get(gold, gold), predicted and rare.get(predicted, predicted)] += count
    names: list[str | None] = [*kinds[:most], *dict.fromkeys(rare.values()), None]
    rows = ((shown(gold), *(times[gold, guess] if gold or guess else None for guess in names)) for gold in names)
    note = "Rows are gold, columns predicted; – means no entity over that span."
    return Table("Types over the same span", ("gold", *map(shown, names)), _only(rows), note)


def comparison(result: Comparison, names: tuple[str, str], detail: Detail = "full") -> Table:
    """Return the scores of two systems, and in a sentence whether they differ."""
    first, second, difference, low, high = (
        100 * share for share in (result.first, result.second, result.difference, *result.interval)
    )
    rows: list[Row] = [
        (f"F1 of {names[0]}", Percent(first)),
        (f"F1 of {names[1]}", Percent(second)),
        ("difference", Figure(difference, form="+.2f", note=f"({low:+.1f} to {high:+.1f})")),
        ("p by the bootstrap", Figure(result.bootstrap, form=".4f")),
        ("p by randomization", Figure(result.randomization, form=".4f")),
    ]
    columns: tuple[str, ...] = ("figure", "value")
    if detail == "numbers":
        columns = (*columns, "low", "high")
        rows = [(*row, None, None) for row in rows]
        rows[2] = ("difference", difference, low, high)
    return Table("Comparison", columns, _only(rows), verdict(result, names))


def verdict(result: Comparison, names: tuple[str, str]) -> str:
    """Return in a sentence whether two systems differ.

    >>> verdict(Comparison(0.75, 0.72, 0.03, (0.01, 0.05), 0.002, 0.001), ("a", "b"))
    'a is better than b by 3.00 points of F1 (95% interval 1.00 to 5.00, p 0.0010); that is unlikely to be chance.'
    """
    if not result.difference:
        return f"{names[0]} and {names[1]} have the same F1."
    better, sign = ("better", 1) if result.difference > 0 else ("worse", -1)
    low, high = sorted(100 * bound * sign for bound in result.interval)
    chance = "may be chance" if result.randomization >= SIGNIFICANT else "is unlikely to be chance"
    return (
        f"{names[0]} is {better} than {names[1]} by {abs(100 * result.difference):.2f} points of F1"
        f" (95% interval {low:.2f} to {high:.2f}, p {result.randomization:.4f}); that {chance}."
    )


def types_of(evaluation: Evaluation) -> list[str]:
    """Return the types, the most frequent in gold first, then the most predicted."""
    scores = evaluation.types
    return sorted(scores, key=lambda kind: (-scores[kind].gold, -scores[kind].predicted, kind))


def _only(rows: Iterable[Row]) -> tuple[Section, ...]:
    return (Section("", tuple(rows)),)


def _counted(number: int, what: str) -> str:
    return f"{number:,} {what}{'s' * (number != 1)}"


def _columns(first: str, detail: Detail, both_sides: bool = False) -> tuple[str, ...]:
    """Return the column names of `_score_row`."""
    figures: tuple[str, ...] = ("precision", "recall", "F1")
    if detail == "numbers":
        figures = tuple(f"{name}{part}" for name in figures for part in ("", " low", " high"))
    return (first, *figures, "gold", *["found"] * both_sides, "predicted", "correct")


def _breakdown(
    evaluation: Evaluation,
    title: str,
    first: str,
    figures: Mapping[str, str],
    detail: Detail,
    note: str = "",
    both_sides: bool = False,
) -> Table:
    """Return a row for each figure; `figures` maps row names to figures."""
    scores, bounds = evaluation.figures(), evaluation.intervals
    rows = (_score_row(name, scores[fig], bounds.get(fig), detail, both_sides) for name, fig in figures.items())
    return Table(title, _columns(first, detail, both_sides), _only(rows), note)


def _score_row(name: str, score: Score, bounds: Intervals | None, detail: Detail, both_sides: bool = False) -> Row:
    """Return precision, recall and F1, None if undefined, and the counts."""
    shares = (
        score.precision if score.predicted else None,
        score.recall if score.gold else None,
        score.f1 if score.predicted or score.gold else None,
    )
    middle = (score.found,) if both_sides else ()
    return (name, *_figures(shares, bounds, detail), score.gold, *middle, score.predicted, score.correct)


def _figures(shares: Sequence[float | None], bounds: Intervals | None, detail: Detail) -> Iterator[Cell]:
    """Yield precision, recall and F1 in percent with their intervals: one cell each for people, three for programs."""
    for place, (share, interval) in enumerate(zip(shares, bounds or (None,) * 3, strict=True)):
        value = None if share is None else Percent(100 * share)
        low, high = (None, None) if share is None or interval is None else (100 * bound for bound in interval)
        is_hidden = detail == "narrow" and place < 2
        if detail == "numbers":
            yield from (value, low, high)
        elif value is None or low is None or is_hidden:
            yield value
        else:
            is_near_the_end = not shown(value)[0].isdigit()  # `>99.99`: two decimals would round it to 100
            yield Figure(value, form=".4f" if is_near_the_end else ".2f", note=f"({low:.1f}–{high:.1f})")
