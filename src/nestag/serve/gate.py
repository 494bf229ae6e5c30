"""The gate in front of the routes: who may come in, how many at once, and how large a body may be.

A body is counted while it arrives and given to the routes whole, so nothing behind the gate reads without a limit.
"""

from __future__ import annotations

import asyncio
import hmac
import time
from collections.abc import Sequence

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from nestag.serve.limits import ServerLimits
from nestag.serve.metrics import Metrics
from nestag.serve.problems import RefusedError, busy

DEADLINE = "nestag.deadline"
"""Where the scope of a request says until when it is to be answered."""

DRAINED = 10
"""A body over the limit is read up to this many times the limit, and dropped: who still sends cannot read an answer."""

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
        if self.accepted >= self.limits.queue:
            raise busy(f"{self.accepted:,} requests wait, as many as are accepted; try again")
        self._count(1)
        try:
            await self._let_through(scope, receive, send)
        finally:
            self._count(-1)

    async def _let_through(self, scope: Scope, receive: Receive, send: Send) -> None:
        scope[DEADLINE] = time.monotonic() + self.limits.seconds
        try:
            async with asyncio.timeout(self.limits.seconds):
                body = await self._body(receive)
        except TimeoutError:
            raise RefusedError(
                408, f"the body did not arrive within {self.limits.seconds:g} s", {"Connection": "close"}
            ) from None
        if body is not None:
            await self.app(scope, _replayed(body, receive), send)

    async def _body(self, receive: Receive) -> bytes | None:
        """The whole body; None if whoever sent it has gone."""
        parts: list[bytes] = []
        size = 0
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                return None
            more = message.get("more_body", False)
            size += len(message.get("body", b""))
            if size <= self.limits.body_bytes:
                parts.append(message.get("body", b""))
            elif not more or size > DRAINED * self.limits.body_bytes:
                closing = {"Connection": "close"} if more else {}
                raise RefusedError(413, f"the body has more than {self.limits.body_bytes:,} bytes", closing)
            if not more:
                return b"".join(parts)

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
