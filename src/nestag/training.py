"""Training: a corpus and a recipe -> a recognizer, saved in a folder.

A run that was interrupted, by Ctrl-C or by being killed at any moment, goes on from its last whole checkpoint when it
is started again, and ends as it would have ended: to the bit on a processor, and on a GPU as nearly as two runs there
ever agree.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from safetensors.torch import load_file
from transformers import set_seed

from nestag.calibrating import temperature_for
from nestag.corpora.document import document_of
from nestag.crossing import set_aside_crossing
from nestag.data import Sentence
from nestag.errors import InputError
from nestag.evaluation import Score
from nestag.files import writing
from nestag.inputs import Reader, load_tokenizer, longest_window
from nestag.model import Tagger
from nestag.recipe import Recipe
from nestag.recognizer import NestedNER, Settings
from nestag.trainer import BEST, CHECKPOINTS, Lesson, NestedTrainer, Watch
from nestag.vocabulary import Vocabulary


@dataclass(frozen=True)
class Run:
    """A finished run."""

    recognizer: NestedNER
    dev: Score
    epochs: list[Score]  # on dev, after each epoch
    set_aside: int  # crossing entities of train that no tree holds


def train(
    training: Sequence[Sentence],
    dev: Sequence[Sentence],
    output: str | Path,
    recipe: Recipe = Recipe(),  # noqa: B008
    seed: int = 1,
    watch: Watch | None = None,
    report_to: Sequence[str] = (),
    use_cpu: bool = False,
) -> Run:
    """Train a recognizer and save it in `output`; the same call after an interruption goes on where it stopped."""
    _refuse_empty(training, dev)
    folder = Path(output)
    claim = json.dumps({"recipe": asdict(recipe), "seed": seed}, indent=1) + "\n"
    _refuse_taken(folder, claim)
    nested = [sentence.with_entities(set_aside_crossing(sentence.annotated).kept) for sentence in training]
    set_aside = sum(len(a.entities) - len(b.entities) for a, b in zip(training, nested, strict=True))
    set_seed(seed)
    vocabulary = Vocabulary.learn(nested, recipe.encoding)
    recognizer = _untrained(recipe, vocabulary)
    _claim(folder, claim)
    reader = Reader(recognizer.tokenizer, recognizer.settings.window, recipe.context)
    reading = reader.read([s.tokens for s in nested], [document_of(s) for s in nested])
    labels = [vocabulary.ids(vocabulary.encode(sentence)) for sentence in nested]
    lesson = Lesson(reader, reading, labels, dev)
    trainer = NestedTrainer(recognizer, lesson, folder, recipe, seed, watch, report_to, use_cpu)
    try:
        trainer.run()
    except OSError as error:
        reason = error.strerror or error
        raise InputError(f"cannot be written ({reason}); mend that and start again to go on", str(folder)) from None
    recognizer.model.load_state_dict(load_file(folder / BEST))
    recognizer.model.train(False)
    recognizer.settings = replace(recognizer.settings, temperature=temperature_for(recognizer, dev))
    recognizer.save_pretrained(folder)
    (folder / BEST).unlink()
    shutil.rmtree(folder / CHECKPOINTS, ignore_errors=True)
    epochs = trainer.progress.dev
    return Run(recognizer, max(epochs, key=lambda found: found.f1), epochs, set_aside)


def _refuse_empty(training: Sequence[Sentence], dev: Sequence[Sentence]) -> None:
    for name, sentences in (("train", training), ("dev", dev)):
        if not any(sentence.tokens for sentence in sentences):
            raise InputError("there is no sentence with words in it; check the file", name)
    if not any(sentence.entities for sentence in training):
        raise InputError("there is no entity to learn from; check the field names and types", "train")


def _refuse_taken(folder: Path, claim: str) -> None:
    """See that the folder is empty, or this very run's own."""
    file = folder / "run.json"
    if file.exists():
        if file.read_text(encoding="utf-8") != claim:
            raise InputError("another run, with other settings, is in this folder; choose another", str(folder))
        if (folder / "config.json").exists() and not (folder / CHECKPOINTS).exists():
            raise InputError("this run has finished already; choose another folder to train again", str(folder))
    elif folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise InputError("the folder exists and is not empty; choose another", str(folder))


def _claim(folder: Path, claim: str) -> None:
    """Make the folder this run's own."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"the folder cannot be made ({error.strerror})", str(folder)) from None
    with writing(folder / "run.json") as stream:
        stream.write(claim)


def _untrained(recipe: Recipe, vocabulary: Vocabulary) -> NestedNER:
    """A recognizer whose heads know nothing yet."""
    sizes = len(vocabulary.n), len(vocabulary.c), len(vocabulary.u)
    model = Tagger.around(
        recipe.encoder,
        sizes=sizes,
        pooling=recipe.pooling,
        shape_size=recipe.shape_size,
        lstm_size=recipe.lstm_size,
        dropout=recipe.dropout,
    )
    window = longest_window(model.encoder.config, recipe.window)
    settings = Settings(window=window, context=recipe.context, decoding=recipe.decoding)
    return NestedNER(model, load_tokenizer(recipe.encoder), vocabulary, settings)
