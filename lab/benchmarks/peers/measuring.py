"""What measurements of peers share: clocks, and how results are written."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from nestag.data.sentence import Entity, Sentence
from nestag.evaluation import Score
from nestag.formats import jsonl

Way = Callable[[Sequence[Sentence]], Sequence[Sequence[Entity]]]
"""Sentences -> the entities of each."""


class Seconds(NamedTuple):
    """A time on the clock and on the processor."""

    wall: float
    cpu: float

    @classmethod
    def now(cls) -> Seconds:
        """Both, from some beginning."""
        return cls(time.perf_counter(), time.process_time())

    def since(self, start: Seconds) -> Seconds:
        """How long both are after a start."""
        return Seconds(self.wall - start.wall, self.cpu - start.cpu)


def corpus(where: str, split: str) -> list[Sentence]:
    """A split of a corpus: a folder of JSON Lines, or the name of one in NESTAG_CORPORA."""
    folder = Path(where) if Path(where).is_dir() else Path(os.environ["NESTAG_CORPORA"]) / where
    return list(jsonl.read(next(folder.glob(f"{split}.jsonl*"))))


def characters_to_words(sentence: Sentence, found: Iterable[tuple[int, int, str]]) -> Iterator[Entity]:
    """Entities of characters of a text whose words are divided by blanks.

    >>> list(characters_to_words(Sentence(["New", "York", "slept"]), [(0, 8, "GPE")]))
    [Entity(start=0, end=2, type='GPE')]
    """
    ends = np.cumsum([len(token) + 1 for token in sentence.tokens])
    for start, end, kind in found:
        first, last = np.searchsorted(ends, [start, end - 1], side="right").tolist()
        yield Entity(first, last + 1, kind)


def finished(path: Path) -> list[dict[str, Any]]:
    """The runs of a file of results."""
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()] if path.exists() else []


def gold_of(sentences: Iterable[Sentence]) -> list[set[Entity]]:
    """The entities of each sentence."""
    return [set(sentence.entities) for sentence in sentences]


def shares(found: Score) -> dict[str, float]:
    """Precision, recall and F1 in percent."""
    return {name: round(100 * getattr(found, name), 2) for name in ("precision", "recall", "f1")}


def processor() -> str:
    """The name of the processor, where Linux tells it."""
    path = Path("/proc/cpuinfo")
    lines = path.read_text().splitlines() if path.exists() else []
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "unknown")
