"""A model on an annotated corpus: confidence thresholds, which are stored in the model, or an HTML report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from nestag.data.report import Report
from nestag.data.sentence import Sentence, fingerprint
from nestag.errors import InputError, either
from nestag.evaluation.report import Trial, model_page
from nestag.evaluation.result import Score
from nestag.evaluation.thresholds import Candidate, Curve, Goal, Thresholds, find_thresholds
from nestag.formats.corpus import CorpusFile, CorpusSource, corpus_of, path_of, report_of
from nestag.formats.files import writing
from nestag.inspect.plotting import check_suffix, plot_curve
from nestag.inspect.tables import Figure, Section, Table
from nestag.model.model_folder import CLAIM, change_settings, is_finished, load, read_json
from nestag.model.predictor import Predictor

FLOOR = 0.02  # the minimum probability of a candidate
FEW_ENTITIES = 500  # gold entities below which thresholds are uncertain


@dataclass(frozen=True)
class ThresholdSearch:
    """The thresholds for a goal, None if it cannot be reached, and precision and recall at every threshold."""

    goal: Goal
    thresholds: Thresholds | None
    curve: Curve
    report: Report  # of reading the corpus
    warnings: tuple[str, ...] = ()  # why the thresholds may not suit other sentences

    def table(self) -> Table:
        """Return the thresholds with their scores: overall, by type, and all of them together."""
        best = self.thresholds
        rows = [_row("all, one threshold", best.overall.score, best.overall.threshold)] if best else []
        if best and best.types:
            rows += [_row(kind, point.score, point.threshold) for kind, point in best.types.items()]
            if any(best.others.score):
                rows.append(_row("other types", best.others.score, best.others.threshold))
            rows.append(_row("all, with those of types", best.together))
        columns = ("type", "threshold", "precision", "recall", "F1", "gold", "predicted", "correct")
        return Table(f"Thresholds for the {self.goal}", columns, (Section("", tuple(rows)),))


def thresholds(
    model: str | Path,
    dev: CorpusSource,
    *,
    precision: float | None = None,
    recall: float | None = None,
    by_type: bool = True,
    save: bool = True,
    plot: str | None = None,
    device: str | None = None,
) -> ThresholdSearch:
    """Find the minimum confidence of entities, overall and by type, and store it in the model.

    Thresholds of types are shrunk towards the overall threshold, so that few examples do not mislead them.

    The goal is the best F1, or the best recall at a `precision`, or the best precision at a `recall`. All candidates
    count, also those that are not in the model's best answer. `plot` is a .png or .svg file.
    """
    if precision is not None and recall is not None:
        both = either("precision and recall", "--precision and --recall")
        raise InputError(f"both {both} are given; give one of them", either("thresholds", "command line"))
    if plot is not None:
        check_suffix(plot)
    recognizer = load(model, device, return_candidates=True, threshold=FLOOR, thresholds={})
    if save and not is_finished(Path(model)):
        raise InputError(
            f"thresholds are stored in a model folder; give one, or {either('save=False', '--no-save')}", str(model)
        )
    corpus = _corpus_for(recognizer, dev)
    tagged = list(recognizer.pipe(corpus))
    gold = Counter(entity.type for entities in tagged for entity in entities.source.entities)
    candidates = [
        Candidate(entity.type, entity.confidence, entity.entity in entities.source.entities)
        for entities in tagged
        for entity in entities
    ]
    curve = Curve.of(candidates, gold.total())
    goal = Goal(precision, recall)
    best = find_thresholds(candidates, gold, goal, by_type=by_type, floor=FLOOR)
    if plot is not None:
        plot_curve(curve, best.overall if best else None, plot)
    if save and best:
        by_kind = {kind: point.threshold for kind, point in best.types.items()}
        change_settings(model, {"return_candidates": True, "threshold": best.others.threshold, "thresholds": by_kind})
    warnings = _warnings(Path(model), [entities.source for entities in tagged], gold.total())
    return ThresholdSearch(goal, best, curve, report_of(corpus), tuple(warnings))


def _warnings(model: Path, dev: Sequence[Sentence], entities: int) -> Iterator[str]:
    """Yield why thresholds chosen on these sentences may not suit others."""
    if entities < FEW_ENTITIES:
        yield f"the corpus has only {entities:,} entities; thresholds from fewer than {FEW_ENTITIES} are uncertain"
    run = read_json(model / CLAIM).get("data", {}) if (model / CLAIM).is_file() else {}
    if run.get("train") == fingerprint(dev):
        yield "the model was trained on these sentences, so its confidences are too high here; use other sentences"


@dataclass(frozen=True)
class ModelReport:
    """A written report."""

    output: str
    html: str
    report: Report  # of reading the corpus


def report(
    model: str | Path, test: CorpusSource, output: str | Path | None = None, *, device: str | None = None
) -> ModelReport:
    """Write an HTML page on a model: scores, plots, calibration, examples and mistakes.

    It is written to MODEL/report.html unless `output` names another file.
    """
    recognizer = load(model, device)
    file = Path(output or Path(model) / "report.html")
    if not output and file.is_symlink():
        raise InputError("it is a link in an untrusted folder; remove it, or name another file", str(file))
    corpus = _corpus_for(recognizer, test)
    tagged = list(recognizer.pipe(corpus))
    predicted = [{entity.entity: entity.confidence for entity in entities} for entities in tagged]
    name = Path(path_of(corpus, "test")).name
    gold = [entities.source for entities in tagged]
    page = model_page(Trial(Path(model).resolve().name, name, gold, predicted, recognizer.types))
    with writing(file) as stream:
        stream.write(page)
    return ModelReport(str(file), page, report_of(corpus))


def _corpus_for(recognizer: Predictor, source: CorpusSource) -> Iterable[Sentence]:
    """Return the sentences of a source; raw text in a file is tokenized as the model does."""
    if isinstance(source, str | Path):
        return CorpusFile(source, options=recognizer.settings.reading)
    return source.tokenized_as(recognizer.settings.reading) if isinstance(source, CorpusFile) else corpus_of(source)


def _row(name: str, score: Score, threshold: float | None = None) -> tuple[str | float | int | Figure | None, ...]:
    figures = (Figure(100 * value) for value in (score.precision, score.recall, score.f1))
    shown = None if threshold is None else Figure(threshold, form=".4f")
    return (name, shown, *figures, score.gold, score.predicted, score.correct)
