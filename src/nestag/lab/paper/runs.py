"""Finished runs put together: the runs of a model differ in nothing but the seed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from nestag.diagnosis.coverage import ENCODINGS
from nestag.evaluation.result import Evaluation
from nestag.lab.experiment.result import RunResult


class Setup(NamedTuple):
    """What the rows of a section have in common."""

    encoder: str
    recipe: str
    decoding: str


class ModelKey(NamedTuple):
    """What is run with several seeds."""

    corpus: str
    setup: Setup
    encoding: str


class ScoredRun(NamedTuple):
    """How a run did on the split at hand."""

    seed: int
    found: Evaluation


@dataclass(frozen=True)
class FinishedRuns:
    """All runs that were scored on a split."""

    split: str
    models: dict[ModelKey, tuple[ScoredRun, ...]]  # each with its runs by seed
    sizes: dict[tuple[str, str], str]  # parameters by encoder and recipe, as people read them

    @property
    def corpora(self) -> tuple[str, ...]:
        """Their corpora."""
        return tuple(sorted({model.corpus for model in self.models}))

    @property
    def setups(self) -> tuple[Setup, ...]:
        """Their setups."""
        return tuple(sorted({model.setup for model in self.models}))

    @property
    def encodings(self) -> tuple[str, ...]:
        """Their encodings, in the order of the paper."""
        return in_order(model.encoding for model in self.models)

    @property
    def seeds(self) -> int:
        """The most runs that a model has."""
        return max(map(len, self.models.values()), default=0)

    def title(self, setup: Setup) -> str:
        """A setup in words, with the size of its models."""
        return f"{setup.encoder} {self.sizes[setup[:2]]}, {setup.recipe}, {setup.decoding}"


def finished(results: Iterable[RunResult], split: str) -> FinishedRuns:
    """Put the runs of each model together."""
    models: dict[ModelKey, list[ScoredRun]] = {}
    parameters: dict[tuple[str, str], list[int]] = {}
    for result in sorted(results, key=lambda result: result.key):
        key = result.key
        parameters.setdefault((key.encoder, key.recipe), []).append(result.parameters)
        for decoding, found in result.evaluations.get(split, {}).items():
            model = ModelKey(key.corpus, Setup(key.encoder, key.recipe, decoding), key.encoding)
            models.setdefault(model, []).append(ScoredRun(key.seed, found))
    sizes = {names: size_of(counts) for names, counts in parameters.items()}
    return FinishedRuns(split, {model: tuple(runs) for model, runs in models.items()}, sizes)


def in_order(encodings: Iterable[str]) -> tuple[str, ...]:
    """Encodings, each once, in the order of the paper, those it does not have last.

    >>> in_order(["4tg", "own", "abs", "4tg"])
    ('abs', '4tg', 'own')
    """
    return tuple(sorted(set(encodings), key=lambda name: (_place(name), name)))


def _place(encoding: str) -> int:
    return ENCODINGS.index(encoding) if encoding in ENCODINGS else len(ENCODINGS)


def size_of(parameters: Sequence[int]) -> str:
    """The sizes of models in millions, from and to if they differ.

    >>> size_of([22_713_216]), size_of([22_713_216, 24_100_000]), size_of([9_000])
    ('23M', '23–24M', '<1M')
    """
    low, high = (round(find(parameters) / 1e6) for find in (min, max))
    if high == 0:
        return "<1M"
    return f"{low}M" if low == high else f"{low}–{high}M"
