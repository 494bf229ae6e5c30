"""Middleware around every response: security headers, metrics, and a log line without any text.

An error that nothing else caught ends here, as a 500; what it says may hold text, so only kind and place are logged.
"""

from __future__ import annotations

import json
import logging
import time
from traceback import extract_tb

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from nestag.serve.metrics import Metrics
from nestag.serve.problems import RefusedError

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
    body = json.dumps({"error": refused.message}).encode()
    headers = {"Content-Type": "application/json", "Content-Length": str(len(body)), **refused.headers}
    pairs = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers.items()]
    await send({"type": "http.response.start", "status": refused.status, "headers": pairs})
    await send({"type": "http.response.body", "body": body})


def _missing(given: set[bytes]) -> list[tuple[bytes, bytes]]:
    named = [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in HEADERS.items()]
    return [pair for pair in named if pair[0] not in given]
