"""Commands end with a line and an exit code for any files and streams, never with a traceback."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from threading import Thread

import pytest
from typer.testing import CliRunner

from nestag.cli import app, boundary
from nestag.cli.boundary import code_of, guard
from nestag.data.sentence import Entity, Sentence
from nestag.errors import InputError
from nestag.formats import jsonl
from nestag.formats.registry import Format
from waiting import wait_until

SENTENCES = [Sentence(["Łódź", "is", "in", "Poland"], [Entity(0, 1, "GPE")], f"doc{n}-1") for n in range(40)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    where = tmp_path_factory.mktemp("boundary")
    jsonl.write(SENTENCES, where / "corpus.jsonl")
    return where


def shell(folder: Path, line: str, **more: str) -> subprocess.CompletedProcess[str]:
    """A line of a shell in which nestag is the command."""
    nestag = f'nestag() {{ "{sys.executable}" -m nestag "$@"; }}; '
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), **more}
    return subprocess.run(["bash", "-c", nestag + line], cwd=folder, env=env, capture_output=True, encoding="latin-1")


def test_pipes_of_a_shell_are_read_like_files(folder: Path) -> None:
    """Those of all commands are tried without a shell in test_every_command.py."""
    for line in ("nestag convert <(cat corpus.jsonl) out.jsonl", "cat corpus.jsonl | nestag convert - out.jsonl"):
        (folder / "out.jsonl").unlink(missing_ok=True)
        found = shell(folder, line + " --from jsonl")
        assert found.returncode == 0, found.stderr
        assert list(jsonl.read(folder / "out.jsonl")) == SENTENCES


@pytest.mark.parametrize(("redirection", "reason"), [(">/dev/full", "No space left"), (">&-", "it is closed")])
def test_full_or_closed_output_is_a_one_line_error(redirection: str, reason: str, folder: Path) -> None:
    found = shell(folder, f"nestag stats corpus.jsonl {redirection}")
    assert (found.returncode, found.stderr.count("\n")) == (2, 1)
    assert "the standard output: " in found.stderr
    assert reason in found.stderr


@pytest.mark.parametrize("redirection", ["2>/dev/full", "2>&- <&-"])
def test_closed_unused_streams_are_ignored(redirection: str, folder: Path) -> None:
    assert shell(folder, f"nestag convert corpus.jsonl out.jsonl {redirection}").returncode == 0
    assert list(jsonl.read(folder / "out.jsonl")) == SENTENCES


def test_closed_input_is_a_one_line_error(folder: Path) -> None:
    found = shell(folder, "nestag stats - --from jsonl <&-")
    assert (found.returncode, found.stderr) == (
        2, "nestag: -: cannot be read (the standard input is closed); check the path\n",
    )  # fmt: skip


def test_closed_pipe_is_not_an_error(folder: Path) -> None:
    (folder / "many.jsonl").write_text('{"tokens": ["a"], "entities": []}\n' * 100_000)
    found = shell(folder, "nestag convert many.jsonl - --to jsonl | head -1")
    assert (found.stdout.count("\n"), found.stderr) == (1, "")


@pytest.mark.parametrize("encoding", ["cp1252", "ascii"])
def test_unencodable_characters_are_escaped(encoding: str, folder: Path) -> None:
    jsonl.write([Sentence(["😀"], [Entity(0, 1, "Łódź")])], folder / "emoji.jsonl")
    more = {"PYTHONIOENCODING": encoding, "PYTHONUTF8": "0"}
    table = shell(folder, "nestag stats emoji.jsonl --types --json", **more)
    assert (table.returncode, table.stderr) == (0, "")
    if encoding != "ascii":  # which counts as a mistake in the settings, so it is written as UTF-8
        assert "Łódź" in str(json.loads(table.stdout))
    shown = shell(folder, "nestag show emoji.jsonl", **more)
    assert (shown.returncode, shown.stderr) == (0, "")


def test_failed_append_keeps_the_output(folder: Path) -> None:
    (folder / "kept.jsonl").write_text("kept\n")
    for line in ("/dev/stdout --to jsonl >> kept.jsonl", "/dev/fd/3 --to jsonl 3>> kept.jsonl"):
        assert shell(folder, f"nestag convert corpus.jsonl {line}").returncode == 0
    assert (folder / "kept.jsonl").read_text() == "kept\n" + 2 * (folder / "corpus.jsonl").read_text()


@pytest.mark.parametrize("sent", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_signals_leave_no_partial_file(sent: signal.Signals, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.jsonl")
    command = [sys.executable, "-m", "nestag", "convert", "pipe.jsonl", "out.jsonl"]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    with subprocess.Popen(command, cwd=tmp_path, env=env, stderr=subprocess.PIPE) as process:
        with open(tmp_path / "pipe.jsonl", "wb") as pipe:
            pipe.write(b'{"tokens": ["a"], "entities": []}\n' * 10_000)
            pipe.flush()
            wait_until(lambda: list(tmp_path.glob(".nestag-*")))
            process.send_signal(sent)
            process.wait()
        assert process.stderr
        assert b"Traceback" not in process.stderr.read()
    assert process.returncode == 128 + sent
    assert [path.name for path in tmp_path.iterdir()] == ["pipe.jsonl"]


def test_failed_split_writes_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    where = folder / "splits"
    where.mkdir()
    (where / "notes.txt").write_text("mine", encoding="utf-8")
    write = Format.write

    def fails_at_dev(format: Format, sentences: object, path: Path, *rest: object) -> None:
        if path.name == "dev.jsonl":
            raise InputError("the disk is full", str(path))
        write(format, sentences, path, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(Format, "write", fails_at_dev)
    refused = CliRunner().invoke(app, ["split", str(folder / "corpus.jsonl"), "-o", str(where)])
    assert (refused.exit_code, refused.stderr) == (2, f"nestag: {where}/dev.jsonl: the disk is full\n")
    assert {path.name: path.read_text() for path in where.iterdir()} == {"notes.txt": "mine"}


@pytest.mark.parametrize("mark", ["@2", "@3", ""])
def test_article_stays_in_one_split(mark: str, tmp_path: Path) -> None:
    ids = [f"MEDLINE:{article}-{number}{again}" for article in range(6) for again in ("", mark) for number in range(5)]
    jsonl.write([Sentence(["a"], [Entity(0, 1, "X")], name) for name in ids], tmp_path / "genia.jsonl")
    assert CliRunner().invoke(app, ["split", str(tmp_path / "genia.jsonl"), "-o", str(tmp_path / "o")]).exit_code == 0
    articles = [
        {str(sentence.id).partition("-")[0] for sentence in jsonl.read(tmp_path / "o" / f"{name}.jsonl")}
        for name in ("train", "dev", "test")
    ]
    assert sum(map(len, articles)) == len(set.union(*articles)) == 6


def test_internal_errors_ask_for_a_report(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "argv", ["nestag", "stats", "a b\x1b[31m.jsonl"])

    def wrong() -> None:
        {}["a\x1b"]

    code = boundary.run(guard(wrong))
    said = capsys.readouterr().err
    assert code == 70
    assert "KeyError" in said
    assert f"nestag {boundary.nestag.__version__}, Python {sys.version.split()[0]}" in said
    assert "command: nestag stats 'a b␛[31m.jsonl'" in said
    assert "test_boundary.py" in said
    assert "Traceback" not in said
    assert "\x1b" not in said


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (PermissionError(13, "Permission denied", "a\nb"), 2, "nestag: a b: Permission denied; check"),
        (OSError(28, "No space left on device"), 2, "No space left on device"),
        (MemoryError(), 2, "not enough memory"),
        (BrokenPipeError(), 141, ""),
        (KeyboardInterrupt(), 130, "interrupted"),
        (InputError("wrong \x1b[2J", "a\tb", 3), 2, "nestag: a␉b:3: wrong ␛[2J\n"),
        (RecursionError(), 70, "RecursionError"),
    ],
)
def test_errors_have_exit_codes(error: BaseException, code: int, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert code_of(error) == code
    assert said in capsys.readouterr().err


def test_error_about_endless_input_is_short(tmp_path: Path) -> None:
    (tmp_path / "x.conllu").write_text("a" * 100_000 + "\n")
    found = CliRunner().invoke(app, ["stats", str(tmp_path / "x.conllu")])
    assert (found.exit_code, found.stderr.count("\n"), len(found.stderr) < 1_100) == (2, 1, True)
    assert "x.conllu:1: " in found.stderr
    assert " … " in found.stderr


def test_control_characters_in_messages_are_escaped(tmp_path: Path) -> None:
    crossing = [Entity(0, 2, "A\x1b[1m"), Entity(1, 3, "B")]
    jsonl.write([Sentence(["a", "b", "c"], crossing, "id\x1b[2J\x07-1")], tmp_path / "x.jsonl")
    for arguments in (
        ["convert", "x.jsonl", "y.jsonl", "--crossing", "drop", "--list"],
        ["convert", "x.jsonl", "y.jsonl", "--crossing", "error"],
        ["encode", "x.jsonl"],
        ["show", "x.jsonl"],
        ["doctor", "--train", "x.jsonl"],
        ["stats", "x.jsonl", "--types"],
        ["evaluate", "x.jsonl", "x.jsonl", "--worst", "1"],
    ):
        found = CliRunner().invoke(app, [str(tmp_path / a) if a.endswith("jsonl") else a for a in arguments])
        assert "\x1b[2J" not in found.output, arguments
        assert "\x07" not in found.output, arguments
        assert "\x1b[1m" not in found.output, arguments


def test_named_pipe_does_not_hang(tmp_path: Path) -> None:
    jsonl.write(SENTENCES, tmp_path / "corpus.jsonl")
    os.mkfifo(tmp_path / "pipe")
    writer = Thread(target=(tmp_path / "pipe").write_bytes, args=((tmp_path / "corpus.jsonl").read_bytes(),))
    writer.start()
    found = CliRunner().invoke(app, ["convert", str(tmp_path / "pipe"), str(tmp_path / "out.jsonl")])
    writer.join()
    assert found.exit_code == 0, found.output
    assert list(jsonl.read(tmp_path / "out.jsonl")) == SENTENCES


@pytest.mark.parametrize(
    "arguments",
    [["stats", ""], ["convert", "", "y.jsonl"], ["convert", "x.jsonl", ""], ["evaluate", "x.jsonl", ""],
     ["split", "x.jsonl", "-o", ""], ["encode", "x.jsonl", "-o", ""], ["predict", "", "x.jsonl"]],
)  # fmt: skip
def test_empty_path_is_refused(arguments: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Which it is for pathlib, so that an unset variable in a script would read or fill whatever is there."""
    monkeypatch.chdir(tmp_path)
    jsonl.write([Sentence(["a"], id=f"{name}-1") for name in "abcdef"], tmp_path / "x.jsonl")
    done = CliRunner().invoke(app, arguments)
    assert (done.exit_code, done.stderr) == (2, "nestag: '': the path is empty; is a variable unset?\n")
    assert [path.name for path in tmp_path.iterdir()] == ["x.jsonl"]
