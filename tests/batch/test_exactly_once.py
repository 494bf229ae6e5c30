"""A Ray cluster whose processes are killed writes the same bytes as an undisturbed run."""

import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from typer.testing import CliRunner

from files_of_rows import content, rows, texts, write_lines
from nestag.batch import Job, Totals, tag
from nestag.batch.cluster import MAX_DEATHS, Cluster, RayConnection
from nestag.batch.plan import Device
from nestag.batch.worker import ModelFiles
from nestag.cli import app
from nestag.errors import InputError
from scale_cluster import Workers
from shape_model import save_shape_model
from waiting import wait_until

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("default")]
ROWS = 3_000
FILES = 4
PART = 30_000
JOB = Job(tokenizer="whitespace", keep=("id",), part_bytes=PART)
"""Each part takes long enough to be killed in."""


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Files of several parts, one with bad rows in it, and one that cannot be read."""
    folder = tmp_path_factory.mktemp("in")
    for number in range(FILES):
        values: list[object] = [*texts(ROWS)]
        values[number] = None
        write_lines(folder / f"{number}.jsonl", values)
    (folder / "broken.jsonl.gz").write_bytes(b"no gzip")
    return folder


@pytest.fixture(scope="module")
def undisturbed(source: Path, model: Path, cluster: Workers, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What one run of two workers writes."""
    out = tmp_path_factory.mktemp("undisturbed") / "out"
    totals = run(source, out, model, cluster, 2)
    assert (totals.rows, totals.bad_rows) == (FILES * (ROWS - 1), FILES)
    assert totals.finished == totals.parts - 1 > 10
    assert totals.entities.total() > ROWS
    (failure,) = totals.failures
    assert failure.file.startswith("broken.jsonl.gz")
    assert "not a whole gzip file" in failure.error
    found = rows(out)
    assert len({(row["file"], row["position"]) for row in found}) == len(found) == FILES * (ROWS - 1)
    return out


def run(
    source: Path, out: Path, model: Path, cluster: Workers, workers: int, watch: Callable[[Totals], None] | None = None
) -> Totals:
    return tag(str(source), str(out), str(model), JOB, Cluster(cluster.address, workers), watch=watch)


def test_killed_worker_does_not_change_the_output(
    source: Path, undisturbed: Path, model: Path, cluster: Workers, tmp_path: Path
) -> None:
    killed: list[int] = []

    def kill(totals: Totals) -> None:
        if not killed:
            killed.extend(cluster.pids())
            for pid in killed:
                os.kill(pid, signal.SIGKILL)

    totals = run(source, tmp_path / "out", model, cluster, 2, kill)
    assert killed
    assert totals.skipped == 0
    assert content(tmp_path / "out") == content(undisturbed)  # without what the worker had begun to write


