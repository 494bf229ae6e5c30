"""Binding the address and graceful shutdown: accepted requests are answered before the server stops."""

from __future__ import annotations

import logging
import os
import signal
import socket
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass

import uvicorn
from fastapi import FastAPI

from nestag.errors import InputError
from nestag.formats.files import read_text
from nestag.serve.connection import ServerConfig
from nestag.serve.service import Service
from nestag.training.interruption import ENDING

LOOPBACK = ("localhost", "127.0.0.1", "::1")
TOKEN = "NESTAG_TOKEN"  # noqa: S105 - the name of the variable
SHORTEST_TOKEN = 16


@dataclass(frozen=True)
class Address:
    """Where a server listens."""

    host: str = "127.0.0.1"
    port: int = 8000  # 0 is any that is free

    def hosts(self, names: Sequence[str] = ()) -> tuple[str, ...]:
        """The Host names to accept: only local ones if it listens on the loopback interface, else any."""
        given = tuple(name.lower() for name in names)
        if self.host in LOOPBACK:
            return (*LOOPBACK, *given)
        return (self.host, *LOOPBACK, *given) if given else ()


def token_from(file: str | None) -> str | None:
    """The token of a file, or of the environment; None if neither has one."""
    token = (read_text(file) if file else os.environ.get(TOKEN, "")).strip()
    if not token and not file:
        return None
    if len(token) < SHORTEST_TOKEN or not token.isascii() or any(sign.isspace() for sign in token):
        place = file or f"the variable {TOKEN}"
        raise InputError(f"a token has {SHORTEST_TOKEN} or more ASCII characters and no white space", place)
    return token


def listen(address: Address) -> socket.socket:
    """A listening socket, opened before the model is loaded so that a taken address fails early."""
    family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
    # asyncio turns Nagle's algorithm off only where the protocol is named; with it, every answer waits 40 ms for an ACK
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((address.host, address.port))
    except (OSError, OverflowError) as error:
        listening.close()
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(
            f"cannot be listened at ({reason}); choose another --host or --port", f"{address.host}:{address.port}"
        ) from None
    return listening


class Server(uvicorn.Server):
    """Stops at SIGHUP as it does at SIGINT and SIGTERM, unless SIGHUP is ignored, as under nohup."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Handle signals while the server runs."""
        main = threading.current_thread() is threading.main_thread()  # other threads cannot set handlers
        heard = [number for number in ENDING if signal.getsignal(number) is not signal.SIG_IGN]
        with super().capture_signals():
            before = {number: signal.signal(number, self.handle_exit) for number in heard if main}
            try:
                yield
            finally:
                for number, handler in before.items():
                    signal.signal(number, handler)


def serve(app: FastAPI, service: Service, listening: socket.socket, started: Callable[[str], None]) -> None:
    """Serve until SIGINT, SIGTERM or SIGHUP; then accept no more requests, and answer those that were accepted."""
    server = Server(ServerConfig(app, service.limits, service.metrics))
    listening.listen()  # so that clients may connect as soon as `started` is called
    host, port = listening.getsockname()[:2]
    started(f"http://{f'[{host}]' if ':' in host else host}:{port}/")
    try:
        server.run(sockets=[listening])
    except (KeyboardInterrupt, SystemExit):  # uvicorn raises the signal again after it has shut down
        if not server.should_exit:
            raise
    finally:
        with suppress(OSError):
            listening.close()


def log_to_stderr() -> None:
    """A line for each answer, with the time."""
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    logger = logging.getLogger("nestag.serve")
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    logger.propagate = False
