"""Training runs of a benchmark: one run, and many side by side whose results are lines of a file.

Runs that have a line are not done again, so the same command goes on after an interruption.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import queue
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from nestag.data.sentence import Sentence
from nestag.evaluation import score
from nestag.formats import jsonl
from nestag.model.recognizer import NestedNER
from nestag_lab.corpora.split import subset


def trained(corpus: str, sentences: int, recipe: str, seed: int, **settings: Any) -> dict[str, Any]:
    """Train one recognizer on so many sentences of a corpus under NESTAG_CORPORA, 0 for all, and score it.

    `dev` and `test` are of constrained decoding; `verified` has both once more for a model with a verifier.
    """
    from nestag.training.run import train

    folder = Path(os.environ["NESTAG_CORPORA"]) / corpus
    training, dev, test = (list(jsonl.read(folder / f"{split}.jsonl.gz")) for split in ("train", "dev", "test"))
    begun = time.monotonic()
    with tempfile.TemporaryDirectory() as place:
        run = train(subset(training, sentences), dev, f"{place}/model", recipe, seed=seed, **settings)
    seconds = time.monotonic() - begun
    recognizer, verified = run.recognizer, {}
    if recognizer.settings.verifier:
        verified = {"verified": {"dev": _f1(recognizer, dev), "test": _f1(recognizer, test)}}
        recognizer.settings = replace(recognizer.settings, verifier=False)
    return {
        "steps": run.plan.steps,
        "batch_subwords": run.plan.batch_subwords,
        "subwords": run.plan.subwords,
        "epochs": round(run.plan.epochs, 1),
        "dev": round(100 * run.dev.f1, 2),
        "test": _f1(recognizer, test),
        **verified,
        "curve": [[scoring.step, round(scoring.loss, 4), round(100 * scoring.score.f1, 2)] for scoring in run.scorings],
        "seconds": round(seconds, 1),
    }


def _f1(recognizer: NestedNER, gold: Sequence[Sentence]) -> float:
    return round(100 * score([sentence.entities for sentence in gold], recognizer.predict(gold)).f1, 2)


def read(path: Path) -> list[dict[str, Any]]:
    """The finished runs."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []


def side_by_side(
    jobs: Sequence[Any], do: Callable[[Any], dict[str, Any]], path: Path, at_once: int, minutes: float
) -> None:
    """Do the jobs that have no line yet, in their order; a job is a named tuple whose fields are in its line."""
    finished = read(path)
    left = [job for job in jobs if not any(tuple(one[name] for name in job._fields) == job for one in finished)]
    print(f"{len(jobs) - len(left)} runs are done, {len(left)} are left")
    context = multiprocessing.get_context("spawn")
    waiting = context.Queue()
    for job in left:
        waiting.put(job)
    time.sleep(1)  # until the queue's own thread has written it
    arguments = waiting, do, path, time.time() + 60 * minutes
    workers = [context.Process(target=_work, args=arguments) for _ in range(min(at_once, len(left)))]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    waiting.cancel_join_thread()


def _work(waiting: Any, do: Callable[[Any], dict[str, Any]], path: Path, deadline: float) -> None:
    """Do runs until none is left, or no time."""
    import torch
    from transformers.utils import logging

    torch.set_num_threads(1)
    logging.disable_progress_bar()
    logging.set_verbosity_error()
    while time.time() < deadline:
        try:
            job = waiting.get_nowait()
        except queue.Empty:
            return
        line = json.dumps({**job._asdict(), **do(job)}) + "\n"
        with path.open("a", encoding="utf-8") as stream:
            stream.write(line)  # one short write: lines of several processes do not mix
