"""Adapting an encoder to a domain: masked language modelling on text without entities, before training.

The gain is largest for text that differs from the encoder's (docs/results.md has the measurements). The result is a
folder for `nestag train --encoder`. An interrupted adaptation resumes, like a training run. The head uses the encoder's
subword vectors, so it works with any encoder, even one that was published without a head.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Iterable, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass
from functools import partial
from itertools import islice
from math import ceil
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from accelerate.utils import wait_for_everyone
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, gelu, linear
from torch.optim import AdamW, Optimizer
from torch.optim.lr_scheduler import LambdaLR
from transformers import set_seed

from nestag.data.arrays import Ints
from nestag.data.document import document_of
from nestag.data.sentence import Sentence
from nestag.data.validation import from_mapping
from nestag.errors import InputError, named
from nestag.formats.corpus import corpus_of
from nestag.formats.files import writing_together
from nestag.model.encoders import is_light, longest_window
from nestag.model.model_folder import ADAPTED, WEIGHTS, is_finished, read_json, write_manifest
from nestag.model.pretrained import load_encoder, quiet_transformers
from nestag.model.recognizer import load_tokenizer
from nestag.model.subwords import Subwords
from nestag.model.windows import Layout, LayoutMaker, join_windows, windows_of
from nestag.training.checkpoints import ResumableTrainer, SavingCallback, explain_write_errors
from nestag.training.display import AdaptationCallback, AdaptationDisplay, AdaptationProgress, is_watched
from nestag.training.run_folder import CHECKPOINTS, claim_folder, is_first_process, process_count

WIDTH, BATCH = 128, 128  # subwords in a window, windows in a step
EPOCHS, MAX_STEPS = 100, 5_000  # the default: 100 epochs, fewer of long texts, but at least one
RATE, HEAD_RATE = 2e-4, 1e-3
FROZEN = 0.05  # share of the steps in which only the head is trained; the encoder's warmup is as long
CHECKPOINT_STEPS = 500  # between two checkpoints of several processes, whose clocks differ
DEV_WINDOWS = 512  # windows of dev that are scored at the end, at most
CHUNK = 10_000  # sentences in memory while the text is read
MASKED = 0.2  # share of the words that are predicted
MASK_TOKENS, RANDOM_TOKENS = 0.8, 0.1  # of those, the shares of mask and random tokens; the rest stays unchanged


@dataclass(frozen=True)
class Adaptation:
    """A finished adaptation."""

    windows: int
    steps: int
    accuracy: float | None  # of the predictions for masked subwords of dev


@quiet_transformers()
def adapt(
    text: Iterable[Sentence] | Any,
    output: str | Path,
    encoder: str = "minilm",
    *,
    dev: Iterable[Sentence] | Any = (),
    epochs: int | None = None,
    seed: int = 1,
    watch: AdaptationCallback | None = None,
    quiet: bool | None = None,
    use_cpu: bool = False,
) -> Adaptation:
    """Continue pretraining an encoder on a text and save it in `output`; entities are ignored.

    The text is an iterable of sentences, or datasets of Hugging Face `datasets`. The accuracy on `dev` is measured at
    the end. The same call resumes after an interruption. `watch` and `quiet` work as in `train`.
    """
    if is_light(encoder):
        raise InputError(f"{encoder!r} has no layers to adapt; adapt another, then train with light:FOLDER", "adapt")
    if epochs is not None and epochs < 1:
        raise InputError(f"{epochs} epochs are too few; give 1 or more", named("epochs"))
    folder = Path(output)
    display = AdaptationDisplay("adapting", folder) if is_watched(watch, quiet) else None
    with display or nullcontext():
        set_seed(seed)
        pretrained, tokenizer = load_encoder(encoder), load_tokenizer(encoder)
        if tokenizer.mask_token_id is None:
            raise InputError("its tokenizer has no mask token; choose another encoder", encoder)
        maker = LayoutMaker(tokenizer, longest_window(pretrained.config, WIDTH))
        texts = {"text": lay_out_text(maker, corpus_of(text)), "dev": lay_out_text(maker, corpus_of(dev))}
        layout = texts["text"].layout
        if not len(layout.windows):
            raise InputError("there is no sentence with words in it; check the file", "text")
        data = {name: content.fingerprint for name, content in texts.items()}
        claim = {"recipe": {"encoder": encoder, "epochs": epochs}, "seed": seed, "data": data}
        claimed = claim_folder(folder, claim) if is_first_process() else nullcontext()
        with claimed, explain_write_errors(folder):
            if not is_finished(folder):
                steps = steps_for(len(layout.windows), epochs)
                model = MaskedLanguageModel(pretrained, tokenizer.mask_token_id)
                trainer = _trainer(model, layout, folder / CHECKPOINTS, steps, seed, use_cpu)
                trainer.add_callback(_AdaptationCallback(trainer, display or watch))
                trainer.run()
                if is_first_process():
                    accuracy = _accuracy(trainer, texts["dev"].layout)
                    _save(folder, pretrained, tokenizer, Adaptation(len(layout.windows), steps, accuracy))
                wait_for_everyone()
            if is_first_process():
                shutil.rmtree(folder / CHECKPOINTS, ignore_errors=True)
            return from_mapping(Adaptation, read_json(folder / ADAPTED), str(folder / ADAPTED))


def _save(folder: Path, encoder: Any, tokenizer: Any, adaptation: Adaptation) -> None:
    with writing_together(folder) as new:
        encoder.save_pretrained(new)
        tokenizer.save_pretrained(new)
        (new / ADAPTED).write_text(json.dumps(asdict(adaptation), indent=1) + "\n", encoding="utf-8")
        shutil.copymode(new / ADAPTED, new / WEIGHTS)  # safetensors lets only the owner read
    write_manifest(folder)  # this makes it finished


def steps_for(windows: int, epochs: int | None) -> int:
    """Return the number of steps.

    >>> steps_for(windows=1280, epochs=3), steps_for(1280, None), steps_for(12_800, None), steps_for(1_280_000, None)
    (30, 1000, 5000, 10000)
    """
    epoch_steps = ceil(windows / BATCH)
    return epochs * epoch_steps if epochs else min(EPOCHS * epoch_steps, max(MAX_STEPS, epoch_steps))


class TextLayout(NamedTuple):
    """A text in windows, and its hash."""

    layout: Layout
    fingerprint: str


def lay_out_text(maker: LayoutMaker, sentences: Iterable[Sentence]) -> TextLayout:
    """Fill windows with as many sentences of one document as fit; only subwords stay in memory."""
    source, digest = iter(sentences), hashlib.sha256()
    chunks = [maker.table.subwords([])]
    documents: list[int] = []  # of each sentence, numbered in order
    last: str | None = None
    while chunk := list(islice(source, CHUNK)):
        chunks.append(maker.table.subwords([sentence.tokens for sentence in chunk]))
        for sentence in chunk:
            name = document_of(sentence)
            documents.append((documents[-1] if documents else 0) + (name != last))
            last = name
            digest.update(json.dumps([sentence.tokens, name]).encode())
    subwords, room = Subwords(*map(np.concatenate, zip(*chunks, strict=True))), maker.max_length - 2
    windows = join_windows(windows_of(subwords, room, "disjoint"), documents, room)
    return TextLayout(Layout(subwords, windows, maker.special), digest.hexdigest())


class Prediction(NamedTuple):
    """The result of masked language modelling on a batch."""

    loss: Tensor
    correct: Tensor  # subwords
    masked: Tensor  # subwords


class MaskedLanguageModel(nn.Module):
    """An encoder with its masked language modelling head."""

    def __init__(self, encoder: Any, mask: int) -> None:
        super().__init__()
        self.encoder, self.mask = encoder, mask
        subwords, size = encoder.get_input_embeddings().weight.shape
        self.narrow = nn.Linear(encoder.config.hidden_size, size)
        nn.init.normal_(self.narrow.weight, std=0.02)
        nn.init.zeros_(self.narrow.bias)
        self.norm = nn.LayerNorm(size)
        self.bias = nn.Parameter(torch.zeros(subwords))

    @property
    def head(self) -> list[nn.Parameter]:
        """The weights of the head."""
        return [*self.narrow.parameters(), *self.norm.parameters(), self.bias]

    def forward(self, input_ids: Tensor, attention_mask: Tensor, word: Tensor) -> Prediction:
        """Mask words and predict them."""
        corrupted, masked = mask_words(input_ids, word, self.mask, len(self.bias))
        vectors = self.encoder(input_ids=corrupted, attention_mask=attention_mask).last_hidden_state[masked]
        subwords, gold = self.encoder.get_input_embeddings().weight, input_ids[masked]
        logits = linear(self.norm(gelu(self.narrow(vectors))), subwords, self.bias).float()  # masked x subwords
        loss = cross_entropy(logits, gold, reduction="sum") / masked.sum().clamp(min=1)
        return Prediction(loss, (logits.argmax(-1) == gold).sum(), masked.sum())


def mask_words(input_ids: Tensor, word: Tensor, mask: int, subwords: int) -> tuple[Tensor, Tensor]:
    """Mask some whole words; return the new ids, and which of them are to be predicted."""
    chosen = torch.rand(input_ids.shape, device=input_ids.device) < MASKED  # by the number of the word
    masked = chosen.gather(1, word.clamp(min=0)) & (word >= 0)
    draw = torch.rand(input_ids.shape, device=input_ids.device)
    corrupted = torch.where(masked & (draw < MASK_TOKENS), mask, input_ids)
    random = torch.randint_like(input_ids, subwords)
    return torch.where(masked & (draw >= 1 - RANDOM_TOKENS), random, corrupted), masked


def _trainer(
    model: MaskedLanguageModel, layout: Layout, checkpoints: Path, steps: int, seed: int, use_cpu: bool
) -> ResumableTrainer:
    groups = [{"params": list(model.encoder.parameters()), "lr": RATE}, {"params": model.head, "lr": HEAD_RATE}]
    optimizer = AdamW(groups, weight_decay=0.01)
    options = {
        "per_device_train_batch_size": max(1, BATCH // process_count()),
        "max_grad_norm": 1.0,
        "bf16": torch.cuda.is_available() and torch.cuda.is_bf16_supported() and not use_cpu,
        "logging_steps": 10,
        "report_to": "none",
    }
    return ResumableTrainer(
        model,
        checkpoints,
        steps,
        seed,
        use_cpu,
        options,
        data_collator=partial(_inputs, layout),
        train_dataset=range(len(layout.windows)),
        optimizers=(optimizer, _schedule(optimizer, steps)),
    )


def _inputs(layout: Layout, numbers: Sequence[int] | Ints) -> dict[str, Tensor]:
    """Return the model's input for some windows."""
    arrays = layout.arrays(np.array(numbers))
    return {name: torch.from_numpy(getattr(arrays, name)) for name in ("input_ids", "attention_mask", "word")}


