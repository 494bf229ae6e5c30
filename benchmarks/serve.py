"""A server beside the engine that it serves: throughput, latency at rising load, a soak, and stopping under load.

    python benchmarks/serve.py [--model FOLDER] [--parts soak stopped] [--write build/measured/serve.md]

Throughput and latency are those of `--model`, or of MiniLM under untrained heads; the server is a process as
`nestag serve` starts it. Throughput takes turns with the engine, which tags the same sentences in this process while
the server waits; clients send 12 sentences at once over four connections, because they share the machine with the
server. `--write` changes the sections of a file that were measured, and leaves the others.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from statistics import median, quantiles
from typing import Any

from served import Client, minilm, server, small
from soak import soak, stopped

from nestag import NestedNER
from nestag.formats import sample
from nestag.formats.files import writing

BAR = 0.8
"""The share of the engine's throughput that the server must reach at full load."""

TITLES = {
    "throughput": "Throughput at full load",
    "latency": "Latency at rising load",
    "soak": "Ten thousand requests",
    "stopped": "Stopped under load",
}
HEAD = """# The server, measured

Written by `benchmarks/serve.py`, a section at a time; the last line of each says how. Client and server share the
machine, with one thread of torch in each. Throughput and latency are those of MiniLM under untrained heads that favour
the most frequent labels.
"""
CONNECTIONS, AT_ONCE = 4, 12
LOADS = (1, 2, 4, 8, 16)


