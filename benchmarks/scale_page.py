"""The page of what benchmarks/scale.py measured: tables, and whether each bar is met."""

from __future__ import annotations

import itertools
import os
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

BAR = 0.85
"""The least share of the engine's rate."""

GPU_BAR = 0.8
"""The same on a GPU, with as many workers as it needs."""

FLAT = 1.25
"""The most that memory may grow."""

BUSY = 1.5
"""Load average a core above which a machine does other things too; beside a worker there are Ray and a driver."""

PLAIN = "engine without confidences"
SYSTEMS = ("engine", "cluster")


@dataclass(frozen=True)
class Measured:
    """What a run took."""

    section: str
    system: str  # engine or cluster
    sentences: int
    rate: float  # sentences a second
    computed: float  # sentences in a CPU second of the engine's process, or of the worker
    start: float  # seconds before the first part was begun; 0 where the rate is counted from the command on
    peak: int  # bytes of the engine's process, or of a worker
    driver: int = 0  # bytes of the driver
    load: float = 0.0  # load average of the machine when it ended
    workers: int = 1
    device: str = ""  # the GPU's name
    words: int = 0  # of all sentences, which the engine's process counts
    stages: dict[str, float] = field(default_factory=dict)  # seconds of all workers together


def cores() -> int:
    """Processors of this machine."""
    return os.cpu_count() or 1


def page(runs: Sequence[Measured]) -> Iterator[str]:
    """The measurements as tables."""
    here = [run for run in runs if not run.section.startswith("gpu")]
    loads = [run.load for run in here]
    yield "# Tagging on a cluster, measured\n"
    yield (
        f"Written by `benchmarks/scale.py`; {cores()} cores, load average {min(loads):.1f} to {max(loads):.1f}."
        f"{'' if any(run.device for run in runs) else ' On a GPU nothing was measured yet.'}\n"
    )
    yield from rate_table(here)
    yield from gpu_table(runs)
    starts = [run.start for run in here if run.system == "cluster" and run.start]
    yield f"\nFrom the command to the first part it took {min(starts):.0f} to {max(starts):.0f} s."
    yield from parts_text(here)
    yield from memory_table(here)


def rate_table(runs: Sequence[Measured]) -> Iterator[str]:
    """One worker beside the engine."""
    yield "## Rate, one worker beside the engine with one thread\n"
    yield "| model | sentences | runs | | engine alone | worker | share | at least 0.85 |"
    yield "|---|---|---|---|---|---|---|---|"
    for name, what in itertools.product(("torch", "onnx"), ("computed", "rate")):
        engine, worker = ([run for run in runs if (run.section, run.system) == (name, of)] for of in SYSTEMS)
        if engine and worker:
            alone, beside = (statistics.median(getattr(run, what) for run in some) for some in (engine, worker))
            unit = "sentences in a CPU second" if what == "computed" else "sentences/s"
            share = f"{beside / alone:.2f} | {'yes' if beside >= BAR * alone else 'no'}"
            if what == "rate" and not was_idle([*engine, *worker]):
                share = "not compared: the machine was busy | "
            count = f"{engine[0].sentences:,} | {len(engine)}"
            yield f"| {name} | {count} | {unit} | {alone:,.0f} | {beside:,.0f} | {share} |"


def parts_text(runs: Sequence[Measured]) -> Iterator[str]:
    """What a part costs besides its tagging."""
    for run in (run for run in runs if run.section == "parts"):
        yield "\n## Parts\n"
        yield (
            f"{run.workers} workers did {run.rate:,.0f} parts of one sentence a second, {run.sentences:,} in all. So a"
            f" part costs its worker {run.workers / run.rate:.3f} s besides the tagging: Ray, files, the mark."
        )


def memory_table(runs: Sequence[Measured]) -> Iterator[str]:
    """Memory by the number of sentences."""
    memory = sorted((run for run in runs if run.section == "memory"), key=lambda run: run.sentences)
    if not memory:
        return
    yield "\n## Memory\n"
    yield "| sentences | workers | most of a worker | most of the driver |"
    yield "|---|---|---|---|"
    for run in memory:
        yield f"| {run.sentences:,} | {run.workers} | {run.peak / 2**20:.0f} MiB | {run.driver / 2**20:.0f} MiB |"
    growth = max(memory[-1].peak / memory[0].peak, memory[-1].driver / memory[0].driver)
    verdict = f"(at most {FLAT:g} times): {'yes' if growth <= FLAT else 'no'}, {growth:.2f}."
    yield f"\nMemory is flat from {memory[0].sentences:,} to {memory[-1].sentences:,} sentences {verdict}"


def gpu_table(runs: Sequence[Measured]) -> Iterator[str]:
    """The measurements on a GPU as a table."""
    measured = [run for run in runs if run.section.startswith("gpu")]
    engines = {run.system: run for run in measured if run.system != "cluster"}
    if not measured or "engine" not in engines:
        return
    alone = engines["engine"]
    yield f"\n## Rate on one {alone.device}, {alone.sentences:,} sentences\n"
    yield "| | workers | sentences/s | share of the engine | stages, seconds of all workers together |"
    yield "|---|---|---|---|---|"
    for run in measured:
        name = {"cluster": "words" if run.section == "gpu" else "texts, cut at white space"}.get(run.system)
        stages = ", ".join(f"{stage} {seconds:.0f}" for stage, seconds in run.stages.items())
        workers = run.workers if name else ""
        system = name or {"engine": "engine alone"}.get(run.system, run.system)
        yield f"| {system} | {workers} | {run.rate:,.0f} | {run.rate / alone.rate:.2f} | {stages} |"
    best = max((run.rate for run in measured if (run.section, run.system) == ("gpu", "cluster")), default=0.0)
    yield f"\nAt least {GPU_BAR:g} of the engine: {'yes' if best >= GPU_BAR * alone.rate else 'no'}."


def was_idle(runs: Sequence[Measured]) -> bool:
    """Whether the machine did little else; otherwise times depend on what that was."""
    return max(run.load for run in runs) <= BUSY * cores()
