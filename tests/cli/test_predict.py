"""The command `predict`: files, patterns and folders, tokenized as in training."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from nestag.cli import app
from nestag.formats import jsonl
from nestag.model.recognizer import NestedNER
from two_sentences import CORPUS, GOLD

TEXT = "lincoln was president of the usa."
SPANS = [(0, 7, "PER"), (12, 32, "PER"), (25, 32, "GPE")]


def predict(*arguments: object, text: str | None = None) -> tuple[int, str, str]:
    words = ["predict", *map(str, arguments), "--device", "cpu"]
    done = CliRunner().invoke(app, words, input=text)
    return done.exit_code, done.stdout, done.stderr


def records(text: str) -> list[Any]:
    return [json.loads(line) for line in text.splitlines()]


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    (folder / "more").mkdir(parents=True)
    (folder / "a.txt").write_text(TEXT)
    (folder / "more" / "a.txt").write_text("the mayor of new york slept")
    (folder / "b.txt").write_text("")
    return folder


def test_folder_is_one_stream_with_unique_document_names(trained_model: Path, notes: Path) -> None:
    code, out, told = predict(trained_model, notes)
    assert code == 0, told
    assert [record["id"] for record in records(out) if record["tokens"]] == ["a-1", "a-1@2"]
    assert "1 document renamed because another has its name" in told


def test_patterns_and_files_give_one_output(trained_model: Path, notes: Path, tmp_path: Path) -> None:
    jsonl.write(CORPUS, tmp_path / "corpus.jsonl")
    code, _, told = predict(
        trained_model, tmp_path / "corpus.jsonl", notes / "**" / "a.txt", "-o", tmp_path / "out.jsonl"
    )
    assert code == 0, told
    found = list(jsonl.read(tmp_path / "out.jsonl"))
    assert [one.id for one in found] == ["a-1", "a-2", "a-1@2", "a-1@3"]
    assert [one.entities for one in found[:2]] == GOLD


@pytest.mark.parametrize("given", [".", "**"])
def test_outputs_next_to_inputs_are_not_read_again(trained_model: Path, notes: Path, given: str) -> None:
    for _ in range(2):
        code, out, told = predict(trained_model, notes / given, "--beside")
        assert (code, out) == (0, ""), told
    assert "skipped, it is the output of another run" in told
    made = {path.relative_to(notes).as_posix() for path in notes.rglob("*.jsonl")}
    assert made == {"a.entities.jsonl", "b.entities.jsonl", "more/a.entities.jsonl"}
    (record,) = records((notes / "a.entities.jsonl").read_text())
    assert [(e["start"], e["end"], e["type"]) for e in record["entities"]] == SPANS
    assert [e["text"] for e in record["entities"]] == ["lincoln", "president of the usa", "the usa"]
    code, _, told = predict(trained_model, notes / "a.txt", "--beside", "--to", "brat")
    assert code == 0, told
    assert "PER 12 32\tpresident of the usa" in (notes / "a.entities.ann").read_text()


def test_files_without_sentences_get_an_output(trained_model: Path, tmp_path: Path) -> None:
    (tmp_path / "empty.jsonl").write_text("")
    code, _, told = predict(trained_model, tmp_path / "empty.jsonl", "--from", "jsonl", "--beside")
    assert code == 0, told
    assert (tmp_path / "empty.entities.jsonl").read_text() == ""


def test_entities_of_token_input_have_text(trained_model: Path, tmp_path: Path) -> None:
    jsonl.write(CORPUS[:1], tmp_path / "x.jsonl")
    _, out, _ = predict(trained_model, tmp_path / "x.jsonl")
    assert [e["text"] for e in records(out)[0]["entities"]] == ["lincoln", "president of the usa", "the usa"]


def test_piped_input_is_json_or_text(trained_model: Path, tmp_path: Path) -> None:
    jsonl.write(CORPUS[:1], tmp_path / "x.jsonl")
    lines = (tmp_path / "x.jsonl").read_text()
    code, out, told = predict(trained_model, "-", text=lines)
    assert (code, [jsonl.sentence_from(record) for record in records(out)]) == (0, CORPUS[:1]), told
    assert "-: read as jsonl" in told
    for text in ("[PER Lincoln] slept .", "[1] Lincoln slept.", "{curly} Lincoln slept.", "{}", "word\tO\n"):
        code, _, told = predict(trained_model, "-", text=text)
        assert (code, "-: read as text" in told) == (0, True), told


def test_predicted_records_convert_like_direct_output(trained_model: Path, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(f"{TEXT}\n\n  the mayor of new york slept")
    for output in ("a.jsonl", "direct.ann"):
        code, _, told = predict(trained_model, tmp_path / "a.txt", "-o", tmp_path / output)
        assert code == 0, told
    done = CliRunner().invoke(app, ["convert", str(tmp_path / "a.jsonl"), str(tmp_path / "later.ann")])
    assert done.exit_code == 0, done.stderr
    later = (tmp_path / "later.ann").read_text()
    assert later == (tmp_path / "direct.ann").read_text()
    assert later.count("\n") > 4


def test_show_draws_entities(trained_model: Path) -> None:
    code, out, told = predict(trained_model, "-", "--show", text=TEXT)
    assert code == 0, told
    assert out.splitlines()[1:3] == ["╰─PER─╯                  ╰─GPE─╯", "            ╰───────PER────────╯"]


def test_show_writes_a_page(tmp_path: Path) -> None:
    jsonl.write(CORPUS, tmp_path / "x.jsonl")
    command = ["show", str(tmp_path / "x.jsonl"), "--html", str(tmp_path / "x.html"), "--limit", "1"]
    assert CliRunner().invoke(app, command).exit_code == 0
    page = (tmp_path / "x.html").read_text()
    assert page.count("<p ") == 1
    assert "<bdi>GPE</bdi>" in page


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--beside", "-o", "x"), "drop -o or --beside"),
        (("--beside",), "a pipe has no folder for its output"),
        (("",), "'': the path is empty"),
        (("--show", "--to", "brat"), "it writes nothing"),
        (("none/*.txt",), "none/*.txt: no file matches"),
        (("none.txt",), "none.txt: there is no such file"),
        (("-",), "it can be read once"),
    ],
)
def test_contradictory_options_are_one_line(trained_model: Path, arguments: tuple[str, ...], message: str) -> None:
    code, _, told = predict(trained_model, "-", *arguments, text="x")
    assert (code, told.count("\n")) == (2, 1), told
    assert message in told


def test_outputs_with_equal_names_are_refused(trained_model: Path, tmp_path: Path) -> None:
    for name in ("a.txt", "a.conll"):
        (tmp_path / name).write_text("lincoln\n" if name == "a.txt" else "lincoln\tO\n")
    code, _, told = predict(trained_model, tmp_path, "--beside")
    assert code == 2
    assert "a.txt: its output " in told
    assert "a.entities.jsonl would be that of " in told
    assert not list(tmp_path.glob("*.entities.*"))


def test_output_inside_the_input_folder_is_not_read(trained_model: Path, notes: Path) -> None:
    out = notes / "all.jsonl"
    assert predict(trained_model, notes, "-o", out)[0] == 0
    first = out.read_text()
    code, _, told = predict(trained_model, notes, "-o", out)
    assert (code, out.read_text()) == (0, first)
    assert "all.jsonl: skipped, it is the output" in told


def test_folder_without_readable_files_is_an_error(trained_model: Path, tmp_path: Path) -> None:
    (tmp_path / "picture.bin").write_bytes(b"\0\1")
    code, _, told = predict(trained_model, tmp_path)
    assert code == 2
    assert "picture.bin: skipped" in told
    assert "there is no file in it that can be read" in told


def test_text_is_tokenized_as_in_training(trained_model: Path, tmp_path: Path) -> None:
    text = "lincoln var f.eks. president den 4. marts .\nthe usa ."
    words = {
        "en": "lincoln var f.eks . president den 4 . marts . the usa .",
        "da": "lincoln var f.eks. president den 4. marts . the usa .",
    }
    for language, expected in words.items():
        model = tmp_path / language
        ner = NestedNER.from_pretrained(trained_model, "cpu", language=language)
        ner.save_pretrained(model)
        code, out, told = predict(model, "-", text=text)
        assert code == 0, told
        assert " ".join(token for record in records(out) for token in record["tokens"]) == expected
        spans = [(e.start, e.end, e.type) for e in NestedNER.from_pretrained(model, "cpu")(text)]
        _, out, _ = predict(model, "-", text=text)
        entities = [e for record in records(out) for e in record["entities"]]
        assert spans == [(e["start"], e["end"], e["type"]) for e in entities]
    _, out, _ = predict(tmp_path / "en", "-", "--language", "da", text=text)
    assert " ".join(token for record in records(out) for token in record["tokens"]) == words["da"]
    shutil.rmtree(tmp_path / "da")
