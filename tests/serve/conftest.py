"""Servers with a recognizer that needs no training."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("fastapi")

import uvicorn
from starlette.testclient import TestClient

from capitals import Capitals
from nestag.model.predictor import Predictor
from nestag.serve.app import app_of
from nestag.serve.connection import ServerConfig
from nestag.serve.limits import ServerLimits
from nestag.serve.server import listen
from nestag.serve.service import Service


@pytest.fixture(scope="session")
def client() -> Iterator[TestClient]:
    """A server with the usual limits."""
    with started() as client:
        yield client


@contextmanager
def started(token: str | None = None, hosts: tuple[str, ...] = (), **limits: Any) -> Iterator[TestClient]:
    recognizer = Capitals()
    service = Service(recognizer, "capitals", ServerLimits(**limits))
    with TestClient(app_of(service, token, hosts)) as client:
        client.service, client.recognizer = service, recognizer
        yield client


@pytest.fixture
def server() -> Callable[..., Any]:
    """Starts a server with other limits, inside a with."""
    return started


@contextmanager
def listening(predictor: Predictor, **limits: Any) -> Iterator[str]:
    """A server that listens, as its address; everything it accepted is answered at the end."""
    service = Service(predictor, "capitals", ServerLimits(**limits))
    bound = listen("127.0.0.1", 0)
    bound.listen()  # clients may connect before the server accepts them
    server = uvicorn.Server(ServerConfig(app_of(service), service.limits, service.metrics))
    thread = threading.Thread(target=server.run, args=([bound],))
    thread.start()
    try:
        yield f"http://127.0.0.1:{bound.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(60)
    assert not thread.is_alive()
    service.close()


@pytest.fixture
def live() -> Callable[..., Any]:
    """Starts a server that listens, inside a with."""
    return listening


@pytest.fixture(scope="session")
def running() -> Iterator[tuple[str, Capitals]]:
    """A server that listens, as its address, and the recognizer behind it."""
    recognizer = Capitals()
    with listening(recognizer, max_body=20_000, max_texts=50) as url:
        yield url, recognizer


@pytest.fixture(scope="session")
def running_model(trained_model: Path) -> Iterator[tuple[str, Predictor]]:
    """A server of a trained model, and the same model loaded again."""
    from nestag.model.recognizer import NestedNER

    with listening(NestedNER.from_pretrained(trained_model, "cpu")) as url:
        yield url, NestedNER.from_pretrained(trained_model, "cpu")
