"""Adapting an encoder to a kind of text before it learns entities: it goes on guessing hidden words.

Text needs no entities, so there is usually more of it. An encoder of general text gains where the text is of another
kind (docs/results/recipe.md has what was measured, also where nothing was gained). What it becomes is a folder that
`nestag train --encoder` takes. Like a training run, an adaptation that was interrupted goes on where it stopped.
"""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass
from math import ceil
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from accelerate.utils import wait_for_everyone
from torch.optim import AdamW, Optimizer
from torch.optim.lr_scheduler import LambdaLR
from transformers import TrainerCallback, set_seed

from nestag.data.arrays import Ints
from nestag.data.sentence import Sentence
from nestag.errors import InputError, named
from nestag.formats.corpus import corpus_of
from nestag.formats.files import writing_together
from nestag.model.encoders import is_light, longest_window
from nestag.model.model_folder import ADAPTED, WEIGHTS, is_finished, read_json, write_manifest
from nestag.model.pretrained import load_encoder
from nestag.model.recognizer import load_tokenizer
from nestag.model.subwords import Layout, LayoutMaker
from nestag.training.checkpoints import ResumableTrainer, explained
from nestag.training.masked_language_modelling import Guesser, packed
from nestag.training.run_folder import CHECKPOINTS, claimed, is_first_process, process_count
from nestag.training.trainer import CHECKPOINT_SECONDS

WIDTH = 128
"""Subwords that are read at once: as many sentences of one document as fit."""

BATCH = 128
"""Windows in a step."""

EPOCHS = 100
MOST_STEPS = 5_000
"""Default number of epochs: a hundred, fewer of long texts, but one at least."""

RATE, HEAD_RATE = 2e-4, 1e-3
FROZEN = 0.05
"""Share of the steps in which only the new head learns, and of those in which the encoder's rate rises after that."""

CHECKPOINT_STEPS = 500
"""Steps between two checkpoints of several processes, whose clocks could disagree; one process goes by time."""

TRIED = 512
"""Windows of dev that are guessed at the end, at most."""


class AdaptationProgress(NamedTuple):
    """How far an adaptation is."""

    step: int
    steps: int
    loss: float | None


WatchAdaptation = Callable[[AdaptationProgress], None]


@dataclass(frozen=True)
class Adaptation:
    """A finished adaptation."""

    windows: int
    steps: int
    guessed: float | None  # of the hidden subwords of dev, the share that is guessed right


def adapt(
    text: Iterable[Sentence] | Any,
    output: str | Path,
    encoder: str = "minilm",
    *,
    dev: Iterable[Sentence] | Any = (),
    epochs: int | None = None,
    seed: int = 1,
    watch: WatchAdaptation | None = None,
    use_cpu: bool = False,
) -> Adaptation:
    """Let an encoder guess hidden words of a text and save it in `output`; entities are not looked at.

    It takes sentences, also a stream of them, or datasets of Hugging Face `datasets`. On `dev` it is measured at the
    end how many words are guessed right. The same call after an interruption goes on where it stopped.
    """
    if is_light(encoder):
        raise InputError(f"{encoder!r} has no layers to adapt; adapt another, then train with light:FOLDER", "adapt")
    if epochs is not None and epochs < 1:
        raise InputError(f"{epochs} epochs are too few; give 1 or more", named("epochs"))
    set_seed(seed)
    pretrained, tokenizer, folder = load_encoder(encoder), load_tokenizer(encoder), Path(output)
    if tokenizer.mask_token_id is None:
        raise InputError("its tokenizer has no subword that hides others; choose another encoder", encoder)
    maker = LayoutMaker(tokenizer, longest_window(pretrained.config, WIDTH))
    texts = {"text": packed(maker, corpus_of(text)), "dev": packed(maker, corpus_of(dev))}
    if not len(texts["text"].layout.windows):
        raise InputError("there is no sentence with words in it; check the file", "text")
    data = {name: one.fingerprint for name, one in texts.items()}
    claim = {"recipe": {"encoder": encoder, "epochs": epochs}, "seed": seed, "data": data}
    with claimed(folder, claim) if is_first_process() else nullcontext(), explained(folder):
        if not is_finished(folder):
            layout = texts["text"].layout
            steps = steps_for(len(layout.windows), epochs)
            model = Guesser(pretrained, tokenizer.mask_token_id)
            trainer = _GuessTrainer(model, layout, folder / CHECKPOINTS, steps, seed, use_cpu, watch)
            trainer.run()
            if is_first_process():
                done = Adaptation(len(layout.windows), steps, _guessed(trainer, texts["dev"].layout))
                _save(folder, pretrained, tokenizer, done)
            wait_for_everyone()
        if is_first_process():
            shutil.rmtree(folder / CHECKPOINTS, ignore_errors=True)
        return _finished(folder)


def _finished(folder: Path) -> Adaptation:
    """What an adaptation said of itself when it was finished."""
    try:
        return Adaptation(**read_json(folder / ADAPTED))
    except TypeError as error:
        raise InputError(f"no report of an adaptation ({error!s:.100})", str(folder / ADAPTED)) from None


