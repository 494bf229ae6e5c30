"""Middleware: access control, limits on bodies and waiting requests, security headers, metrics, and a log line.

Labels of metrics are routes and statuses. They never contain text of requests.

A request waits for an answer only once its body is complete, so a slow client does not take the place of another. An
unexpected error becomes a 500. Its message may hold text, so only its type and place are logged.
"""

from __future__ import annotations

import asyncio
import hmac
import logging
import time
from collections.abc import Sequence
from traceback import extract_tb
from urllib.parse import urlsplit

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, PlatformCollector, ProcessCollector
from prometheus_client.exposition import generate_latest
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from nestag.serve.limits import RefusedError, ServerLimits, busy

log = logging.getLogger("nestag.serve")

SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
SIZES = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512)
"""The buckets of histograms."""

DEADLINE = "nestag.deadline"
"""The key in the scope of a request for the time, on the clock of the event loop, by which it must be answered."""

DISCONNECTED = 499
"""The status in log and metrics of a request whose client has disconnected."""

CLOSE = {"connection": "close"}
"""For answers to a request that is not read to its end."""

GUARDED = ("/v1/", "/metrics")
"""Paths that need the token, if there is one."""

HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self';"
    " connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none';"
    " require-trusted-types-for 'script'; trusted-types 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
}
"""The security headers of every answer."""


class Metrics:
    """The Prometheus metrics of one server."""

    def __init__(self) -> None:
        self.registry = registry = CollectorRegistry()  # not the global one, as a process may have several servers
        ProcessCollector(registry=registry)
        PlatformCollector(registry=registry)
        self.requests = Counter("nestag_requests", "Answers.", ["route", "status"], registry=registry)
        self.latency = Histogram(
            "nestag_request_seconds", "Time from arrival to answer.", ["route"], registry=registry, buckets=SECONDS
        )
        self.accepted = Gauge("nestag_requests_accepted", "Requests waiting for an answer.", registry=registry)
        self.connections = Gauge("nestag_connections", "Open connections.", registry=registry)
        self.batches = Histogram("nestag_batch_texts", "Texts in a batch.", registry=registry, buckets=SIZES)
        self.sentences = Counter("nestag_sentences", "Tagged sentences.", registry=registry)
        self.words = Counter("nestag_words", "Tagged words.", registry=registry)
        self.seconds = Counter("nestag_tagging_seconds", "Time in the engine.", registry=registry)
        self.failures = Counter("nestag_failures", "Texts that could not be tagged.", registry=registry)

    def page(self) -> bytes:
        """Return all metrics as Prometheus reads them."""
        return generate_latest(self.registry)


