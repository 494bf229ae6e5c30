"""`nestag serve` as a process: signals under load, and its options."""

import os
import re
import signal
import socket
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import httpx
import pytest
import yaml
from typer.testing import CliRunner

from nestag.cli import app, load
from nestag.errors import InputError
from nestag.serve.server import accepted_hosts, listen, read_token
from waiting import wait_until

TOP = Path(__file__).parents[2]
WAIT = 60.0
COMMAND = """
import sys
sys.modules["torch"] = sys.modules["transformers"] = None  # an import of either is now an ImportError
from nestag.cli import main, serve
from capitals import Capitals
capitals = Capitals()
capitals.wait = lambda: sys.stdin.read(1)  # until the test says that it may go on
serve.load = lambda *_, **settings: capitals
main()
"""


def started(port: int) -> tuple[subprocess.Popen[str], str]:
    """A server, and its address; it tags a text with the word SLOW once a line or the end of its input arrives."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(TOP / "tests" / "helpers"), *sys.path])}
    process = subprocess.Popen(
        [sys.executable, "-c", COMMAND, "serve", "capitals", "--port", str(port)],
        stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment,
    )  # fmt: skip
    assert process.stderr
    line = process.stderr.readline()
    found = re.search(r"^serving capitals at (http://127\.0\.0\.1:\d+)/$", line)
    assert found, line + process.stderr.read()
    assert httpx.get(f"{found[1]}/readyz", timeout=None).status_code == 200
    return process, found[1]


def ask(url: str) -> int:
    try:
        return httpx.post(f"{url}/v1/entities", json={"text": "SLOW Secrets"}, timeout=None).status_code
    except httpx.TransportError:
        return 0


def under_load(url: str, process: subprocess.Popen[str], number: signal.Signals) -> tuple[list[int], str]:
    """The statuses that clients get from a server that receives a signal while it works for them, and its log."""
    with ThreadPoolExecutor(4) as pool:
        answers = [pool.submit(ask, url) for _ in range(4)]
        wait_until(lambda: "nestag_requests_accepted 4.0" in httpx.get(f"{url}/metrics", timeout=None).text)
        process.send_signal(number)
        _, log = process.communicate()
        return [answer.result() for answer in answers], log


@pytest.mark.slow
def test_killed_server_restarts_on_its_port() -> None:
    first, url = started(0)
    assert under_load(url, first, signal.SIGKILL)[0] == [0] * 4
    second, again = started(int(url.rpartition(":")[2]))
    second.terminate()
    second.communicate()
    assert again == url


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_signals_stop_a_server_after_its_responses(number: signal.Signals) -> None:
    process, url = started(0)
    statuses, log = under_load(url, process, number)
    assert (statuses, process.returncode) == ([200] * 4, 0)
    assert "POST /v1/entities 200" in log
    assert not re.search("Secrets|Traceback", log)
    assert ask(url) == 0


def test_second_ctrl_c_stops_at_once() -> None:
    process, url = started(0)
    with ThreadPoolExecutor(1) as pool:
        answer = pool.submit(ask, url)
        wait_until(lambda: "nestag_requests_accepted 1.0" in httpx.get(f"{url}/metrics", timeout=None).text)
        process.send_signal(signal.SIGINT)
        wait_until(lambda: not listens(url))
        process.send_signal(signal.SIGINT)
        assert process.wait(WAIT) == 0  # the text is never tagged
        assert answer.result() in (0, 503)
    assert "Traceback" not in process.communicate()[1]


def listens(url: str) -> bool:
    host, port = url.removeprefix("http://").split(":")
    with suppress(OSError), socket.create_connection((host, int(port))):
        return True
    return False


def test_used_port_fails_before_the_model_is_loaded() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        refused = CliRunner().invoke(app, ["serve", "nowhere", "--port", str(taken.getsockname()[1])])
    assert refused.exit_code == 2
    assert "choose another --host or --port" in refused.output
    with pytest.raises(InputError, match="cannot listen"):
        listen("256.0.0.1", 0)


def test_responses_are_sent_without_delay() -> None:
    with listen("127.0.0.1", 0) as listening:
        assert listening.proto == socket.IPPROTO_TCP  # only then does asyncio turn Nagle's algorithm off


def test_tokens_come_from_a_file_or_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NESTAG_TOKEN", raising=False)
    assert read_token(None) is None
    monkeypatch.setenv("NESTAG_TOKEN", "0123456789abcdef")
    assert read_token(None) == "0123456789abcdef"
    file = tmp_path / "token"
    file.write_text("fedcba9876543210\n")
    assert read_token(str(file)) == "fedcba9876543210"
    for bad in ("", "short", "0123456789 abcdef", "0123456789abcdéf"):
        file.write_text(bad)
        with pytest.raises(InputError, match="16 or more ASCII characters"):
            read_token(str(file))


def test_host_option_sets_accepted_hosts() -> None:
    assert accepted_hosts("127.0.0.1", ["A.example"]) == ("localhost", "127.0.0.1", "::1", "a.example")
    assert accepted_hosts("0.0.0.0") == ()
    assert "a.example" in accepted_hosts("0.0.0.0", ["A.example"])


def test_dockerfiles_use_existing_options() -> None:
    docker = TOP / "docker"
    (command,) = re.findall(r"^CMD (\[.*\])$", (docker / "Dockerfile").read_text(), re.MULTILINE)
    compose = yaml.safe_load((docker / "compose.yaml").read_text())
    for name, *words in (yaml.safe_load(command), compose["services"]["nestag"]["command"]):
        assert load(name).make_context(name, list(words)).params["host"] == "0.0.0.0"
