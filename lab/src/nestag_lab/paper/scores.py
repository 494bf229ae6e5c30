"""The paper's tables of scores: F1, precision and recall over seeds, the best runs, F1 by type; and every run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import fmean, pstdev

from nestag.inspect.tables import Figure, Row, Section, Table, over_seeds
from nestag.training.plan import best_of
from nestag_lab.experiment.result import RunResult
from nestag_lab.experiment.spec import place_of
from nestag_lab.paper.lines import ModelLine, TableLayout, figure, one_by_one, our_lines, paper_lines, side_by_side
from nestag_lab.paper.published import Reported, ScoreFigures, TypeSpread, published
from nestag_lab.paper.runs import FinishedRuns, ModelKey, ScoredRun, Setup, best_run, mean_of, seeds_note

LEAD = ("dyn", "rel")
STRICT = "Scores are strict, in percent: span and type must match."
OF_THE_PAPER = (
    "The paper's rows are means of five runs, as printed. Our rows give the sample standard deviation, the paper's"
    " rows the population standard deviation, which is 0.89 times as large for five runs. The paper's models were"
    " decoded with greedy-majority: its code keeps the most frequent label of a node, although its text says the"
    " first."
)


def f1_table(runs: FinishedRuns) -> Table:
    """Return table 2: encodings as rows, corpora as columns."""

    def ours(found: Sequence[ScoredRun]) -> Row:
        return (mean_of([run.found.overall.f1 for run in found], runs.seeds),)

    def theirs(scores: ScoreFigures) -> Row:
        return (figure(scores.f1),)

    title = f"F1 on {runs.split} (table 2 of the paper): {seeds_note(runs)}"
    layout = TableLayout(title, ("encoding",), ("",), STRICT, OF_THE_PAPER, frozenset({""}))
    lines = [*our_lines(runs, ours), *paper_lines(published().scores, runs, theirs)]
    return side_by_side(layout, runs.corpora, lines)


def lead_table(runs: FinishedRuns) -> Table:
    """Return the table of the difference between dyn and rel."""

    def leads(setup: Setup) -> dict[str, Row]:
        pairs = {corpus: [runs.models.get(ModelKey(corpus, setup, name)) for name in LEAD] for corpus in runs.corpora}
        return {corpus: (_lead(*pair),) for corpus, pair in pairs.items() if all(pair)}  # type: ignore[arg-type]

    lines = [ModelLine(runs.title(setup), ("dyn - rel",), leads(setup), ours=True) for setup in runs.setups]
    note = (
        "F1 of dyn minus F1 of rel, in points. Ours: the mean over seeds ± sample deviation. The paper's: as in its"
        " text, and as the difference of its printed means. The table of differences has significance tests."
    )
    layout = TableLayout(f"F1 of dyn minus F1 of rel on {runs.split}", ("",), ("",), note, OF_THE_PAPER)
    reported = {(one.source, one.name): one for one in published().scores}
    both = [(source, one) for (source, name), one in reported.items() if name == "dyn" and (source, "rel") in reported]
    theirs = [
        Reported(source, "dyn - rel", _gaps(dyn.figures, reported[source, "rel"].figures)) for source, dyn in both
    ]
    text = [Reported("paper, its text", "dyn - rel", published().leads)]
    paper = [
        *paper_lines(text, runs, lambda gap: (Figure(gap, form="+.2f"),)),
        *paper_lines(theirs, runs, lambda gap: (Figure(gap, form="+.1f"),)),
    ]
    return side_by_side(layout, runs.corpora, [*(line for line in lines if line.cells), *paper])


def _lead(dyn: Sequence[ScoredRun], rel: Sequence[ScoredRun]) -> Figure | None:
    """Return the mean difference of runs of equal seeds."""
    before = {run.seed: run.found.overall.f1 for run in rel}
    gaps = [run.found.overall.f1 - before[run.seed] for run in dyn if run.seed in before]
    return mean_of(gaps, len(gaps), "+.2f")


def _gaps(dyn: dict[str, ScoreFigures], rel: dict[str, ScoreFigures]) -> dict[str, float]:
    return {corpus: round(dyn[corpus].f1.mean - rel[corpus].f1.mean, 1) for corpus in dyn if corpus in rel}


def precision_recall_table(runs: FinishedRuns) -> Table:
    """Return table 6: precision and recall of the same runs."""

    def ours(found: Sequence[ScoredRun]) -> Row:
        scores = [run.found.overall for run in found]
        precision = mean_of([score.precision for score in scores], runs.seeds)
        return (precision, mean_of([score.recall for score in scores], runs.seeds))

    def theirs(scores: ScoreFigures) -> Row:
        return (figure(scores.precision), figure(scores.recall))

    measures = ("precision", "recall")
    title = f"Precision and recall on {runs.split} (table 6 of the paper): {seeds_note(runs)}"
    layout = TableLayout(title, ("encoding",), measures, STRICT, OF_THE_PAPER, frozenset(measures))
    lines = [*our_lines(runs, ours), *paper_lines(published().scores, runs, theirs)]
    return side_by_side(layout, runs.corpora, lines)


def best_table(runs: FinishedRuns) -> Table:
    """Return table 7: the best run of each model."""

    def ours(found: Sequence[ScoredRun]) -> Row:
        seed, one = best_run(found)
        return (seed, *(Figure(100 * share) for share in (one.overall.precision, one.overall.recall, one.overall.f1)))

    def theirs(scores: ScoreFigures) -> Row:
        return (None, *map(figure, scores))

    measures = ("precision", "recall", "F1")
    note = f"{STRICT} As in the paper, the best run is chosen by its F1 on {runs.split} itself. That overestimates F1."
    doubt = (
        "The paper's figures are as printed. Each of its best runs has a lower F1 than the mean in its table 2 for"
        " RoBERTa-large or BioBERT-large."
    )
    title = f"Best runs by F1 on {runs.split} (table 7 of the paper)"
    layout = TableLayout(title, ("encoding",), ("seed", *measures), note, doubt, frozenset(measures))
    lines = [*our_lines(runs, ours), *paper_lines(published().best_runs, runs, theirs)]
    return one_by_one(layout, runs.corpora, lines)


def types_table(runs: FinishedRuns) -> Table:
    """Return table 5: F1 by type."""
    note = (
        f"The F1 of each type is averaged over seeds. Mean and population deviation are over all types in {runs.split}."
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
    """Return the mean F1 over runs in percent, of each type that gold has, by name."""
    types = sorted({kind for run in runs for kind, score in run.found.types.items() if score.gold})
    found = {kind: over_seeds(100 * run.found.types[kind].f1 for run in runs) for kind in types}
    return {kind: one.value for kind, one in found.items() if one}


RUN_COLUMNS = (
    "corpus",
    "encoder",
    "recipe",
    "encoding",
    "seed",
    "decoding",
    "dev F1",
    "precision",
    "recall",
    "F1",
    "best step",
    "steps",
    "minutes",
    "calibration error",
)


def runs_table(results: Sequence[RunResult], split: str) -> Table:
    """Return a row for each run and decoding that has scores on the split."""
    rows = tuple(row for result in results for row in _run_rows(result, split))
    note = (
        f"Precision, recall and F1 are on {split}, in percent. The best step is the step of the saved weights. Minutes"
        " are training time. The expected calibration error (0 to 1) is for constrained decoding."
    )
    return Table("Every run", RUN_COLUMNS, (Section("", rows),), note)


def _run_rows(result: RunResult, split: str) -> Iterator[Row]:
    key, found = result.key, result.calibration.get(split)
    best = best_of(result.scorings)
    for decoding, evaluation in sorted(result.evaluations.get(split, {}).items(), key=lambda pair: place_of(pair[0])):
        dev = result.evaluations.get("dev", {}).get(decoding)
        score = evaluation.overall
        yield (
            key.corpus,
            key.encoder,
            key.recipe,
            key.encoding,
            key.seed,
            decoding,
            Figure(100 * dev.overall.f1) if dev else None,
            *(Figure(100 * value) for value in (score.precision, score.recall, score.f1)),
            best.step if best else None,
            result.scorings[-1].step if best else None,
            Figure(result.seconds / 60, form=".1f"),
            Figure(found.error, form=".3f") if found and decoding == "constrained" else None,
        )
