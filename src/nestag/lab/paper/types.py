"""The paper's table by type: the best and the worst type, and how F1 differs between types."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean, pstdev

from nestag.evaluation.seeds import over_seeds
from nestag.lab.paper.lines import TableLayout, one_by_one, our_lines, paper_lines
from nestag.lab.paper.published import TypeSpread, published
from nestag.lab.paper.runs import FinishedRuns, ScoredRun
from nestag.tables import Figure, Row, Table


def types_table(runs: FinishedRuns) -> Table:
    """Table 5."""
    note = (
        "The F1 of each type is averaged over seeds first; then the best and the worst type, and mean and deviation"
        f" over all types that {runs.split} has (of all, not of a sample)."
    )
    title = f"F1 by type on {runs.split} (table 5 of the paper)"
    measures = ("best", "best F1", "worst", "worst F1", "mean", "deviation")
    layout = TableLayout(
        title, ("encoding",), measures, note, "The paper's figures are as printed.", frozenset({"mean"})
    )
    lines = [*our_lines(runs, _ours), *paper_lines(published().types, runs, _theirs)]
    return one_by_one(layout, runs.corpora, lines)


def _ours(found: Sequence[ScoredRun]) -> Row:
    means = mean_by_type(found)
    if not means:
        return (None,) * 6
    best, worst = max(means, key=means.__getitem__), min(means, key=means.__getitem__)
    values = means.values()
    return (best, Figure(means[best]), worst, Figure(means[worst]), Figure(fmean(values)), Figure(pstdev(values)))


def _theirs(spread: TypeSpread) -> Row:
    mean, deviation = (Figure(value, form=".1f") for value in (spread.mean, spread.deviation))
    return (spread.best, None, spread.worst, None, mean, deviation)


def mean_by_type(runs: Sequence[ScoredRun]) -> dict[str, float]:
    """The mean F1 over runs in percent, of each type that gold has, by name."""
    types = sorted({kind for run in runs for kind, score in run.found.types.items() if score.gold})
    found = {kind: over_seeds(100 * run.found.types[kind].f1 for run in runs) for kind in types}
    return {kind: one.mean for kind, one in found.items() if one}
