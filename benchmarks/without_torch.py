"""A model with torch and without, measured in one run: speed, start, and what has to be installed.

    python benchmarks/without_torch.py [--model FOLDER --corpus FOLDER] [--threads 2] [--write build/measured/onnx.md]

The model is `--model`, or MiniLM trained on the embedded corpus for `--steps` steps; `--corpus` has dev and test of
what it learned, as JSON Lines. It is exported twice, float32 and int8, and the three take turns on the same sentences;
of several rounds the best of each counts. Time is from words to entities. Starting is a new process, from its beginning
to the entities of one sentence. Where the time of int8 goes, onnxruntime's own profiler says.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from importlib.metadata import PackageNotFoundError, distribution, version
from pathlib import Path
from typing import Any, Literal

import torch
from packaging.requirements import Requirement

from nestag import NestedNER, Recipe, Sentence
from nestag.evaluation import score
from nestag.formats import jsonl, sample
from nestag.formats.files import writing
from nestag.model.benchmark import machine_name
from nestag.model.model_folder import GRAPH
from nestag.model.onnx_export import export
from nestag.model.onnx_runtime import OnnxNER
from nestag.model.predictor import Predictor
from nestag.training.run import train

ROOT = Path(__file__).parent.parent
BAR = 2.0
"""How many times faster than torch int8 must be."""

ALONE = 50
"""Sentences that are also tagged one at a time."""

START = {
    "torch": "from nestag import NestedNER as N; N.from_pretrained(sys.argv[1], 'cpu').predict([['Paris']])",
    "onnx": "from nestag.model.onnx_runtime import OnnxNER as N; N.from_pretrained(sys.argv[1]).predict([['Paris']])",
}


def main() -> None:
    """Measure and print one table after the other."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--model", type=Path, help="a trained model; else one is trained")
    arguments.add_argument("--corpus", type=Path, help="dev.jsonl and test.jsonl of what the model learned")
    arguments.add_argument("--steps", type=int, default=150, help="of training, if there is no model")
    arguments.add_argument("--threads", type=int, default=2)
    arguments.add_argument("--rounds", type=int, default=5)
    arguments.add_argument("--write", type=Path, help="also write the tables to this file")
    options = arguments.parse_args()
    torch.set_num_threads(options.threads)
    with tempfile.TemporaryDirectory() as scratch:
        dev, test = (split(options.corpus, name) for name in ("dev", "test"))
        folders = exported(options.model or trained(Path(scratch) / "torch", options.steps), Path(scratch), dev)
        lines = [*speed(folders, options.threads, options.rounds, test), *profile(folders, options.threads, dev)]
        lines += [*start(folders), *install()]
    print("\n".join(lines))
    if options.write:
        told = (
            f"Written by `benchmarks/without_torch.py`: {machine_name(torch.device('cpu'))}, onnxruntime"
            f" {version('onnxruntime')}, {os.cpu_count()} cores {'with' if has_vnni() else 'without'} instructions for"
            " sums of products of eight bits (VNNI)."
        )
        with writing(options.write) as stream:
            stream.write(f"# With torch and without, measured\n\n{told}\n\n" + "\n".join(lines) + "\n")


def split(folder: Path | None, name: Literal["dev", "test"]) -> Sequence[Sentence]:
    """A split of a folder, or of the embedded corpus."""
    return list(jsonl.read(folder / f"{name}.jsonl")) if folder else sample.sentences(name)


def trained(folder: Path, steps: int) -> Path:
    """MiniLM, trained on the embedded corpus."""
    train(sample.sentences("train"), sample.sentences("dev"), folder, Recipe(encoder="minilm", steps=steps))
    return folder


def exported(model: Path, scratch: Path, sentences: Sequence[Sentence]) -> dict[str, Path]:
    """The folders of the three ways; what int8 costs is a figure here and no reason to stop."""
    folders = {"torch float32": model, "onnx float32": scratch / "float32", "onnx int8": scratch / "int8"}
    recognizer = NestedNER.from_pretrained(model, "cpu")
    export(recognizer, folders["onnx float32"], sentences)
    export(recognizer, folders["onnx int8"], sentences, int8=True, gold=True, max_loss=100)
    return folders


