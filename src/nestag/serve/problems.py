"""Errors of requests: an HTTP status and a message for the client."""

from __future__ import annotations


class RefusedError(Exception):
    """A request that is refused; the message says why and what to do, and never holds text of the request."""

    def __init__(self, status: int, message: str, headers: dict[str, str] | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.headers = headers or {}


def busy(message: str) -> RefusedError:
    """A request that could be answered at another time."""
    return RefusedError(503, message, {"Retry-After": "1"})
