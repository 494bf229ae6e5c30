"""A server beside the engine that it serves, in one run: throughput, latency at rising load, and a soak.

    python benchmarks/serve.py [--model FOLDER] [--soak 10000] [--write docs/benchmarks/serve.md]

The model is `--model`, or MiniLM under untrained heads. The server is a process as `nestag serve` starts it.
Throughput takes turns with the engine, which tags the same sentences in this process while the server waits; clients
send 12 sentences at once over four connections, because they share the machine with the server.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from statistics import median, quantiles
from typing import Any, NamedTuple

from transformers import AutoConfig, AutoModel, AutoTokenizer

from nestag import NestedNER, sample
from nestag.encoders import locate
from nestag.files import writing
from nestag.training.recipe import load_recipe
from nestag.training.run import untrained
from nestag.vocabulary import Vocabulary

BAR = 0.8
"""The share of the engine's throughput that the server must reach at full load."""

PARTS = ("throughput", "latency", "soak", "killed")
CONNECTIONS, AT_ONCE = 4, 12
FAVOUR = 4.0
LOADS = (1, 2, 4, 8, 16)
GARBAGE = {
    b"{": 400,
    b"\xff\xfe\x00": 400,
    b'{"texts": ' + b"[" * 3_000: 400,
    b"[]": 422,
    b'{"text": 1}': 422,
    b'{"tokens": ["a", ""]}': 422,
    b'{"text": "a", "tokens": ["a"]}': 422,
    b'{"text": "\\ud800"}': 422,
    json.dumps({"text": "a " * 30_000}).encode(): 413,
    json.dumps({"texts": ["a"] * 501}).encode(): 413,
    b'{"text": "' + b"a" * 1_100_000 + b'"}': 413,
}


class Asked(NamedTuple):
    """A request, and what is to come back."""

    body: bytes
    status: int
    entities: list[list[list[Any]]] | None = None


class Client:
    """A connection that stays open."""

    def __init__(self, port: int) -> None:
        """A connection to a port of this machine."""
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)

    def post(self, body: bytes) -> tuple[int, Any]:
        """The status and the answer; a server that closes the connection is called again next time."""
        self.connection.request("POST", "/v1/entities", body, {"Content-Type": "application/json"})
        answer = self.connection.getresponse()
        return answer.status, json.loads(answer.read())


