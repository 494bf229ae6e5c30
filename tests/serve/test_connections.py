"""Clients that are slow, send too much, do not read, or are too many, over real sockets."""

import asyncio
import json
import logging
import re
import socket
import threading
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import ExitStack
from http.client import HTTPResponse
from typing import Any

import httpx
import pytest

from capitals import Capitals
from nestag.model.engine import Item, TaggedChunk
from nestag.serve.limits import RefusedError, ServerLimits
from nestag.serve.middleware import Gate, Metrics

LONG = 60.0
HEAD = "POST /v1/entities HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
BODY = b'{"text": "Ann"}'
REQUEST = f"{HEAD}Content-Length: {len(BODY)}\r\n\r\n".encode() + BODY
SLOW = REQUEST.replace(b"Ann", b"SLOW").replace(b"Length: 15", b"Length: 16")
PING = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"


def connect(url: str) -> socket.socket:
    host, port = url.removeprefix("http://").split(":")
    return socket.create_connection((host, int(port)), LONG)


def status_of(client: socket.socket) -> int:
    """Read one answer, without a byte of what follows it."""
    answer = HTTPResponse(client)
    answer.fp = client.makefile("rb", buffering=0)
    answer.begin()
    answer.read()
    return answer.status


def exchange(client: socket.socket, data: bytes) -> int:
    client.sendall(data)
    return status_of(client)


def start_body(url: str, head: str = f"{HEAD}Content-Length: {len(BODY)}\r\n") -> socket.socket:
    """Send headers and one byte of a body; the server is known to wait for the rest."""
    client = connect(url)
    client.sendall(f"{head}Expect: 100-continue\r\n\r\n".encode())
    expected = b"HTTP/1.1 100 Continue\r\n\r\n"
    assert b"".join(client.recv(1) for _ in expected).startswith(b"HTTP/1.1 100")
    client.sendall(BODY[:1])
    return client


def until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + LONG
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


def metric(url: str, name: str) -> float:
    (value,) = re.findall(rf"^{re.escape(name)} (\S+)", httpx.get(f"{url}/metrics", timeout=LONG).text, re.MULTILINE)
    return float(value)


def test_slow_bodies_do_not_occupy_the_queue(live: Any) -> None:
    with live(Capitals(), max_queue=2) as url, ExitStack() as clients:
        slow = [clients.enter_context(start_body(url)) for _ in range(4)]
        with connect(url) as quick:
            assert exchange(quick, REQUEST) == 200
        assert [exchange(client, BODY[1:]) for client in slow] == [200] * 4


SCOPE = {"type": "http", "method": "POST", "path": "/", "headers": [(b"content-type", b"application/json")]}


def receive_body() -> Callable[[], Awaitable[Any]]:
    """Receive a body, and no disconnect after it."""
    messages = [{"type": "http.request", "body": BODY}]

    async def receive() -> Any:
        return messages.pop() if messages else await asyncio.Future()

    return receive


def test_clients_that_do_not_read_do_not_occupy_the_queue() -> None:
    async def application(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})

    async def check() -> None:
        gate = Gate(application, ServerLimits(max_queue=1), Metrics())
        reading, answered = asyncio.Event(), asyncio.Event()

        async def wait(_: Any) -> None:
            answered.set()
            await reading.wait()

        async def send(_: Any) -> None:
            pass

        first = asyncio.create_task(gate(dict(SCOPE), receive_body(), wait))
        await answered.wait()
        await gate(dict(SCOPE), receive_body(), send)
        reading.set()
        await first
        assert not gate.waiting

    asyncio.run(check())


def test_a_full_queue_refuses_complete_requests() -> None:
    async def check() -> None:
        started, resume = asyncio.Event(), asyncio.Event()

        async def application(*_: Any) -> None:
            started.set()
            await resume.wait()

        gate = Gate(application, ServerLimits(max_queue=1), Metrics())
        first = asyncio.create_task(gate(dict(SCOPE), receive_body(), application))
        await started.wait()
        with pytest.raises(RefusedError) as refused:
            await gate(dict(SCOPE), receive_body(), application)
        resume.set()
        await first
        assert (refused.value.status, gate.waiting) == (503, set())

    asyncio.run(check())


