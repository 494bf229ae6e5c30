"""What a billion sentences cost, computed from figures that other benchmarks measured; nothing is measured here.

    python benchmarks/costs.py [--sentences 1000000000] [--write docs/benchmarks/costs.md]

    hours = sentences * words a sentence / (words a second of a worker * workers * share * efficiency) / 3,600

Words a second are those of the engine with confidences: on a GPU from docs/benchmarks/speed.md, on a core (a CPU
second) the median of docs/results/minilm-cpu.jsonl. The share that a cluster keeps of the engine's rate is from
docs/benchmarks/scale.md, the efficiency of many workers from docs/benchmarks/stragglers.md: the worst world there with
a minute of work in a part.
"""

from __future__ import annotations

import argparse
import json
import re
import statistics
from collections.abc import Iterator
from pathlib import Path

from nestag.duration import duration
from nestag.files import read_lines, read_text, writing

DOCS = Path(__file__).parent.parent / "docs"
WORKERS = {"NVIDIA H200": (1, 8, 64), "core": (100, 1_000, 10_000)}


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


def table(sentences: int) -> Iterator[str]:
    """Time for several numbers of workers."""
    count, words = (number(text) for text in found("speed.md", r"\(([\d,]+) sentences, ([\d,]+) words\)"))
    (gpu,) = found("speed.md", r"same with confidences \| [\d.]+ \| ([\d,]+) \|")
    rates = {"NVIDIA H200": number(gpu) * words / count, "core": statistics.median(cpu_rates())}
    share = min(
        1.0, *(float(text) for text in re.findall(r"CPU second(?: \| [\d,]+){2} \| ([\d.]+)", page("scale.md")))
    )
    efficiency = worst(page("stragglers.md"), "1 min")
    yield f"Sentences of {words / count:.1f} words; share {share:.2f}, efficiency {efficiency:.2f}.\n"
    yield "| worker | words/s | workers | time | workers x hours |"
    yield "|---|---|---|---|---|"
    for kind, rate in rates.items():
        for workers in WORKERS[kind]:
            seconds = sentences * words / count / (rate * workers * share * efficiency)
            yield f"| {kind} | {rate:,.0f} | {workers:,} | {duration(seconds)} | {workers * seconds / 3_600:,.0f} |"


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
