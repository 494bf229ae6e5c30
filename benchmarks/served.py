"""A server, a client and a small model for the benchmarks of the server."""

from __future__ import annotations

import http.client
import json
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from transformers import AutoConfig, AutoModel, AutoTokenizer

from nestag import train
from nestag.formats import sample
from nestag.model.encoders import locate


class Client:
    """A client that keeps its connection open."""

    def __init__(self, port: int) -> None:
        """Connect to a port of this machine."""
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)

    def post(self, body: bytes) -> tuple[int, Any]:
        """Return the status and the answer; reconnect if the server has closed the connection."""
        self.connection.request("POST", "/v1/entities", body, {"Content-Type": "application/json"})
        answer = self.connection.getresponse()
        return answer.status, json.loads(answer.read())


def train_small(folder: Path) -> Path:
    """Train the first two layers of MiniLM for 150 steps on the embedded corpus: small, but it finds entities."""
    place, encoder = locate("minilm"), folder / "encoder"
    config = AutoConfig.from_pretrained(place)
    config.num_hidden_layers = 2
    AutoModel.from_pretrained(place, config=config).save_pretrained(encoder)
    AutoTokenizer.from_pretrained(place).save_pretrained(encoder)
    model = folder / "model"
    train(sample.sentences("train"), sample.sentences("dev"), model, encoder=str(encoder), steps=150, use_cpu=True)
    return model


@contextmanager
def server(model: Path, port: int = 0) -> Iterator[tuple[int, subprocess.Popen[str]]]:
    """Start a server, and yield its port and process."""
    command = [sys.executable, "-m", "nestag", "serve", str(model), "--port", str(port), "--device", "cpu"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert process.stderr
    try:
        for line in process.stderr:
            if found := re.search(r"http://127\.0\.0\.1:(\d+)/", line):
                threading.Thread(target=process.stderr.read, daemon=True).start()
                wait_for(int(found[1]))
                yield int(found[1]), process
                return
        raise SystemExit("the server did not start")
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(90)


def wait_for(port: int) -> None:
    """Wait until the server answers."""
    while True:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
        try:
            connection.request("GET", "/readyz")
            if connection.getresponse().status == 200:
                return
        except ConnectionError:
            time.sleep(0.05)
        finally:
            connection.close()


def metric(port: int, name: str) -> float:
    """Return a metric of the server."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request("GET", "/metrics")
    found = re.search(rf"^{name} (\S+)", connection.getresponse().read().decode(), re.MULTILINE)
    connection.close()
    return float(found[1]) if found else 0.0
