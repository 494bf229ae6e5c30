"""Every interface gives the same records for the same text: nested entities, several sentences, odd white space."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import spacy
import transformers
from starlette.testclient import TestClient
from typer.testing import CliRunner

import nestag
from late_imports import datasets
from nestag.batch.plan import Job, plan_parts
from nestag.batch.storage import Folder, find_input_files
from nestag.batch.worker import PartTagger, read_model
from nestag.cli import app, demo
from nestag.integrations import huggingface
from nestag.model.predictor import Predictor, TextEntity
from nestag.serve.app import app_of
from nestag.serve.limits import ServerLimits
from nestag.serve.service import Service

TEXT = "\ufeff  lincoln was president of the usa. \u2029 😀\tthe mayor\u00a0of  new york slept \n\n é\u0301 .\n "
TOKENS = ["lincoln", "was", "president", "of", "the", "usa", "😀", "é\u0301", "."]
KEYS = ("start", "end", "type", "text", "confidence", "start_token", "end_token")

Records = list[dict[str, Any]]


@pytest.fixture(scope="module")
def ner(trained_model: Path) -> Predictor:
    return nestag.load(trained_model, "cpu")


def same(found: Sequence[dict[str, Any]], expected: Records) -> None:
    """Equal but for the last digits of confidences, which depend on what is computed together."""
    assert [tuple(record) for record in found] == [KEYS] * len(expected)
    for record, other in zip(found, expected, strict=True):
        assert record == other | {"confidence": pytest.approx(other["confidence"], abs=2e-4)}


def test_record_has_the_position_of_an_entity(ner: Predictor) -> None:
    for source, text in ((TEXT, TEXT), (TOKENS, " ".join(TOKENS))):
        (found,) = ner.pipe([source])
        assert found.text == text
        assert len(found) > 2
        assert any(a.start <= b.start and b.end <= a.end and a != b for a in found for b in found)  # nested
        for entity in found:
            assert entity.text == text[entity.start : entity.end]
            covered = found.tokens[entity.start_token : entity.end_token]
            assert "".join(covered) == "".join(entity.text.split())
        assert all(tuple(record) == KEYS == TextEntity._fields for record in found.records())
    assert max(entity.start for entity in ner(TEXT)) > TEXT.index("usa")  # the second sentence has entities too


def test_python_accepts_single_and_multiple_inputs(ner: Predictor) -> None:
    for source in (TEXT, TOKENS):
        expected = next(ner.pipe([source])).records()
        for found in (ner([source])[0], ner([source, "x", ["x"]])[0], list(ner.pipe(iter([source] * 3), 1))[2]):
            same(found.records(), expected)
    same(ner(nestag.Sentence(TOKENS)).records(), ner([TOKENS])[0].records())


def test_command_line_gives_the_records(ner: Predictor, trained_model: Path, tmp_path: Path) -> None:
    (tmp_path / "text.txt").write_text(TEXT, encoding="utf-8")
    lines = json.dumps({"tokens": TOKENS, "entities": []}) + "\n"
    (tmp_path / "tokens.jsonl").write_text(lines, encoding="utf-8")
    for name, source in (("text.txt", TEXT), ("tokens.jsonl", TOKENS)):
        command = ["predict", str(trained_model), str(tmp_path / name), "--device", "cpu"]
        done = CliRunner().invoke(app, command)
        assert done.exit_code == 0, done.stderr
        found, before = [], 0
        for record in map(json.loads, done.stdout.strip("\n").split("\n")):  # of a sentence, whose tokens are counted
            for entity in record["entities"]:
                tokens = {"start_token": entity["start_token"] + before, "end_token": entity["end_token"] + before}
                found.append(entity | tokens)
            before += len(record["tokens"])
        same(found, next(ner.pipe([source])).records())


def test_records_of_the_command_line_can_be_read(trained_model: Path, tmp_path: Path) -> None:
    (tmp_path / "in.txt").write_text("the mayor of new york slept", encoding="utf-8")
    out = tmp_path / "out.jsonl"
    command = ["predict", str(trained_model), str(tmp_path / "in.txt"), "-o", str(out)]
    assert CliRunner().invoke(app, [*command, "--device", "cpu"]).exit_code == 0
    (sentence,) = nestag.read_corpus(out)
    assert [(e.start, e.end) for e in sentence.entities] == [(0, 5), (3, 5), (3, 5)]


def test_server_gives_the_records(ner: Predictor) -> None:
    service = Service(ner, "model", ServerLimits())
    with TestClient(app_of(service, None, ())) as client:
        for body in ({"text": TEXT}, {"texts": ["x", TEXT]}, {"tokens": TOKENS}, {"sentences": [["x"], TOKENS]}):
            answer = client.post("/v1/entities", json=body)
            assert answer.status_code == 200, answer.text
            source = TEXT if {"text", "texts"} & set(body) else TOKENS
            same(answer.json()["results"][-1]["entities"], next(ner.pipe([source])).records())


@pytest.mark.parametrize("form", ["parquet", "jsonl"])
@pytest.mark.parametrize("column", ["text", "tokens"])
def test_batch_inference_gives_the_records(
    ner: Predictor, trained_model: Path, tmp_path: Path, form: str, column: str
) -> None:
    (tmp_path / "in").mkdir()
    pq.write_table(pa.table({"text": [TEXT, "x"], "tokens": [TOKENS, ["x"]]}), tmp_path / "in" / "a.parquet")
    job = Job(tokens="tokens" if column == "tokens" else "", form=form).on("cpu")  # type: ignore[arg-type]
    tagger = PartTagger(job, read_model(str(trained_model)), Folder(str(tmp_path / "out")))
    for part in plan_parts(find_input_files(str(tmp_path / "in")), job).parts:
        outcome = tagger.tag(part)
        assert outcome.done, outcome
    (path,) = (tmp_path / "out").glob(f"*.{form}")
    lines = path.read_text("utf-8").splitlines() if form == "jsonl" else []
    rows = pq.read_table(path).to_pylist() if form == "parquet" else list(map(json.loads, lines))
    same(rows[0]["entities"], next(ner.pipe([TEXT if column == "text" else TOKENS])).records())


def test_spacy_gives_the_same_spans_and_scores(ner: Predictor, trained_model: Path) -> None:
    nlp = spacy.blank("en")
    nlp.add_pipe("nestag", config={"model": str(trained_model), "device": "cpu"})
    text = TEXT.removeprefix("\ufeff")
    doc = nlp(text)  # spans live as long as it does
    group = doc.spans["nestag"]
    found = [(span.start_char, span.end_char, span.label_, span.text) for span in group]
    expected = ner(text)
    assert found == [entity[:4] for entity in expected]
    assert group.attrs["scores"].tolist() == pytest.approx([e.confidence for e in expected], abs=2e-4)


def test_hugging_face_gives_the_records(ner: Predictor, trained_model: Path) -> None:
    huggingface.register()
    find = transformers.pipeline("nested-ner", model=str(trained_model), device="cpu")
    expected = ner(TEXT).records()
    same(find(TEXT), expected)
    same(find([TEXT, "x"])[0], expected)
    for column, source in (("text", TEXT), ("tokens", TOKENS)):
        rows = huggingface.with_entities(datasets.Dataset.from_dict({column: [source]}), ner)["entities"]
        same(rows[0], next(ner.pipe([source])).records())


def test_demo_draws_the_same_entities(ner: Predictor, capsys: pytest.CaptureFixture[str]) -> None:
    demo.draw_entities(ner, ["the mayor of new york slept"])
    drawn = capsys.readouterr().out
    assert [drawn.count(kind) for kind in ("PER", "GPE", "ORG")] == [1, 1, 1]
