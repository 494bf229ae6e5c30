"""What a request may ask for, and how much waits at once."""

from __future__ import annotations

from dataclasses import dataclass

from nestag.validation import setting


@dataclass(frozen=True)
class ServerLimits:
    """Limits of a server; a request over one of them is refused with a status and a line that names it."""

    body_bytes: int = setting(1_000_000, minimum=1, help="maximum bytes in a request's body (413)")
    texts: int = setting(500, minimum=1, help="maximum texts or sentences in a request (413)")
    characters: int = setting(50_000, minimum=1, help="maximum characters in a request (413)")
    words: int = setting(15_000, minimum=1, help="maximum words in a request (413)")
    queue: int = setting(64, minimum=1, help="maximum requests waiting for an answer (503)")
    seconds: float = setting(60.0, above=0, help="seconds until a request times out (408, 503)")
    batch_words: int = setting(2_000, minimum=1, help="maximum words in a batch of waiting requests")
