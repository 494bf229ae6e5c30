"""Middleware: access control, limits on bodies and waiting requests, security headers, metrics, and a log line.

A request waits for an answer only once its body is complete: a slow client does not take the place of another. An
error that nothing else caught becomes a 500. Its message may hold text, so only its kind and place are logged.
"""

from __future__ import annotations

import asyncio
import hmac
import logging
import time
from collections.abc import Sequence
from contextlib import ExitStack
from traceback import extract_tb

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from nestag.serve.limits import RefusedError, ServerLimits, busy
from nestag.serve.metrics import Metrics

DEADLINE = "nestag.deadline"
"""Where the scope of a request says until when it is to be answered."""

CLOSE = {"connection": "close"}
"""For answers to a request that is not read to its end."""

GUARDED = ("/v1/", "/metrics")
"""Paths that need the token, if there is one."""


class Gate:
    """Lets requests through to an application, or raises a RefusedError."""

    def __init__(
        self, app: ASGIApp, limits: ServerLimits, metrics: Metrics, token: str | None = None, hosts: Sequence[str] = ()
    ) -> None:
        """`hosts` are the Host names that are accepted; empty accepts all."""
        self.app, self.limits, self.metrics, self.hosts = app, limits, metrics, hosts
        self.token = None if token is None else token.encode()
        self.accepted = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let one request through."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        self._check_host(headers)
        if scope["path"].startswith(GUARDED):
            self._check_token(headers)
        if scope["method"] != "POST":
            await self.app(scope, receive, send)
            return
        self._check_kind(headers)
        self._check_length(headers)
        body = await self._body(receive)
        if body is None:
            return
        if self.accepted >= self.limits.max_queue:
            raise busy(f"{self.accepted:,} requests wait, as many as are accepted; try again")
        scope[DEADLINE] = time.monotonic() + self.limits.max_seconds
        with ExitStack() as turn:  # it ends where the answer begins: a client that does not read takes no place
            self._count(1)
            turn.callback(self._count, -1)

            async def answer(message: Message) -> None:
                turn.close()
                await send(message)

            await self.app(scope, _replayed(body, receive), answer)

    async def _body(self, receive: Receive) -> bytes | None:
        """The whole body; None if the client has gone."""
        body = bytearray()
        try:
            async with asyncio.timeout(self.limits.max_upload_seconds):
                while True:
                    message = await receive()
                    if message["type"] == "http.disconnect":
                        return None
                    body += message.get("body", b"")
                    if len(body) > self.limits.max_body:
                        raise self._too_large()
                    if not message.get("more_body", False):
                        return bytes(body)
        except TimeoutError:
            seconds = self.limits.max_upload_seconds
            raise RefusedError(408, f"the body did not arrive within {seconds:g} s", CLOSE) from None

    def _too_large(self) -> RefusedError:
        return RefusedError(413, f"the body has more than {self.limits.max_body:,} bytes", CLOSE)

    def _check_host(self, headers: Headers) -> None:
        """Refuse unknown Host headers, against DNS rebinding."""
        if self.hosts and host_of(headers.get("host", "")) not in self.hosts:
            raise RefusedError(
                421, "this name is not one of the server's; call it by its address, or start it with --name"
            )

    def _check_token(self, headers: Headers) -> None:
        if self.token is None:
            return
        scheme, _, given = headers.get("authorization", "").partition(" ")
        if scheme.lower() != "bearer" or not hmac.compare_digest(given.strip().encode(), self.token):
            raise RefusedError(
                401, "a token is needed; send the header Authorization: Bearer TOKEN", {"WWW-Authenticate": "Bearer"}
            )

    def _check_kind(self, headers: Headers) -> None:
        """Require a JSON content type: other sites' pages cannot send it without a CORS preflight, which is refused."""
        kind = headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind != "application/json":
            raise RefusedError(415, "the body must be JSON; send the header Content-Type: application/json")

    def _check_length(self, headers: Headers) -> None:
        """Refuse a body that is announced as too large before it is sent."""
        if int(headers.get("content-length", 0)) > self.limits.max_body:
            raise self._too_large()

    def _count(self, change: int) -> None:
        self.accepted += change
        self.metrics.accepted.set(self.accepted)


def host_of(header: str) -> str:
    """The name of a Host header without its port.

    >>> host_of("localhost:8000"), host_of("[::1]:8000"), host_of("127.0.0.1")
    ('localhost', '::1', '127.0.0.1')
    """
    if header.startswith("["):
        return header[1:].partition("]")[0]
    return header.partition(":")[0].lower()


def _replayed(body: bytes, receive: Receive) -> Receive:
    """The body as one message, then whatever comes after it."""
    waiting: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def replay() -> Message:
        return waiting.pop() if waiting else await receive()

    return replay


log = logging.getLogger("nestag.serve")

POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self'",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
        "trusted-types 'none'",
    )
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
}


class WatchMiddleware:
    """Counts and logs every response, and answers 500 if the application raises."""

    def __init__(self, app: ASGIApp, metrics: Metrics, routes: frozenset[str]) -> None:
        """Paths that are no route are counted as "other", because a path may hold text."""
        self.app, self.metrics, self.routes = app, metrics, routes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        began = time.perf_counter()
        status = 0

        async def watched(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                given = {name.lower() for name, _ in message["headers"]}
                message["headers"] = [*message["headers"], *_missing(given)]
            await send(message)

        try:
            await self.app(scope, receive, watched)
        except RefusedError as refused:
            await _refuse(watched, refused)
        except asyncio.CancelledError:  # the server was stopped twice and does not wait any more
            if not status:
                await _refuse(watched, busy("the server has stopped; try again"))
        except Exception as error:  # noqa: BLE001 - this is where they end
            log.error("a request failed: %s", place_of(error))
            if not status:
                await _refuse(watched, RefusedError(500, "the server failed; its log says where"))
        self._note(scope, status, time.perf_counter() - began)

    def _note(self, scope: Scope, status: int, seconds: float) -> None:
        route = scope["path"] if scope["path"] in self.routes else "other"
        self.metrics.answered(route, status, seconds)
        log.info("%s %s %s %.0f ms", scope["method"], route, status or "gone", 1000 * seconds)


def place_of(error: BaseException) -> str:
    """The kind of an error and where it was raised, without what it says."""
    frames = extract_tb(error.__traceback__)
    return f"{type(error).__name__} in {frames[-1].name}:{frames[-1].lineno}" if frames else type(error).__name__


async def _refuse(send: Send, refused: RefusedError) -> None:
    await send({"type": "http.response.start", "status": refused.status, "headers": refused.headers})
    await send({"type": "http.response.body", "body": refused.body})


def _missing(given: set[bytes]) -> list[tuple[bytes, bytes]]:
    named = [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in HEADERS.items()]
    return [pair for pair in named if pair[0] not in given]
