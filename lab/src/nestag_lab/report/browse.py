"""Mistakes to browse: for every setup, split, encoding and decoding, the worst sentences of a typical run.

A page must stay small, so it holds as many sentences as fit: first the worst of all, then the second worst, and so on.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from nestag.evaluation.report import mistakes_html
from nestag.evaluation.result import Evaluation
from nestag.inspect.rendering import Html
from nestag_lab.experiment.result import RunResult
from nestag_lab.report.groups import Method, RunGroup, setups, splits, typical, ways

ROOM = 3 * 2**20
"""Bytes of drawn sentences that a page may hold."""


class Case(NamedTuple):
    """The worst sentences of one run, as one way of decoding reads it."""

    setup: RunGroup
    split: str
    way: Method
    seed: int
    types: tuple[str, ...]
    sentences: tuple[Html, ...]
    kept: int  # sentences that the evaluation kept
    whole: int  # sentences of the split


class _Chosen(NamedTuple):
    """A run that is shown, before it is known how much of it fits."""

    setup: RunGroup
    split: str
    way: Method
    run: RunResult
    evaluation: Evaluation


def cases(results: Sequence[RunResult], room: int = ROOM) -> list[Case]:
    """Every case that has mistakes, each with as many sentences as fit into all."""
    chosen = list(_chosen(results))
    names = [types_of(one.evaluation) for one in chosen]
    colours = [{kind: place for place, kind in enumerate(types)} for types in names]
    shown: list[list[Html]] = [[] for _ in chosen]
    for rank in range(max((len(one.evaluation.mistakes.worst) for one in chosen), default=0)):
        row = {
            place: mistakes_html(one.evaluation.mistakes.worst[rank], colours[place])
            for place, one in enumerate(chosen)
            if rank < len(one.evaluation.mistakes.worst)
        }
        room -= sum(len(text.encode()) for text in row.values())
        if room < 0:
            break
        for place, text in row.items():
            shown[place].append(text)
    return [_case(one, types, texts) for one, types, texts in zip(chosen, names, shown, strict=True)]


def _chosen(results: Sequence[RunResult]) -> list[_Chosen]:
    """The typical run of each setup, split and way that has mistakes to show."""
    found = []
    for setup, runs in setups(results).items():
        for split in splits(runs):
            for way in ways(runs, split):
                run = typical(runs, split, way)
                if run and run.evaluations[split][way.decoding].mistakes.worst:
                    found.append(_Chosen(setup, split, way, run, run.evaluations[split][way.decoding]))
    return found


def _case(one: _Chosen, types: tuple[str, ...], sentences: Sequence[Html]) -> Case:
    kept, whole = len(one.evaluation.mistakes.worst), one.evaluation.sentences
    return Case(one.setup, one.split, one.way, one.run.key.seed, types, tuple(sentences), kept, whole)


def types_of(evaluation: Evaluation) -> tuple[str, ...]:
    """All types, the most frequent of gold first, so that these get colours of their own."""
    shown = {e.type for one in evaluation.mistakes.worst for e in (*one.gold, *one.predicted)}
    gold = {kind: score.gold for kind, score in evaluation.types.items()}
    return tuple(sorted(shown | set(gold), key=lambda kind: (-gold.get(kind, 0), kind)))
