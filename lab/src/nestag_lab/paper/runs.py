"""Finished runs by model, where the runs of a model differ only in the seed, and means over seeds in percent."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from nestag.evaluation.result import Evaluation
from nestag.inspect.tables import Figure, over_seeds
from nestag_lab.corpora.coverage import ENCODINGS
from nestag_lab.experiment.result import RunResult
from nestag_lab.experiment.spec import place_of


class Setup(NamedTuple):
    """What the rows of a section have in common."""

    encoder: str
    recipe: str
    decoding: str


class ModelKey(NamedTuple):
    """A model that is trained with several seeds."""

    corpus: str
    setup: Setup
    encoding: str


class ScoredRun(NamedTuple):
    """The evaluation of a run on one split."""

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
        return tuple(
            sorted({model.setup for model in self.models}, key=lambda setup: (*setup[:2], place_of(setup.decoding)))
        )

    @property
    def encodings(self) -> tuple[str, ...]:
        """Their encodings, in the order of the paper."""
        return in_order(model.encoding for model in self.models)

    @property
    def seeds(self) -> int:
        """The most runs that a model has."""
        return max(map(len, self.models.values()), default=0)

    def title(self, setup: Setup) -> str:
        """Return a setup in words, with the size of its models."""
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
    """Sort encodings in the order of the paper, without duplicates. Encodings of your own come last.

    >>> in_order(["4tg", "own", "abs", "4tg"])
    ('abs', '4tg', 'own')
    """
    return tuple(sorted(set(encodings), key=lambda name: (_place(name), name)))


def _place(encoding: str) -> int:
    return ENCODINGS.index(encoding) if encoding in ENCODINGS else len(ENCODINGS)


def size_of(parameters: Sequence[int]) -> str:
    """Return the sizes of models in millions, from and to if they differ.

    >>> size_of([22_713_216]), size_of([22_713_216, 24_100_000]), size_of([9_000])
    ('23M', '23–24M', '<1M')
    """
    low, high = (round(find(parameters) / 1e6) for find in (min, max))
    if high == 0:
        return "<1M"
    return f"{low}M" if low == high else f"{low}–{high}M"


def mean_of(shares: Sequence[float], seeds: int, form: str = ".2f") -> Figure | None:
    """Return the mean of shares in percent, with the number of runs if some are missing.

    >>> from nestag.inspect.tables import shown
    >>> shown(mean_of([0.75, 0.76], seeds=2)), shown(mean_of([0.75], seeds=2)), shown(mean_of([], seeds=2))
    ('75.50 ± 0.71', '75.00 (n=1)', '–')
    """
    mean = over_seeds(100 * share for share in shares)
    return mean and replace(mean, form=form, note=f"(n={len(shares)})" if len(shares) < seeds else "")


def closest(runs: Sequence[ScoredRun]) -> ScoredRun:
    """Return the run whose F1 is closest to the mean, the one with the smaller seed if two are."""
    found = over_seeds(run.found.overall.f1 for run in runs)
    assert found
    return min(runs, key=lambda run: (abs(run.found.overall.f1 - found.value), run.seed))


def best_run(runs: Sequence[ScoredRun]) -> ScoredRun:
    """Return the run with the best F1, the one with the smaller seed if two have it."""
    return min(runs, key=lambda run: (-run.found.overall.f1, run.seed))


def seeds_note(runs: FinishedRuns) -> str:
    """Return a note on how to read means."""
    if runs.seeds < 2:
        return "one seed each"
    fewer = any(len(found) < runs.seeds for found in runs.models.values())
    note = ", fewer where a cell says so" if fewer else ""
    return f"mean ± sample deviation over seeds, n={runs.seeds}{note}"
