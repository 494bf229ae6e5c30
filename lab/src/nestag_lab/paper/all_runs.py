"""Every run on a line of its own: what the means of the other tables are taken over."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from nestag.inspect.tables import Figure, Row, Section, Table
from nestag.training.plan import best_of
from nestag_lab.experiment.result import RunResult
from nestag_lab.experiment.spec import place_of

COLUMNS = (
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
    """A row for each run and decoding that has scores on the split."""
    rows = tuple(row for result in results for row in _rows(result, split))
    note = (
        f"Precision, recall and F1 are on {split}, in percent. The best step is that of the weights that were kept, by"
        " F1 on dev or as the recipe says; steps are those trained; minutes are those of training; the calibration"
        " error is that of constrained decoding, from 0 to 1."
    )
    return Table("Every run", COLUMNS, (Section("", rows),), note)


def _rows(result: RunResult, split: str) -> Iterator[Row]:
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
