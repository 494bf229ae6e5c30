"""Temporary files of killed processes are removed, those of running ones kept."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from nestag.formats.files import parts, reading, remove_leftovers, writing, writing_folder, writing_together
from nestag.formats.files.parts import HERE

WRITERS = {"file": "writing(there / 'a')", "folder": "writing_folder(there / 'a')", "files": "writing_together(there)"}


@pytest.fixture
def writer(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """A process that is writing into a folder."""
    code = (
        "import sys; from pathlib import Path; from nestag.formats.files import *; there = Path(sys.argv[1])\n"
        f"with {WRITERS[request.param]}: print(flush=True); sys.stdin.read()"
    )
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    with subprocess.Popen([sys.executable, "-c", code, str(tmp_path)], env=environment, **pipes) as process:
        assert process.stdout
        process.stdout.readline()
        yield process
        process.kill()


def write_file(folder: Path) -> None:
    with writing(folder / "b") as stream:
        stream.write("b")


def write_folder(folder: Path) -> None:
    with writing_folder(folder / "b"):
        pass


def write_files(folder: Path) -> None:
    with writing_together(folder) as part:
        (part / "b").write_text("b")


@pytest.mark.parametrize("write", [write_file, write_folder, write_files])
@pytest.mark.parametrize("writer", WRITERS, indirect=True)
def test_next_writer_removes_files_of_killed_processes(
    writer: subprocess.Popen[str], write: Callable[[Path], None], tmp_path: Path
) -> None:
    writer.kill()
    writer.wait()
    (left,) = tmp_path.iterdir()
    if left.is_file():
        with reading(left) as stream:
            stream.read()
    assert left.exists(), "reading never writes"
    write(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["b"]


@pytest.mark.parametrize("writer", WRITERS, indirect=True)
def test_temporary_file_of_a_running_process_is_kept(writer: subprocess.Popen[str], tmp_path: Path) -> None:
    write_file(tmp_path)
    remove_leftovers(tmp_path)
    assert sorted(parts.is_part(path) for path in tmp_path.iterdir()) == [False, True]
    assert writer.stdin
    writer.stdin.close()
    assert writer.wait() == 0
    assert not any(map(parts.is_part, tmp_path.iterdir()))


@pytest.mark.parametrize(
    "name", [".nestag-0123abcd.part", ".nestag-00000000-0123abcd.part", f".nestag-{HERE}-mine.part", "mine.part"]
)
def test_files_of_other_users_and_machines_are_kept(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text("mine")
    write_file(tmp_path)
    assert (tmp_path / name).read_text() == "mine"


def test_symlink_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "kept").write_text("kept")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / f".nestag-{HERE}-00000000.part").symlink_to(tmp_path / "mine")
    (tmp_path / "out" / f".nestag-{HERE}-00000001.part").symlink_to(tmp_path / "mine" / "kept")
    write_file(tmp_path / "out")
    assert (tmp_path / "mine" / "kept").read_text() == "kept"


def test_file_system_without_locks_is_supported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise OSError(37, "No locks available")

    monkeypatch.setattr("fcntl.flock", fail)
    left = tmp_path / f".nestag-{HERE}-00000000.part"
    left.touch()
    for write in (write_file, write_files):
        write(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == [left.name, "b"]


def test_wrongly_removed_temporary_file_is_recreated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lock, calls = parts._lock, 0

    def late(path: Path, wait: bool) -> int | None:
        nonlocal calls
        calls += 1
        if calls == 1:
            remove_leftovers(tmp_path)  # by another process, right before the lock
        return lock(path, wait)

    monkeypatch.setattr(parts, "_lock", late)
    write_file(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["b"]


def write_often(folder: Path) -> None:
    for number in range(200):
        remove_leftovers(folder)
        with writing(folder / str(number)) as stream:
            stream.write("whole")


def test_many_processes_write_into_one_folder(tmp_path: Path) -> None:
    processes = [multiprocessing.get_context("spawn").Process(target=write_often, args=(tmp_path,)) for _ in range(3)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0, 0, 0]
    assert {path.read_text() for path in tmp_path.iterdir()} == {"whole"}
    assert len(list(tmp_path.iterdir())) == 200
