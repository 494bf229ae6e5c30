"""Folders, and several files together: a process that dies at any step leaves all old files or all new ones."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from nestag.errors import InputError
from nestag.files import finish_moves, reading, remove_leftovers, writing, writing_folder, writing_together
from nestag.files.folders import MOVING

OLD = {"a": "old a", "b": "old b", "gone": "old", "other": "other"}
NEW = {"a": "new a", "b": "new b", "c": "new c", "other": "other"}


def contents(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in folder.iterdir() if not path.name.startswith(".nestag-")}


def fill(folder: Path, files: dict[str, str]) -> None:
    folder.mkdir(exist_ok=True)
    for name, text in files.items():
        (folder / name).write_text(text)


def replace_all(folder: Path) -> None:
    with writing_together(folder, stale=["gone", "a"]) as part:
        for name in "abc":
            with writing(part / name) as stream:
                stream.write(f"new {name}")


def dies_at(step: int, folder: str) -> None:
    """Replace the files, but end the process before the given file operation."""
    left = step

    def counted(operation: object) -> object:
        def run(*args: object, **kwargs: object) -> object:
            nonlocal left
            if not left:
                os._exit(9)
            left -= 1
            return operation(*args, **kwargs)  # type: ignore[operator]

        return run

    for name in ("fsync", "replace", "rename", "unlink", "rmdir", "mkdir", "chmod"):
        setattr(os, name, counted(getattr(os, name)))
    replace_all(Path(folder))


def die_at_every_step(root: str) -> None:
    """A folder for each step, as a process that died before it left it."""
    for step in range(1_000):
        folder = Path(root) / str(step)
        fill(folder, OLD)
        if child := os.fork():
            if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0:
                return
        else:
            dies_at(step, str(folder))
            os._exit(0)


def test_all_that_is_in_a_folder_is_on_the_disk_before_it_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    order: list[str] = []
    sync, replace = os.fsync, os.replace
    monkeypatch.setattr(os, "fsync", lambda fd: (order.append(Path(f"/dev/fd/{fd}").resolve().name), sync(fd))[1])
    monkeypatch.setattr(os, "replace", lambda a, b: (order.append("replace"), replace(a, b))[1])
    with writing_folder(tmp_path / "made") as part:
        (part / "inner").mkdir()
        (part / "inner" / "deep").write_text("a")
        (part / "flat").write_text("b")
        staged = part.name
    assert sorted(order[:4]) == sorted(["deep", "inner", "flat", staged])
    assert order.index("deep") < order.index("inner")
    assert order[3:] == [staged, "replace", tmp_path.name]


def test_dying_at_any_step_leaves_all_old_or_all_new_files(tmp_path: Path) -> None:
    code = f"import runpy; runpy.run_path({__file__!r})['die_at_every_step']({str(tmp_path)!r})"
    subprocess.run(
        [sys.executable, "-c", code], check=True, env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    )
    seen = []
    for folder in sorted(tmp_path.iterdir(), key=lambda path: int(path.name)):
        finish_moves(folder)
        found = contents(folder)
        assert found in (OLD, NEW), folder.name
        seen.append(found == NEW)
        remove_leftovers(folder)
        assert sorted(path.name for path in folder.iterdir()) == sorted(found)
    assert len(seen) > 15
    assert seen == sorted(seen), "once the new files are decided on, they stay"
    assert 3 < sum(seen) < len(seen) - 3


def decided(folder: Path) -> None:
    """What a process leaves that died after it had decided."""
    fill(folder, OLD)
    (folder / MOVING / "new").mkdir(parents=True)
    fill(folder / MOVING / "new", {name: NEW[name] for name in "bc"})
    (folder / "a").write_text("new a")
    (folder / MOVING / "stale.json").write_text('["gone"]')


def test_readers_and_writers_find_the_new_files(tmp_path: Path) -> None:
    decided(tmp_path / "read")
    with reading(tmp_path / "read" / "b") as stream:
        assert stream.read() == b"new b"
    decided(tmp_path / "written")
    with writing(tmp_path / "written" / "other") as text:
        text.write("other")
    decided(tmp_path / "together")
    with writing_together(tmp_path / "together") as part:
        (part / "other").write_text("other")
    for folder in tmp_path.iterdir():
        assert contents(folder) == NEW


def test_a_strangers_folder_changes_nothing_outside_itself(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("mine")
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "keys").write_text("mine")
    folder = tmp_path / "strange"
    (folder / MOVING / "new" / "link").mkdir(parents=True)
    (folder / MOVING / "new" / "link" / "keys").write_text("theirs")
    (folder / "link").symlink_to(tmp_path / "home")
    stale = ["../mine", str(tmp_path / "mine"), "..", "link/keys", 3, "."]
    (folder / MOVING / "stale.json").write_text(json.dumps(stale))
    with pytest.raises(InputError, match="cannot be finished"):
        finish_moves(folder)
    assert (tmp_path / "mine").read_text() == (tmp_path / "home" / "keys").read_text() == "mine"


@pytest.mark.parametrize("name", [MOVING, f"{MOVING}/new"])
def test_a_link_in_a_strangers_folder_takes_nothing_from_elsewhere(name: str, tmp_path: Path) -> None:
    fill(tmp_path / "mine", {"kept": "mine"})
    fill(tmp_path / "mine" / "new", {"secret": "mine"})
    fill(tmp_path / "theirs", {"corpus": "theirs"})
    (tmp_path / "theirs" / name).parent.mkdir(exist_ok=True)
    (tmp_path / "theirs" / name).symlink_to(tmp_path / "mine" / ("new" if name.endswith("new") else ""))
    with reading(tmp_path / "theirs" / "corpus") as stream:
        assert stream.read() == b"theirs"
    assert (tmp_path / "mine" / "new" / "secret").read_text() == "mine"
    assert not (tmp_path / "theirs" / "secret").exists()


def test_a_failure_leaves_the_old_files_and_names_the_folder_asked_for(tmp_path: Path) -> None:
    fill(tmp_path, OLD)

    def fail() -> None:
        with writing_together(tmp_path) as part:
            (part / "a").write_text("new")
            raise InputError("wrong", str(part / "b"), 7)

    with pytest.raises(InputError, match=f"^{tmp_path}/b:7: wrong") as caught:
        fail()
    assert caught.value.source == str(tmp_path / "b")
    assert contents(tmp_path) == OLD
    assert len(list(tmp_path.iterdir())) == len(OLD)


def test_what_is_no_file_is_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "x").write_text("kept")
    for make in (Path.touch, Path.mkdir):
        with pytest.raises(InputError, match="is there already"), writing_together(tmp_path) as part:
            make(part / "a")
    assert [path.name for path in tmp_path.rglob("*")] == ["a", "x"]


def test_folders_take_the_place_of_empty_ones(tmp_path: Path) -> None:
    (tmp_path / "train").mkdir()
    with writing_together(tmp_path) as part:
        for name in ("train", "dev"):
            (part / name).mkdir()
            (part / name / "x").write_text(name)
    assert sorted(path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*")) == [
        "dev", "dev/x", "train", "train/x",
    ]  # fmt: skip


def test_a_new_folder_appears_whole_or_not_at_all(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        with writing_folder(tmp_path / "deep" / "new") as part:
            (part / "x").write_text("x")
            assert not (tmp_path / "deep" / "new").exists()
    finally:
        os.umask(before)
    assert (tmp_path / "deep" / "new").stat().st_mode & 0o777 == 0o750
    with pytest.raises(InputError, match="is there already"), writing_folder(tmp_path / "deep" / "new"):
        pass
    with pytest.raises(KeyboardInterrupt), writing_folder(tmp_path / "deep" / "other"):
        raise KeyboardInterrupt
    assert [path.name for path in (tmp_path / "deep").iterdir()] == ["new"]


@pytest.mark.parametrize("content", ["[" * 100_000, "{", '{"a": 1}', "\0"])
def test_a_list_of_stale_files_that_is_none_removes_nothing(content: str, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("a")
    (tmp_path / MOVING).mkdir()
    (tmp_path / MOVING / "stale.json").write_text(content)
    with reading(tmp_path / "a.txt") as stream:
        assert stream.read() == b"a"
    assert [path.name for path in tmp_path.iterdir()] == ["a.txt"]
