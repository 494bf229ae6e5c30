"""Measure a server: throughput and latency compared with the engine alone, a soak test, and stopping under load.

    python benchmarks/serve.py [--parts throughput soak stopped] [--model FOLDER] [--write build/measured/serve.md]

The server is a process that `nestag serve` starts. In `throughput`, server and engine take turns on the same sentences;
clients and server share the machine. `soak` and `stopped` compare every answer with the engine's (soak.py). Without
`--model`, a small model is trained.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import median, quantiles

from served import Client, server, train_small
from soak import soak, stopped

from nestag import NestedNER
from nestag.formats import sample
from nestag.formats.files import writing

TITLES = {"throughput": "Throughput and latency", "soak": "Ten thousand requests", "stopped": "Stopped under load"}
CLIENTS = (1, 2, 4, 8, 16)
SENTENCES = 12
"""Sentences in a request."""


def main() -> None:
    """Measure and print one section after the other."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path, help="a model folder")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--soak", type=int, default=10_000, help="number of requests")
    parser.add_argument("--parts", nargs="+", choices=TITLES, default=list(TITLES), help="what to measure")
    parser.add_argument("--write", type=Path, help="also write the sections to this file")
    options = parser.parse_args()
    lines = ["# The server\n"]
    with tempfile.TemporaryDirectory() as scratch:
        model = options.model or train_small(Path(scratch))
        engine = NestedNER.from_pretrained(model, "cpu")
        for part in options.parts:
            lines.append(f"\n## {TITLES[part]}\n")
            print(lines[-1], flush=True)
            for line in measure(part, engine, model, options):
                print(line, flush=True)
                lines.append(line)
    threads = os.environ.get("OMP_NUM_THREADS", "all")
    lines.append(f"\n{os.cpu_count()} cores, OMP_NUM_THREADS {threads}, load average {os.getloadavg()[0]:.1f}.")
    if options.write:
        with writing(options.write) as stream:
            stream.write("\n".join(lines) + "\n")


def measure(part: str, engine: NestedNER, model: Path, options: argparse.Namespace) -> Iterator[str]:
    """Yield the lines of a section."""
    if part == "stopped":
        yield from stopped(engine, model)
        return
    with server(model) as (port, _):
        yield from soak(engine, port, options.soak) if part == "soak" else throughput(engine, port, options.rounds)


def throughput(engine: NestedNER, port: int, rounds: int) -> Iterator[str]:
    """Measure the sentences per second of the engine and of the server with more and more clients."""
    sentences = sample.sentences("test")
    bodies = [
        json.dumps({"sentences": [list(sentence.tokens) for sentence in sentences[i : i + SENTENCES]]}).encode()
        for i in range(0, len(sentences), SENTENCES)
    ]
    engine(sentences[:SENTENCES])
    yield f"{len(sentences)} sentences, {SENTENCES} in a request, {rounds} rounds.\n"
    yield "| clients | engine, sentences/s | server, sentences/s | ratio | latency: median | 95% |"
    yield "|---:|---:|---:|---:|---:|---:|"
    for clients in CLIENTS:
        alone, served, waits = [], [], list[float]()
        for _ in range(rounds):
            began = time.perf_counter()
            engine(sentences)
            alone.append(len(sentences) / (time.perf_counter() - began))
            began = time.perf_counter()
            with ThreadPoolExecutor(clients) as pool:
                for times in pool.map(send, [port] * clients, (bodies[first::clients] for first in range(clients))):
                    waits += times
            served.append(len(sentences) / (time.perf_counter() - began))
        ratio = median(b / a for a, b in zip(alone, served, strict=True))
        late = quantiles(waits, n=20)[-1]
        latency = f"{1000 * median(waits):,.0f} ms | {1000 * late:,.0f} ms"
        yield f"| {clients} | {median(alone):,.1f} | {median(served):,.1f} | {ratio:.2f} | {latency} |"


def send(port: int, bodies: Sequence[bytes]) -> list[float]:
    """Send requests over one connection, and return the seconds until each answer."""
    client, times = Client(port), []
    for body in bodies:
        began = time.perf_counter()
        status, _ = client.post(body)
        assert status == 200
        times.append(time.perf_counter() - began)
    return times


if __name__ == "__main__":
    main()
