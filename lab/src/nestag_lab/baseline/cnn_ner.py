"""CNN-NER, a strong baseline (Yan et al. 2022, "An Embarrassingly Easy but Strong Baseline for Nested NER").

    python -m nestag_lab.baseline.cnn_ner TRAIN DEV TEST --encoder FOLDER -o results.jsonl

The authors' model is at https://github.com/yhcc/CNN_Nested_NER. What differs is what nestag's recipe `accurate` has
too, so that the two can be compared: mean pooling, word shapes, R-Drop, averaged weights, the learning rates and their
schedule, and the steps and batches of nestag's training plan.
"""

from __future__ import annotations

import json
import random
import time
from collections.abc import Iterator, Sequence
from copy import deepcopy
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np
import torch
import typer
from torch import Tensor
from torch.optim import AdamW
from torch.optim.lr_scheduler import LambdaLR
from transformers import AutoTokenizer

from nestag.data.sentence import Sentence
from nestag.evaluation import Score, score
from nestag.formats.corpus import read_corpus
from nestag.model.encoders import locate, longest_window
from nestag.model.pretrained import load_encoder
from nestag.model.windows import Layout, LayoutMaker, batches
from nestag.training.plan import TrainingPlan, head_rates, plan_for
from nestag.training.recipe import Recipe, load_recipe
from nestag_lab.baseline.inference import CHUNK, Ints, Recognizer, computing, moved
from nestag_lab.baseline.model import CnnNer, Sizes, cells, loss_of
from nestag_lab.corpora.split import subset

MAX_GRAD_NORM = 5.0
"""The authors' gradient clipping: the loss is a sum over many cells, so its gradients are large."""

TIMES, ROUNDS = 10, 3
"""Speed is measured on the test set repeated so often, as the best of so many rounds."""


class Batch(NamedTuple):
    """Some windows; `word` says which word of all windows each subword belongs to."""

    input_ids: Tensor  # windows x subwords
    attention_mask: Tensor  # windows x subwords
    word: Tensor  # windows x subwords
    shape: Tensor  # windows x words, negative for padding
    gold: Tensor  # windows x starts x ends x types


@dataclass(frozen=True)
class TrainingSet:
    """A corpus as windows and the entities inside each of them."""

    layout: Layout
    entities: list[Ints]  # one array a window: row, first word, last word and type of each entity
    types: int

    @classmethod
    def of(cls, layout: Layout, sentences: Sequence[Sentence], types: Sequence[str]) -> TrainingSet:
        """Lay the entities out by windows."""
        number = {name: place for place, name in enumerate(types)}
        windows, entities = layout.windows, []
        shift = layout.subwords.word_offsets[windows.sentence] - windows.first
        for sentence, moved_by, size in zip(windows.sentence, shift, windows.last - windows.first, strict=True):
            spans = np.array(
                [(0, e.start + moved_by, e.end - 1 + moved_by, number[e.type]) for e in sentences[sentence].entities]
            ).reshape(-1, 4)
            entities.append(spans[(spans[:, 1] >= 0) & (spans[:, 2] < size)].astype(np.int64))
        return cls(layout, entities, len(types))

    def batch(self, windows: Ints, device: torch.device) -> Batch:
        """Return some windows as tensors."""
        arrays = self.layout.arrays(windows)
        rows, words = arrays.shape.shape
        part = np.where(arrays.word < 0, rows * words, np.arange(rows)[:, None] * words + arrays.word)
        spans = np.concatenate([self.entities[window] + [row, 0, 0, 0] for row, window in enumerate(windows)])
        ids, mask, word, shape, span = moved([*arrays[:2], part, arrays.shape, spans.T], device)
        row, first, last, kind = span
        gold = torch.zeros(rows, words, words, self.types, device=device)
        gold[row, first, last, kind] = 1.0
        gold[row, last, first, kind] = 1.0  # both triangles, as the authors have it
        return Batch(ids, mask, word, shape, gold)


class Trained(NamedTuple):
    """A trained recognizer and how it was trained."""

    recognizer: Recognizer
    plan: TrainingPlan
    steps: int
    dev: Score
    seconds: float


