"""The limits of a server, and the error for refused requests."""

from __future__ import annotations

import json
from dataclasses import dataclass

from nestag.data.validation import setting


@dataclass(frozen=True)
class ServerLimits:
    """What clients may ask for, each also an option of `nestag serve`; the status of a refusal is in parentheses."""

    max_body: int = setting(1_000_000, minimum=1, help="Maximum bytes in a request's body (413).")
    max_texts: int = setting(500, minimum=1, help="Maximum texts or sentences in a request (413).")
    max_characters: int = setting(50_000, minimum=1, help="Maximum characters in a request (413).")
    max_words: int = setting(15_000, minimum=1, help="Maximum words in a request (413).")
    max_queue: int = setting(64, minimum=1, help="Maximum complete requests waiting for an answer (503).")
    max_seconds: float = setting(60.0, minimum=0.01, help="Seconds to answer a complete request (503).")
    max_upload_seconds: float = setting(20.0, minimum=0.01, help="Seconds for a request to arrive (408).")
    max_connections: int = setting(256, minimum=1, help="Maximum open connections (503).")
    max_connections_per_client: int = setting(64, minimum=1, help="Maximum open connections of one address (429).")
    batch_words: int = setting(2_000, minimum=1, help="Maximum words in a batch of waiting requests.")


class RefusedError(Exception):
    """A refused request; the message gives the reason and the fix, and never contains text of the request."""

    def __init__(self, status: int, message: str, headers: dict[str, str] | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.body = json.dumps({"error": message}).encode()
        headers = {"content-type": "application/json", "content-length": str(len(self.body)), **(headers or {})}
        self.headers = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers.items()]


def busy(message: str, status: int = 503) -> RefusedError:
    """Refuse a request that the server could answer at another time."""
    return RefusedError(status, message, {"retry-after": "1"})


def too_large(count: int, what: str, limit: int) -> RefusedError:
    """Refuse a request that is over a limit of size."""
    return RefusedError(413, f"{count:,} {what} in a request; the limit is {limit:,}")
