"""Means over seeds, in percent, with the deviation of a sample; and the run that stands for the others."""

from __future__ import annotations

from collections.abc import Sequence

from nestag.evaluation.seeds import over_seeds
from nestag.lab.paper.runs import FinishedRuns, ScoredRun
from nestag.tables import Figure


def mean_of(shares: Sequence[float], seeds: int, form: str = ".2f") -> Figure | None:
    """The mean of shares in percent, with a note of how many runs it is of where some are missing.

    >>> from nestag.tables import shown
    >>> shown(mean_of([0.75, 0.76], seeds=2)), shown(mean_of([0.75], seeds=2)), shown(mean_of([], seeds=2))
    ('75.50 ± 0.71', '75.00 (n=1)', '–')
    """
    found = over_seeds(100 * share for share in shares)
    if found is None:
        return None
    note = f"(n={found.seeds})" if found.seeds < seeds else ""
    return Figure(found.mean, found.deviation, found.seeds, form, note)


def closest(runs: Sequence[ScoredRun]) -> ScoredRun:
    """The run whose F1 is closest to the mean, the one with the smaller seed if two are."""
    found = over_seeds(run.found.overall.f1 for run in runs)
    assert found
    return min(runs, key=lambda run: (abs(run.found.overall.f1 - found.mean), run.seed))


def best_run(runs: Sequence[ScoredRun]) -> ScoredRun:
    """The run with the best F1, the one with the smaller seed if two have it."""
    return min(runs, key=lambda run: (-run.found.overall.f1, run.seed))


def seeds_note(runs: FinishedRuns) -> str:
    """How means are to be read."""
    if runs.seeds < 2:
        return "one seed each"
    fewer = any(len(found) < runs.seeds for found in runs.models.values())
    told = ", fewer where a cell says so" if fewer else ""
    return f"mean ± sample deviation over seeds, n={runs.seeds}{told}"