class Waiting(Capitals):
    """Waits before it tags a text with the word SLOW."""

    def __init__(self) -> None:
        super().__init__()
        self.started, self.resume = threading.Event(), threading.Event()

    def run(self, items: Iterable[Item], confidence: bool = False) -> Iterator[TaggedChunk]:
        given = list(items)
        if any("SLOW" in item.tokens for item in given):
            self.started.set()
            assert self.resume.wait(LONG)
        return super().run(given, confidence)


LIMITS = [("max_connections_per_client", 429), ("max_connections", 503)]


@pytest.mark.parametrize(("limit", "status"), LIMITS)
def test_connections_are_limited(live: Any, limit: str, status: int) -> None:
    waiting = Waiting()
    with live(waiting, **{limit: 1}) as url, connect(url) as client:
        client.sendall(SLOW)
        assert waiting.started.wait(LONG)
        with connect(url) as another:
            assert exchange(another, PING) == status
            assert another.recv(1) == b""
        waiting.resume.set()
        assert status_of(client) == 200


@pytest.mark.parametrize(("limit", "status"), LIMITS)
def test_slow_and_idle_clients_are_dropped_for_others(live: Any, limit: str, status: int) -> None:
    with live(Capitals(), **{limit: 3}) as url, ExitStack() as clients:
        slow = clients.enter_context(start_body(url))
        idle, loris = (clients.enter_context(connect(url)) for _ in range(2))
        assert exchange(idle, PING) == 200
        assert exchange(loris, PING + PING[:10]) == 200
        for oldest, statuses in ((slow, [status]), (idle, []), (loris, [status])):
            assert exchange(clients.enter_context(connect(url)), REQUEST) == 200
            assert [status_of(oldest) for _ in statuses] == statuses
            assert oldest.recv(1) == b""


def test_clients_that_do_not_read_make_way_for_others(live: Any) -> None:
    body = json.dumps({"tokens": ["A"] * 60_000}).encode()  # the answer is too large for the buffers of the system
    limits = {"max_connections_per_client": 1, "max_words": 60_000, "max_characters": 60_000}
    with live(Capitals(), **limits) as url, socket.socket() as deaf:
        host, port = url.removeprefix("http://").split(":")
        deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
        deaf.connect((host, int(port)))
        deaf.sendall(f"{HEAD}Content-Length: {len(body)}\r\n\r\n".encode() + body + PING)
        until(lambda: len(deaf.recv(2_000, socket.MSG_PEEK)) == 2_000)
        with connect(url) as quick:
            assert exchange(quick, REQUEST) == 200


def test_incomplete_requests_time_out(live: Any) -> None:
    unread = PING.replace(b"\r\n\r\n", b"\r\nContent-Length: 500\r\n\r\n")
    cases: list[tuple[bytes, list[int]]] = [
        (b"", []),
        (b"POST /v1/entities HT", [408]),
        (b"GET / HTTP/1.1\r\nHost: localhost\r\n", [408]),
        (REQUEST[:-1], [408]),
        (PING, [200]),
        (PING + PING[:10], [200, 408]),
        (unread, [200]),
        (unread + b"a", [200]),
    ]
    with live(Capitals(), max_upload_seconds=2) as url, ExitStack() as clients:
        opened = [clients.enter_context(connect(url)) for _ in cases]
        for client, (sent, _) in zip(opened, cases, strict=True):
            client.sendall(sent)
        for client, (sent, statuses) in zip(opened, cases, strict=True):
            assert [status_of(client) for _ in statuses] == statuses, sent
            assert client.recv(1) == b"", sent


def test_unread_response_times_out(live: Any) -> None:
    entities = [{"start": i, "end": i + 1, "type": "A" * 200} for i in range(2_000)]
    body = json.dumps({"text": "a" * 2_000, "entities": entities}).encode()
    head = HEAD.replace("entities", "drawing") + f"Content-Length: {len(body)}\r\n\r\n"
    with live(Capitals(), max_seconds=0.5, max_upload_seconds=0.5) as url, connect(url) as client:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
        with pytest.raises((ConnectionResetError, BrokenPipeError)):  # noqa: PT012
            while True:  # the server takes requests until its answers fill all buffers
                client.sendall(head.encode() + body)


