"""The training plan: the numbers of a run on a corpus of this size, and the progress of a run that follows it.

The corpus decides the settings that are "auto" in the recipe. A small corpus needs many epochs of small batches, a
large one few epochs of large batches. Neither may have too few steps. The rule was tuned on GENIA, LitBank and GUM and
checked on GermEval (lab/docs/research.md).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar

import numpy as np

from nestag.data.arrays import Ints
from nestag.evaluation import Score
from nestag.model.windows import batches, sentence_batches
from nestag.training.recipe import Auto, Recipe

MIN_BATCH, MAX_BATCH = 256, 2048  # subwords
MAX_CONTEXT = 4  # the largest factor by which context enlarges a batch, which must fit into memory
MIN_STEPS, ENOUGH_STEPS = 600, 1500
SUBWORDS_PER_WORD = 1.35  # in English with MiniLM
SPLIT_WORD = 3  # subwords of a word that the encoder hardly knows
KNOWN_SPLITS = 1 / 3  # the largest share of such words in a language that the encoder knows
UNKNOWN_LANGUAGE_FACTOR = 2  # multiplies the steps for any other language

SMALL_CORPUS = 2_000  # sentences, up to which new layers learn faster than the pretrained ones of a light encoder

Number = TypeVar("Number", int, float)


class HeadRates(NamedTuple):
    """The learning rates of the layers above the encoder."""

    new: float
    pretrained: float


SMALL_CORPUS_RATES, OTHER_RATES = HeadRates(new=3e-3, pretrained=1e-4), HeadRates(new=1e-3, pretrained=1e-3)


@dataclass(frozen=True)
class TrainingPlan:
    """The numbers of a training run."""

    sentences: int  # more precisely, windows
    subwords: int  # of the training corpus, special ones included
    batch_subwords: int
    epoch_steps: int
    steps: int
    warmup_steps: int
    ema_decay: float
    evaluate_every: int  # steps
    patience: int  # evaluations
    dev_subwords: int

    @property
    def epochs(self) -> float:
        """The number of epochs."""
        return self.steps / self.epoch_steps

    @property
    def evaluations(self) -> int:
        """The number of evaluations on dev."""
        return -(-self.steps // self.evaluate_every)

    def seconds(self, step_seconds: float) -> float:
        """Estimate the time of the run; a subword of dev takes a third of one in a step, which also goes backward."""
        dev_steps = self.evaluations * self.dev_subwords / self.batch_subwords
        return step_seconds * (self.steps + dev_steps / 3)

    def __str__(self) -> str:
        stops = f"; stops after {self.patience} without a better F1" if self.patience else ""
        return (
            f"{self.sentences:,} sentences of {self.subwords:,} subwords: {self.steps:,} steps of up to"
            f" {self.batch_subwords:,} subwords ({self.epochs:.0f} epochs), dev scored {self.evaluations} times{stops}"
        )


def plan_for(
    recipe: Recipe,
    sizes: Ints,
    dev_subwords: int,
    sentence: Ints | None = None,
    processes: int = 1,
    labelled: int | None = None,
    word_sizes: Ints | None = None,
) -> TrainingPlan:
    """Return the plan for windows of these sizes; by default, each window is a sentence.

    In a step every process has its own batches. `labelled` counts the subwords that are not context, so that a batch
    has as many sentences with context as without. `word_sizes` are the subwords of each word, which show whether the
    encoder knows the language.
    """
    subwords = int(sizes.sum())
    batch_subwords = unless_auto(recipe.batch_subwords) or batch_for(subwords, labelled)
    if recipe.batching == "fixed":
        sentence = np.arange(len(sizes)) if sentence is None else sentence
        count = len(sentence_batches(sizes, sentence, batch_subwords, recipe.batch_sentences))
    else:
        count = len(batches(sizes, batch_subwords, recipe.batch_sentences))
    epoch_steps = max(1, -(-count // (recipe.gradient_accumulation_steps * processes)))
    epochs = unless_auto(recipe.epochs)
    steps = unless_auto(recipe.steps) or (epochs or 0) * epoch_steps
    if not steps:
        known = word_sizes is None or knows_language(word_sizes)
        steps = steps_for(epoch_steps, recipe.steps_factor) * (1 if known else UNKNOWN_LANGUAGE_FACTOR)
    patience = unless_auto(recipe.early_stopping_patience)
    seen = subwords * steps / epoch_steps
    evaluations = min(steps, unless_auto(recipe.evaluations) or epochs or evaluations_for(seen, dev_subwords))
    return TrainingPlan(
        sentences=len(sizes),
        subwords=subwords,
        batch_subwords=batch_subwords,
        epoch_steps=epoch_steps,
        steps=steps,
        warmup_steps=max(1, int(recipe.warmup_ratio * steps)),
        ema_decay=average_for(steps) if recipe.ema_decay == "auto" else recipe.ema_decay,
        evaluate_every=-(-steps // evaluations),
        patience=max(1, evaluations // 2) if patience is None else patience,
        dev_subwords=dev_subwords,
    )


def rough_plan(recipe: Recipe, sentences: int, words: int) -> TrainingPlan:
    """Estimate a plan before anything is tokenized."""
    size = round(SUBWORDS_PER_WORD * words / max(1, sentences)) + 2
    return plan_for(recipe, np.full(max(1, sentences), size), dev_subwords=0)


def unless_auto(value: Number | Auto) -> Number | None:
    """Return a number, or None if the corpus decides."""
    return None if value == "auto" else value


def batch_for(subwords: int, labelled: int | None = None) -> int:
    """Return the subwords in a batch, which grow with the square root of the corpus, as does the number of batches.

    If only some subwords are labelled and the others are context, a batch has as many sentences as without context.

    >>> [batch_for(subwords) for subwords in (3_000, 30_000, 500_000)]
    [256, 692, 2048]
    >>> [batch_for(subwords, labelled=500_000) for subwords in (500_000, 1_500_000, 9_000_000)]
    [2048, 6144, 8192]
    """
    labelled = labelled or subwords
    batch = int(min(MAX_BATCH, max(MIN_BATCH, 4 * math.sqrt(labelled))))
    return int(batch * min(MAX_CONTEXT, subwords / labelled))


def steps_for(epoch_steps: int, factor: float = 1.0) -> int:
    """Return the number of steps: 30 epochs for a small corpus, fewer for a larger one, and at least 7.

    >>> [steps_for(epoch_steps) for epoch_steps in (5, 30, 80, 300)]
    [600, 900, 1500, 2100]
    """
    return max(MIN_STEPS, round(factor * max(min(ENOUGH_STEPS, 30 * epoch_steps), 7 * epoch_steps)))


def head_rates(recipe: Recipe, sentences: int, *, pretrained: bool) -> HeadRates:
    """Return the learning rates of the layers above the encoder, some of which may be pretrained.

    >>> head_rates(Recipe(head_learning_rate="auto"), sentences=400, pretrained=True)
    HeadRates(new=0.003, pretrained=0.0001)
    >>> head_rates(Recipe(head_learning_rate=0.1), sentences=400, pretrained=True)
    HeadRates(new=0.1, pretrained=0.1)
    """
    rate = unless_auto(recipe.head_learning_rate)
    if rate is not None:
        return HeadRates(rate, rate)
    return SMALL_CORPUS_RATES if pretrained and sentences <= SMALL_CORPUS else OTHER_RATES


def knows_language(word_sizes: Ints) -> bool:
    """Return whether few of the words are split into many subwords.

    With MiniLM, the share of words of three or more subwords is 2% in English novels, 13% in biomedical abstracts,
    14% in French, 26% in Danish, 30% in German and 38% in Latvian. Longer training paid in Latvian only.

    >>> knows_language(np.array([1, 3, 2])), knows_language(np.array([1, 3, 4]))
    (True, False)
    """
    return int(np.count_nonzero(word_sizes >= SPLIT_WORD)) <= KNOWN_SPLITS * len(word_sizes)


def average_for(steps: int) -> float:
    """Return the decay of the moving average of weights, which remembers a tenth of the run."""
    return 1 - 1 / max(10.0, min(1_000.0, 0.1 * steps))


def evaluations_for(seen: float, dev_subwords: int) -> int:
    """Return the number of evaluations: 20, fewer if they would take longer than training, and at least 8."""
    return int(max(8, min(20, seen / max(1, dev_subwords))))


class Scoring(NamedTuple):
    """An evaluation on dev."""

    step: int
    loss: float  # the mean since the last evaluation
    score: Score
    seconds: float  # of training until then, without interruptions
    labels: float | None = None  # the sum of the heads' label accuracies, if it selects the best weights

    @property
    def rank(self) -> float:
        """The number that selects the best weights."""
        return self.score.f1 if self.labels is None else self.labels


@dataclass
class Progress:
    """The state of a run."""

    plan: TrainingPlan
    step: int = 0
    loss: float | None = None  # the mean since the last evaluation; None before the first step
    dev: list[Scoring] = field(default_factory=list)
    seconds: float | None = None  # of the whole run without early stopping; None until known
    cpu_seconds: Mapping[str, float] = field(default_factory=dict)  # by packaged encoder, estimated if there is no GPU

    @property
    def best_scoring(self) -> Scoring | None:
        """The first of the best evaluations, or None before the first evaluation."""
        return best_of(self.dev)

    @property
    def stalled(self) -> bool:
        """Whether the score has not improved for `patience` evaluations; never before the first true positive."""
        best = self.best_scoring
        if not self.plan.patience or best is None or best.score.f1 == 0:
            return False
        return len(self.dev) - 1 - self.dev.index(best) >= self.plan.patience

    @property
    def finished(self) -> bool:
        """Whether the run is over."""
        return self.stalled or self.step >= self.plan.steps


ProgressCallback = Callable[[Progress], None]  # called at the start, after each step and after each evaluation


def best_of(scorings: Sequence[Scoring]) -> Scoring | None:
    """Return the first evaluation of the highest rank, or None if there is none."""
    return max(scorings, key=lambda scoring: scoring.rank, default=None)


def scorings_from(records: Sequence[Sequence[Any]]) -> list[Scoring]:
    """Return evaluations from their JSON."""
    return [Scoring(step, loss, Score(*score), *rest) for step, loss, score, *rest in records]
