"""A training run: a corpus and a recipe -> a recognizer, saved in a folder.

An interrupted run, even a killed one, resumes from its last complete checkpoint when it is started again. On a CPU it
ends with the same bits as without the interruption, on a GPU as close as two runs there ever are. A finished run is
loaded.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass, field, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from accelerate.utils import wait_for_everyone
from transformers import set_seed

from nestag.data.document import document_of
from nestag.data.segment import DEFAULT, Options, check_cutting
from nestag.data.sentence import Sentence
from nestag.encodings import encoding
from nestag.encodings.vocabulary import Vocabulary
from nestag.errors import InputError, either, named
from nestag.evaluation import Score, score
from nestag.formats.corpus import CorpusSource, in_memory, report_of
from nestag.formats.files import writing
from nestag.model.encoders import fetch, longest_window
from nestag.model.model_folder import CARD, HISTORY, is_finished, read_json
from nestag.model.pretrained import quiet_transformers
from nestag.model.recognizer import NestedNER, load_tokenizer
from nestag.model.settings import LayerSettings, PredictionSettings, Settings
from nestag.model.subwords import WordTokenizer
from nestag.model.tagger import Tagger
from nestag.model.windows import Layout
from nestag.training.advice import advice
from nestag.training.calibration import calibrate
from nestag.training.card import card
from nestag.training.checkpoints import explain_write_errors
from nestag.training.dataset import GoldSpans, TrainingSet, label_ids, nest
from nestag.training.display import TrainingDisplay, is_watched
from nestag.training.duration import cpu_estimates
from nestag.training.plan import ProgressCallback, Scoring, TrainingPlan, best_of, plan_for, scorings_from
from nestag.training.recipe import Recipe, load_recipe, recipe_for
from nestag.training.run_folder import CHECKPOINTS, claim_folder, claim_of, is_first_process, process_count
from nestag.training.trainer import NestedTrainer


@dataclass(frozen=True)
class Run:
    """A finished run."""

    recognizer: NestedNER
    recipe: Recipe
    plan: TrainingPlan
    scorings: list[Scoring]  # of dev, in order
    dropped: int  # crossing entities of train, which no tree holds
    seed: int = 1
    scores: dict[str, Score] = field(default_factory=dict)  # of the finished model, on dev and test

    def __repr__(self) -> str:
        scores = "".join(f"; {split} F1 {100 * score.f1:.2f}" for split, score in self.scores.items())
        return f"<Run: {self.recognizer!r}; {self.scorings[-1].step:,} steps{scores}>"

    @property
    def dev(self) -> Score:
        """The score of the finished model on dev, or the best one if it has not been scored."""
        if "dev" in self.scores:
            return self.scores["dev"]
        best = best_of(self.scorings)
        assert best is not None
        return best.score

    @property
    def advice(self) -> tuple[str, ...]:
        """Why the model has not learned, if it has not, and a setting that helps."""
        return tuple(advice(self.plan, self.dev, self.scorings, sum(self.recognizer.vocabulary.sizes)))


def train(
    train: CorpusSource,
    dev: CorpusSource,
    output: str | Path,
    recipe: str | Recipe | None = None,
    *,
    test: CorpusSource | None = None,
    seed: int = 1,
    watch: ProgressCallback | None = None,
    quiet: bool | None = None,
    report_to: Sequence[str] = (),
    use_cpu: bool = False,
    options: Options | None = None,
    **settings: Any,
) -> Run:
    """Train a recognizer and save it in `output` with a model card; the same call resumes after an interruption.

    Corpora are files, sentences, data frames, or datasets of Hugging Face `datasets`. `recipe` is a name, a .toml file
    or a Recipe (default: `light` for the light encoder, `default` for others); keyword arguments change its settings,
    e.g. `epochs=20`. The model is scored on dev and, if given, on `test`. It will tokenize raw text as `options` say,
    or else as the training corpus was, e.g. by `read_corpus(language="da")`.

    The plan, the estimated time, progress and scores are shown in a terminal or notebook; `quiet=True` shows nothing,
    `quiet=False` shows them anywhere. If `watch` is given, it is called with the progress instead.
    """
    recipe = recipe or recipe_for(settings.get("encoder"))
    recipe = (load_recipe(recipe) if isinstance(recipe, str) else recipe).changed(settings, either("train", "--set"))
    fetch(recipe.encoder)  # errors in names come before anything is read or written
    encoding(recipe.encoding)
    _refuse_loggers(report_to)
    folder = Path(output)
    display = TrainingDisplay(f"seed {seed}", folder) if is_watched(watch, quiet) else None
    with quiet_transformers(), display or nullcontext():
        sources = {"train": train, "dev": dev, "test": test}
        splits = {name: in_memory(source) for name, source in sources.items() if source is not None}
        if display:
            display.show_reports({name: report_of(sentences) for name, sentences in splits.items()})
        _refuse_empty(splits["train"], splits["dev"])
        options = options or getattr(splits["train"], "options", None) or DEFAULT
        check_cutting(options)
        claim = claim_of(recipe, seed, splits["train"], splits["dev"], options)
        with claim_folder(folder, claim) if is_first_process() else nullcontext(), explain_write_errors(folder):
            if not is_finished(folder):
                _train(splits, folder, recipe, seed, display or watch, report_to, use_cpu, options)
                wait_for_everyone()
            run = _load(folder, recipe, seed, "cpu" if use_cpu else None)
            if is_first_process():
                shutil.rmtree(folder / CHECKPOINTS, ignore_errors=True)
                run = _score(run, splits, folder)
        if display:
            display.finish(run)
    return run


def _train(
    splits: Mapping[str, Sequence[Sentence]],
    folder: Path,
    recipe: Recipe,
    seed: int,
    watch: ProgressCallback | None,
    report_to: Sequence[str],
    use_cpu: bool,
    options: Options,
) -> None:
    """Train, and save the model with the best weights and its history."""
    training, dev = splits["train"], splits["dev"]
    nested = nest(training)
    dropped = sum(len(a.entities) - len(b.entities) for a, b in zip(training, nested, strict=True))
    set_seed(seed)
    vocabulary = Vocabulary.learn(nested, recipe.encoding)
    spans = GoldSpans.of(nested) if recipe.span_loss else None
    width = (spans.width() if recipe.span_width == "auto" else recipe.span_width) if spans else 1
    recognizer = new_recognizer(recipe, vocabulary, spans.types if spans else 0, width, options)
    layout = _lay_out(recognizer, nested)
    corpus = TrainingSet(layout, label_ids(vocabulary, nested), spans, width)
    windows, dev_subwords = layout.windows, int(_lay_out(recognizer, dev).windows.sizes.sum())

    def plan_of(recipe: Recipe) -> TrainingPlan:
        labelled, word_sizes = layout.labelled_subwords, layout.subwords.counts
        return plan_for(recipe, windows.sizes, dev_subwords, windows.sentence, process_count(), labelled, word_sizes)

    plan, loggers = plan_of(recipe), report_to if is_first_process() else ()
    trainer = NestedTrainer(recognizer, corpus, dev, folder, recipe, plan, seed, watch, loggers, use_cpu)
    if watch and recognizer.model.device.type == "cpu":
        trainer.progress.cpu_seconds = cpu_estimates(recipe, plan_of)
    trainer.run()
    if not is_first_process():
        return
    recognizer.model.load_state_dict(trainer.best_weights)
    recognizer.model.requires_grad_(True)
    recognizer.model.train(False)
    if recipe.decoding != "spans":
        recognizer.model.drop_span_grid()  # it was there for training only
    recognizer.settings = calibrate(recognizer, dev)
    history = {"plan": asdict(plan), "scorings": trainer.progress.dev, "dropped": dropped}
    with writing(folder / HISTORY) as stream:
        stream.write(json.dumps(history, indent=1) + "\n")
    recognizer.save_pretrained(folder)  # the manifest comes last and makes the run finished


def _lay_out(recognizer: NestedNER, sentences: Sequence[Sentence]) -> Layout:
    return recognizer.layout_maker.lay_out([s.tokens for s in sentences], [document_of(s) for s in sentences])


def _load(folder: Path, recipe: Recipe, seed: int, device: str | None) -> Run:
    recognizer = NestedNER.from_pretrained(folder, device)
    history = read_json(folder / HISTORY)
    try:
        plan, scorings = TrainingPlan(**history["plan"]), scorings_from(history["scorings"])
        return Run(recognizer, recipe, plan, scorings, int(history["dropped"]), seed)
    except (LookupError, TypeError, ValueError) as error:
        raise InputError(f"no history of a run of nestag ({error!r:.100})", str(folder / HISTORY)) from None


def _score(run: Run, splits: Mapping[str, Sequence[Sentence]], folder: Path) -> Run:
    """Score a run on dev and test, and write the model card."""
    predicted = {name: run.recognizer.predict(splits[name]) for name in splits if name != "train"}
    with writing(folder / CARD) as stream:
        stream.write(card(folder.name, run.recipe, run.seed, splits, predicted))
    scores = {name: score([s.entities for s in splits[name]], entities) for name, entities in predicted.items()}
    return replace(run, scores=scores)


def _refuse_empty(training: Sequence[Sentence], dev: Sequence[Sentence]) -> None:
    for name, sentences in (("train", training), ("dev", dev)):
        if not any(sentence.tokens for sentence in sentences):
            raise InputError("there is no sentence with words in it; check the file", name)
    if not any(sentence.entities for sentence in training):
        raise InputError("there is no entity to learn from; check the field names and types", "train")


def _refuse_loggers(names: Sequence[str]) -> None:
    for name in names:
        if find_spec(name) is None:
            raise InputError(f"{name!r} is not installed; pip install {name}, or leave it out", named("report_to"))


def new_recognizer(
    recipe: Recipe, vocabulary: Vocabulary, span_types: int = 0, span_width: int = 1, options: Options = DEFAULT
) -> NestedNER:
    """Return a recognizer with a pretrained encoder and new heads."""
    model = Tagger.around(
        recipe.encoder,
        recipe.light_size,
        sizes=vocabulary.sizes,
        span_types=span_types,
        span_width=span_width,
        **recipe.settings_of(LayerSettings),
    )
    if recipe.head_init == "linear":
        model.reset_heads()
    settings = recipe.settings_of(PredictionSettings)
    settings["max_length"] = longest_window(model.encoder.config, recipe.max_length)
    settings |= {"tokenizer": options.tokenizer, "language": options.language}
    return NestedNER(model, WordTokenizer.of(load_tokenizer(recipe.encoder)), vocabulary, Settings(**settings))
