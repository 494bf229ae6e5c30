"""Binding the address and graceful shutdown: accepted requests are answered before the server stops."""

from __future__ import annotations

import logging
import os
import signal
import socket
from collections.abc import Callable, Sequence
from contextlib import suppress
from types import FrameType

import uvicorn
from fastapi import FastAPI

from nestag.errors import InputError
from nestag.formats.files import read_text
from nestag.serve.connection import ServerConfig
from nestag.serve.service import Service

LOOPBACK = ("localhost", "127.0.0.1", "::1")
TOKEN = "NESTAG_TOKEN"  # noqa: S105 - the name of the variable
MIN_TOKEN = 16


def accepted_hosts(host: str, names: Sequence[str] = ()) -> tuple[str, ...]:
    """Return the Host names to accept: on the loopback interface local ones and `names`, else any or `names`.

    >>> accepted_hosts("127.0.0.1"), accepted_hosts("0.0.0.0"), accepted_hosts("0.0.0.0", ["A.example"])[-1]
    (('localhost', '127.0.0.1', '::1'), (), 'a.example')
    """
    names = tuple(name.lower() for name in names)
    if host in LOOPBACK:
        return (*LOOPBACK, *names)
    return (host.lower(), *LOOPBACK, *names) if names else ()


def read_token(file: str | None) -> str | None:
    """Return the token in a file or in the environment, or None."""
    token = (read_text(file) if file else os.environ.get(TOKEN, "")).strip()
    if not token and not file:
        return None
    if len(token) < MIN_TOKEN or not token.isascii() or any(sign.isspace() for sign in token):
        place = file or f"the variable {TOKEN}"
        raise InputError(f"a token must have {MIN_TOKEN} or more ASCII characters and no white space", place)
    return token


def listen(host: str, port: int) -> socket.socket:
    """Open a listening socket; do so before loading the model, so that a taken address fails early."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # asyncio turns Nagle's algorithm off only if the protocol is named; with it, every answer waits 40 ms for an ACK
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, port))
    except (OSError, OverflowError) as error:
        listening.close()
        reason = getattr(error, "strerror", None) or str(error)
        problem = f"the server cannot listen there ({reason}); choose another --host or --port"
        raise InputError(problem, f"{host}:{port}") from None
    return listening


class _Server(uvicorn.Server):
    """A server that does not wait for connections and threads after a second Ctrl-C, on any version of Python."""

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        super().handle_exit(sig, frame)
        if self.force_exit:
            os._exit(0)


def serve(app: FastAPI, service: Service, listening: socket.socket, on_start: Callable[[str], None]) -> None:
    """Serve until SIGINT, SIGTERM or SIGHUP; then accept no more requests, and answer the accepted ones."""
    if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:  # ignored under nohup
        signal.signal(signal.SIGHUP, lambda *_: signal.raise_signal(signal.SIGTERM))  # which uvicorn handles
    server = _Server(ServerConfig(app, service.limits, service.metrics))
    listening.listen()  # so that clients can connect as soon as `on_start` is called
    host, port = listening.getsockname()[:2]
    on_start(f"http://{f'[{host}]' if ':' in host else host}:{port}/")
    try:
        server.run(sockets=[listening])
    except (KeyboardInterrupt, SystemExit):  # uvicorn raises the signal again after it has shut down
        if not server.should_exit:
            raise
    finally:
        with suppress(OSError):
            listening.close()
    service.close()


def log_to_stderr() -> None:
    """Log a line for each answer, with the time."""
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    logger = logging.getLogger("nestag.serve")
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    logger.propagate = False
