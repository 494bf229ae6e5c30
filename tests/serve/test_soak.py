"""A real server and many clients: every client gets its own response."""

import json
import os
import random
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest

from capitals import Capitals, capitals
from nestag.model.predictor import Predictor
from two_sentences import CORPUS
from waiting import wait_until

REQUESTS, CLIENTS = int(os.environ.get("NESTAG_SOAK", "500")), 12
JSON = {"content-type": "application/json"}


def a_request(number: int) -> tuple[bytes, int, list[list[str]]]:
    """A body, the status it should get, and the entities of each of its sentences."""
    dice = random.Random(number)
    kind = dice.random()
    if kind < 0.2:
        garbage = {b"{": 400, b"\xff\xfe": 400, b'{"texts": ' + b"[" * 900: 400, b'{"text": 1}': 422}
        garbage |= {b'{"text": "' + b"a" * 20_000 + b'"}': 413, json.dumps({"text": f"POISON {number}"}).encode(): 500}
        body, status = dice.choice(list(garbage.items()))
        return body, status, []
    sentences = [
        [dice.choice((f"W{number}x{i}", "and", "SLOW" if kind > 0.98 else "of")) for i in range(dice.randint(1, 30))]
        for _ in range(dice.randint(1, 40) if kind > 0.8 else 1)
    ]
    expected = [[" ".join(words[a:b]) for a, b, *_ in capitals(words)] for words in sentences]
    return json.dumps({"sentences": sentences}).encode(), 200, expected


def ask(client: httpx.Client, number: int) -> Any:
    body, status, expected = a_request(number)
    answer = client.post("/v1/entities", content=body, headers=JSON)
    if answer.status_code != status:
        return number, answer.status_code, answer.text
    if status != 200:
        return None if set(answer.json()) == {"error"} else answer.text
    found = [[entity["text"] for entity in result["entities"]] for result in answer.json()["results"]]
    return None if found == expected else (number, found)


def test_many_concurrent_clients(running: tuple[str, Capitals]) -> None:
    url, _ = running

    def one_client(first: int) -> list[Any]:
        with httpx.Client(base_url=url, timeout=None) as client:
            return [ask(client, number) for number in range(first, REQUESTS, CLIENTS)]

    with ThreadPoolExecutor(CLIENTS) as pool:
        wrong = [answer for answers in pool.map(one_client, range(CLIENTS)) for answer in answers]
    assert len(wrong) == REQUESTS
    assert [answer for answer in wrong if answer is not None] == []
    wait_until(lambda: "nestag_requests_accepted 0.0" in httpx.get(f"{url}/metrics", timeout=None).text)


def test_concurrent_responses_match_single_ones(running_model: tuple[str, Predictor]) -> None:
    url, alone = running_model  # benchmarks/serve.py asks a larger one ten thousand times
    dice = random.Random(1)
    sentences = [dice.choice(CORPUS).tokens[: dice.randint(1, 7)] for _ in range(40)]
    texts = [" ".join(dice.choice(CORPUS).tokens) for _ in range(40)]
    expected = [[[e.start, e.end, e.type, e.confidence] for e in found] for found in alone([*sentences, *texts])]
    bodies = [{"tokens": words} for words in sentences] + [{"text": text} for text in texts]

    def found(body: dict[str, Any]) -> list[list[Any]]:
        (result,) = client.post("/v1/entities", json=body).json()["results"]
        return [[e["start"], e["end"], e["type"], pytest.approx(e["confidence"], abs=1e-3)] for e in result["entities"]]

    with httpx.Client(base_url=url, timeout=None) as client, ThreadPoolExecutor(CLIENTS) as pool:
        assert list(pool.map(found, bodies)) == expected
    assert any(expected)
