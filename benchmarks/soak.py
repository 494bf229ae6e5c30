"""Ten thousand requests of all sizes and with errors to a small model, and servers stopped under load.

Every answer is compared with the entities that the engine alone finds. `benchmarks/serve.py --parts soak stopped` runs
both.
"""

from __future__ import annotations

import http.client
import json
import random
import signal
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from served import Client, metric, server

from nestag import NestedNER
from nestag.formats import sample

DIFFERENT = 600
"""Different requests; each is sent many times, in different batches."""

GROWTH = 1.05
"""Maximum ratio of the median memory in the last third and in the second third of the requests."""

SIZES = (1,) * 14 + (2,) * 6 + (4,) * 3 + (40,)
"""Sentences in a request, to draw from."""

AT_ONCE = 8
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

Found = list[list[tuple[int, int, str, str]]]
"""Start, end, type and text of each entity of each text or sentence."""


class Question(NamedTuple):
    """A request and the expected answer."""

    body: bytes
    status: int
    entities: Found | None = None


class Tally:
    """Counts of the answers to all clients."""

    def __init__(self, requests: int) -> None:
        """Send requests of this client with their numbers."""
        self.lock, self.numbers, self.requests = threading.Lock(), iter(range(requests)), requests
        self.statuses: Counter[int] = Counter()
        self.wrong: Counter[str] = Counter()
        self.memory: list[float] = []
        self.entities = 0

    def next(self, port: int) -> int | None:
        """Return the number of the next request, and measure memory 30 times in all."""
        with self.lock:
            number = next(self.numbers, None)
            if number is not None and number % max(1, self.requests // 30) == 0:
                self.memory.append(metric(port, "process_resident_memory_bytes") / 1e6)
                print(f"{number:,} requests, {self.memory[-1]:,.0f} MB {dict(self.wrong)}", file=sys.stderr, flush=True)
            return number

    def note(self, question: Question, status: int, answer: Any) -> None:
        """Count an answer."""
        with self.lock:
            self.statuses[status] += 1
            if status != question.status:
                self.wrong[f"{status} instead of {question.status}"] += 1
            elif question.entities is not None:
                found = entities_in(answer)
                self.entities += sum(map(len, found))
                self.wrong["other entities"] += found != question.entities

    def grown(self) -> float:
        """Return the ratio of the memory in the last third and in the second third."""
        third = len(self.memory) // 3
        return median(self.memory[-third:]) / median(self.memory[third : 2 * third]) if third else 1.0


def soak(engine: NestedNER, port: int, requests: int, clients: int = 16) -> Iterator[str]:
    """Send many requests; exit with 1 if one gets a wrong answer."""
    asked = questions(engine)
    tally = Tally(requests)
    began = time.perf_counter()
    with ThreadPoolExecutor(clients) as pool:
        list(pool.map(lambda _: keep_asking(port, asked, tally), range(clients)))
    seconds = time.perf_counter() - began
    wrong, grown = +tally.wrong, tally.grown()
    statuses = ", ".join(f"{count:,} with {status}" for status, count in sorted(tally.statuses.items()))
    yield f"{requests:,} requests from {clients} clients, {len(asked)} different, to the first two layers of MiniLM,"
    yield "trained for 150 steps: texts and lists of 1 to 40 sentences. One in eight is invalid (no JSON, other fields,"
    yield "half characters, bodies and texts over the limits).\n"
    yield f"- lost: {requests - sum(tally.statuses.values())}; answered in {seconds:,.0f} s: {statuses}"
    yield f"- wrong entities or status: {dict(wrong) or 0}"
    yield f"- entities in the answers: {tally.entities:,}"
    yield f"- memory of the server in MB, 30 times: {', '.join(f'{value:,.0f}' for value in tally.memory)}"
    yield f"- ratio of the median memory in the last third and in the second third: {grown:.3f} (maximum {GROWTH})"
    if wrong or sum(tally.statuses.values()) != requests or grown > GROWTH or not tally.entities:
        raise SystemExit("the soak test failed; see the lines above")


def keep_asking(port: int, asked: list[Question], tally: Tally) -> None:
    """Send requests over one connection."""
    client = Client(port)
    while (number := tally.next(port)) is not None:
        question = random.Random(number).choice(asked)
        tally.note(question, *client.post(question.body))


def questions(engine: NestedNER) -> list[Question]:
    """Return requests with the engine's entities; one in eight is invalid."""
    dice = random.Random(1)
    corpus = [list(sentence.tokens) for sentence in sample.sentences()]
    garbage = [Question(body, status) for body, status in GARBAGE.items()]
    found = [dice.choice(garbage) for _ in range(DIFFERENT // 8)]
    while len(found) < DIFFERENT:
        sentences = dice.choices(corpus, k=dice.choice(SIZES))
        text = " ".join(word for words in sentences for word in words)
        found.append(
            question(engine, *(("sentences", sentences) if dice.random() < 0.6 else ("texts", [text, text[:50]])))
        )
    return found


def question(engine: NestedNER, field: str, inputs: list[Any]) -> Question:
    """Return a request of texts or sentences, and the engine's entities."""
    expected = [[entity[:4] for entity in entities] for entities in engine(inputs)]
    return Question(json.dumps({field: inputs}).encode(), 200, expected)


def entities_in(answer: Any) -> Found:
    """Return the entities of an answer."""
    return [[(e["start"], e["end"], e["type"], e["text"]) for e in result["entities"]] for result in answer["results"]]


def stopped(engine: NestedNER, model: Path) -> Iterator[str]:
    """Kill or stop servers under load, and start others on the same port."""
    asked = question(engine, "sentences", [list(sentence.tokens) for sentence in sample.sentences("train")[:200]])

    def ask(port: int) -> str:
        try:
            status, answer = Client(port).post(asked.body)
        except (ConnectionError, http.client.HTTPException):
            return "not answered"
        return "correct" if (status, entities_in(answer)) == (200, asked.entities) else "wrong"

    yield f"{AT_ONCE} requests of 200 sentences are sent in parallel. When all are accepted, the signal is sent.\n"
    for ending in (signal.SIGKILL, signal.SIGTERM, signal.SIGHUP):
        with server(model) as (port, process), ThreadPoolExecutor(AT_ONCE) as pool:
            answers = [pool.submit(ask, port) for _ in range(AT_ONCE)]
            while metric(port, "nestag_requests_accepted") < AT_ONCE:
                time.sleep(0.01)
            process.send_signal(ending)
            process.wait(90)
            done = Counter(answer.result() for answer in answers)
        with server(model, port) as (again, _), ThreadPoolExecutor(AT_ONCE) as pool:
            after = Counter(pool.map(ask, [again] * AT_ONCE))
        ended = f"{describe(done)}; exit code {process.returncode}"
        yield f"- {ending.name}: {ended}; the next server on this port: {describe(after)}"
        if set(after) != {"correct"} or (ending != signal.SIGKILL and set(done) != {"correct"}):
            raise SystemExit("a server did not stop or start as it should")


def describe(answers: Counter[str]) -> str:
    """Describe the answers."""
    return ", ".join(f"{count} {name}" for name, count in answers.items())