class _AdaptationCallback(SavingCallback):
    """Decides when to save, and reports progress."""

    def __init__(self, trainer: ResumableTrainer, watch: AdaptationCallback | None) -> None:
        super().__init__(trainer)
        self.watch = watch
        self.loss: float | None = None

    def on_log(self, args: Any, state: Any, control: Any, logs: Any = None, **_: Any) -> None:
        self.loss = (logs or {}).get("loss", self.loss)

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        if self.watch:
            self.watch(AdaptationProgress(state.global_step, state.max_steps, self.loss))
        self.control_saving(control, allowed=process_count() == 1 or state.global_step % CHECKPOINT_STEPS == 0)


def _schedule(optimizer: Optimizer, steps: int) -> LambdaLR:
    """Decrease the rates linearly to zero; the encoder's is zero at first and then rises."""
    start = FROZEN * steps

    def head(step: int) -> float:
        return 1 - step / steps

    def encoder(step: int) -> float:
        return min(max(0.0, (step - start) / (start + 1)), 1.0) * head(step)

    return LambdaLR(optimizer, [encoder, head])


@torch.no_grad()
def _accuracy(trainer: ResumableTrainer, dev: Layout) -> float | None:
    """Return the accuracy on masked subwords of windows taken evenly from dev; None without a dev."""
    if not len(dev.windows):
        return None
    model: Any = trainer.accelerator.unwrap_model(trainer.model)
    model.train(False)
    device = model.bias.device
    windows = np.linspace(0, len(dev.windows) - 1, min(DEV_WINDOWS, len(dev.windows))).astype(int)
    torch.manual_seed(0)  # the same words are masked for every encoder
    correct = masked = 0
    for first in range(0, len(windows), BATCH):
        batch = _inputs(dev, windows[first : first + BATCH])
        prediction = model(**{name: tensor.to(device) for name, tensor in batch.items()})
        correct, masked = correct + int(prediction.correct), masked + int(prediction.masked)
    return correct / max(1, masked)