@pytest.mark.parametrize(("number", "code"), [(signal.SIGKILL, -9), (signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_killed_driver_resumes_with_other_workers_to_the_same_output(
    number: signal.Signals,
    code: int,
    source: Path,
    undisturbed: Path,
    model: Path,
    cluster: Workers,
    tmp_path: Path,
) -> None:
    out = tmp_path / "out"
    words = ["batch", source, out, "--model", model, "--address", cluster.address, "--workers", 2, "--keep", "id",
             "--tokenizer", "whitespace", "--part-size", PART / 2**20]  # fmt: skip
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    with subprocess.Popen([sys.executable, "-m", "nestag", *map(str, words)], env=environment) as driver:
        wait_until(lambda: driver.poll() is not None or len(done(out)) >= 2)
        driver.send_signal(number)
    assert driver.returncode == code
    begun = len(done(out))
    assert begun >= 2
    wait_until(lambda: not cluster.pids())  # Ray ends the workers of a driver that is gone
    totals = run(source, out, model, cluster, 1)
    assert begun <= totals.skipped <= totals.parts
    assert content(out) == content(undisturbed)
    assert not list(out.rglob(".*"))


def test_stopped_run_leaves_no_hidden_files(source: Path, model: Path, tmp_path: Path) -> None:
    """Ray kills the workers of a run that it started itself in the middle of a part."""
    out = tmp_path / "out"
    words = ["batch", source, out, "--model", model, "--workers", 2, "--tokenizer", "whitespace", "--part-size", 0.1]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    command = [sys.executable, "-m", "nestag", *map(str, words)]
    with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True) as driver:
        wait_until(lambda: driver.poll() is not None or bool(list(out.glob(".nestag-*.part"))))
        driver.terminate()
        errors = driver.communicate()[1]
    assert driver.returncode == 143
    assert "resume with the same command" in errors
    assert not list(out.rglob(".*"))


def test_run_resumes_after_a_full_disk_to_the_same_output(
    source: Path, undisturbed: Path, model: Path, cluster: Workers, tmp_path: Path
) -> None:
    def fill(totals: Totals) -> None:
        for pid in cluster.pids():
            resource.prlimit(pid, resource.RLIMIT_FSIZE, (1_000, resource.RLIM_INFINITY))

    with pytest.raises(InputError, match=r"cannot be written .* resume with the same command"):
        run(source, tmp_path / "out", model, cluster, 1, fill)
    begun = done(tmp_path / "out")
    assert begun
    victim = sorted((tmp_path / "out").glob("*.parquet"))[0]
    victim.write_bytes(victim.read_bytes()[:-1])  # and one that was done is cut short
    totals = run(source, tmp_path / "out", model, cluster, 2)
    assert totals.skipped == len(begun) - 1
    assert content(tmp_path / "out") == content(undisturbed)


def test_other_settings_are_refused(
    source: Path, undisturbed: Path, model: Path, cluster: Workers, tmp_path: Path
) -> None:
    save_shape_model(tmp_path / "other", seed=1)
    for other, job, message in (
        (tmp_path / "other", JOB, "was begun with model"),
        (
            model,
            Job(tokenizer="whitespace", keep=("id",), part_bytes=PART, changes={"threshold": 0.5}),
            "begun with chan",
        ),
    ):
        with pytest.raises(InputError, match=message):
            tag(str(source), str(undisturbed), str(other), job, Cluster(cluster.address))
    with pytest.raises(InputError, match=r"0.jsonl: it is no longer among the inputs"):
        tag(f"{source}/[1-9].jsonl", str(undisturbed), str(model), JOB, Cluster(cluster.address))
    with pytest.raises(InputError, match="inside the inputs"):
        tag(str(source), str(source / "out"), str(model), JOB, Cluster(cluster.address))
    with pytest.raises(InputError, match="memory of this process"):
        tag(str(source), "memory://bucket/out", str(model), JOB, Cluster(cluster.address))
    with pytest.raises(InputError, match="has other files"):
        tag(str(undisturbed), str(source), str(model), Job(text="file"), Cluster(cluster.address))


def test_batch_shows_progress_and_summary(tmp_path: Path, model: Path, cluster: Workers) -> None:
    write_lines(tmp_path / "in" / "a.jsonl", ["Paris", None])
    words = ["batch", tmp_path / "in", tmp_path / "out", "--model", model, "--tokenizer", "whitespace", "--json"]
    done = CliRunner().invoke(app, [*map(str, words), "--address", cluster.address])
    assert done.exit_code == 0, done.output
    counts = {row[""]: row["count"] for row in json.loads(done.stdout)["rows"]}
    assert (counts["rows"], counts["bad rows"], counts["workers"]) == (1, 1, 1)
    assert counts["tagging"] >= 0


def test_part_that_kills_its_workers_is_given_up(source: Path, model: Path, cluster: Workers, tmp_path: Path) -> None:
    over = threading.Event()

    def kill() -> None:
        while not over.wait(0.01):
            for pid in cluster.pids("tag"):
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)

    (tmp_path / "in").mkdir()
    shutil.copy(source / "0.jsonl", tmp_path / "in")
    job = Job(tokenizer="whitespace", part_bytes=10**9)
    killing = threading.Thread(target=kill)
    killing.start()
    try:
        totals = tag(str(tmp_path / "in"), str(tmp_path / "out"), str(model), job, Cluster(cluster.address, 1))
    finally:
        over.set()
        killing.join()
    assert [failure.error for failure in totals.failures] == [
        f"its worker died {MAX_DEATHS} times; is there enough memory?"
    ]


@pytest.mark.parametrize(
    ("resources", "device", "size", "asked", "workers"),
    [
        ({"CPU": 8.0}, "cpu", 1, None, 8),
        ({"CPU": 16.0, "GPU": 1.0}, "cuda", 1, None, 4),
        ({"CPU": 6.0, "GPU": 2.0}, "cuda", 1, None, 6),  # no more than there are CPUs
        ({"CPU": 1.0, "GPU": 2.0}, "cuda", 1, None, 2),
        ({"CPU": 64.0, "GPU": 8.0}, "cuda", 2, None, 8),  # one worker per GPU for a large model
        ({"CPU": 64.0, "GPU": 8.0}, "cuda", 1, 3, 3),
        ({"CPU": 500.0}, "cpu", 1, None, 100),  # no more than there are parts
    ],
)
def test_number_of_workers(
    resources: dict[str, float],
    device: Device,
    size: int,
    asked: int | None,
    workers: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Machine:
        def cluster_resources(self) -> dict[str, float]:
            return resources

    monkeypatch.setattr("nestag.batch.cluster.SMALL_MODEL", 1)
    connection = RayConnection(Machine(), Cluster(workers=asked))
    assert connection.workers(Job(device=device), ModelFiles({"weights": bytes(size)}, ""), 100) == workers


def done(out: Path) -> list[str]:
    return sorted(path.name for path in (out / "_nestag" / "done").glob("*.json"))
