"""How good the light encoder is: a run for each corpus, number of sentences, variant and seed, many at once.

    export NESTAG_CORPORA=...
    python benchmarks/light.py docs/results/light.jsonl [--at-once 12] [--minutes 9] [--encoder light:FOLDER]
        [--corpora genia gum] [--sentences 400 1200 0] [--variants light masked] [--seeds 1 2 3]
    python benchmarks/light.py docs/results/light.jsonl --show

A variant is the recipe `light` with some settings changed; variants are compared on dev. A training corpus of N
sentences is the first N of a fixed random order, the same as for spaCy (peers/spancat.py); dev is whole. Each finished
run is a line of the file. Runs that have a line are not done again, so the same command goes on after an interruption,
and with `--minutes` a run is only begun while there is time. `--show` prints the means over seeds beside spaCy's.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import queue
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from nestag.evaluation.seeds import over_seeds
from nestag.lab.corpora.subset import subset

CORPORA = ("genia", "litbank", "gum")
SIZES = (400, 1_200, 0)
"""Training sentences; 0 is all of them."""

PASSES = {"epochs": 30}
VARIANTS: Mapping[str, dict[str, Any]] = {
    "light": {},
    "30 passes": PASSES,
    "slow table": {**PASSES, "learning_rate": 1e-3},
    "fast table": {**PASSES, "learning_rate": 1e-2},
    "masked": {**PASSES, "masked_subwords": 0.15},
    "rdrop": {**PASSES, "rdrop": 1.0},
    "rdrop, masked": {**PASSES, "rdrop": 1.0, "masked_subwords": 0.15},
    "deep": {**PASSES, "conv_layers": 6},
    "narrow": {**PASSES, "conv_size": 128, "conv_layers": 6},
}
"""What is changed in the recipe `light`."""

SPANCAT = Path(__file__).parents[1] / "docs/results/spancat.jsonl"


class Job(NamedTuple):
    """One run."""

    corpus: str
    sentences: int
    variant: str
    seed: int


def do(job: Job, encoder: str) -> dict[str, Any]:
    """Train one recognizer and score it."""
    from nestag.corpora.formats import jsonl
    from nestag.evaluation import score
    from nestag.training.run import train

    folder = Path(os.environ["NESTAG_CORPORA"]) / job.corpus
    training, dev, test = (list(jsonl.read(folder / f"{split}.jsonl.gz")) for split in ("train", "dev", "test"))
    settings = {**VARIANTS[job.variant], "encoder": encoder}
    begun = time.monotonic()
    with tempfile.TemporaryDirectory() as place:
        run = train(subset(training, job.sentences), dev, f"{place}/model", "light", seed=job.seed, **settings)
    seconds = time.monotonic() - begun
    found = score([sentence.entities for sentence in test], run.recognizer.predict(test))
    return {
        **job._asdict(),
        "settings": VARIANTS[job.variant],
        "steps": run.plan.steps,
        "batch_subwords": run.plan.batch_subwords,
        "dev": round(100 * run.dev.f1, 2),
        "test": round(100 * found.f1, 2),
        "curve": [[scoring.step, round(scoring.loss, 4), round(100 * scoring.score.f1, 2)] for scoring in run.scorings],
        "seconds": round(seconds, 1),
    }


def work(waiting: Any, path: Path, encoder: str, deadline: float) -> None:
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
        line = json.dumps(do(Job(*job), encoder)) + "\n"
        with path.open("a", encoding="utf-8") as stream:
            stream.write(line)  # one short write: lines of several processes do not mix


def read(path: Path) -> list[dict[str, Any]]:
    """The finished runs."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []


def run_all(options: argparse.Namespace) -> None:
    """Do what is not done yet, the largest corpora first and several runs at once."""
    done = {tuple(record[name] for name in Job._fields) for record in read(options.results)}
    left = [
        Job(corpus, size, variant, seed)
        for size in sorted(options.sentences, key=lambda size: -(size or 10**9))
        for seed in options.seeds
        for corpus in options.corpora
        for variant in options.variants
        if (corpus, size, variant, seed) not in done
    ]
    print(f"{len(left)} runs are left")
    context = multiprocessing.get_context("spawn")
    waiting = context.Queue()
    for job in left:
        waiting.put(tuple(job))
    time.sleep(1)  # until the queue's own thread has written it
    deadline = time.time() + 60 * options.minutes
    arguments = waiting, options.results, options.encoder, deadline
    workers = [context.Process(target=work, args=arguments) for _ in range(min(options.at_once, len(left)))]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    waiting.cancel_join_thread()


def shown(records: list[dict[str, Any]], peers: list[dict[str, Any]]) -> Iterator[str]:
    """F1 on dev and test for each corpus, size and variant, as lines of Markdown, beside spaCy's."""
    yield "| corpus | sentences | variant | steps × subwords | dev | test | seeds |"
    yield "|---|---:|---|---:|---:|---:|---:|"
    for corpus in CORPORA:
        for size in SIZES:
            for peer in (one for one in peers if (one["corpus"], one["sentences"]) == (corpus, size)):
                f1 = f"{peer['dev']['f1']:.2f} | {peer['test']['f1']:.2f}"
                yield f"| {corpus} | {size or 'all'} | spaCy's spancat | {peer['steps']:,} | {f1} | 1 |"
            here = [one for one in records if (one["corpus"], one["sentences"]) == (corpus, size)]
            for variant in dict.fromkeys(one["variant"] for one in here):
                same = [one for one in here if one["variant"] == variant]
                dev, test = (over_seeds([one[split] for one in same]) for split in ("dev", "test"))
                plan = f"{same[0]['steps']:,} × {same[0]['batch_subwords']:,}"
                yield f"| {corpus} | {size or 'all'} | {variant} | {plan} | {dev} | {test} | {len(same)} |"


def main() -> None:
    """Do the runs, or show what came of them."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("results", type=Path)
    arguments.add_argument("--at-once", type=int, default=1)
    arguments.add_argument("--minutes", type=float, default=10_000.0)
    arguments.add_argument("--encoder", default="light")
    arguments.add_argument("--corpora", nargs="+", default=list(CORPORA))
    arguments.add_argument("--sentences", nargs="+", type=int, default=list(SIZES), help="0 is all of them")
    arguments.add_argument("--variants", nargs="+", default=list(VARIANTS), choices=list(VARIANTS))
    arguments.add_argument("--seeds", nargs="+", type=int, default=[1])
    arguments.add_argument("--show", action="store_true", help="print the table")
    options = arguments.parse_args()
    if options.show:
        print("\n".join(shown(read(options.results), read(SPANCAT))))
    else:
        run_all(options)


if __name__ == "__main__":
    main()
