"""`nestag serve` as a process: killed under load, started again, asked to stop under load."""

import os
import re
import signal
import socket
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml
from typer.testing import CliRunner

from nestag.cli import app, load
from nestag.errors import InputError
from nestag.serve.server import Address, listen, token_from

TOP = Path(__file__).parents[2]
COMMAND = """
import sys
sys.modules["torch"] = sys.modules["transformers"] = None  # an import of either is now an ImportError
from nestag.cli import main, serve
from capitals import Capitals
serve.loaded = lambda *_: Capitals(slow=0.5)
main()
"""


def started(port: int) -> tuple[subprocess.Popen[str], str]:
    """A server, and where it says that it listens."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(TOP / "tests"), *sys.path])}
    process = subprocess.Popen(
        [sys.executable, "-c", COMMAND, "serve", "capitals", "--port", str(port)],
        stderr=subprocess.PIPE, text=True, env=environment,
    )  # fmt: skip
    assert process.stderr
    line = process.stderr.readline()
    found = re.search(r"^serving capitals at (http://127\.0\.0\.1:\d+)/$", line)
    assert found, line + process.stderr.read()
    end = time.monotonic() + 20
    while time.monotonic() < end:
        try:
            assert httpx.get(f"{found[1]}/readyz").status_code == 200
            break
        except httpx.ConnectError:
            time.sleep(0.02)
    return process, found[1]


def ask(url: str) -> int:
    try:
        return httpx.post(f"{url}/v1/entities", json={"text": "SLOW Secrets"}, timeout=30).status_code
    except httpx.TransportError:
        return 0


def under_load(url: str, process: subprocess.Popen[str], number: signal.Signals) -> list[int]:
    """What clients get from a server that is sent a signal while it works for them."""
    with ThreadPoolExecutor(4) as pool:
        answers = [pool.submit(ask, url) for _ in range(4)]
        end = time.monotonic() + 20
        while "nestag_requests_accepted 4.0" not in httpx.get(f"{url}/metrics").text:
            assert time.monotonic() < end
        process.send_signal(number)
        return [answer.result() for answer in answers]


@pytest.mark.slow
def test_killed_it_starts_again_and_asked_to_stop_it_finishes() -> None:
    first, url = started(0)
    assert under_load(url, first, signal.SIGKILL) == [0] * 4
    first.communicate(timeout=20)
    second, again = started(int(url.rpartition(":")[2]))
    assert again == url
    assert under_load(url, second, signal.SIGTERM) == [200] * 4
    _, log = second.communicate(timeout=20)
    assert second.returncode == 0
    assert "POST /v1/entities 200" in log
    assert "Secrets" not in log
    assert ask(url) == 0


def test_an_address_that_is_taken_is_said_before_the_model_is_loaded() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        refused = CliRunner().invoke(app, ["serve", "nowhere", "--port", str(taken.getsockname()[1])])
    assert refused.exit_code == 2
    assert "choose another --host or --port" in refused.output
    with pytest.raises(InputError, match="cannot be listened at"):
        listen(Address("256.0.0.1"))


def test_answers_do_not_wait_for_one_another(running: tuple[str, Any]) -> None:
    with httpx.Client(base_url=running[0]) as client:
        began = time.monotonic()
        for _ in range(25):  # each in two packets, of which the second must not wait for the receipt of the first
            client.post("/v1/entities", json={"tokens": ["A"]})
        assert time.monotonic() - began < 25 * 0.04


def test_tokens_come_from_a_file_or_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NESTAG_TOKEN", raising=False)
    assert token_from(None) is None
    monkeypatch.setenv("NESTAG_TOKEN", "0123456789abcdef")
    assert token_from(None) == "0123456789abcdef"
    file = tmp_path / "token"
    file.write_text("fedcba9876543210\n")
    assert token_from(str(file)) == "fedcba9876543210"
    for bad in ("", "short", "0123456789 abcdef", "0123456789abcdéf"):
        file.write_text(bad)
        with pytest.raises(InputError, match="16 or more ASCII characters"):
            token_from(str(file))


def test_names_of_a_server() -> None:
    assert Address().hosts() == ("localhost", "127.0.0.1", "::1")
    assert Address("0.0.0.0").hosts() == ()
    assert "a.example" in Address("0.0.0.0").hosts(["A.example"])


def test_the_containers_start_it_with_options_that_it_has() -> None:
    docker = TOP / "docker"
    (command,) = re.findall(r"^CMD (\[.*\])$", (docker / "Dockerfile").read_text(), re.MULTILINE)
    compose = yaml.safe_load((docker / "compose.yaml").read_text())
    for name, *words in (yaml.safe_load(command), compose["services"]["nestag"]["command"]):
        assert load(name).make_context(name, list(words)).params["host"] == "0.0.0.0"
