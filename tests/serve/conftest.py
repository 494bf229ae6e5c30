"""Servers of a recognizer that needs no training."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("fastapi")

import uvicorn
from starlette.testclient import TestClient

from capitals import Capitals
from nestag.predictor import Predictor
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


@contextmanager
def listening(predictor: Predictor, **limits: Any) -> Iterator[str]:
    """A server that listens, as its address; all that it accepted is done at the end."""
    service = Service(predictor, "capitals", ServerLimits(**limits), Metrics())
    taken = listen(Address(port=0))
    config = uvicorn.Config(
        app_of(service), log_config=None, lifespan="on", ws="none",
        timeout_graceful_shutdown=10,  # a browser on a busy machine may still be asking
    )  # fmt: skip
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, args=([taken],))
    thread.start()
    while not server.started:
        time.sleep(0.01)
    yield f"http://127.0.0.1:{taken.getsockname()[1]}"
    server.should_exit = True
    thread.join(30)
    assert not service.alive


@pytest.fixture(scope="session")
def running() -> Iterator[tuple[str, Capitals]]:
    """A server that listens, as its address, and the recognizer behind it."""
    recognizer = Capitals(slow=0.01)
    with listening(recognizer, body_bytes=20_000, texts=50) as url:
        yield url, recognizer


@pytest.fixture(scope="session")
def running_model(trained_model: Path) -> Iterator[tuple[str, Predictor]]:
    """A server of a trained model, and the same model loaded again."""
    from nestag.recognizer import NestedNER

    with listening(NestedNER.from_pretrained(trained_model, "cpu")) as url:
        yield url, NestedNER.from_pretrained(trained_model, "cpu")
