"""Train on real corpora with several settings and seeds, and compare greedy with legal decoding of the same models.

    python benchmarks/training.py OUT JOB [JOB ...] [--at-once 6] [--encoder FOLDER] [--keep FOLDER]

A job is `corpus:recipe:seeds:key=value,key=value`, e.g. `genia:default:1-3:encoding=dyn`. Corpora lie under
NESTAG_CORPORA. Every finished run adds a line to OUT/results.jsonl; runs found there are not repeated.
With --keep the trained models stay, each in a folder with the name of its job.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import Any

from nestag.corpora.formats import jsonl
from nestag.data import Sentence
from nestag.evaluation import score
from nestag.recipe import load_recipe


def main() -> None:
    """Run the jobs that are not done yet, several at once, and print a table."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("out", type=Path)
    arguments.add_argument("jobs", nargs="+")
    arguments.add_argument("--at-once", type=int, default=6)
    arguments.add_argument("--encoder", default="minilm")
    arguments.add_argument("--keep", type=Path)
    arguments.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    options = arguments.parse_args()
    if options.one:
        print(json.dumps(run(options.jobs[0], options.encoder, options.out / "epochs.jsonl", options.keep)))
        return
    options.out.mkdir(parents=True, exist_ok=True)
    results = options.out / "results.jsonl"
    done = {json.loads(line)["job"] for line in results.open()} if results.exists() else set()
    todo = [job for text in options.jobs for job in expanded(text) if job not in done]
    threads = max(1, (os.cpu_count() or 1) // min(options.at_once, max(1, len(todo))))
    with ThreadPoolExecutor(options.at_once) as pool:
        running = {pool.submit(apart, job, options.encoder, options.out, threads, options.keep): job for job in todo}
        for finished in as_completed(running):
            line = finished.result()
            print(line or f"FAILED {running[finished]}", flush=True)
            if line:
                with results.open("a") as stream:
                    stream.write(line + "\n")


def expanded(text: str) -> list[str]:
    """A job for each of its seeds."""
    corpus, recipe, seeds, changes = [*text.split(":"), ""][:4]
    first, _, last = seeds.partition("-")
    return [f"{corpus}:{recipe}:{seed}:{changes}" for seed in range(int(first), int(last or first) + 1)]


def apart(job: str, encoder: str, out: Path, threads: int, keep: Path | None) -> str:
    """Run a job in a process of its own; its last line of output is the result."""
    command = [sys.executable, __file__, str(out), job, "--one", "--encoder", encoder]
    command += ["--keep", str(keep)] if keep else []
    environment = {**os.environ, "OMP_NUM_THREADS": str(threads)}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    if done.returncode:
        print(done.stderr[-3_000:], flush=True)
        return ""
    return done.stdout.strip().rpartition("\n")[2]


def run(job: str, encoder: str, log: Path, keep: Path | None) -> dict[str, Any]:
    """Train once; score dev and test with both decodings. Each epoch adds a line to the log."""
    import torch

    from nestag.recognizer import NestedNER
    from nestag.trainer import Progress
    from nestag.training import train

    corpus, recipe, seed, changes = job.split(":", 3)
    settings = dict(change.split("=", 1) for change in changes.split(",") if change)
    chosen = load_recipe(recipe).changed({"encoder": encoder, **settings})
    folder = keep / job if keep else Path(tempfile.mkdtemp())
    begin = time.time()
    told = [0]

    def watch(progress: Progress) -> None:
        if len(progress.dev) > told[0]:
            told[0] = len(progress.dev)
            line = {"job": job, "epoch": told[0], "f1": progress.dev[-1].f1, "seconds": round(time.time() - begin)}
            with log.open("a") as stream:
                stream.write(json.dumps(line) + "\n")

    torch.backends.cuda.enable_cudnn_sdp(False)  # seems to plan anew for every shape; not measured alone
    finished = train(read(corpus, "train"), read(corpus, "dev"), folder, chosen, int(seed), watch)
    result: dict[str, Any] = {"job": job, "epochs": [round(100 * found.f1, 2) for found in finished.epochs]}
    result["seconds"] = round(time.time() - begin)
    recognizer = NestedNER.from_pretrained(folder)  # as a user has it: in float32
    for split in ("dev", "test"):
        sentences = read(corpus, split)
        gold = [sentence.entities for sentence in sentences]
        for decoding in ("greedy", "legal"):
            recognizer.settings = dataclasses.replace(recognizer.settings, decoding=decoding)
            found = score(gold, recognizer.predict(sentences))
            result[f"{split} {decoding}"] = [round(100 * v, 2) for v in (found.precision, found.recall, found.f1)]
    if not keep:
        shutil.rmtree(folder)
    return result


def read(corpus: str, split: str) -> list[Sentence]:
    """A split of a corpus."""
    folder = os.environ.get("NESTAG_CORPORA") or sys.exit("NESTAG_CORPORA is not set; name the folder of the corpora")
    return list(jsonl.read(Path(folder) / corpus / f"{split}.jsonl.gz"))


if __name__ == "__main__":
    main()
