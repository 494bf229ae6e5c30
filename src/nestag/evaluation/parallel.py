"""Large files judged by several processes, each of which reads some blocks of lines of both files.

That is possible where every line is a sentence (JSON Lines) and the files are in the same order. Whatever stands in its
way, be it that a process dies, leads to nothing being judged here: whoever asked reads the files one after the other,
and learns what is wrong. The order of sentences changes nothing, so the result is the same to the bit.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context, parent_process
from pathlib import Path
from threading import Thread
from typing import NamedTuple

from nestag.cores import cores
from nestag.corpora.formats import jsonl
from nestag.corpora.report import Report
from nestag.errors import InputError, NestagError
from nestag.evaluation.judge import Judge
from nestag.evaluation.matching import Pair, matched
from nestag.files import FileShare, is_stream

LARGE = 2**25
"""Bytes of both files from which on it is worth while to start processes."""

MOST = 16
"""Processes; each reads past all lines, so more would gain little."""


class JudgeTask(NamedTuple):
    """What one process is to do."""

    judge: Judge
    gold: str
    predicted: str
    any_ids: bool  # whether sentences are partners whatever their ids
    part: FileShare


class JudgedFiles(NamedTuple):
    """A judge that has seen two files, and what their readers had to change."""

    judge: Judge
    gold: Report
    predicted: Report


def workers_for(*paths: str) -> int:
    """How many processes two files are worth: 1 for small ones, and for pipes, which can be read only once."""
    files = [Path(path) for path in paths]
    if (
        any(map(is_stream, paths))
        or not all(map(Path.is_file, files))
        or sum(file.stat().st_size for file in files) < LARGE
    ):
        return 1
    return min(cores(), MOST)


def see_files(judge: Judge, gold: str, predicted: str, workers: int, any_ids: bool = False) -> JudgedFiles | None:
    """Judge two files in several processes and merge the counts; None if that cannot be done."""
    tasks = [JudgeTask(judge, gold, predicted, any_ids, FileShare(block, workers)) for block in range(workers)]
    first, *others = _done(tasks)
    for other in others:
        if first is None or other is None:
            return None
        first.judge.join(other.judge)
        first.gold.join(other.gold)
        first.predicted.join(other.predicted)
    return first


def _done(tasks: Sequence[JudgeTask]) -> list[JudgedFiles | None]:
    """The result of each task; None for all if one process cannot be started, or dies."""
    try:
        with ProcessPoolExecutor(len(tasks), get_context("spawn"), initializer=_end_with_parent) as pool:
            return list(pool.map(see_part, tasks))
    except (BrokenProcessPool, OSError):
        return [None] * len(tasks)


def _end_with_parent() -> None:
    """Exit when the parent process ends, however it ends."""
    Thread(target=_exit_after_parent, daemon=True).start()


def _exit_after_parent() -> None:
    parent = parent_process()
    assert parent
    parent.join()
    os._exit(1)


def see_part(task: JudgeTask) -> JudgedFiles | None:
    """What is seen of one part; None if the files do not match there, line by line."""
    judge, gold, predicted, any_ids, part = task
    seen = JudgedFiles(judge, Report(), Report())
    files = jsonl.read_part(gold, part, seen.gold), jsonl.read_part(predicted, part, seen.predicted)
    pairs = matched(*files, "order")
    try:
        judge.see(pairs if any_ids else _named_alike(pairs))
    except NestagError:
        return None
    return seen


def _named_alike(pairs: Iterable[Pair]) -> Iterator[Pair]:
    """The pairs, as long as their ids do not differ: then partners are to be found by id, and in all of the files."""
    for pair in pairs:
        if pair.gold.id != pair.predicted.id and None not in (pair.gold.id, pair.predicted.id):
            raise InputError("its id is not that of its partner; match by id", str(pair.predicted.id))
        yield pair
