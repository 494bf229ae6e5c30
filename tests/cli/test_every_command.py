"""Every command, with any files and streams: a line and an exit code, no traceback, no partial result.

All commands are forked from one process (forked_commands.py), one after another: `train` makes the model of others.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Iterator
from itertools import cycle
from pathlib import Path

import pytest
from typer.testing import CliRunner

from forked_commands import Case, Outcome, outcomes
from nestag.cli import COMMANDS, app, export
from nestag.data.sentence import Sentence
from nestag.formats import jsonl
from two_sentences import CORPUS, MANY

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="looks at descriptors as Linux shows them"),
]

OTHER = [Sentence(["lincoln", "slept"])]
PIPES = ("substitution", "stdin", "fifo")
BROKEN = {"full": "No space left", "closed": "it is closed"}
"""An output that cannot be written, and why."""
TRAIN = "train --train {} --dev dev.jsonl --cpu --encoder encoder --set steps=1 --set batch_subwords=64 -o"
ADAPT = "adapt {} --cpu --encoder encoder --epochs 1 -o"
LINES = {
    "train": f"{TRAIN} model",
    "demo": "demo --idea",
    "distill": "distill model {} --train train.jsonl --dev dev.jsonl --cpu --encoder encoder --set steps=1 -o student",
    "adapt": f"{ADAPT} adapted",
    "predict": "predict model {} --device cpu",
    "serve": "serve missing --port 0 --token-file {}",
    "batch": "batch {} tagged --model missing",
    "thresholds": "thresholds model {} --device cpu --no-save",
    "evaluate": "evaluate dev.jsonl {}",
    "benchmark": "benchmark model {} --device cpu",
    "report": "report model --test {} --device cpu -o report.html",
    "encode": "encode {} --from jsonl",
    "decode": "decode {}",
    "vocabulary": "vocabulary {} --from jsonl",
    "show": "show {}",
    "stats": "stats {}",
    "convert": "convert {} - --to jsonl",
    "split": "split {} -o splits --by sentence",
    "doctor": "doctor --train {}",
    "export machamp": "export machamp machamp --train {} --dev dev.jsonl",
    "export conll": "export conll conll --train {} --dev dev.jsonl",
    "export hf": "export hf hf --train {} --dev dev.jsonl",
    "export back": "export back labels dev.jsonl {}",
    "export onnx": "export onnx missing graph --dev {}",
    "help": "--help",
    "settings": "train --settings",
}
"""Each command as it is given; {} is its input."""
INPUTS = {
    "train": "train.jsonl", "distill": "other.jsonl", "split": "train.jsonl", "decode": "labels.tsv",
    "export back": "labels/dev.tsv", "serve": "token",
}  # fmt: skip
TWICE = {"doctor", "split", "export machamp", "export conll", "export hf"}
"""Commands that read their input more than once."""
SILENT = {
    "adapt", "distill", "train", "serve", "batch", "report",
    "export machamp", "export conll", "export hf", "export onnx",
}  # fmt: skip
"""Commands that write files alone, and nothing to the standard output."""
REFUSED = {
    "export onnx": "no such folder", "serve": "no such folder", "batch": "no input files",
}  # fmt: skip
"""Cases with missing models and files, for commands that otherwise take too long."""
WRITERS = (
    f"{TRAIN} cut", f"{ADAPT} cut-too",
    "predict model {} --device cpu -o out.jsonl", "convert {} out.jsonl", "convert {} out --to brat",
    "split {} -o out --by sentence", "export conll out --train {} --dev dev.jsonl",
)  # fmt: skip
"""Commands for which the disk is full before they end; files may not be larger than LARGEST bytes."""
LARGEST = 20_000, 20_000, *(500,) * (len(WRITERS) - 2)

Found = dict[str, Outcome]


@pytest.fixture(scope="module")
def place(tiny_encoder: Callable[[str], str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("commands")
    shutil.copytree(tiny_encoder("bert"), folder / "encoder")
    for name, sentences in (("train", MANY), ("dev", CORPUS), ("test", CORPUS), ("other", OTHER)):
        jsonl.write(sentences, folder / f"{name}.jsonl")
    corpora = ("--train", str(folder / "dev.jsonl"), "--dev", str(folder / "dev.jsonl"))
    assert CliRunner().invoke(app, ["export", "conll", str(folder / "labels"), *corpora]).exit_code == 0
    (folder / "token").write_text(64 * "a")
    (folder / "labels.tsv").write_text("Łódź\t0\tS\t-\n\n")
    return folder


def cases(place: Path) -> Iterator[tuple[str, Case]]:
    """Each command with a pipe, and with an output that cannot be written; some on a full disk, and training again."""
    pipes, broken = cycle(PIPES), cycle(BROKEN)
    for name, line in LINES.items():
        words, given = tuple(line.split()), str(place / INPUTS.get(name, "dev.jsonl")) if "{}" in line else None
        error = "file" if name in TWICE | set(REFUSED) else "full"
        yield f"pipe {name}", Case(words, str(place), given, next(pipes), error=error, encoding="latin-1")
        if name not in SILENT:
            yield f"broken {name}", Case(words, str(place), given, out=next(broken))
    train = str(place / "train.jsonl")
    for line, largest in zip(WRITERS, LARGEST, strict=True):
        yield f"full {line}", Case(tuple(line.split()), str(place), train, largest=largest)
    yield "again", Case(tuple(WRITERS[0].split()), str(place), train)


@pytest.fixture(scope="module")
def found(place: Path, tmp_path_factory: pytest.TempPathFactory) -> Found:
    names, given = zip(*cases(place), strict=True)
    return dict(zip(names, outcomes(given, tmp_path_factory.mktemp("logs")), strict=True))


def test_every_command_has_a_case() -> None:
    commands = {name for name in COMMANDS if name != "export"}
    commands |= {
        f"export {command.callback.__name__}" for command in export.app.registered_commands if command.callback
    }
    assert commands == set(LINES) - {"help", "settings"}


@pytest.mark.parametrize("name", LINES)
def test_pipes_work_like_files_without_stderr(name: str, found: Found) -> None:
    end = found[f"pipe {name}"]
    if name in TWICE:
        assert (end.code, end.error.count("\n"), "more than once" in end.error) == (2, 1, True), end
    elif name in REFUSED:
        assert (end.code, end.error.count("\n"), REFUSED[name] in end.error) == (2, 1, True), end
    else:
        assert (end.code, bool(end.out)) == (0, name not in SILENT), end


@pytest.mark.parametrize("name", [name for name in LINES if name not in SILENT])
def test_unwritable_output_is_a_one_line_error(name: str, found: Found) -> None:
    end = found[f"broken {name}"]
    assert end.code == 2, end
    assert "Traceback" not in end.error
    (line,) = [line for line in end.error.splitlines() if line.startswith("nestag: ")]
    assert any(reason in line for reason in BROKEN.values()), line


@pytest.mark.parametrize("line", WRITERS)
def test_full_disk_is_a_one_line_error_without_files(line: str, found: Found, place: Path) -> None:
    end = found[f"full {line}"]
    assert end.code == 2, end
    assert "Traceback" not in end.error
    (told,) = [line for line in end.error.splitlines() if line.startswith("nestag: ")]
    assert "File too large" in told
    assert not list(place.rglob("*.part"))
    assert not (place / "out").exists()
    assert not (place / "out.jsonl").exists()


def test_training_resumes_after_a_full_disk(found: Found, place: Path) -> None:
    assert found["again"].code == 0, found["again"]
    for name in ("model.safetensors", "vocabulary.json", "nestag.json"):
        assert (place / "cut" / name).read_bytes() == (place / "model" / name).read_bytes(), name