def _save(folder: Path, encoder: Any, tokenizer: Any, done: Adaptation) -> None:
    with writing_together(folder) as new:
        encoder.save_pretrained(new)
        tokenizer.save_pretrained(new)
        (new / ADAPTED).write_text(json.dumps(asdict(done), indent=1) + "\n", encoding="utf-8")
        shutil.copymode(new / ADAPTED, new / WEIGHTS)  # safetensors lets nobody but the owner read
    write_manifest(folder)  # this makes it finished


def steps_for(windows: int, epochs: int | None) -> int:
    """How many steps are taken.

    >>> steps_for(windows=1280, epochs=3), steps_for(1280, None), steps_for(12_800, None), steps_for(1_280_000, None)
    (30, 1000, 5000, 10000)
    """
    epoch_steps = ceil(windows / BATCH)
    return epochs * epoch_steps if epochs else min(EPOCHS * epoch_steps, max(MOST_STEPS, epoch_steps))


class _GuessTrainer(ResumableTrainer):
    """Trains an encoder by masked language modelling."""

    def __init__(
        self,
        model: Guesser,
        layout: Layout,
        checkpoints: Path,
        steps: int,
        seed: int,
        use_cpu: bool,
        watch: WatchAdaptation | None,
    ) -> None:
        self.layout = layout
        weights = [
            {"params": list(model.encoder.parameters()), "lr": RATE},
            {"params": model.head, "lr": HEAD_RATE},
        ]
        optimizer = AdamW(weights, weight_decay=0.01)
        super().__init__(
            model,
            checkpoints,
            steps,
            seed,
            use_cpu,
            {
                "per_device_train_batch_size": max(1, BATCH // process_count()),
                "max_grad_norm": 1.0,
                "bf16": torch.cuda.is_available() and torch.cuda.is_bf16_supported() and not use_cpu,
                "logging_steps": 10,
                "report_to": "none",
            },
            data_collator=self.tensors,
            train_dataset=range(len(layout.windows)),
            optimizers=(optimizer, _schedule(optimizer, steps)),
            callbacks=[_Stepper(self, watch)],
        )

    def tensors(self, numbers: Sequence[int] | Ints, layout: Layout | None = None) -> dict[str, torch.Tensor]:
        """What the model takes for some windows."""
        arrays = (layout or self.layout).arrays(np.array(numbers))
        names = "input_ids", "attention_mask", "word"
        return {name: torch.from_numpy(getattr(arrays, name)) for name in names}

    def compute_loss(self, model: Any, inputs: dict[str, Any], *_: Any, **__: Any) -> torch.Tensor:
        """The loss of a batch."""
        loss: torch.Tensor = model(**inputs).loss
        return loss


class _Stepper(TrainerCallback):
    """Says when to save, tells the watcher, and stops when interrupted."""

    def __init__(self, trainer: _GuessTrainer, watch: WatchAdaptation | None) -> None:
        self.trainer, self.watch = trainer, watch
        self.saved = time.monotonic()
        self.loss: float | None = None

    def on_log(self, args: Any, state: Any, control: Any, logs: Any = None, **_: Any) -> None:
        """Now and then."""
        self.loss = (logs or {}).get("loss", self.loss)

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """After each step."""
        if self.watch:
            self.watch(AdaptationProgress(state.global_step, state.max_steps, self.loss))
        alone = process_count() == 1
        due = (
            time.monotonic() - self.saved >= CHECKPOINT_SECONDS if alone else state.global_step % CHECKPOINT_STEPS == 0
        )
        control.should_save = bool(self.trainer.interrupted) or due
        control.should_training_stop = bool(self.trainer.interrupted) or control.should_training_stop
        if control.should_save:
            self.saved = time.monotonic()


def _schedule(optimizer: Optimizer, steps: int) -> LambdaLR:
    """The head's rate falls to nothing; the encoder's is nothing at first, rises, and falls with it."""
    begin = FROZEN * steps

    def of_encoder(step: int) -> float:
        return min(max(0.0, (step - begin) / (begin + 1)), 1.0) * of_head(step)

    def of_head(step: int) -> float:
        return 1 - step / steps

    return LambdaLR(optimizer, [of_encoder, of_head])


@torch.no_grad()
def _guessed(trainer: _GuessTrainer, dev: Layout) -> float | None:
    """The share of hidden subwords that is guessed right, over windows taken evenly from dev; None without one."""
    if not len(dev.windows):
        return None
    model: Any = trainer.accelerator.unwrap_model(trainer.model)
    model.train(False)
    device = model.bias.device
    windows = np.linspace(0, len(dev.windows) - 1, min(TRIED, len(dev.windows))).astype(int)
    found = []
    torch.manual_seed(0)  # the same words are hidden whichever encoder guesses
    for at in range(0, len(windows), BATCH):
        batch = trainer.tensors(windows[at : at + BATCH], dev)
        _, right, asked = model(**{name: tensor.to(device) for name, tensor in batch.items()})
        found.append((int(right), int(asked)))
    return sum(right for right, _ in found) / max(1, sum(asked for _, asked in found))