def main() -> None:
    """Measure and print one section after the other."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--model", type=Path, help="a folder; else MiniLM with random heads")
    arguments.add_argument("--small", type=Path, help="the model of soak and stopped; else one is trained")
    arguments.add_argument("--rounds", type=int, default=5)
    arguments.add_argument("--seconds", type=float, default=10.0, help="at each load")
    arguments.add_argument("--soak", type=int, default=10_000, help="requests")
    arguments.add_argument("--parts", nargs="+", choices=TITLES, default=list(TITLES), help="what is measured")
    arguments.add_argument("--write", type=Path, help="also write the sections to this file")
    options = arguments.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        for part in options.parts:
            print(f"\n## {TITLES[part]}\n", flush=True)
            lines = []
            for line in measured(part, options, Path(scratch)):
                print(line, flush=True)
                lines.append(line)
            if options.write:
                write(options.write, TITLES[part], [*lines, *([""] if lines[-1].strip() else []), how(part)])


def how(part: str) -> str:
    """With which command a section was made, and on what."""
    command = " ".join(["benchmarks/serve.py", "--parts", part, *_settings()])
    threads = os.environ.get("OMP_NUM_THREADS", "all")
    load = f"load average {os.getloadavg()[0]:.1f} at the end"
    return f"`{command}`, {os.cpu_count()} cores, OMP_NUM_THREADS {threads}, {load}."


def _settings() -> list[str]:
    """The options given, without those that choose parts and name files."""
    given = " ".join(sys.argv[1:])
    return re.findall(r"--(?:rounds|seconds|soak) \S+", given)


def write(path: Path, title: str, lines: Sequence[str]) -> None:
    """Put a section into a file, in the place of the one of its title."""
    text = path.read_text(encoding="utf-8") if path.exists() else HEAD
    head, *sections = re.split(r"^## ", text, flags=re.MULTILINE)
    found = {section.partition("\n")[0]: section for section in sections}
    found[title] = f"{title}\n\n" + "\n".join(lines).strip() + "\n\n"
    ordered = [found[name] for name in TITLES.values() if name in found]
    with writing(path) as stream:
        stream.write("## ".join([f"{head.rstrip()}\n\n", *ordered]).rstrip() + "\n")


def measured(part: str, options: argparse.Namespace, scratch: Path) -> Iterator[str]:
    """A section without its title."""
    if part in ("soak", "stopped"):
        model = options.small or small_in(scratch)
        engine = NestedNER.from_pretrained(model, "cpu")
        if part == "stopped":
            yield from stopped(engine, model)
            return
        with server(model) as (port, _):
            yield from soak(engine, port, options.soak)
        return
    model = options.model or minilm_in(scratch)
    with server(model) as (port, _):
        if part == "throughput":
            yield from throughput(NestedNER.from_pretrained(model, "cpu"), port, options.rounds)
        else:
            yield from latency(port, options.seconds)


@cache
def small_in(scratch: Path) -> Path:
    """The small model, made once."""
    return small(scratch / "small")


@cache
def minilm_in(scratch: Path) -> Path:
    """MiniLM under untrained heads, made once."""
    return minilm(scratch / "minilm")


def throughput(engine: NestedNER, port: int, rounds: int) -> Iterator[str]:
    """Sentences a second of the engine and of the server, which take turns."""
    sentences = sample.sentences("test")
    bodies = [
        json.dumps({"sentences": [list(sentence.tokens) for sentence in sentences[i : i + AT_ONCE]]}).encode()
        for i in range(0, len(sentences), AT_ONCE)
    ]
    alone, served = [], []
    engine(sentences[:AT_ONCE])
    for number in range(rounds):
        print(f"round {number + 1}", file=sys.stderr, flush=True)
        began = time.perf_counter()
        engine(sentences)
        alone.append(len(sentences) / (time.perf_counter() - began))
        began = time.perf_counter()
        with ThreadPoolExecutor(CONNECTIONS) as pool:
            statuses = list(pool.map(sender(port, bodies), range(CONNECTIONS)))
        served.append(len(sentences) / (time.perf_counter() - began))
        assert sum(map(len, statuses)) == len(bodies)
        assert {status for part in statuses for status in part} == {200}
    ratios = [b / a for a, b in zip(alone, served, strict=True)]
    reached = median(ratios)
    yield f"{len(sentences)} sentences, {CONNECTIONS} connections, {AT_ONCE} sentences in a request, {rounds} rounds.\n"
    yield "| | sentences/s, median | of the rounds |"
    yield "|---|---|---|"
    for name, figures in (("engine alone", alone), ("server", served)):
        yield f"| {name} | {median(figures):,.1f} | {', '.join(f'{figure:,.1f}' for figure in figures)} |"
    yield f"| ratio | {reached:.2f} | {', '.join(f'{ratio:.2f}' for ratio in ratios)} |"
    yield f"\nThe ratio is to be at least {BAR}: {'yes' if reached >= BAR else 'no'}, {reached:.2f}.\n"


def sender(port: int, bodies: Sequence[bytes]) -> Any:
    """One of the connections, which sends its share."""

    def send(first: int) -> list[int]:
        client = Client(port)
        return [client.post(body)[0] for body in bodies[first::CONNECTIONS]]

    return send


def latency(port: int, seconds: float) -> Iterator[str]:
    """How long requests of one sentence take when more and more clients send one after the other."""
    yield "Each client sends a sentence, waits for the answer, and sends the next.\n"
    yield "| clients | requests/s | median | 95 % | 99 % |"
    yield "|---|---|---|---|---|"
    bodies = [json.dumps({"tokens": list(sentence.tokens)}).encode() for sentence in sample.sentences("test")]
    for clients in LOADS:
        end = time.perf_counter() + seconds

        def keep_asking(number: int, end: float = end) -> list[float]:
            client, taken, dice = Client(port), [], random.Random(number)
            while (began := time.perf_counter()) < end:
                assert client.post(dice.choice(bodies))[0] == 200
                taken.append(time.perf_counter() - began)
            return taken

        with ThreadPoolExecutor(clients) as pool:
            times = [taken for part in pool.map(keep_asking, range(clients)) for taken in part]
        cuts = quantiles(times, n=100)
        shown = " | ".join(f"{1000 * cuts[i]:,.0f} ms" for i in (49, 94, 98))
        yield f"| {clients} | {len(times) / seconds:,.1f} | {shown} |"


if __name__ == "__main__":
    main()