class Gate:
    """Passes requests to an application, or raises a RefusedError."""

    def __init__(
        self, app: ASGIApp, limits: ServerLimits, metrics: Metrics, token: str | None = None, hosts: Sequence[str] = ()
    ) -> None:
        """`hosts` are the accepted Host names; empty accepts all."""
        self.app, self.limits, self.metrics, self.hosts = app, limits, metrics, hosts
        self.token = None if token is None else token.encode()
        self.waiting: set[object] = set()  # requests
        metrics.accepted.set_function(lambda: len(self.waiting))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check a request, read its body and pass it on."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        self._check_access(headers, scope["path"])
        if scope["method"] != "POST":
            await self.app(scope, receive, send)
            return
        if headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
            # pages of other sites cannot send JSON without a CORS preflight, which is refused
            raise RefusedError(415, "the body must be JSON; send the header Content-Type: application/json")
        self._check_length(int(headers.get("content-length", 0)))
        body = await self._read_body(receive)
        if body is None:
            return
        if len(self.waiting) >= self.limits.max_queue:
            raise busy(f"{len(self.waiting):,} requests are waiting, the maximum; try again")
        scope[DEADLINE] = asyncio.get_running_loop().time() + self.limits.max_seconds
        request = object()
        self.waiting.add(request)

        async def answer(message: Message) -> None:
            self.waiting.discard(request)  # a client that does not read the answer takes no place
            await send(message)

        try:
            await self._pass_on(scope, body, receive, answer)
        finally:
            self.waiting.discard(request)

    async def _pass_on(self, scope: Scope, body: bytes, receive: Receive, send: Send) -> None:
        """Pass a complete request on; cancel it if the client disconnects."""
        messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]
        disconnect = asyncio.ensure_future(receive())  # nothing else follows the body

        async def replay() -> Message:
            return messages.pop() if messages else await asyncio.shield(disconnect)

        work = asyncio.ensure_future(self.app(scope, replay, send))
        try:
            await asyncio.wait({work, disconnect}, return_when=asyncio.FIRST_COMPLETED)
            if not work.done():
                raise RefusedError(DISCONNECTED, "the client has disconnected")
            await work
        finally:
            work.cancel()
            disconnect.cancel()

    async def _read_body(self, receive: Receive) -> bytes | None:
        """Return the whole body, or None if the client has disconnected."""
        body = bytearray()
        seconds = self.limits.max_upload_seconds
        try:
            async with asyncio.timeout(seconds):
                while True:
                    message = await receive()
                    if message["type"] == "http.disconnect":
                        return None
                    body += message.get("body", b"")
                    self._check_length(len(body))
                    if not message.get("more_body", False):
                        return bytes(body)
        except TimeoutError:
            raise RefusedError(408, f"the body did not arrive within {seconds:g} s", CLOSE) from None

    def _check_length(self, length: int) -> None:
        if length > self.limits.max_body:
            raise RefusedError(413, f"the body has more than {self.limits.max_body:,} bytes", CLOSE)

    def _check_access(self, headers: Headers, path: str) -> None:
        """Refuse unknown Host headers, against DNS rebinding, and requests without the token."""
        if self.hosts and host_of(headers.get("host", "")) not in self.hosts:
            raise RefusedError(421, "unknown host name; call the server by its address, or start it with --name")
        if self.token is None or not path.startswith(GUARDED):
            return
        scheme, _, token = headers.get("authorization", "").partition(" ")
        if scheme.lower() != "bearer" or not hmac.compare_digest(token.strip().encode(), self.token):
            problem = "a token is needed; send the header Authorization: Bearer TOKEN"
            raise RefusedError(401, problem, {"WWW-Authenticate": "Bearer"})


def host_of(header: str) -> str:
    """Return the name in a Host header without its port.

    >>> host_of("Localhost:8000"), host_of("[::1]:8000"), host_of("[")
    ('localhost', '::1', '')
    """
    try:
        return urlsplit(f"//{header}").hostname or ""
    except ValueError:
        return ""


class WatchMiddleware:
    """Counts and logs every answer, adds the security headers, and answers 500 if the application raises."""

    def __init__(self, app: ASGIApp, metrics: Metrics, routes: frozenset[str]) -> None:
        """Count paths that are not routes as "other", because a path may hold text."""
        self.app, self.metrics, self.routes = app, metrics, routes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        began = time.perf_counter()
        status = 0

        async def watch(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                MutableHeaders(scope=message).update(HEADERS)
            await send(message)

        try:
            await self.app(scope, receive, watch)
        except RefusedError as refused:
            await _refuse(watch, refused)
        except asyncio.CancelledError:  # the server has waited long enough for this request, or was stopped twice
            if not status:
                await _refuse(watch, busy("the server has stopped; try again"))
        except Exception as error:  # noqa: BLE001 - its message must not be logged
            log.error("a request failed: %s", place_of(error))
            if not status:
                await _refuse(watch, RefusedError(500, "the server failed; its log says where"))
        seconds = time.perf_counter() - began
        route = scope["path"] if scope["path"] in self.routes else "other"
        self.metrics.requests.labels(route, str(status)).inc()
        self.metrics.latency.labels(route).observe(seconds)
        log.info("%s %s %s %.0f ms", scope["method"], route, status or "gone", 1000 * seconds)


def place_of(error: BaseException) -> str:
    """Return the type of an error and where it was raised, without its message."""
    frames = extract_tb(error.__traceback__)
    return f"{type(error).__name__} in {frames[-1].name}:{frames[-1].lineno}" if frames else type(error).__name__


async def _refuse(send: Send, refused: RefusedError) -> None:
    await send({"type": "http.response.start", "status": refused.status, "headers": refused.headers})
    await send({"type": "http.response.body", "body": refused.body})
