"""The paper's tables by depth and by length; and by depth as we define it, with how many entities there are."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial

from nestag.evaluation.result import DEPTHS, LENGTHS, PAPER_LENGTHS, Group, Score
from nestag.inspect.tables import Figure, Row, Table
from nestag_lab.paper.lines import ModelLine, TableLayout, one_by_one, our_lines, paper_lines, side_by_side
from nestag_lab.paper.published import PrecisionRecall, Reported, published
from nestag_lab.paper.runs import FinishedRuns, ScoredRun, closest, mean_of, seeds_note

BOTH = ("precision", "recall")
NOTHING = "Precision is 0 if nothing was predicted. A dash means that there is no such entity."
AS_PRINTED = "The paper's figures are as printed."


def depth_table(runs: FinishedRuns) -> Table:
    """Return table 3: scores by depth, as the paper computes them."""

    def ours(group: Group, found: Sequence[ScoredRun]) -> Row:
        one = precision([group.score_as_paper(closest(found).found.same_depth)], 1)
        mean = recall([group.score_as_paper(run.found.same_depth) for run in found], runs.seeds)
        return (one and replace(one, count=None), mean and replace(mean, deviation=None))

    note = (
        "Precision is from the run whose F1 is closest to the mean. Recall is the mean over seeds. For precision, a"
        " predicted entity is correct only if it is gold at the same depth. For recall, a gold entity may be predicted"
        f" at any depth, except in groups of several depths. {NOTHING}"
    )
    title = f"Precision and recall by depth on {runs.split}, as the paper scores it (its table 3)"
    layout = TableLayout(title, ("encoding", "depth"), BOTH, note, AS_PRINTED, frozenset(BOTH))
    return side_by_side(layout, runs.corpora, _lines(runs, DEPTHS, ours, published().depths))


def own_depth_table(runs: FinishedRuns) -> Table:
    """Return scores by depth as nestag defines them: counts add up to the total."""

    def ours(group: Group, found: Sequence[ScoredRun]) -> Row:
        scores = [group.score(run.found.depths) for run in found]
        figures = [find(scores, runs.seeds) for find in (precision, recall, f1)]
        return (max(score.gold for score in scores), *figures)

    measures = (*BOTH, "F1")
    note = (
        "Precision is the share of the entities predicted at a depth that are gold at any depth. Recall is the share of"
        f" the gold entities at a depth that are predicted at any depth. {NOTHING}"
    )
    title = f"Scores by depth on {runs.split}, as nestag defines it: {seeds_note(runs)}"
    layout = TableLayout(title, ("encoding", "depth"), ("entities", *measures), note, bold=frozenset(measures))
    return one_by_one(layout, runs.corpora, _lines(runs, DEPTHS, ours, ()))


def length_table(runs: FinishedRuns) -> Table:
    """Return table 4: scores by length, as the authors' code counts it."""
    note = (
        "Both are means over seeds. The paper does not say which runs it reports. This table counts like the authors'"
        " code, which takes each entity as one token shorter than it is: `1` is for entities of two tokens, `≥ 10` for"
        f" those of eleven and more, and entities of one token are not counted. {NOTHING}"
    )
    reported = (
        f"{AS_PRINTED} GENIA shows how they count: recalls of 53.3 and 58.3 at `≥ 10` are 32 and 35 of 60, which is"
        " five runs times twelve entities. The test set has twelve entities of eleven or more tokens."
    )
    title = f"Precision and recall by length on {runs.split}, as the paper counts it (its table 4): {seeds_note(runs)}"
    return _length_table(runs, TableLayout(title, ("encoding", "length"), BOTH, note, reported, frozenset(BOTH)), True)


def own_length_table(runs: FinishedRuns) -> Table:
    """Return scores by length in tokens."""
    title = f"Precision and recall by length in tokens on {runs.split}: {seeds_note(runs)}"
    note = f"Both are means over seeds. {NOTHING}"
    return _length_table(runs, TableLayout(title, ("encoding", "tokens"), BOTH, note, bold=frozenset(BOTH)), False)


def _length_table(runs: FinishedRuns, layout: TableLayout, paper: bool) -> Table:
    def ours(group: Group, found: Sequence[ScoredRun]) -> Row:
        scores = [group.score(run.found.lengths) for run in found]
        return (precision(scores, runs.seeds), recall(scores, runs.seeds))

    groups, reported = (PAPER_LENGTHS, published().lengths) if paper else (LENGTHS, ())
    return side_by_side(layout, runs.corpora, _lines(runs, groups, ours, reported))


def _lines(
    runs: FinishedRuns,
    groups: Iterable[Group],
    ours: Callable[[Group, Sequence[ScoredRun]], Row],
    reported: Sequence[Reported[dict[str, PrecisionRecall]]],
) -> Iterator[ModelLine]:
    """Return a line for each group of entities."""

    def theirs(group: Group, pairs: dict[str, PrecisionRecall]) -> Row:
        return tuple(Figure(share, form=".1f") for share in pairs[group.name])

    groups = tuple(groups)
    for group in groups:
        yield from our_lines(runs, partial(ours, group), group.name)
    for group in groups:
        yield from paper_lines(reported, runs, partial(theirs, group), group.name)


def precision(scores: Sequence[Score], seeds: int) -> Figure | None:
    """Return the mean precision, None if there are no such entities."""
    known = any(score.gold or score.predicted for score in scores)
    return mean_of([score.precision for score in scores], seeds) if known else None


def recall(scores: Sequence[Score], seeds: int) -> Figure | None:
    """Return the mean recall, None if there is nothing to find."""
    return mean_of([score.recall for score in scores], seeds) if any(score.gold for score in scores) else None


def f1(scores: Sequence[Score], seeds: int) -> Figure | None:
    """Return the mean F1, None if there is nothing to find."""
    return mean_of([score.f1 for score in scores], seeds) if any(score.gold for score in scores) else None
