"""What a user would pick instead: speed, memory and F1 on the same sentences and machine, in one run.

    NESTAG_CORPORA=... python lab/benchmarks/peers/beside.py WORK [--corpus genia] [--sentences 300] [--test 500]
        [--epochs 6] [--threads 2] [--rounds 3] [--gliner PYTHON] [--write docs/benchmarks/peers.md]

Every recognizer is trained on the same subset of the corpus, unless WORK has it already, and measured in processes of
its own that take turns; of several rounds the best counts. PYTHON is an environment with the package gliner
(gliner_spans.py says how to make it); without it, GLiNER is left out. How nestag stands beside the flat tagger in plain
batches is measured more closely by flat.py, in one process.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from measuring import corpus
from one import PEERS

from nestag.formats import jsonl
from nestag.formats.files import writing
from nestag_lab.corpora.split import subset

HERE = Path(__file__).parent
OURS, GLINER = "nestag", "GLiNER's architecture"


def main() -> None:
    """Train what is missing, measure all, print and write the table."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("work", type=Path)
    arguments.add_argument("--corpus", default="genia")
    arguments.add_argument("--sentences", type=int, default=300, help="of the training set")
    arguments.add_argument("--test", type=int, default=500)
    arguments.add_argument("--epochs", type=int, default=6)
    arguments.add_argument("--threads", type=int, default=2)
    arguments.add_argument("--rounds", type=int, default=3)
    arguments.add_argument("--gliner", help="the Python of an environment with gliner")
    arguments.add_argument("--write", type=Path)
    given = arguments.parse_args()
    prepare(given.work / "corpus", given.corpus, given.sentences, given.test)
    pythons = {name: given.gliner if name == GLINER else sys.executable for name in PEERS}
    pythons = {name: python for name, python in pythons.items() if python}
    for name, python in pythons.items():
        if not (given.work / PEERS[name].folder / PEERS[name].done).exists():
            call(python, ["train", name, str(given.work), "--epochs", str(given.epochs)], given.threads)
    found: dict[str, list[dict[str, Any]]] = {name: [] for name in pythons}
    for _ in range(given.rounds):
        for name, python in pythons.items():
            measured = call(python, ["measure", name, str(given.work), "--threads", str(given.threads)], given.threads)
            found[name].append(json.loads(measured.splitlines()[-1]))
    text = "\n".join(page(found, given)) + "\n"
    print(text)
    if given.write:
        with writing(given.write) as stream:
            stream.write(text)


def prepare(folder: Path, name: str, sentences: int, test: int) -> None:
    """Write the subsets that all learn from and are measured on."""
    folder.mkdir(parents=True, exist_ok=True)
    for split, size in (("train", sentences), ("dev", max(1, sentences // 4)), ("test", test)):
        path = folder / f"{split}.jsonl"
        if not path.exists():
            jsonl.write(subset(corpus(name, split), size), path)


def call(python: str, arguments: Sequence[str], threads: int) -> str:
    """What one.py prints, called with these arguments."""
    env = {**os.environ, "OMP_NUM_THREADS": str(threads), "HF_HUB_OFFLINE": "1"}
    return subprocess.run(
        [python, str(HERE / "one.py"), *arguments], check=True, stdout=subprocess.PIPE, text=True, env=env
    ).stdout


def page(found: Mapping[str, Sequence[Mapping[str, Any]]], given: argparse.Namespace) -> Iterator[str]:
    """The page, line by line."""
    speed = {name: max(run["sentences/s"] for run in runs) for name, runs in found.items()}
    yield "# Beside what else could be used\n"
    yield (
        f"Written by `lab/benchmarks/peers/beside.py`: {given.test} test sentences of {given.corpus}, {given.threads}"
        f" threads of a processor ({found[OURS][0]['processor']}). Every recognizer had processes of its own, which"
        f" took turns; the best of {given.rounds} rounds counts. All learned from the same {given.sentences} sentences,"
        " those around an encoder with MiniLM and in so few epochs that F1 says that each has learned, not how well it"
        " can; spaCy stops by itself. Memory is the peak of the process, its libraries included.\n"
    )
    yield "| | sentences/s | beside nestag | peak memory | epochs | F1, all entities | call |"
    yield "|---|---:|---:|---:|---:|---:|---|"
    for name, runs in found.items():
        memory, f1 = min(run["memory"] for run in runs), runs[0]["f1"]
        epochs = "" if "spaCy" in name else runs[0]["epochs"]
        yield (
            f"| {name} | {speed[name]:,.0f} | {speed[name] / speed[OURS]:.2f} | {memory:,.0f} MiB | {epochs} |"
            f" {f1:.1f} | `{PEERS[name].typed}` |"
        )
    versions = {name: of for runs in found.values() for name, of in runs[0]["versions"].items()}
    yield f"\nVersions: {', '.join(f'{name} {of}' for name, of in sorted(versions.items()))}.\n"
    yield (
        "A flat tagger learns the outermost entities alone, so it cannot find all. GLiNER's architecture was built from"
        " its configuration around MiniLM, without any of the published weights; an epoch of it takes several times as"
        " long, so it has a third of the epochs, and rates spans of up to 12 words alone. What was typed:\n"
    )
    yield f"    python lab/benchmarks/peers/beside.py WORK --sentences {given.sentences} --test {given.test}" + (
        " --gliner PYTHON" if given.gliner else ""
    )


if __name__ == "__main__":
    main()
