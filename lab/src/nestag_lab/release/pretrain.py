"""Pretrain the light encoder: its table and convolutions learn to predict the word vectors of a larger encoder.

    python -m nestag_lab.release.pretrain FOLDER TEXT... [--teacher minilm] [--epochs 24] [--masked 0.15]

A text has one sentence a line, words separated by blanks, and may be compressed (.xz). In every batch some words are
hidden from the light encoder and not from the teacher, so that neighbours predict a word. FOLDER is an encoder: train
with `--encoder light:FOLDER`.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from nestag.data.arrays import Ints
from nestag.model.layers import pool_subwords
from nestag.model.pretrained import load_encoder
from nestag.model.recognizer import load_tokenizer
from nestag.model.subwords import SHAPES
from nestag.model.tagger import Tagger
from nestag.model.windows import Layout, LayoutMaker, batches
from nestag.training.recipe import load_recipe
from nestag_lab.release.light import save_light
from nestag_lab.release.text import read_lines

LONGEST = 256
"""Subwords in a window."""

HELD_OUT = 0.01
"""Share of the windows that only measure."""


@dataclass(frozen=True)
class Options:
    """How the light encoder is pretrained."""

    teacher: str = "minilm"
    layers: tuple[int, ...] = (3, 6)  # of the teacher, whose vectors are predicted
    epochs: int = 24
    masked: float = 0.15  # share of the words that are hidden
    shapes: float = 0.2  # weight of predicting the shapes of masked words, which an uncased teacher does not know
    rate: float = 2e-3
    batch_subwords: int = 32_768
    seed: int = 1


class Batch(NamedTuple):
    """Windows of text as tensors."""

    ids: Tensor  # windows x subwords
    attention: Tensor  # windows x subwords
    word: Tensor  # windows x subwords: which word each is part of, -1 for none
    shape: Tensor  # windows x words, -1 beyond the last one


class Student(nn.Module):
    """A light tagger's body, and linear maps from its word vectors to the teacher's and to word shapes."""

    def __init__(self, body: Tagger, wanted: int) -> None:
        super().__init__()
        self.body = body
        self.vectors = nn.Linear(body.width, wanted)
        self.shapes = nn.Linear(body.width, SHAPES)

    def forward(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """Predict the vectors and shapes of words: windows x words x numbers."""
        seen = self.body.word_vectors(self.body.encode(batch.ids, batch.attention), batch.word, batch.shape)
        return self.vectors(seen), self.shapes(seen)


class Teacher:
    """A larger encoder, whose word vectors are scaled to mean 0 and variance 1 in each dimension."""

    def __init__(self, encoder: Any, layers: Sequence[int], device: torch.device) -> None:
        self.encoder = encoder.to(device=device, dtype=torch.bfloat16 if device.type == "cuda" else torch.float32)
        self.encoder.train(False)
        self.layers = layers
        self.mean: Tensor | float = 0.0
        self.deviation: Tensor | float = 1.0

    @torch.no_grad()
    def __call__(self, batch: Batch) -> Tensor:
        """Return the word vectors of all layers, concatenated: windows x words x dimensions."""
        ids, attention, word, shape = batch
        hidden = self.encoder(input_ids=ids, attention_mask=attention, output_hidden_states=True).hidden_states
        vectors = [pool_subwords(hidden[layer].float(), word, shape.shape[1], "mean") for layer in self.layers]
        return (torch.cat(vectors, dim=-1) - self.mean) / self.deviation

    def scale(self, vectors: Tensor) -> None:
        """Fit mean and deviation to word vectors: words x dimensions."""
        self.mean, self.deviation = vectors.mean(0), vectors.std(0).clamp(min=1e-3)


class Pretraining:
    """A pretraining run: batches of text, the two encoders, and the loss."""

    def __init__(self, layout: Layout, options: Options, device: torch.device) -> None:
        self.layout, self.options, self.device = layout, options, device
        recipe = load_recipe("light")
        torch.manual_seed(options.seed)
        self.body = Tagger.around(
            f"light:{options.teacher}", recipe.light_size, pooling=recipe.pooling, shape_size=recipe.shape_size,
            conv_size=recipe.conv_size, conv_layers=recipe.conv_layers, dropout=0.0,
        )  # fmt: skip
        encoder = load_encoder(options.teacher)
        self.teacher = Teacher(encoder, options.layers, device)
        self.student = Student(self.body, len(options.layers) * encoder.config.hidden_size).to(device)
        self.mask = load_tokenizer(options.teacher).mask_token_id
        order = np.random.default_rng(options.seed).permutation(len(layout.windows))
        held_out = max(1, int(HELD_OUT * len(order)))
        self.held_out, self.training = order[:held_out], order[held_out:]
        first = next(self.batches(self.training, None))
        self.teacher.scale(self.teacher(first)[first.shape >= 0])

    def batches(self, windows: Ints, rng: random.Random | None) -> Iterator[Batch]:
        """Yield windows as tensors on the device."""
        for batch in batches(self.layout.windows.sizes[windows], self.options.batch_subwords, rng=rng):
            arrays = self.layout.arrays(windows[batch])
            yield Batch(*(torch.from_numpy(array).to(self.device) for array in arrays))

    def loss(self, batch: Batch, masked: float) -> tuple[Tensor, Tensor]:
        """Return the mean squared error of the vectors, and the cross-entropy of the shapes of masked words."""
        ids, _, word, shape = batch
        present = shape >= 0
        masked_words = (torch.rand(shape.shape, device=self.device) < masked) & present  # windows x words
        masked_subwords = masked_words.gather(1, word.clamp(min=0)) & (word >= 0)  # windows x subwords
        read = batch._replace(
            ids=torch.where(masked_subwords, self.mask, ids), shape=torch.where(masked_words, 0, shape)
        )
        with torch.autocast(self.device.type, torch.bfloat16, enabled=self.device.type == "cuda"):
            vectors, shapes = self.student(read)
        error = functional.mse_loss(vectors[present].float(), self.teacher(batch)[present])
        if not masked:
            return error, error.new_zeros(())
        target = torch.where(masked_words, shape, -100)
        return error, functional.cross_entropy(shapes.flatten(0, 1).float(), target.flatten(), ignore_index=-100)

    def run(self) -> Iterator[dict[str, float]]:
        """Train, and yield the share of the teacher's variance that is predicted after each epoch."""
        options, begun = self.options, time.monotonic()
        epoch_steps = len(batches(self.layout.windows.sizes[self.training], options.batch_subwords))
        steps = options.epochs * epoch_steps
        cuda = self.device.type == "cuda"
        optimizer = torch.optim.AdamW(self.student.parameters(), options.rate, weight_decay=0.01, fused=cuda)
        schedule = torch.optim.lr_scheduler.OneCycleLR(
            optimizer, options.rate, steps + options.epochs, pct_start=0.05, anneal_strategy="linear",
            cycle_momentum=False,
        )  # fmt: skip
        for epoch in range(options.epochs):
            self.student.train()
            for batch in self.batches(self.training, random.Random(f"{options.seed} {epoch}")):  # noqa: S311 - an order
                error, of_shapes = self.loss(batch, options.masked)
                total: Any = error + options.shapes * of_shapes
                optimizer.zero_grad()
                total.backward()
                nn.utils.clip_grad_norm_(self.student.parameters(), 1.0)
                optimizer.step()
                if schedule.last_epoch < steps + options.epochs:
                    schedule.step()
            yield {"epoch": epoch + 1, "seconds": round(time.monotonic() - begun, 1), **self.explained()}

    @torch.no_grad()
    def explained(self) -> dict[str, float]:
        """Return the share of the variance of held-out word vectors that is predicted."""
        self.student.train(False)
        errors = [self.loss(batch, masked=0.0)[0] for batch in self.batches(self.held_out, None)]
        return {"explained": round(1 - float(torch.stack(errors).mean()), 4)}

    def weights(self) -> dict[str, Tensor]:
        """Return the weights of the tagger without its heads."""
        return {name: value for name, value in self.body.state_dict().items() if not name.startswith("heads.")}


