"""What a billion sentences cost, computed from figures that other benchmarks measured; nothing is measured here.

    python lab/benchmarks/costs.py [--sentences 1000000000] [--write docs/benchmarks/costs.md]

    hours = sentences * words a sentence / (words a second of a worker * workers * share * efficiency) / 3,600

Words a second are those of the engine with confidences: on a core (a CPU second) the median of
lab/results/minilm-cpu.jsonl, on a GPU from lab/results/scale.jsonl, where the share that a cluster keeps of both is
too, and the words of a sentence. The share of a GPU is above 1 where several workers use it. The efficiency of many
workers is from docs/benchmarks/stragglers.md: the worst world there with a minute of work in a part.
"""

from __future__ import annotations

import argparse
import json
import statistics
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from nestag.formats.files import read_lines, read_text, writing
from nestag.inspect.tables import duration

LAB = Path(__file__).parents[1]
GPU = "NVIDIA H200"
WORKERS = {GPU: (1, 8, 64), "core": (100, 1_000, 10_000)}


def main() -> None:
    """Compute and print the table."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--sentences", type=int, default=10**9)
    arguments.add_argument("--write", type=Path, help="also write the table to this file")
    options = arguments.parse_args()
    lines = list(table(options.sentences))
    print("\n".join(lines))
    if options.write:
        with writing(options.write) as stream:
            stream.write(
                f"# What {options.sentences:,} sentences cost\n\n"
                "Written by `lab/benchmarks/costs.py`: computed from measured figures.\n\n" + "\n".join(lines) + "\n"
            )


class Rate(NamedTuple):
    """What a worker does."""

    worker: str
    words: float  # a second, of the engine alone
    share: float  # of it that a cluster keeps


def table(sentences: int) -> Iterator[str]:
    """Time for several numbers of workers."""
    alone = gpu_alone()
    words = alone["words"] / alone["sentences"]
    efficiency = worst(read_text(LAB.parent / "docs" / "benchmarks" / "stragglers.md"), "1 min")
    yield f"Sentences of {words:.1f} words; efficiency {efficiency:.2f}.\n"
    yield "| worker | words/s | share | workers | time | workers x hours |"
    yield "|---|---|---|---|---|---|"
    for worker, rate, share in (gpu_rate(alone, words), core_rate()):
        for workers in WORKERS[worker]:
            seconds = sentences * words / (rate * workers * share * efficiency)
            costs = f"{duration(seconds)} | {workers * seconds / 3_600:,.0f}"
            yield f"| {worker} | {rate:,.0f} | {share:.2f} | {workers:,} | {costs} |"


def gpu_alone() -> dict[str, Any]:
    """The engine alone on a GPU."""
    return [run for run in scale_runs() if (run["section"], run["system"]) == ("gpu", "engine")][-1]


def gpu_rate(alone: dict[str, Any], words: float) -> Rate:
    """Of a GPU that as many workers share as are fastest."""
    fastest = max(run["rate"] for run in scale_runs() if (run["section"], run["system"]) == ("gpu", "cluster"))
    return Rate(GPU, alone["rate"] * words, fastest / alone["rate"])


def core_rate() -> Rate:
    """Of one core."""
    rates = {(run["section"], run["system"]): run["computed"] for run in scale_runs()}
    shares = [rates[name, "cluster"] / rates[name, "engine"] for name in ("torch", "onnx")]
    return Rate("core", statistics.median(cpu_rates()), min(1.0, *shares))


def scale_runs() -> list[dict[str, Any]]:
    """What benchmarks/scale.py measured."""
    return [json.loads(line.text) for line in read_lines(LAB / "results" / "scale.jsonl")]


def cpu_rates() -> Iterator[float]:
    """Words in a CPU second, for each corpus and size that was measured."""
    for line in read_lines(LAB / "results" / "minilm-cpu.jsonl"):
        yield json.loads(line.text)["words_per_cpu_second"]


def worst(text: str, column: str) -> float:
    """The least share in a column of the simulation."""
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line.startswith("|")]
    place = next(at for at, cell in enumerate(rows[0]) if cell.startswith(column))
    return min(float(row[place].removesuffix("%")) for row in rows[2:]) / 100


if __name__ == "__main__":
    main()