def main() -> None:
    """Measure and print one table after the other."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--model", type=Path, help="a folder; else MiniLM with random heads")
    arguments.add_argument("--rounds", type=int, default=5)
    arguments.add_argument("--seconds", type=float, default=10.0, help="at each load")
    arguments.add_argument("--soak", type=int, default=10_000, help="requests")
    arguments.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS, help="what is measured")
    arguments.add_argument("--write", type=Path, help="also write the tables to this file")
    options = arguments.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        model = options.model or made(Path(scratch) / "model", "minilm")
        lines = []
        for line in measured(model, options, Path(scratch)):
            print(line, flush=True)
            lines.append(line)
    if options.write:
        threads = os.environ.get("OMP_NUM_THREADS", "all")
        told = f"Written by `benchmarks/serve.py`; {os.cpu_count()} cores, OMP_NUM_THREADS {threads}."
        with writing(options.write) as stream:
            stream.write(f"# The server, measured\n\n{told}\n\n" + "\n".join(lines) + "\n")


def measured(model: Path, options: argparse.Namespace, scratch: Path) -> Iterator[str]:
    """The tables that were asked for."""
    if {"throughput", "latency"} & set(options.parts):
        engine = NestedNER.from_pretrained(model, "cpu")
        with server(model) as (port, _):
            if "throughput" in options.parts:
                yield from throughput(engine, port, options.rounds)
            if "latency" in options.parts:
                yield from latency(port, options.seconds)
    if "soak" in options.parts:
        small = made(scratch / "small", shallow(scratch / "encoder"))
        with server(small) as (port, _):
            yield from soak(NestedNER.from_pretrained(small, "cpu"), port, options.soak)
    if "killed" in options.parts:
        yield from killed(model)


def made(folder: Path, encoder: str) -> Path:
    """An encoder under the heads of the default recipe, untrained, but with the most frequent labels favoured.

    Without that nearly every word would begin an entity, and decoding would take longer than it does for any text.
    """
    recipe = load_recipe("default").changed({"encoder": encoder})
    recognizer = untrained(recipe, Vocabulary.learn(sample.sentences("train"), recipe.encoding))
    for name, weight in recognizer.model.named_parameters():
        if name.startswith("heads.") and name.endswith(".bias"):
            weight.data[0] = FAVOUR
    recognizer.save_pretrained(folder)
    return folder


def shallow(folder: Path) -> str:
    """An encoder as MiniLM, but of one layer and without its weights, for a soak that is about the server."""
    config = AutoConfig.from_pretrained(locate("minilm"))
    config.num_hidden_layers = 1
    AutoModel.from_config(config).save_pretrained(folder)
    AutoTokenizer.from_pretrained(locate("minilm")).save_pretrained(folder)
    return str(folder)


@contextmanager
def server(model: Path, port: int = 0) -> Iterator[tuple[int, subprocess.Popen[str]]]:
    """A server that runs, and its port."""
    command = [sys.executable, "-m", "nestag", "serve", str(model), "--port", str(port), "--device", "cpu"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert process.stderr
    try:
        for line in process.stderr:
            if found := re.search(r"http://127\.0\.0\.1:(\d+)/", line):
                threading.Thread(target=process.stderr.read, daemon=True).start()
                wait_for(int(found[1]))
                yield int(found[1]), process
                return
        raise SystemExit("the server did not start")
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(90)


def wait_for(port: int) -> None:
    """Wait until the server answers."""
    while True:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
        try:
            connection.request("GET", "/readyz")
            if connection.getresponse().status == 200:
                return
        except ConnectionError:
            time.sleep(0.05)
        finally:
            connection.close()


def throughput(engine: NestedNER, port: int, rounds: int) -> Iterator[str]:
    """Sentences a second of the engine and of the server, which take turns."""
    sentences = sample.sentences("test")
    bodies = [
        json.dumps({"sentences": [list(sentence.tokens) for sentence in sentences[i : i + AT_ONCE]]}).encode()
        for i in range(0, len(sentences), AT_ONCE)
    ]
    alone, served = [], []
    engine.predict(sentences[:AT_ONCE], confidence=True)
    for number in range(rounds):
        print(f"round {number + 1}", file=sys.stderr, flush=True)
        began = time.perf_counter()
        engine.predict(sentences, confidence=True)
        alone.append(len(sentences) / (time.perf_counter() - began))
        began = time.perf_counter()
        with ThreadPoolExecutor(CONNECTIONS) as pool:
            statuses = list(pool.map(sender(port, bodies), range(CONNECTIONS)))
        served.append(len(sentences) / (time.perf_counter() - began))
        assert sum(map(len, statuses)) == len(bodies)
        assert {status for part in statuses for status in part} == {200}
    ratios = [b / a for a, b in zip(alone, served, strict=True)]
    reached = median(ratios)
    yield "## Throughput at full load\n"
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
    yield "## Latency at rising load\n"
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


def soak(engine: NestedNER, port: int, requests: int, clients: int = 16) -> Iterator[str]:
    """Many requests of all sizes, garbage among them; each answer is compared with the engine's own."""
    asked = questions(engine)
    memory: list[float] = []
    wrong: Counter[str] = Counter()
    statuses: Counter[int] = Counter()
    lock, numbers = threading.Lock(), iter(range(requests))

    def keep_asking(_: int) -> None:
        client = Client(port)
        while True:
            with lock:
                number = next(numbers, None)
                if number is not None and number % (requests // 10 or 1) == 0:
                    memory.append(resident(port))
                    print(f"{number:,} requests, {memory[-1]:,.0f} MB, {dict(wrong)}", file=sys.stderr, flush=True)
            if number is None:
                return
            question = random.Random(number).choice(asked)
            status, answer = client.post(question.body)
            with lock:
                statuses[status] += 1
                if status != question.status:
                    wrong[f"{status} instead of {question.status}"] += 1
                elif question.entities is not None and entities_in(answer) != question.entities:
                    wrong["other entities"] += 1

    with ThreadPoolExecutor(clients) as pool:
        list(pool.map(keep_asking, range(clients)))
    yield f"\n## {requests:,} requests from {clients} clients\n"
    yield f"{len(asked)} different requests, {len(GARBAGE)} of them garbage, to an encoder of one layer.\n"
    yield f"- answered: {sum(statuses.values()):,}, " + ", ".join(
        f"{n:,} with {s}" for s, n in sorted(statuses.items())
    )
    yield f"- not as the engine alone answers, or with another status: {sum(wrong.values())} {dict(wrong) or ''}"
    yield f"- memory of the server, MB, at each tenth: {', '.join(f'{value:,.0f}' for value in memory)}"


def questions(engine: NestedNER) -> list[Asked]:
    """Requests with what the engine says to them; a sentence is found again by its words, which no other has."""
    dice = random.Random(1)
    words = sorted({token for sentence in sample.sentences() for token in sentence.tokens})
    found = [Asked(body, status) for body, status in GARBAGE.items()]
    for number in range(150):
        sentences = [
            [f"Q{number}", *dice.choices(words, k=dice.choice((1, 2, 3, 5, 8, 20)))]
            for _ in range(dice.choice((1, 1, 1, 2, 4)))
        ]
        expected = [[list(entity) for entity in entities] for entities in engine.predict(sentences)]
        found.append(Asked(json.dumps({"sentences": sentences}).encode(), 200, expected))
    return found


def entities_in(answer: Any) -> list[list[list[Any]]]:
    """Start, end and type of each entity of each sentence."""
    return [[[e["start"], e["end"], e["type"]] for e in result["entities"]] for result in answer["results"]]


def resident(port: int) -> float:
    """Megabytes that the server holds, as it says itself."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request("GET", "/metrics")
    found = re.search(r"^process_resident_memory_bytes (\S+)", connection.getresponse().read().decode(), re.MULTILINE)
    connection.close()
    return float(found[1]) / 1e6 if found else 0.0


def killed(model: Path) -> Iterator[str]:
    """A server that is killed while it works, and one that is asked to stop, and another in its place."""
    body = json.dumps({"sentences": [list(sentence.tokens) for sentence in sample.sentences("dev")[:20]]}).encode()

    def ask(port: int) -> int:
        try:
            return Client(port).post(body)[0]
        except (ConnectionError, http.client.HTTPException):
            return 0

    yield "\n## Stopped under load\n"
    for ending in (signal.SIGKILL, signal.SIGTERM):
        with server(model) as (port, process), ThreadPoolExecutor(8) as pool:
            answers = [pool.submit(ask, port) for _ in range(8)]
            time.sleep(1.0)
            process.send_signal(ending)
            process.wait(90)
            done = Counter(answer.result() for answer in answers)
        with server(model, port) as (again, _):
            yield (
                f"- {ending.name}: of 8 requests {done[200]} were answered; exit code {process.returncode};"
                f" started again on the same port it answers {ask(again)}"
            )


if __name__ == "__main__":
    main()
