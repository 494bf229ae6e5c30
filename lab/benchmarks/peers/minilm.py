"""What training and tagging with `default` cost on one thread of a processor, in CPU seconds, to stand beside spaCy.

    export NESTAG_CORPORA=...
    OMP_NUM_THREADS=1 python lab/benchmarks/peers/minilm.py lab/results/sizes.jsonl lab/results/minilm-cpu.jsonl

F1, steps and scorings of dev are those of finished runs (sizes.py). Here a few real steps of each plan are
timed, and tagging of some sentences; training takes the steps times that, and the scorings of dev. Sizes that have a
line are not measured again.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import torch
from transformers.utils import logging

from nestag.data.sentence import Sentence
from nestag.formats import jsonl
from nestag.model.recognizer import NestedNER
from nestag.training.plan import Progress
from nestag.training.run import train
from nestag_lab.corpora.split import subset

WARM, STEPS = 2, 10
TAGGED = 300
"""Sentences that are tagged to measure the speed."""

SIZES = (250, 500, 1_000, 4_000)
CORPORA = ("litbank", "gum", "germeval2014")


def main() -> None:
    """Measure what has no line yet."""
    torch.set_num_threads(1)
    logging.disable_progress_bar()
    logging.set_verbosity_error()
    runs, output = Path(sys.argv[1]), Path(sys.argv[2])
    done = [json.loads(line) for line in output.read_text().splitlines()] if output.exists() else []
    known = {(record["corpus"], record["sentences"]) for record in done}
    for run in map(json.loads, runs.read_text().splitlines()):
        kind = run["corpus"], run["sentences"]
        if run["recipe"] == "default" and run["seed"] == 1 and run["sentences"] in SIZES and run["corpus"] in CORPORA:
            if kind in known:
                continue
            record = measured(run)
            print(record, flush=True)
            with output.open("a", encoding="utf-8") as stream:
                stream.write(json.dumps(record) + "\n")


def measured(run: dict[str, Any]) -> dict[str, Any]:
    """The cost of one plan."""
    folder = Path(os.environ["NESTAG_CORPORA"]) / run["corpus"]
    training, dev, test = (list(jsonl.read(folder / f"{split}.jsonl.gz")) for split in ("train", "dev", "test"))
    ends: dict[int, float] = {}

    def watch(progress: Progress) -> None:
        ends.setdefault(progress.step, time.process_time())

    with tempfile.TemporaryDirectory() as place:
        found = train(
            subset(training, run["sentences"]), dev[:50], f"{place}/model",
            use_cpu=True, watch=watch, steps=STEPS, batch_subwords=run["batch_subwords"], evaluations=1,
        )  # fmt: skip
    a_step = (ends[STEPS] - ends[WARM]) / (STEPS - WARM)
    rate = words_a_second(found.recognizer, test)
    steps, scorings = run["curve"][-1][0], len(run["curve"])
    return {
        "corpus": run["corpus"],
        "sentences": run["sentences"],
        "steps": steps,
        "scorings": scorings,
        "cpu_seconds_a_step": round(a_step, 3),
        "train_cpu_seconds": round(steps * a_step + scorings * sum(map(len, dev)) / rate),
        "words_per_cpu_second": round(rate),
    }


def words_a_second(recognizer: NestedNER, sentences: list[Sentence]) -> float:
    """Words that are tagged in a CPU second; the best of two."""
    chosen = sentences[:: max(1, len(sentences) // TAGGED)][:TAGGED]
    times = []
    for _ in range(2):
        begin = time.process_time()
        recognizer.predict(chosen)
        times.append(time.process_time() - begin)
    return sum(map(len, chosen)) / min(times)


if __name__ == "__main__":
    main()
