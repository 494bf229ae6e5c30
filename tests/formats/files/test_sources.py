"""Reading: exact text, pipes, truncated and oversized compressed files."""

from __future__ import annotations

import gzip
import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread

import pytest

from nestag.errors import InputError
from nestag.formats.files import (
    is_stream,
    peek,
    read_lines,
    read_text,
    reading,
    sources,
    writing,
    writing_together,
)
from nestag.formats.registry import format_of
from raw_texts import saved


@pytest.mark.parametrize("at", [0, 5, 2**20 - 1, 2**20, 2**20 + 1])
def test_undecodable_bytes_are_named(at: int, tmp_path: Path) -> None:
    content = b"\xc3\xa9" * (2**19 + 5)
    content = content[: at - at % 2] + b"\xff" + content[at - at % 2 :]
    with pytest.raises(InputError, match=rf"byte {at - at % 2} \(0xff\) is not UTF-8"):
        read_text(saved(tmp_path, "x.txt", content))
    with pytest.raises(InputError, match=r"byte 2 \(0xc3\) is not UTF-8"):
        read_text(saved(tmp_path, "x.txt", b"ab\xc3"))


@contextmanager
def fed(path: Path, content: bytes) -> Iterator[Path]:
    """A named pipe that somebody writes into."""
    os.mkfifo(path)
    writer = Thread(target=path.write_bytes, args=(content,))
    writer.start()
    yield path
    writer.join()


@pytest.mark.parametrize("size", [0, 1, 2**16, 2**18])
def test_named_pipe_can_be_peeked_and_read(size: int, tmp_path: Path) -> None:
    content = b"".join(b"line %d\n" % number for number in range(size // 8))
    with fed(tmp_path / "pipe", content) as pipe:
        assert is_stream(pipe)
        assert peek(pipe, 100) == peek(pipe, 100) == content[:100]
        assert peek(pipe, 2**17) == content[: 2**17]
        with reading(pipe) as stream:
            assert stream.read() == content


def test_compressed_pipe_is_decompressed(tmp_path: Path) -> None:
    with fed(tmp_path / "pipe.gz", gzip.compress(b"a\nb\n")) as pipe:
        assert peek(pipe, 1) == b"a"
        assert [line.text for line in read_lines(pipe)] == ["a", "b"]


def test_open_descriptor_is_read_from_its_position() -> None:
    ours, theirs = os.pipe()
    os.write(theirs, b"abc\n")
    os.close(theirs)
    assert peek(f"/dev/fd/{ours}", 2) == b"ab"
    assert [line.text for line in read_lines(f"/dev/fd/{ours}")] == ["abc"]
    os.close(ours)
    with pytest.raises(InputError, match="cannot be read"):
        list(read_lines(f"/dev/fd/{ours}"))


def test_standard_input_can_be_peeked_and_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"one\ntwo")))
    assert peek("-", 3) == b"one"
    assert [line.text for line in read_lines("-")] == ["one", "two"]
    assert peek("-", 3) == b""
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"other")))
    assert [line.text for line in read_lines("-")] == ["other"]
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(InputError, match="standard input is closed"):
        list(read_lines("-"))


@pytest.mark.parametrize("content", [b"", b"not packed", gzip.compress(b"a\nb\n", mtime=0)[:-5]])
def test_truncated_gzip_file_is_refused(content: bytes, tmp_path: Path) -> None:
    path = saved(tmp_path, "x.gz", content)
    with pytest.raises(InputError, match="not a whole gzip file"):
        list(read_lines(path))
    with pytest.raises(InputError, match="not a whole gzip file"):
        read_text(path)


def test_gzip_members_are_joined_and_may_be_empty(tmp_path: Path) -> None:
    assert read_text(saved(tmp_path, "x.gz", gzip.compress(b"a") + gzip.compress(b"b"))) == "ab"
    assert read_text(saved(tmp_path, "x.gz", gzip.compress(b""))) == ""


def test_decompression_bomb_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "SMALL", 2**20)
    path = saved(tmp_path, "x.gz", gzip.compress(b"a" * 2**22))
    with pytest.raises(InputError, match=f"200 times its packed size.*{sources.RATIO_SETTING}"):
        read_text(path)
    monkeypatch.setenv(sources.RATIO_SETTING, "2000")
    assert len(read_text(path)) == 2**22
    monkeypatch.setenv(sources.RATIO_SETTING, "many")
    with pytest.raises(InputError, match="'many' is not a ratio"):
        read_text(path)


@pytest.mark.parametrize("path", ["a\0b", "a\ud800b"])
def test_impossible_path_is_an_input_error(path: str) -> None:
    with pytest.raises(InputError, match="no file name can have"):
        list(read_lines(path))
    with pytest.raises(InputError, match="no file name can have"), writing(path):
        pass
    with pytest.raises(InputError, match="no file name can have"), writing_together(path):
        pass


def test_path_that_is_too_long_is_an_input_error() -> None:
    with pytest.raises(InputError, match="cannot be read"):
        format_of("a" * 1_000)


def test_pipe_is_read_as_it_is_written() -> None:
    ours, theirs = os.pipe()
    pipe = f"/dev/fd/{ours}"
    os.write(theirs, b"one\n")
    assert peek(pipe, 100, wait=False) == b"one\n"  # though the pipe is still open
    lines = read_lines(pipe)
    assert next(lines).text == "one"
    os.write(theirs, b"two\n")
    assert next(lines).text == "two"
    os.close(theirs)
    assert list(lines) == []
    os.close(ours)