def pretrain(folder: Path, texts: Sequence[Path], options: Options, most: int | None = None) -> dict[str, Any]:
    """Pretrain on texts and save the encoder in a folder; return what was done."""
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    tokenizer = load_tokenizer(options.teacher)
    sentences = [words for path in texts for words in read_lines(path)]
    layout = LayoutMaker(tokenizer, LONGEST).lay_out(sentences[:most])
    run = Pretraining(layout, options, device)
    report: dict[str, Any] = {"words": len(layout.subwords.counts), "windows": len(layout.windows)}
    for line in run.run():
        report |= line
        sys.stdout.write(json.dumps(report) + "\n")
        sys.stdout.flush()
    save_light(folder, run.weights(), tokenizer)
    return report


def main() -> None:
    """Parse the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("texts", type=Path, nargs="+")
    parser.add_argument("--most", type=int, help="read only so many sentences")
    parser.add_argument("--layers", type=int, nargs="+", default=list(Options.layers))
    parser.add_argument("--teacher", default=Options.teacher)
    for name in ("epochs", "masked", "shapes", "rate", "batch_subwords", "seed"):
        default = getattr(Options, name)
        parser.add_argument(f"--{name.replace('_', '-')}", type=type(default), default=default)
    given = vars(parser.parse_args())
    folder, texts, most = given.pop("folder"), given.pop("texts"), given.pop("most")
    pretrain(folder, texts, Options(**{**given, "layers": tuple(given["layers"])}), most)


if __name__ == "__main__":
    main()
