"""Large files judged by several processes, each of which reads some blocks of lines of both files.

That is possible where every line is a sentence (JSON Lines) and the files are in the same order. Whatever stands in its
way is found by one of the processes, and then nothing is judged here: whoever asked reads the files one after the
other, and learns what is wrong. The order of sentences changes nothing, so the result is the same to the bit.
"""

from __future__ import annotations

import os
from concurrent.futures import ProcessPoolExecutor
from itertools import repeat
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

from nestag.corpora.files import Part
from nestag.corpora.formats import jsonl
from nestag.corpora.report import Report
from nestag.errors import NestagError
from nestag.evaluation.judge import Judge
from nestag.evaluation.matching import matched

LARGE = 2**25
"""Bytes of both files from which on it is worth while to start processes."""

MOST = 16
"""Processes; each reads past all lines, so more would gain little."""


class Seen(NamedTuple):
    """A judge that has seen two files, and what their readers had to change."""

    judge: Judge
    gold: Report
    predicted: Report


def workers_for(gold: str, predicted: str) -> int:
    """How many processes two files are worth: 1 for small ones."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    try:
        size = Path(gold).stat().st_size + Path(predicted).stat().st_size
    except OSError:  # a pipe, or not there at all: to be found out by whoever reads it
        return 1
    return min(cores, MOST) if size >= LARGE else 1


def see_files(judge: Judge, gold: str, predicted: str, workers: int) -> Seen | None:
    """Let copies of a judge see parts of two files, and join what they saw; None if it cannot be done so."""
    parts = [Part(block, workers) for block in range(workers)]
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        seen = list(pool.map(_see_part, repeat(judge), repeat(gold), repeat(predicted), parts))
    first, *others = seen
    for other in others:
        if first is None or other is None:
            return None
        first.judge.join(other.judge)
        first.gold.join(other.gold)
        first.predicted.join(other.predicted)
    return first


def _see_part(judge: Judge, gold: str, predicted: str, part: Part) -> Seen | None:
    """What one process does."""
    seen = Seen(judge, Report(), Report())
    files = jsonl.read_part(gold, part, seen.gold), jsonl.read_part(predicted, part, seen.predicted)
    try:
        judge.see(matched(*files))
    except NestagError:
        return None
    return seen
