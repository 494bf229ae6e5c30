"""How long the rest of an experiment will take, before it is begun.

The unit is the time of one subword that is learned from. It is known from finished runs with the same encoder and
recipe, or else found by a probe: a few real steps on sentences from the whole of a corpus. Judging a trained model
counts as one more pass over the corpus, and to that comes what a process needs before it can do anything.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from nestag.data.sentence import Sentence
from nestag.training.plan import rough_plan
from nestag.training.recipe import Recipe
from nestag.training.run_folder import CHECKPOINTS, last_checkpoint
from nestag_lab.experiment.facts import facts_file, read_facts
from nestag_lab.experiment.plan import ExperimentPlan
from nestag_lab.experiment.result import RunResult, read_results
from nestag_lab.experiment.spec import CorpusFiles, Spec

if TYPE_CHECKING:
    from nestag.training.plan import Progress

STEPS = 8
"""Steps of a probe."""

WARM = 2
"""Steps before the clock is started: the first ones are slow."""

JUDGING = 1
"""Passes over the corpus that take about as long as predicting and judging dev and test with both decodings."""

Probe = Callable[[Spec, bool], float]
"""A way to time a run: its seconds for each subword that is learned from."""


class Size(NamedTuple):
    """The size of a training corpus."""

    sentences: int
    words: int


class RunKind(NamedTuple):
    """Runs that are assumed to be equally fast."""

    encoder: str
    recipe: str


@dataclass(frozen=True)
class Estimate:
    """What the rest will cost, one run after another."""

    seconds: float
    from_runs: tuple[RunKind, ...]  # what finished runs told
    from_probes: tuple[RunKind, ...]  # what was timed


def estimate(
    plan: ExperimentPlan, cpu: bool = False, probe: Probe | None = None, start: float | None = None
) -> Estimate:
    """The seconds that the runs left will take; `start` is what each needs to begin, which is timed if not given."""
    if not plan.left:
        return Estimate(0.0, (), ())
    sizes = {corpus: _size(corpus, plan.root) for corpus in plan.corpora}
    rates = known_rates(read_results(plan.root) if plan.root.is_dir() else [], plan.root)
    first = {_kind(spec): spec for spec in reversed(plan.left)}
    probed = {kind: (probe or timed)(spec, cpu) for kind, spec in first.items() if kind not in rates}
    work = sum((rates | probed)[_kind(spec)] * work_left(spec, sizes[spec.corpus]) for spec in plan.left)
    seconds = work + len(plan.left) * (starting() if start is None else start)
    return Estimate(seconds, tuple(kind for kind in first if kind in rates), tuple(probed))


def _kind(spec: Spec) -> RunKind:
    return RunKind(spec.key.encoder, spec.key.recipe)


def _size(corpus: CorpusFiles, root: Path) -> Size:
    """The size of a training corpus."""
    file = facts_file(root, corpus.name)
    if file.exists():
        found = read_facts(file).statistics["train"]
        return Size(found.sentences, found.tokens)
    sentences = corpus.read("train")
    return Size(len(sentences), sum(map(len, sentences)))


def known_rates(results: Sequence[RunResult], root: Path) -> dict[RunKind, float]:
    """Seconds for each subword that was learned from, of all finished runs together."""
    seconds: dict[RunKind, float] = defaultdict(float)
    work: dict[RunKind, float] = defaultdict(float)
    for result in results:
        file = facts_file(root, result.key.corpus)
        if result.scorings and file.exists():
            kind = RunKind(result.key.encoder, result.key.recipe)
            found = read_facts(file).statistics["train"]
            plan = rough_plan(Recipe(**result.settings), found.sentences, found.tokens)
            seconds[kind] += result.seconds
            work[kind] += result.scorings[-1].step * plan.batch_subwords
    return {kind: seconds[kind] / work[kind] for kind in work if work[kind]}


def work_left(spec: Spec, size: Size) -> float:
    """Subwords that a run still has to learn from, with what judging it takes."""
    plan = rough_plan(spec.recipe, *size)
    checkpoint = last_checkpoint(spec.model / CHECKPOINTS) if spec.interrupted else None
    done = int(checkpoint.name.rpartition("-")[2]) if checkpoint else 0
    return (max(0, plan.steps - done) + JUDGING * plan.epoch_steps) * plan.batch_subwords


def starting() -> float:
    """Seconds that a process needs before it can train."""
    begin = time.perf_counter()
    subprocess.run([sys.executable, "-c", "import nestag.training.run"], check=True)
    return time.perf_counter() - begin


def timed(spec: Spec, cpu: bool = False) -> float:
    """Time a few training steps in a temporary folder."""
    from nestag.training.run import train
    from nestag_lab.experiment.machine import prepare

    prepare(cpu)
    training, dev = spec.corpus.read("train"), spec.corpus.read("dev")
    plan = rough_plan(spec.recipe, len(training), tokens(training))
    sample, few = (spread_out(sentences, STEPS * plan.batch_subwords) for sentences in (training, dev))
    recipe = replace(spec.recipe, steps=STEPS, epochs="auto", batch_subwords=plan.batch_subwords, evaluations=1)
    times: dict[int, float] = {}  # when each step ended

    def watch(progress: Progress) -> None:
        if progress.step:
            times.setdefault(progress.step, time.perf_counter())

    with tempfile.TemporaryDirectory() as folder:
        begin = time.perf_counter()
        train(sample, few, Path(folder) / "model", recipe, watch=watch, use_cpu=cpu)
    return per_step(begin, list(times.values())) / plan.batch_subwords


def per_step(begin: float, ends: Sequence[float]) -> float:
    """Seconds of a step, the first ones left out if there are others.

    >>> per_step(0.0, [9.0, 12.0, 13.0, 14.0]), per_step(0.0, [9.0])
    (1.0, 9.0)
    """
    if len(ends) <= WARM:
        return (ends[-1] - begin) / len(ends)
    return (ends[-1] - ends[WARM - 1]) / (len(ends) - WARM)


def spread_out(sentences: Sequence[Sentence], wanted: int) -> Sequence[Sentence]:
    """Sentences from the whole of a corpus with about so many tokens, and an entity among them."""
    chosen = sentences[:: max(1, tokens(sentences) // wanted)]
    return chosen if any(sentence.entities for sentence in chosen) else sentences


def tokens(sentences: Sequence[Sentence]) -> int:
    """The number of tokens, at least 1."""
    return max(1, sum(map(len, sentences)))
