"""Which part size to choose: a simulation of a thousand workers, some of them slow, all of them mortal.

    python lab/benchmarks/stragglers.py [--workers 1000] [--hours 3] [--write docs/benchmarks/stragglers.md]

A run is so much work that ideal workers would need `--hours`. A worker takes the next part when it is free. Speeds
differ by a few percent, some workers are several times slower, and every worker dies now and then: its part is lost
and begun again after the model is loaded. A part costs some time besides the tagging, and one driver can hand out only
so many parts a second. What is printed is the share of the ideal speed, the mean of several seeds.
"""

from __future__ import annotations

import argparse
import heapq
import math
import random
import statistics
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from nestag.formats.files import writing
from nestag.inspect.tables import duration

SECONDS = (5, 15, 60, 300, 900, 3_600)
"""Seconds of work in a part, for a worker of the usual speed."""

SEEDS = 3


@dataclass(frozen=True)
class World:
    """What goes wrong, and how often."""

    name: str
    spread: float = 0.05  # deviation of the logarithm of speeds
    slow: float = 0.0  # share of workers that are slow
    slowness: float = 4.0  # times slower
    lifetime: float = math.inf  # mean seconds until a worker dies
    loading: float = 60.0  # seconds until a new worker has the model
    overhead: float = 0.1  # seconds a part costs besides the tagging
    handed_out: float = 200.0  # parts a second that one driver manages


WORLDS = (
    World("nothing goes wrong", spread=0.0),
    World("speeds differ by 5 %"),
    World("2 % of workers 4 times slower", slow=0.02),
    World("a worker dies every 24 h", lifetime=24 * 3_600),
    World("a worker dies every 2 h, as on preemptible machines", lifetime=2 * 3_600),
    World("slow workers, and deaths every 2 h", slow=0.02, lifetime=2 * 3_600),
)


def main() -> None:
    """Simulate and print the table."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--workers", type=int, default=1_000)
    arguments.add_argument("--hours", type=float, default=3.0)
    arguments.add_argument("--write", type=Path, help="also write the table to this file")
    options = arguments.parse_args()
    lines = list(table(options.workers, 3_600 * options.hours))
    print("\n".join(lines))
    if options.write:
        usual = World("")
        told = (
            f"Written by `lab/benchmarks/stragglers.py --workers {options.workers} --hours {options.hours:g}`:"
            " simulated.\n"
            f"Assumed: a part costs {usual.overhead:g} s besides its tagging, a new worker {usual.loading:g} s, and one"
            f" driver hands out {usual.handed_out:g} parts a second."
        )
        with writing(options.write) as stream:
            stream.write(f"# Stragglers and failures, simulated\n\n{told}\n\n" + "\n".join(lines) + "\n")


def table(workers: int, seconds: float) -> Iterator[str]:
    """The share of the ideal speed for each world and part size, in percent."""
    yield "| work in a part | " + " | ".join(duration(size) for size in SECONDS) + " |"
    yield "|---|" + "---|" * len(SECONDS)
    worst = dict.fromkeys(SECONDS, 1.0)
    for world in WORLDS:
        shares = {size: share(world, workers, seconds, size) for size in SECONDS}
        worst = {size: min(worst[size], shares[size]) for size in SECONDS}
        yield f"| {world.name} | " + " | ".join(f"{100 * value:.0f} %" for value in shares.values()) + " |"
    best = max(worst, key=lambda size: worst[size])
    yield f"\nBest in the worst of these worlds: {duration(best)} of work in a part."


def share(world: World, workers: int, seconds: float, size: float) -> float:
    """The ideal time over the simulated one."""
    return statistics.mean(seconds / makespan(world, workers, seconds, size, random.Random(s)) for s in range(SEEDS))


def makespan(world: World, workers: int, seconds: float, size: float, rng: random.Random) -> float:
    """When the last part is done, if ideal workers would need so many seconds."""
    speeds = [
        math.exp(rng.gauss(0.0, world.spread)) / (world.slowness if rng.random() < world.slow else 1.0)
        for _ in range(workers)
    ]
    free = [(0.0, worker) for worker in range(workers)]
    dies = [lifetime(world, rng) for _ in range(workers)]
    handed_out = ended = 0.0
    for _ in range(max(1, round(workers * seconds / size))):
        now, worker = heapq.heappop(free)
        now = handed_out = max(now, handed_out + 1 / world.handed_out)
        takes = world.overhead + size / speeds[worker]
        while dies[worker] < now + takes:  # the part is lost, and the same worker, started again, gets it
            now = max(now, dies[worker]) + world.loading
            dies[worker] = now + lifetime(world, rng)
        ended = max(ended, now + takes)
        heapq.heappush(free, (now + takes, worker))
    return ended


def lifetime(world: World, rng: random.Random) -> float:
    """How long a worker lives."""
    return math.inf if math.isinf(world.lifetime) else rng.expovariate(1 / world.lifetime)


if __name__ == "__main__":
    main()