def train(
    training: Sequence[Sentence],
    dev: Sequence[Sentence],
    recipe: Recipe,
    seed: int = 1,
    sizes: Sizes | None = None,
    device: str | None = None,
) -> Trained:
    """Train CNN-NER with the settings of a recipe, and keep the averaged weights that are best on dev."""
    torch.manual_seed(seed)
    place = torch.device(device or ("cuda" if torch.cuda.is_available() else "cpu"))
    types = sorted({entity.type for sentence in training for entity in sentence.entities})
    model = CnnNer(load_encoder(recipe.encoder), len(types), sizes).to(place)
    tokenizer = AutoTokenizer.from_pretrained(locate(recipe.encoder), trust_remote_code=False, add_prefix_space=True)
    maker = LayoutMaker(tokenizer, longest_window(model.encoder.config, recipe.max_length))
    layout = maker.lay_out([sentence.tokens for sentence in training])
    corpus = TrainingSet.of(layout, training, types)
    dev_subwords = int(maker.lay_out([sentence.tokens for sentence in dev]).windows.sizes.sum())
    plan = plan_for(recipe, layout.windows.sizes, dev_subwords)
    average = deepcopy(model)
    recognizer = Recognizer(average, maker, types)
    begun, best, best_weights, waited = time.monotonic(), Score(), deepcopy(average.state_dict()), 0
    for step, loss in enumerate(steps(model, average, corpus, recipe, plan, seed), 1):
        if step % plan.evaluate_every and step < plan.steps:
            continue
        now = f1_of(recognizer, dev)
        typer.echo(f"step {step:,} of {plan.steps:,}: loss {loss.item():.2f}, dev F1 {100 * now.f1:.2f}", err=True)
        waited += 1
        if now.f1 > best.f1:
            best, best_weights, waited = now, deepcopy(average.state_dict()), 0
        if plan.patience and best.f1 and waited >= plan.patience:
            break
    average.load_state_dict(best_weights)
    return Trained(recognizer, plan, step, best, time.monotonic() - begun)


def steps(
    model: CnnNer, average: CnnNer, corpus: TrainingSet, recipe: Recipe, plan: TrainingPlan, seed: int
) -> Iterator[Tensor]:
    """Take the steps of a plan and return the loss of each; `average` follows the weights of the model."""
    device = next(model.parameters()).device
    optimizer = optimizer_of(model, recipe, plan.sentences)
    scheduler = LambdaLR(optimizer, lambda step: linear(step, plan))
    weights: list[Tensor] = [*model.parameters()]
    averages: list[Tensor] = [*average.parameters()]
    sentences = plan.sentences / plan.epoch_steps  # of a batch on average, so that all sentences count the same
    model.train()
    for step, windows in zip(range(plan.steps), stream(corpus.layout.windows.sizes, plan, seed), strict=False):
        batch = corpus.batch(np.tile(windows, 2 if recipe.rdrop else 1), device)
        present = batch.shape >= 0
        with computing(device):
            hidden = model.encode(batch.input_ids, batch.attention_mask)
            words = model.word_vectors(hidden, batch.word, batch.shape.flatten()).view(*present.shape, -1)
            loss = loss_of(model(words, present), batch.gold, cells(present), sentences, recipe.rdrop)
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(weights, MAX_GRAD_NORM, foreach=True)
        optimizer.step()
        scheduler.step()
        keep = min(plan.ema_decay, (2 + step) / (11 + step))
        with torch.no_grad():
            torch._foreach_lerp_(averages, weights, 1 - keep)
        yield loss.detach()


def stream(sizes: Ints, plan: TrainingPlan, seed: int) -> Iterator[Ints]:
    """Return batches of windows of similar size without end, new ones in each epoch."""
    rng = random.Random(seed)  # noqa: S311 - an order, not a secret
    while True:
        yield from batches(sizes, plan.batch_subwords, rng=rng)


