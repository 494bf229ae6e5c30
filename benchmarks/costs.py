"""What a billion sentences cost, computed from figures that other benchmarks measured; nothing is measured here.

    python benchmarks/costs.py [--sentences 1000000000] [--write docs/benchmarks/costs.md]

    hours = sentences * words a sentence / (words a second of a worker * workers * share * efficiency) / 3,600

Words a second are those of the engine with confidences: on a core (a CPU second) the median of
docs/results/minilm-cpu.jsonl, on a GPU from docs/results/scale.jsonl, where the share that a cluster keeps of both is
too; as long as no GPU was measured there, its rate is the trial's of docs/benchmarks/speed.md. The efficiency of many
workers is from docs/benchmarks/stragglers.md: the worst world there with a minute of work in a part.
"""

from __future__ import annotations

import argparse
import json
import re
import statistics
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from nestag.duration import duration
from nestag.files import read_lines, read_text, writing

DOCS = Path(__file__).parent.parent / "docs"
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
                "Written by `benchmarks/costs.py`: computed from measured figures.\n\n" + "\n".join(lines) + "\n"
            )


class Rate(NamedTuple):
    """What a worker does."""

    worker: str
    words: float  # a second, of the engine alone
    share: float  # of it that a cluster keeps


def table(sentences: int) -> Iterator[str]:
    """Time for several numbers of workers."""
    count, words = (number(text) for text in found("speed.md", r"\(([\d,]+) sentences, ([\d,]+) words\)"))
    efficiency = worst(page("stragglers.md"), "1 min")
    yield f"Sentences of {words / count:.1f} words; efficiency {efficiency:.2f}.\n"
    yield "| worker | words/s | share | workers | time | workers x hours |"
    yield "|---|---|---|---|---|---|"
    for worker, rate, share in (gpu_rate(words / count), core_rate()):
        for workers in WORKERS[worker]:
            seconds = sentences * words / count / (rate * workers * share * efficiency)
            costs = f"{duration(seconds)} | {workers * seconds / 3_600:,.0f}"
            yield f"| {worker} | {rate:,.0f} | {share:.2f} | {workers:,} | {costs} |"


def gpu_rate(words: float) -> Rate:
    """Of a GPU that as many workers share as are fastest."""
    runs = [run for run in scale_runs() if run["section"] == "gpu"]
    alone = [run for run in runs if run["system"] == "engine"]
    if not alone:
        (rate,) = found("speed.md", r"same with confidences \| [\d.]+ \| ([\d,]+) \|")
        return Rate(GPU, number(rate) * words, core_rate().share)
    engine = alone[-1]
    fastest = max(run["rate"] for run in runs if run["system"] == "cluster")
    return Rate(GPU, engine["rate"] * engine["words"] / engine["sentences"], fastest / engine["rate"])


def core_rate() -> Rate:
    """Of one core."""
    rates = {(run["section"], run["system"]): run["computed"] for run in scale_runs()}
    shares = [rates[name, "cluster"] / rates[name, "engine"] for name in ("torch", "onnx")]
    return Rate("core", statistics.median(cpu_rates()), min(1.0, *shares))


def scale_runs() -> list[dict[str, Any]]:
    """What benchmarks/scale.py measured."""
    return [json.loads(line.text) for line in read_lines(DOCS / "results" / "scale.jsonl")]


def page(name: str) -> str:
    """A page of measured figures."""
    return read_text(DOCS / "benchmarks" / name)


def found(name: str, pattern: str) -> tuple[str, ...]:
    """What a page says."""
    match = re.search(pattern, page(name))
    if match is None:
        raise SystemExit(f"docs/benchmarks/{name} has no line like {pattern!r}")
    return match.groups()


def number(text: str) -> float:
    """A number with thousands marked."""
    return float(text.replace(",", ""))


def cpu_rates() -> Iterator[float]:
    """Words in a CPU second, for each corpus and size that was measured."""
    for line in read_lines(DOCS / "results" / "minilm-cpu.jsonl"):
        yield json.loads(line.text)["words_per_cpu_second"]


def worst(text: str, column: str) -> float:
    """The least share in a column of the simulation."""
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line.startswith("|")]
    place = next(at for at, cell in enumerate(rows[0]) if cell.startswith(column))
    return min(float(row[place].removesuffix("%")) for row in rows[2:]) / 100


if __name__ == "__main__":
    main()
