"""Folders and groups of files are replaced atomically, even if the process dies at any step."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from full_disk import full_disk
from nestag.errors import InputError
from nestag.formats.files import reading, remove_leftovers, writing, writing_folder, writing_together

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


def test_folder_is_synced_before_it_is_moved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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


def test_dying_at_any_step_never_mixes_old_and_new_files(tmp_path: Path) -> None:
    code = f"import runpy; runpy.run_path({__file__!r})['die_at_every_step']({str(tmp_path)!r})"
    subprocess.run(
        [sys.executable, "-c", code], check=True, env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    )
    seen = []
    for folder in sorted(tmp_path.iterdir(), key=lambda path: int(path.name)):
        files = contents(folder)
        state = [known for known in (OLD, NEW) if files.items() <= known.items()]
        assert len(state) == 1 or files == {"other": "other"}, folder.name
        for name in state and state[0].keys() - files.keys() & OLD.keys():
            with pytest.raises(InputError, match="run the command that writes it again"), reading(folder / name):
                pass
        seen.append("old" if files == OLD else "new" if files == NEW else "missing")
        before = sorted(folder.rglob("*"))
        with reading(folder / "other") as stream:
            stream.read()
        assert sorted(folder.rglob("*")) == before, "reading never writes"
        replace_all(folder)
        assert contents(folder) == NEW
        remove_leftovers(folder)
        assert sorted(path.name for path in folder.iterdir()) == sorted(NEW)
    assert list(dict.fromkeys(seen)) == ["old", "missing", "new"]
    assert seen == sorted(seen, key=["old", "missing", "new"].index)


@pytest.mark.parametrize("step", range(8))
def test_failed_move_restores_the_old_files(step: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(tmp_path, OLD)
    replace, left = os.replace, step

    def failing(source: Path, target: Path) -> None:
        nonlocal left
        left -= 1
        if not left + 1 and ".part" in f"{source}{target}":
            raise OSError(30, "Read-only file system")
        replace(source, target)

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", failing)
        with pytest.raises(InputError, match="cannot be written"):
            replace_all(tmp_path)
    assert contents(tmp_path) == OLD
    assert len(list(tmp_path.iterdir())) == len(OLD)


def test_foreign_folder_is_not_changed(tmp_path: Path) -> None:
    (tmp_path / ".nestag.moving" / "new").mkdir(parents=True)
    fill(tmp_path / ".nestag.moving" / "new", {"a": "theirs"})
    (tmp_path / ".nestag.moving" / "stale.json").write_text('["b"]')
    fill(tmp_path, {"a": "mine", "b": "mine"})
    with reading(tmp_path / "a") as stream:
        assert stream.read() == b"mine"
    with writing(tmp_path / "c") as text:
        text.write("mine")
    with writing_together(tmp_path) as part:
        (part / "d").write_text("mine")
    names = ["a", "b", "c", "d"]
    assert {name: (tmp_path / name).read_text() for name in names} == dict.fromkeys(names, "mine")
    assert (tmp_path / ".nestag.moving" / "new" / "a").read_text() == "theirs"


def test_failure_keeps_the_old_files_and_names_the_folder(tmp_path: Path) -> None:
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


def test_only_regular_files_are_replaced(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "x").write_text("kept")
    for make in (Path.touch, Path.mkdir):
        with pytest.raises(InputError, match="is there already"), writing_together(tmp_path) as part:
            make(part / "a")
    assert [path.name for path in tmp_path.rglob("*")] == ["a", "x"]


def test_empty_folders_are_replaced(tmp_path: Path) -> None:
    (tmp_path / "train").mkdir()
    with writing_together(tmp_path) as part:
        for name in ("train", "dev"):
            (part / name).mkdir()
            (part / name / "x").write_text(name)
    assert sorted(path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*")) == [
        "dev", "dev/x", "train", "train/x",
    ]  # fmt: skip


def test_new_folder_appears_whole_or_not_at_all(tmp_path: Path) -> None:
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


def test_error_names_the_unwritable_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def write() -> None:
        with (
            writing_together(".") as folder,
            writing(folder / "news.txt") as full,
            writing(folder / "other.txt"),
            full_disk(),
        ):
            full.write("a" * 100_000)
            full.flush()

    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=r"^news\.txt: cannot be written") as caught:
        write()
    assert caught.value.source == "news.txt"
    assert not list(tmp_path.iterdir())


def test_document_named_new_keeps_its_name_in_errors(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught, writing_folder(tmp_path / "out") as folder:
        raise InputError("wrong", str(folder / "new.ann"))
    assert caught.value.source == str(tmp_path / "out" / "new.ann")
