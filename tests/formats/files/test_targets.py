"""Writing a file: atomically, with the user's permissions, and only over regular files."""

from __future__ import annotations

import gzip
import os
from pathlib import Path
from threading import Thread

import pytest

from nestag.errors import InputError
from nestag.formats.files import writing, writing_bytes


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_failure_keeps_the_old_file_only(tmp_path: Path) -> None:
    path = tmp_path / "x.txt"
    path.write_text("old")

    def fail() -> None:
        with writing(path) as stream:
            stream.write("new")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert (path.read_text(), names(tmp_path)) == ("old", ["x.txt"])


def test_file_and_folder_are_synced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    order: list[str] = []
    sync, replace = os.fsync, os.replace
    kind = {True: "folder", False: "file"}
    monkeypatch.setattr(os, "fsync", lambda fd: (order.append(kind[Path(f"/dev/fd/{fd}").is_dir()]), sync(fd))[1])
    monkeypatch.setattr(os, "replace", lambda a, b: (order.append("replace"), replace(a, b))[1])
    with writing(tmp_path / "x.txt") as stream:
        stream.write("new")
    assert order == ["file", "replace", "folder"]


@pytest.mark.parametrize(("mask", "rights"), [(0o022, 0o644), (0o077, 0o600), (0o002, 0o664)])
def test_new_files_follow_the_umask(mask: int, rights: int, tmp_path: Path) -> None:
    before = os.umask(mask)
    try:
        with writing(tmp_path / "x.txt") as stream:
            stream.write("a")
    finally:
        os.umask(before)
    assert (tmp_path / "x.txt").stat().st_mode & 0o777 == rights


def test_replaced_files_keep_their_permissions(tmp_path: Path) -> None:
    path = tmp_path / "x.txt"
    path.write_text("old")
    path.chmod(0o640)
    with writing(path) as stream:
        stream.write("new")
    assert path.stat().st_mode & 0o777 == 0o640


def test_gzip_output_does_not_depend_on_the_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number, name in enumerate(["a.gz", "b.gz"]):
        monkeypatch.setattr("time.time", lambda number=number: 1e9 + number)
        with writing(tmp_path / name) as stream:
            stream.write("text")
    assert (tmp_path / "a.gz").read_bytes() == (tmp_path / "b.gz").read_bytes()
    assert gzip.decompress((tmp_path / "a.gz").read_bytes()) == b"text"


def test_open_descriptor_is_appended_to(tmp_path: Path) -> None:
    path = tmp_path / "x.txt"
    path.write_text("before\n")
    (tmp_path / "link").symlink_to("/dev/fd/9")
    with open(path, "ab") as file:
        saved = os.dup(9) if Path("/dev/fd/9").exists() else None
        os.dup2(file.fileno(), 9)
        for target in ("/dev/fd/9", tmp_path / "link"):
            with writing(target) as stream:
                stream.write("after\n")
        os.close(9)
        if saved is not None:
            os.dup2(saved, 9)
    assert path.read_text() == "before\nafter\nafter\n"


def test_a_named_pipe_is_written_into(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    read: list[bytes] = []
    reader = Thread(target=lambda: read.append((tmp_path / "pipe").read_bytes()))
    reader.start()
    with writing_bytes(tmp_path / "pipe") as stream:
        stream.write(b"abc")
    reader.join()
    assert read == [b"abc"]
    assert (tmp_path / "pipe").is_fifo()


def test_full_disk_is_a_one_line_error() -> None:
    with pytest.raises(InputError, match=r"/dev/full: cannot be written \(No space left"), writing("/dev/full") as out:
        out.write("a")


def test_folder_is_not_overwritten(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be written"), writing(tmp_path) as stream:
        stream.write("a")


def test_longest_file_name_can_be_written(tmp_path: Path) -> None:
    with writing(tmp_path / ("x" * 255)) as stream:
        stream.write("a")
    assert names(tmp_path) == ["x" * 255]