@pytest.mark.parametrize("chunked", [False, True])
def test_oversized_body_gets_a_response(live: Any, chunked: bool) -> None:
    size, pieces = 1_000_000, 30
    with live(Capitals(), max_body=1_000, max_upload_seconds=LONG) as url, connect(url) as client:
        length = "Transfer-Encoding: chunked" if chunked else f"Content-Length: {size * pieces}"
        client.sendall(f"{HEAD}{length}\r\n\r\n".encode())
        piece = f"{size:x}\r\n".encode() * chunked + b"a" * size + b"\r\n" * chunked
        for _ in range(pieces):  # all of it is sent before anything is read
            client.sendall(piece)
        assert status_of(client) == 413
        assert client.recv(1) == b""
        client.close()
        assert httpx.post(f"{url}/v1/entities", json={"text": "a"}, timeout=LONG).status_code == 200


def test_expect_100_refuses_a_large_body(live: Any) -> None:
    with live(Capitals(), max_body=1_000) as url, connect(url) as client:
        assert exchange(client, f"{HEAD}Content-Length: 1001\r\nExpect: 100-continue\r\n\r\n".encode()) == 413


def test_oversized_headers_get_a_response(live: Any) -> None:
    with live(Capitals()) as url, connect(url) as client:
        client.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n")
        client.sendall(b"a: " + b"a" * 5_000_000 + b"\r\n\r\n")
        assert status_of(client) == 400


@pytest.mark.parametrize(
    "sent",
    [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",  # TLS
        b"GET / HTTP/1.1\r\n\r\n",  # without a host
        f"{HEAD}Transfer-Encoding: chunked\r\n\r\nnot a number\r\n".encode(),
        f"{HEAD}Content-Length: 1\r\nContent-Length: 2\r\n\r\n".encode(),
        f"{HEAD}Content-Length: -1\r\n\r\n".encode(),
    ],
)
def test_non_http_input_is_refused(live: Any, caplog: pytest.LogCaptureFixture, sent: bytes) -> None:
    with live(Capitals()) as url, connect(url) as client:
        assert exchange(client, sent + b"\r\n\r\n") == 400
        assert client.recv(1) == b""
    assert [record for record in caplog.records if record.exc_info or record.levelno > logging.WARNING] == []


def test_garbage_after_a_response_is_not_an_error(live: Any, caplog: pytest.LogCaptureFixture) -> None:
    with live(Capitals()) as url, connect(url) as client:
        refused = HEAD.replace("application/json", "text/plain") + "Transfer-Encoding: chunked\r\n\r\n"
        assert exchange(client, refused.encode()) == 415
        client.sendall(b"not a number\r\n")
        assert client.recv(1) == b""
    assert [record for record in caplog.records if record.exc_info or record.levelno > logging.WARNING] == []


def test_pipelined_requests_and_http_1_0(live: Any) -> None:
    with live(Capitals()) as url, connect(url) as client, connect(url) as old:
        client.sendall(REQUEST * 50)
        assert [status_of(client) for _ in range(50)] == [200] * 50
        assert exchange(old, REQUEST.replace(b"HTTP/1.1", b"HTTP/1.0")) == 200
        assert old.recv(1) == b""


def test_disconnected_client_is_dropped(live: Any) -> None:
    waiting = Waiting()
    with live(waiting) as url:
        with connect(url) as client:
            client.sendall(SLOW)
            assert waiting.started.wait(LONG)
        until(lambda: metric(url, "nestag_requests_accepted") == 0)
        assert metric(url, 'nestag_requests_total{route="/v1/entities",status="499"}') == 1
        waiting.resume.set()


def test_shutdown_answers_complete_requests(live: Any) -> None:
    waiting = Waiting()
    with ExitStack() as clients:
        with live(waiting) as url:
            half = clients.enter_context(start_body(url))
            idle, complete = (clients.enter_context(connect(url)) for _ in range(2))
            assert exchange(idle, PING) == 200
            complete.sendall(SLOW)
            assert waiting.started.wait(LONG)

            def release() -> None:
                assert status_of(half) == 503
                assert idle.recv(1) == b""
                waiting.resume.set()

            releasing = threading.Thread(target=release)
            releasing.start()
        releasing.join(LONG)
        assert status_of(complete) == 200
