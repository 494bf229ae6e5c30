"""Servers of a recognizer that needs no training."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

pytest.importorskip("fastapi")

import uvicorn
from starlette.testclient import TestClient

from capitals import Capitals
from nestag.serve.app import app_of
from nestag.serve.limits import ServerLimits
from nestag.serve.metrics import Metrics
from nestag.serve.server import Address, listen
from nestag.serve.service import Service


@pytest.fixture(scope="session")
def client() -> Iterator[TestClient]:
    """A server with the usual limits."""
    with started() as client:
        yield client


@contextmanager
def started(token: str | None = None, hosts: tuple[str, ...] = (), **limits: Any) -> Iterator[TestClient]:
    service = Service(Capitals(), "capitals", ServerLimits(**limits), Metrics())
    with TestClient(app_of(service, token, hosts)) as client:
        client.service = service
        yield client


@pytest.fixture
def server() -> Callable[..., Any]:
    """Starts a server with other limits, inside a with."""
    return started


@pytest.fixture(scope="session")
def running() -> Iterator[tuple[str, Capitals]]:
    """A server that listens, as its address, and the recognizer behind it."""
    recognizer = Capitals(slow=0.01)
    service = Service(recognizer, "capitals", ServerLimits(body_bytes=20_000, texts=50), Metrics())
    listening = listen(Address(port=0))
    server = uvicorn.Server(uvicorn.Config(app_of(service), log_config=None, lifespan="on", ws="none"))
    thread = threading.Thread(target=server.run, args=([listening],))
    thread.start()
    while not server.started:
        time.sleep(0.01)
    yield f"http://127.0.0.1:{listening.getsockname()[1]}", recognizer
    server.should_exit = True
    thread.join(30)
    assert not service.alive