def optimizer_of(model: CnnNer, recipe: Recipe, sentences: int) -> AdamW:
    """Return AdamW with the rates of encoder and head, and no weight decay on vectors."""
    groups: dict[tuple[float, float], list[Tensor]] = {}
    head_rate = head_rates(recipe, sentences, pretrained=False).new
    for name, weight in model.named_parameters():
        rate = recipe.learning_rate if name.startswith("encoder.") else head_rate
        groups.setdefault((rate, recipe.weight_decay if weight.ndim > 1 else 0.0), []).append(weight)
    return AdamW([{"params": weights, "lr": rate, "weight_decay": decay} for (rate, decay), weights in groups.items()])


def linear(step: int, plan: TrainingPlan) -> float:
    """Return the share of the learning rate before a step: linear warmup, then a linear fall to zero."""
    falling = (plan.steps - step) / max(1, plan.steps - plan.warmup_steps)
    return max(0.0, min((step + 1) / plan.warmup_steps, falling, 1.0))


def f1_of(recognizer: Recognizer, gold: Sequence[Sentence]) -> Score:
    """Score a recognizer on a corpus."""
    predicted = recognizer.predict([sentence.tokens for sentence in gold])
    return score([sentence.entities for sentence in gold], predicted)


class Speed(NamedTuple):
    """Sentences a second, from tokens to entities and of the encoder alone, on the same batches in turn."""

    sentences: float
    encoder: float


def speed_of(recognizer: Recognizer, sentences: Sequence[Sequence[str]]) -> Speed:
    """Measure the speed of a recognizer and of its encoder."""
    layouts = [recognizer.maker.lay_out(sentences[at : at + CHUNK]) for at in range(0, len(sentences), CHUNK)]
    seconds = []
    for _ in range(ROUNDS):
        begun = time.perf_counter()
        for _ in recognizer.run(sentences):
            pass
        between = time.perf_counter()
        recognizer.encode_alone(layouts)
        seconds.append((between - begun, time.perf_counter() - between))
    return Speed(*(round(len(sentences) / min(times), 1) for times in zip(*seconds, strict=True)))


def main(
    train_file: Annotated[Path, typer.Argument(metavar="TRAIN", help="training corpus")],
    dev_file: Annotated[Path, typer.Argument(metavar="DEV", help="corpus that chooses the weights")],
    test_file: Annotated[Path, typer.Argument(metavar="TEST", help="corpus that is scored once, and timed")],
    encoder: Annotated[str, typer.Option(help="folder or name of the pretrained encoder")],
    output: Annotated[Path, typer.Option("--output", "-o", help="JSON Lines file that gets one line more")],
    seed: Annotated[int, typer.Option(help="random seed")] = 1,
    sentences: Annotated[int, typer.Option(help="training sentences; 0 for all")] = 0,
) -> None:
    """Train CNN-NER, score it on dev and test, and measure its speed."""
    training, dev, test = (read_corpus(file) for file in (train_file, dev_file, test_file))
    recipe = load_recipe("accurate").changed({"encoder": encoder})
    run = train(subset(training, sentences), dev, recipe, seed)
    speed = speed_of(run.recognizer, [sentence.tokens for sentence in test] * TIMES)
    line = {
        "model": "cnn-ner",
        "corpus": train_file.resolve().parent.name,
        "sentences": sentences,
        "encoder": Path(encoder).name,
        "seed": seed,
        "dev": figures(run.dev),
        "test": figures(f1_of(run.recognizer, test)),
        "steps": run.steps,
        "plan": asdict(run.plan),
        "seconds": round(run.seconds, 1),
        "sentences_per_second": speed.sentences,
        "encoder_sentences_per_second": speed.encoder,
        "device": torch.cuda.get_device_name() if run.recognizer.device.type == "cuda" else "CPU",
        "settings": {**asdict(Sizes()), "max_grad_norm": MAX_GRAD_NORM, "rdrop": recipe.rdrop},
    }
    with output.open("a", encoding="utf-8") as stream:
        stream.write(json.dumps(line) + "\n")
    typer.echo(json.dumps({name: value for name, value in line.items() if name not in ("plan", "settings")}))


def figures(result: Score) -> dict[str, Any]:
    """Return F1, precision and recall in percent."""
    return {name: round(100 * getattr(result, name), 2) for name in ("f1", "precision", "recall")}


if __name__ == "__main__":
    typer.run(main)
