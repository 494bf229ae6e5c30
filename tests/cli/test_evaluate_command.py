"""The command `evaluate`."""

import csv
import io
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO

import pytest
from typer.testing import CliRunner, Result

from nestag.cli import app
from nestag.data.sentence import Entity, Sentence
from nestag.formats import brackets, jsonl

LINCOLN = Sentence(
    ["Lincoln", "was", "president", "of", "the", "USA"],
    [Entity(0, 1, "PER"), Entity(2, 6, "PER"), Entity(4, 6, "GPE")],
    "lincoln",
)
RAIN = Sentence(["It", "rained", "in", "Paris"], [Entity(3, 4, "GPE")], "rain")
ROME = Sentence(["Rome", "slept"], [Entity(0, 1, "GPE")], "rome")
GOLD = [LINCOLN, RAIN, ROME]
PREDICTED = [
    LINCOLN.with_entities([Entity(0, 1, "PER"), Entity(4, 6, "ORG"), Entity(3, 6, "PER")]),
    RAIN,
    ROME,
]
TABLES = ["overall", "types", "depths", "lengths", "nesting", "mistakes", "confusion"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    jsonl.write(GOLD, tmp_path / "gold.jsonl")
    jsonl.write(PREDICTED, tmp_path / "pred.jsonl.gz")
    jsonl.write(PREDICTED[::-1], tmp_path / "shuffled.jsonl")
    jsonl.write([one.with_entities([]) for one in GOLD], tmp_path / "nothing.jsonl")
    jsonl.write([RAIN], tmp_path / "train.jsonl")
    return tmp_path


def run(folder: Path, *arguments: object, pipe: str | None = None) -> Result:
    """Run it on files of the folder."""
    names = [str(folder / str(name)) if (folder / str(name)).exists() else str(name) for name in arguments]
    return CliRunner().invoke(app, ["evaluate", *names], input=pipe)


def told(folder: Path, *arguments: object) -> str:
    done = run(folder, *arguments)
    assert done.exit_code == 0, done.stderr
    return done.stdout


def answer(folder: Path, *arguments: object) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(told(folder, *arguments, "--json"))
    return found


def test_all_tables_are_printed(folder: Path) -> None:
    rows = [line.split() for line in told(folder, "gold.jsonl", "pred.jsonl.gz").splitlines()]
    micro = next(row for row in rows if row[:1] == ["micro"])
    assert micro[1] == micro[2] == micro[3] == "60.00"
    assert micro[-3:] == ["5", "5", "3"]
    titles = ["Scores", "By type", "By depth", "By length", "By nesting", "Mistakes", "Types over"]
    text = told(folder, "gold.jsonl", "pred.jsonl.gz")
    assert [text.index(title) for title in titles] == sorted(text.index(title) for title in titles)
    assert max(map(len, text.splitlines())) <= 100


def test_json_is_one_object_with_everything(folder: Path) -> None:
    found = answer(folder, "gold.jsonl", "pred.jsonl.gz")
    assert list(found["tables"]) == TABLES
    assert found["tables"]["overall"]["rows"][0]["F1"] == pytest.approx(60)
    evaluation = found["evaluation"]
    assert evaluation["overall"] == [3, 5, 5, 3]
    assert evaluation["mistakes"]["kinds"] == {
        "type": 1, "boundary": 1, "boundary and type": 0, "missed": 0, "spurious": 0,
    }  # fmt: skip
    assert (evaluation["mistakes"]["worst"], found["comparison"]) == ([], None)


def test_the_order_of_sentences_does_not_matter(folder: Path) -> None:
    expected = answer(folder, "gold.jsonl", "pred.jsonl.gz", "--worst", 5)
    assert answer(folder, "gold.jsonl", "shuffled.jsonl", "--worst", 5) == expected
    assert answer(folder, "gold.jsonl", "shuffled.jsonl", "--worst", 5, "--by", "id") == expected
    done = run(folder, "gold.jsonl", "shuffled.jsonl", "--by", "order")
    assert (done.exit_code, done.stdout, len(done.stderr.splitlines())) == (2, "", 1)
    assert "shuffled.jsonl: sentence 1 (rome): token 0 is 'Rome' and in " in done.stderr


def test_training_data_separates_seen_from_unseen(folder: Path) -> None:
    found = answer(folder, "gold.jsonl", "pred.jsonl.gz", "--train", "train.jsonl")
    assert found["evaluation"]["familiar"] == {"seen": [1, 1, 1, 1], "unseen": [2, 4, 4, 2]}
    assert [row["entities"] for row in found["tables"]["nesting"]["rows"]][3:] == ["seen", "unseen"]


def test_second_prediction_is_compared(folder: Path) -> None:
    found = answer(folder, "gold.jsonl", "pred.jsonl.gz", "--against", "nothing.jsonl")
    assert found["comparison"]["difference"] == pytest.approx(0.6)
    rows = {row["figure"]: row["value"] for row in found["tables"]["comparison"]["rows"]}
    assert rows[f"F1 of {folder}/nothing.jsonl"] == 0
    same = told(folder, "gold.jsonl", "pred.jsonl.gz", "--against", "shuffled.jsonl", "--table", "comparison")
    assert "have the same F1." in " ".join(same.split())
    other = told(folder, "gold.jsonl", "pred.jsonl.gz", "--against", "nothing.jsonl")
    assert "is better than" in " ".join(other.split())


def test_worst_sentences_are_drawn(folder: Path) -> None:
    text = told(folder, "gold.jsonl", "pred.jsonl.gz", "--worst", 3)
    drawing = text[text.index("Worst 1") :]
    assert drawing.splitlines() == [
        "Worst 1: 2 mistakes, lincoln",
        "gold",
        "Lincoln was president of the USA",
        "╰─PER─╯                  ╰─GPE─╯",
        "            ╰───────PER────────╯",
        "predicted",
        "Lincoln was president of the USA",
        "╰─PER─╯                  ╰─ORG─╯",
        "                      ╰──PER───╯",
        'boundary: PER "president of the USA" predicted as PER "of the USA"',
        'type: GPE "the USA" predicted as ORG',
    ]
    worst = answer(folder, "gold.jsonl", "pred.jsonl.gz", "--worst", 3)["evaluation"]["mistakes"]["worst"]
    assert [(one["id"], len(one["gold"])) for one in worst] == [("lincoln", 3)]


def test_every_output_format_has_every_table(folder: Path) -> None:
    markdown = told(folder, "gold.jsonl", "pred.jsonl.gz", "--markdown")
    assert markdown.count("\n| ---") == len(TABLES)
    latex = told(folder, "gold.jsonl", "pred.jsonl.gz", "--latex")
    assert latex.count(r"\begin{tabular}") == latex.count(r"\end{tabular}") == len(TABLES)
    parts = told(folder, "gold.jsonl", "pred.jsonl.gz", "--csv").split("\n\n")
    assert len(parts) == len(TABLES)
    assert all(part.startswith("# ") for part in parts)


def test_one_table_gives_plain_csv(folder: Path) -> None:
    rows = list(csv.DictReader(io.StringIO(told(folder, "gold.jsonl", "pred.jsonl.gz", "--csv", "--table", "overall"))))
    assert [row["average"] for row in rows] == ["micro", "macro"]
    assert float(rows[0]["F1"]) == pytest.approx(60)
    assert 0 <= float(rows[0]["F1 low"]) <= 60 <= float(rows[0]["F1 high"])


def test_files_may_have_different_formats(folder: Path) -> None:
    brackets.FORMAT.write(PREDICTED, folder / "pred.brackets")
    expected = answer(folder, "gold.jsonl", "pred.jsonl.gz")["evaluation"]
    done = run(folder, "gold.jsonl", "pred.brackets", "--pred-format", "brackets", "--json")
    assert json.loads(done.stdout)["evaluation"] == expected
    text = "".join(map(jsonl.to_line, PREDICTED))
    for extra in (["--pred-format", "jsonl"], ["--from", "jsonl"]):
        piped = run(folder, "gold.jsonl", "-", *extra, "--json", pipe=text)
        assert json.loads(piped.stdout)["evaluation"] == expected


def test_changes_while_reading_are_reported(folder: Path) -> None:
    entity = {"start": 0, "end": 1, "type": "A"}
    (folder / "twice.jsonl").write_text(json.dumps({"tokens": ["a"], "entities": [entity] * 2}) + "\n")
    done = run(folder, "twice.jsonl", "twice.jsonl", "--against", "twice.jsonl", "--json")
    assert done.exit_code == 0
    assert len(done.stderr.splitlines()) == 1
    assert "1 duplicate entity merged" in done.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals")
def test_narrow_terminals_show_whole_tables(folder: Path) -> None:
    ours, theirs = os.openpty()
    script = "import sys; from nestag.cli import app; app(sys.argv[1:])"
    command = [sys.executable, "-c", script, "evaluate", "gold.jsonl", "pred.jsonl.gz", "--worst", "1"]
    environment = os.environ | {"COLUMNS": "30", "TERM": "xterm"}
    with subprocess.Popen(command, cwd=folder, env=environment, stdout=theirs, stderr=subprocess.DEVNULL):
        os.close(theirs)
        with open(ours, "rb") as terminal:
            text = re.sub(r"\x1b\[[0-9;]*m", "", b"".join(chunks_of(terminal)).decode())
    assert ["micro", "60.00", "60.00", "60.00", "(33.3–100.0)", "5", "5", "3"] in map(str.split, text.splitlines())
    assert "in gold, nothing predicted for it" in text
    assert 'boundary: PER "president of the USA" predicted as PER "of the USA"' in text


def chunks_of(terminal: BinaryIO) -> Iterator[bytes]:
    """Return the terminal output until it is closed."""
    with suppress(OSError):
        while chunk := os.read(terminal.fileno(), 4096):
            yield chunk


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["gold.jsonl", "no.jsonl"], "there is no such file"),
        (["gold.jsonl", "train.jsonl"], "sentence 1 (lincoln): its id has no partner in "),
        (["gold.jsonl", "train.jsonl", "--by", "order"], "token 0 is 'It' and in "),
        (["gold.jsonl", "pred.jsonl.gz", "--json", "--csv"], "ask for one of them"),
        (["gold.jsonl", "pred.jsonl.gz", "--table", "comparison"], "give another prediction with --against"),
        (["gold.jsonl", "pred.jsonl.gz", "--worst", "2", "--csv"], "--worst"),
        (["gold.jsonl", "pred.jsonl.gz", "--from", "no"], "no format is called 'no'"),
        (["-", "-", "--from", "jsonl"], "more than once"),
        (["-", "pred.jsonl.gz", "--against", "nothing.jsonl"], "more than once"),
    ],
)
def test_invalid_input_is_one_line_and_exits_with_2(folder: Path, arguments: list[str], part: str) -> None:
    done = run(folder, *arguments)
    assert (done.exit_code, len(done.stderr.splitlines()), done.stdout) == (2, 1, "")
    assert part in done.stderr


def test_control_characters_are_escaped_in_errors(folder: Path) -> None:
    coloured = Sentence(["a"], [], "\x1b[31m1")
    jsonl.write([coloured], folder / "coloured.jsonl")
    jsonl.write([Sentence(["b"], [], coloured.id)], folder / "other.jsonl")
    refused = run(folder, "coloured.jsonl", "other.jsonl")
    assert refused.exit_code == 2
    assert "(␛[31m1)" in refused.stderr
