"""One run, in its own process: train, predict, evaluate, and write the result.

    python -m nestag_lab.experiment.job FOLDER [--cpu]

The folder holds a spec.json (spec.py). An interrupted run resumes: training from its last checkpoint, and a trained
model that has no scores yet is loaded. This module needs only what training needs.
"""

from __future__ import annotations

import importlib.metadata
import os
import platform
import shutil
import signal
import sys
import time
import traceback
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from filelock import FileLock, Timeout

import nestag
from nestag.data.sentence import Sentence
from nestag.errors import InputError
from nestag.formats.corpus import Corpus
from nestag.formats.files import remove_leftovers, writing
from nestag.training.interruption import ending_as_exceptions
from nestag_lab.experiment.result import RunResult, write_result
from nestag_lab.experiment.spec import FAILED, LOCK, Spec, decoded, read_spec

if TYPE_CHECKING:
    from nestag.evaluation.result import Evaluation
    from nestag.evaluation.thresholds import Calibration
    from nestag.model.predictor import TextEntity
    from nestag.model.recognizer import NestedNER
    from nestag.training.plan import Progress
    from nestag.training.run import Run

BROKEN, TAKEN, STOPPED = 1, 75, 130
"""Exit codes: the run failed, another process is doing it, or it was interrupted."""


LIBRARIES = ("torch", "transformers", "tokenizers", "accelerate", "numpy")


def main(arguments: Sequence[str]) -> int:
    """Do the run of a folder; the exit code says how it went."""
    folder, cpu = Path(arguments[0]), "--cpu" in arguments[1:]
    signal.signal(signal.SIGINT, signal.default_int_handler)  # processes in the background begin without it
    try:
        with ending_as_exceptions(), FileLock(folder / LOCK, timeout=0):
            remove_leftovers(folder)
            return _done(folder, cpu)
    except Timeout:
        return TAKEN


def _done(folder: Path, cpu: bool) -> int:
    """Do the run of a folder that this process has locked; a failure is recorded."""
    try:
        spec = read_spec(folder)
        if not spec.finished:
            (folder / FAILED).unlink(missing_ok=True)
            do(spec, cpu)
    except KeyboardInterrupt:
        log("stopped")
        return STOPPED
    except Exception:  # noqa: BLE001 - any failure is recorded, and the other runs continue
        traceback.print_exc()
        with suppress(InputError), writing(folder / FAILED) as stream:  # the disk may be full
            stream.write(traceback.format_exc())
        return BROKEN
    return 0


def do(spec: Spec, cpu: bool = False) -> None:
    """Train, predict and evaluate; the result is written last, then weights are deleted unless kept."""
    log(spec.title)
    splits = {name: spec.corpus.read(name) for name in spec.corpus.files}
    for name, found in splits.items():
        for line in found.report.summary():
            log(f"{name}: {line}")
    prepare(cpu)
    run = trained(spec, splits, cpu)
    recognizer = run.recognizer
    scores = {name: evaluate_split(spec, recognizer, name, splits) for name in ("dev", "test")}
    result = RunResult(
        key=spec.key,
        settings=spec.settings,
        scorings=tuple(run.scorings),
        seconds=run.scorings[-1].seconds,
        parameters=sum(value.numel() for value in recognizer.model.parameters()),
        device=device(cpu),
        versions=versions(cpu),
        evaluations={name: found.evaluations for name, found in scores.items()},
        calibration={name: found.calibration for name, found in scores.items() if found.calibration},
    )
    write_result(result, spec.folder)
    if not spec.keep_model:
        shutil.rmtree(spec.model, ignore_errors=True)
    log("finished")


def trained(spec: Spec, splits: Mapping[str, Corpus], cpu: bool) -> Run:
    """Train the model of a run, or load it if it is trained already."""
    from nestag.training.run import train

    logged = 0

    def watch(progress: Progress) -> None:
        nonlocal logged
        for one in progress.dev[logged:]:
            log(f"step {one.step:,}: loss {one.loss:.4f}, dev F1 {100 * one.score.f1:.2f}, {one.seconds:.0f} s")
        logged = len(progress.dev)

    run = train(splits["train"], splits["dev"], spec.model, spec.recipe, seed=spec.key.seed, watch=watch, use_cpu=cpu)
    if run.dropped:
        log(f"{run.dropped:,} crossing entities of train were dropped")
    return run


class SplitScores(NamedTuple):
    """The scores on a split."""

    evaluations: dict[str, Evaluation]  # by decoding
    calibration: Calibration | None  # of constrained decoding


def evaluate_split(spec: Spec, recognizer: NestedNER, split: str, splits: Mapping[str, Corpus]) -> SplitScores:
    """Predict a split with each decoding, save what is predicted, and evaluate it."""
    from nestag.evaluation.evaluator import evaluate_pairs
    from nestag.evaluation.matching import Pair
    from nestag.formats import jsonl

    gold = splits[split]
    evaluations: dict[str, Evaluation] = {}
    calibrated: Calibration | None = None
    for decoding in spec.decodings:
        recognizer.settings = decoded(recognizer.settings, decoding)
        if decoding == "constrained":
            rated = recognizer(gold)
            calibrated = calibration_of(gold, rated)
            found = [tuple(one.entity for one in entities) for entities in rated]
        else:
            found = recognizer.predict(gold)
        predicted = [sentence.with_entities(entities) for sentence, entities in zip(gold, found, strict=True)]
        jsonl.write(predicted, spec.folder / f"{split}.{decoding}.jsonl.gz")
        evaluations[decoding] = evaluate_pairs(map(Pair, gold, predicted), train=splits["train"])
        log(f"{split} {decoding}: F1 {100 * evaluations[decoding].overall.f1:.2f}")
    return SplitScores(evaluations, calibrated)


def calibration_of(gold: Sequence[Sentence], rated: Sequence[Sequence[TextEntity]]) -> Calibration:
    """Return the calibration of confidences."""
    from nestag.evaluation.thresholds import Candidate, calibration

    return calibration(
        Candidate(scored.type, scored.confidence, scored.entity in right)
        for right, entities in zip((set(sentence.entities) for sentence in gold), rated, strict=True)
        for scored in entities
    )


def on_gpu(cpu: bool) -> bool:
    """Return whether a GPU is used."""
    import torch

    return not cpu and torch.cuda.is_available()


def device(cpu: bool) -> str:
    """Return the device in words."""
    import torch

    if on_gpu(cpu):
        return torch.cuda.get_device_name()
    return f"{platform.machine()} CPU, {torch.get_num_threads()} of {os.cpu_count()} cores"


def versions(cpu: bool) -> dict[str, str]:
    """Return the versions of nestag, Python and the libraries that influence results."""
    import torch

    found = {"nestag": nestag.__version__, "python": platform.python_version()}
    for name in LIBRARIES:
        with suppress(importlib.metadata.PackageNotFoundError):
            found[name] = importlib.metadata.version(name)
    return found | ({"cuda": torch.version.cuda} if on_gpu(cpu) and torch.version.cuda else {})


def prepare(cpu: bool) -> None:
    """Silence progress bars and notices, as cli/terminal.py does, and disable cuDNN's attention.

    cuDNN seems to plan anew for every shape of a batch, and batches by subwords have hundreds of shapes.
    """
    import torch
    from transformers.utils import logging

    logging.disable_progress_bar()
    logging.set_verbosity_error()
    if on_gpu(cpu):
        torch.backends.cuda.enable_cudnn_sdp(False)


def log(text: str) -> None:
    """Write a line to the log."""
    sys.stdout.write(f"{time.strftime('%Y-%m-%d %H:%M:%S')} {text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