def speed(folders: Mapping[str, Path], threads: int, rounds: int, sentences: Sequence[Sentence]) -> Iterator[str]:
    """Sentences a second of the three ways, which take turns."""
    ways: dict[str, Predictor] = {
        name: OnnxNER.from_pretrained(folder, threads=threads) if "onnx" in name else NestedNER.from_pretrained(folder)
        for name, folder in folders.items()
    }
    times: dict[str, list[float]] = {name: [] for name in ways}
    alone: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(rounds):
        for name, way in ways.items():
            times[name].append(seconds(way, sentences))
            alone[name].append(sum(seconds(way, [sentence]) for sentence in sentences[:ALONE]))
    base = min(times["torch float32"])
    yield "## Speed\n"
    yield "| | sentences/s | times torch | a sentence alone | model on disk | F1 on test |"
    yield "|---|---|---|---|---|---|"
    for name, way in ways.items():
        best, f1 = min(times[name]), score([one.entities for one in sentences], way.predict(sentences)).f1
        size = sum(file.stat().st_size for file in folders[name].iterdir() if file.is_file()) / 1e6
        wait = 1000 * min(alone[name]) / len(sentences[:ALONE])
        row = f"{len(sentences) / best:,.0f} | {base / best:.2f} | {wait:.1f} ms | {size:.0f} MB | {100 * f1:.2f}"
        yield f"| {name} | {row} |"
    reached = base / min(times["onnx int8"])
    yield f"\n{len(sentences):,} sentences, each way the best of {rounds} rounds in which they took turns."
    yield f"int8 is to be at least {BAR:g} times torch: {'yes' if reached >= BAR else 'no'}, {reached:.2f}.\n"


def profile(folders: Mapping[str, Path], threads: int, sentences: Sequence[Sentence]) -> Iterator[str]:
    """Which operations take the time of both graphs."""
    yield "## Where the time goes\n"
    yield "| | operations, by their share of the time |"
    yield "|---|---|"
    for name in ("onnx float32", "onnx int8"):
        way = OnnxNER.from_pretrained(folders[name], threads=threads)
        onnxruntime: Any = import_module("onnxruntime")
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads, options.enable_profiling = threads, True
        options.profile_file_prefix = str(folders[name] / "profile")
        way.session = onnxruntime.InferenceSession(folders[name] / GRAPH, options, providers=["CPUExecutionProvider"])
        way.predict(sentences)
        taken: Counter[str] = Counter()
        for event in json.loads(Path(way.session.end_profiling()).read_text("utf-8")):
            if event.get("cat") == "Node" and "op_name" in event.get("args", {}):
                taken[event["args"]["op_name"]] += event["dur"]
        whole = sum(taken.values())
        most = ", ".join(f"{kind} {100 * time / whole:.0f} %" for kind, time in taken.most_common(6))
        yield f"| {name} | {most} |"
    yield ""


def has_vnni() -> bool:
    """Whether the processor multiplies numbers of eight bits and adds them up in one instruction."""
    info = Path("/proc/cpuinfo")
    return info.exists() and "vnni" in info.read_text()


def seconds(way: Predictor, sentences: Sequence[Sentence]) -> float:
    """How long one pass over the sentences takes."""
    began = time.perf_counter()
    way.predict(sentences)
    return time.perf_counter() - began


def start(folders: Mapping[str, Path]) -> Iterator[str]:
    """How long a new process takes to its first answer."""
    yield "## Start\n"
    yield "| | from nothing to the first entities |"
    yield "|---|---|"
    found: dict[str, list[float]] = {name: [] for name in folders}
    for _ in range(3):
        for name, folder in folders.items():
            began = time.perf_counter()
            subprocess.run([sys.executable, "-c", "import sys; " + START[name.split()[0]], folder], check=True)
            found[name].append(time.perf_counter() - began)
    yield from (f"| {name} | {min(times):.1f} s |" for name, times in found.items())


def install() -> Iterator[str]:
    """What the packages of each way take on disk, with all that they need."""
    yield "\n## Install\n"
    yield "| | packages | on disk |"
    yield "|---|---|---|"
    for extra in ("model", "onnx"):
        names = needed(extra)
        size = sum(map(installed_size, names)) / 1e6
        yield f"| `nestag[{extra}]` | {len(names)} | {size:,.0f} MB |"


def needed(extra: str) -> set[str]:
    """The packages that nestag needs with one of its extras, of those that are installed here."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    waiting = [*project["dependencies"], *project["optional-dependencies"][extra]]
    found: set[str] = set()
    while waiting:
        wanted = Requirement(waiting.pop())
        name = wanted.name.lower().replace("_", "-")
        if name in found or (wanted.marker and not wanted.marker.evaluate({"extra": ""})):
            continue
        try:
            waiting += distribution(name).requires or ()
        except PackageNotFoundError:
            continue
        found.add(name)
    return found


def installed_size(name: str) -> int:
    """The bytes of an installed package."""
    paths = (Path(str(file.locate())) for file in distribution(name).files or ())
    return sum(path.stat().st_size for path in paths if path.is_file())


if __name__ == "__main__":
    main()
