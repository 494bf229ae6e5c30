"""Parts tagged in this process: output, bad rows, and errors."""

import json
import os
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from files_of_rows import content, rows, texts, write_lines, write_table
from nestag.batch import rows as reading
from nestag.batch import tag
from nestag.batch.output import entity_type
from nestag.batch.plan import Job, plan_parts
from nestag.batch.storage import Folder, find_input_files
from nestag.batch.worker import PartOutcome, PartTagger, peak_memory, read_model
from nestag.data.segment import Options
from nestag.encodings.vocabulary import Vocabulary
from nestag.errors import InputError, NestagError
from nestag.formats.files.parts import HERE
from nestag.model.onnx_runtime import OnnxNER
from object_store import object_store
from two_sentences import CORPUS, quick


def tag_here(source: Path | str, out: Path | str, model: Path, **settings: object) -> list[PartOutcome]:
    job = Job(**{"tokenizer": "whitespace", **settings}).on("cpu")  # type: ignore[arg-type]
    tagger = PartTagger(job, read_model(str(model)), Folder(str(out)))
    return [tagger.tag(part) for part in plan_parts(find_input_files(str(source)), job).parts]


def test_rows_get_the_entities_of_the_recognizer(tmp_path: Path, model: Path) -> None:
    write_table(tmp_path / "in" / "a.parquet", list(texts(2_500)), group=1_000)  # more than the engine's chunk
    outcomes = tag_here(tmp_path / "in", tmp_path / "out", model, keep=("id",), part_bytes=1)
    assert [outcome.done.rows for outcome in outcomes if outcome.done] == [1_000, 1_000, 500]
    table = pq.read_table(tmp_path / "out")
    assert table.schema.names == ["file", "position", "id", "entities"]
    assert table.schema.field("entities").type == entity_type()
    found = table.to_pylist()
    assert [row["id"] for row in found] == [row["position"] for row in found] == list(range(2_500))
    ner = OnnxNER.from_pretrained(model)
    expected = list(ner.pipe(texts(2_500), options=Options(tokenizer="whitespace")))
    assert sum(map(len, expected)) > 1_000
    for row, entities in zip(found, expected, strict=True):
        assert [(e["start"], e["end"], e["type"], e["text"]) for e in row["entities"]] == [e[:4] for e in entities]
        assert [e["confidence"] for e in row["entities"]] == [round(e.confidence, 4) for e in entities]


def test_long_texts_continue_in_the_next_chunk(tmp_path: Path, model: Path) -> None:
    several = ["\n".join(texts(number % 7)) for number in range(1_500)]  # none too, and over 2,000 sentences in all
    write_table(tmp_path / "in" / "a.parquet", list(several), group=1_500)
    tag_here(tmp_path / "in", tmp_path / "out", model)
    expected = OnnxNER.from_pretrained(model).pipe(several, options=Options(tokenizer="whitespace"))
    found = rows(tmp_path / "out")
    assert [row["position"] for row in found] == list(range(1_500))
    for row, entities in zip(found, expected, strict=True):
        assert isinstance(row["entities"], list)
        assert [(e["start"], e["end"], e["type"], e["text"]) for e in row["entities"]] == [e[:4] for e in entities]


def test_all_input_kinds_give_the_same_entities(tmp_path: Path, model: Path) -> None:
    words = [text.split() for text in texts(20)]
    write_lines(tmp_path / "lines" / "a.jsonl", list(words))
    (tmp_path / "table").mkdir()
    pq.write_table(pa.table({"text": words}), tmp_path / "table" / "a.parquet")
    for name in ("lines", "table"):
        tag_here(tmp_path / name, tmp_path / f"{name}.out", model, tokens="text")
    tag_here(tmp_path / "lines", tmp_path / "json.out", model, tokens="text", form="jsonl", keep=("id",))
    (path,) = (tmp_path / "json.out").glob("*.jsonl")
    written = [json.loads(line) for line in path.read_text().splitlines()]
    lines, table = ([row["entities"] for row in rows(tmp_path / f"{name}.out")] for name in ("lines", "table"))
    assert lines == table == [row["entities"] for row in written]
    assert [row["id"] for row in written] == list(map(str, range(20)))  # of JSON, everything is kept as text
    assert any(entity["text"] == "New York" or entity["end"] - entity["start"] == 1 for row in lines for entity in row)


def test_bad_rows_are_recorded_and_counted(tmp_path: Path, model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "MAX_BYTES", 100)
    path = tmp_path / "in" / "a.jsonl"
    write_lines(path, ["Paris", None, 7, "x" * 101, ["Paris"], "\ud800", "Rome"])
    with path.open("ab") as file:
        file.write(b'{"text": "\xff"}\n{"text": \n\n{"body": 1}\n{"text": "Utrecht"}')
    (outcome,) = tag_here(tmp_path / "in", tmp_path / "out", model)
    assert outcome.done
    assert (outcome.done.rows, outcome.done.bad_rows) == (3, 8)
    (aside,) = (tmp_path / "out" / "_nestag" / "bad_rows").iterdir()
    bad = [json.loads(line) for line in aside.read_text().splitlines()]
    whole = path.read_bytes()
    assert [row["error"].partition(" (")[0] for row in bad] == [
        "null", "not text but int", "longer than 100 bytes", "not text but list",
        "character 0 is half of a surrogate pair, which is not text", "byte 10", "not JSON",
        "not an object with a field 'text'",
    ]  # fmt: skip
    assert whole[bad[0]["position"] :].startswith(b'{"text": null')
    assert bad[1]["excerpt"] == '{"text": 7, "id": 2}\n'


def test_bad_rows_of_tables_are_recorded(tmp_path: Path, model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "MAX_BYTES", 100)
    raw = pa.array([b"Paris", None, b"\xff", b"x" * 101, b"Rome"], pa.binary())
    text = pa.StringArray.from_buffers(5, *raw.buffers()[1:], raw.buffers()[0])  # strings that are not UTF-8
    (tmp_path / "in").mkdir()
    pq.write_table(pa.table({"text": text}), tmp_path / "in" / "a.parquet")
    (outcome,) = tag_here(tmp_path / "in", tmp_path / "out", model)
    assert outcome.done
    assert (outcome.done.rows, outcome.done.bad_rows) == (2, 3)
    assert [row["position"] for row in rows(tmp_path / "out")] == [0, 4]


def test_files_without_good_rows_give_empty_parts(tmp_path: Path, model: Path) -> None:
    write_table(tmp_path / "in" / "a.parquet", [])
    write_table(tmp_path / "in" / "b.parquet", [None])
    outcomes = tag_here(tmp_path / "in", tmp_path / "out", model)
    assert [(outcome.done.rows, outcome.done.bad_rows) for outcome in outcomes if outcome.done] == [(0, 0), (0, 1)]
    assert pq.read_table(tmp_path / "out").schema.names == ["file", "position", "entities"]


def test_broken_file_is_an_error_without_output(tmp_path: Path, model: Path) -> None:
    write_table(tmp_path / "in" / "a.parquet", list(texts(5_000)), group=5_000)
    data = bytearray((tmp_path / "in" / "a.parquet").read_bytes())
    data[4:2_000] = bytes(1_996)  # the footer is whole, the pages are not
    (tmp_path / "in" / "a.parquet").write_bytes(data)
    (outcome,) = tag_here(tmp_path / "in", tmp_path / "out", model)
    assert outcome.done is None
    assert outcome.error
    assert not outcome.stop
    assert content(tmp_path / "out") == {}


def test_file_that_changes_while_it_is_read_is_an_error(tmp_path: Path, model: Path) -> None:
    path = tmp_path / "in" / "a.txt"
    path.parent.mkdir()
    path.write_text("Paris\n")
    job = Job(tokenizer="whitespace").on("cpu")
    (part,) = plan_parts(find_input_files(str(path)), job).parts
    path.write_text("Paris, Texas\n")
    outcome = PartTagger(job, read_model(str(model)), Folder(str(tmp_path / "out"))).tag(part)
    assert "it was changed after the run began" in outcome.error


def test_full_disk_stops_the_run_without_partial_files(tmp_path: Path, model: Path) -> None:
    write_lines(tmp_path / "in" / "a.jsonl", list(texts(2_000)))
    job = Job(tokenizer="whitespace").on("cpu")
    tagger = PartTagger(job, read_model(str(model)), Folder(str(tmp_path / "out")))
    assert tagger.predictor  # loaded before the disk is full
    (part,) = plan_parts(find_input_files(str(tmp_path / "in")), job).parts
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1_000, limits[1]))
    try:
        outcome = tagger.tag(part)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert "cannot be written" in outcome.stop
    assert content(tmp_path / "out") == {}
    assert tagger.tag(part).done


def test_object_store_gets_complete_files(tmp_path: Path, model: Path) -> None:
    fsspec = pytest.importorskip("fsspec")
    write_lines(tmp_path / "in" / "a.jsonl", list(texts(30)))
    tag_here(tmp_path / "in", tmp_path / "out", model)
    memory = fsspec.filesystem("memory")
    memory.put(str(tmp_path / "in"), "/bucket/in", recursive=True)
    inputs = find_input_files("memory://bucket/in")
    job = Job(device="cpu", tokenizer="whitespace", part_bytes=100)
    tagger = PartTagger(job, read_model(str(model)), Folder("memory://bucket/out"))
    outcomes = [tagger.tag(part) for part in plan_parts(inputs, job).parts]
    assert [outcome.error + outcome.stop for outcome in outcomes] == [""] * len(outcomes)
    assert sum(outcome.done.rows for outcome in outcomes if outcome.done) == 30
    assert set(Folder("memory://bucket/out").sizes()) == {f"{outcome.name}.parquet" for outcome in outcomes}


@pytest.mark.parametrize("kind", ["parquet", "jsonl"])
def test_arrow_file_systems_are_supported(
    kind: str, tmp_path: Path, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without s3fs, fsspec has nothing for s3://; Arrow's own client reads, lists and writes."""
    monkeypatch.setitem(sys.modules, "s3fs", None)
    write_lines(tmp_path / "in" / "a.jsonl", list(texts(300)))
    write_table(tmp_path / "in" / "b.parquet", texts(300))
    (path,) = (tmp_path / "in").glob(f"*.{kind}")
    tag_here(path, tmp_path / "out", model, part_bytes=3_000)
    with object_store() as store:
        store.objects[f"bucket/in/{path.name}"] = path.read_bytes()
        tag_here(store.address("bucket/in"), store.address("bucket/out"), model, part_bytes=3_000)
        assert set(Folder(store.address("bucket/out")).sizes()) == {
            p.name for p in (tmp_path / "out").glob("*.parquet")
        }
        found = {
            name.removeprefix("bucket/out/"): data for name, data in store.objects.items() if not name.endswith("/")
        }
    del found[f"bucket/in/{path.name}"]
    assert len(found) > 4
    assert found == content(tmp_path / "out")


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"decoding": "best"}, "decoding"),
        ({"threshold": 2.0}, "threshold"),
        ({"thresholds": {"XYZ": 0.5}}, "no type is called 'XYZ'; there are "),
    ],
)
def test_invalid_settings_are_refused_before_workers_start(
    model: Path, changes: dict[str, object], reason: str
) -> None:
    with pytest.raises(NestagError, match=reason):
        read_model(str(model), changes)


def test_unknown_language_is_refused_before_output_starts(tmp_path: Path, model: Path) -> None:
    (tmp_path / "a.txt").write_text("Paris\n")
    with pytest.raises(NestagError, match="spaCy cannot tokenize 'zz'"):
        tag(str(tmp_path / "a.txt"), str(tmp_path / "out"), str(model), Job(language="zz"))
    assert not (tmp_path / "out").exists()


def test_an_unknown_address_is_refused() -> None:
    with pytest.raises(InputError, match="unknown address"):
        find_input_files("nowhere://bucket/in")


@pytest.mark.skipif(sys.platform != "linux", reason="other systems count otherwise")
def test_memory_is_that_of_the_process() -> None:
    """A small process that a large one starts; getrusage would say how large that one is."""
    held = b"x" * 2**28
    code = "from nestag.batch.worker import peak_memory; print(peak_memory())"
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert 2**23 < int(done.stdout) < len(held)
    assert peak_memory() > len(held)


def test_bad_tokens_are_recorded(tmp_path: Path, model: Path) -> None:
    raw = pa.array([[b"New", b"York"], [b""], [b"\xff"], None, [None], []], pa.list_(pa.binary()))
    (tmp_path / "in").mkdir()
    pq.write_table(pa.table({"text": raw}), tmp_path / "in" / "a.parquet")
    (outcome,) = tag_here(tmp_path / "in", tmp_path / "out", model, tokens="text")
    assert outcome.done
    assert (outcome.done.rows, outcome.done.bad_rows) == (2, 4)


def test_part_does_not_depend_on_earlier_work_of_the_worker(tmp_path: Path, tiny_encoder: Callable[[str], str]) -> None:
    from nestag.training.run import new_recognizer

    new_recognizer(quick(tiny_encoder("bert")), Vocabulary.learn(CORPUS, "rel")).save_pretrained(tmp_path / "model")
    write_table(tmp_path / "in" / "a.parquet", list(texts(300)), group=50)
    job = Job(tokenizer="whitespace", part_bytes=1).on("cpu")
    parts = plan_parts(find_input_files(str(tmp_path / "in")), job).parts
    for name, order in (("out", parts), ("again", parts[::-1])):
        tagger = PartTagger(job, read_model(str(tmp_path / "model")), Folder(str(tmp_path / name)))
        assert all(tagger.tag(part).done for part in order)
    assert len(rows(tmp_path / "out")) == 300
    assert content(tmp_path / "out") == content(tmp_path / "again")


def test_spooled_uploads_of_killed_processes_are_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nestag.batch.storage.gettempdir", lambda: str(tmp_path))
    (tmp_path / f".nestag-{HERE}-00000000.part").write_text("of a process that was killed")
    out = Folder("memory://leftovers/out")
    with out.writing("a.json") as stream:
        stream.write(b"{}")
        assert len(list(tmp_path.iterdir())) == 1
    assert (out.read("a.json"), list(tmp_path.iterdir())) == (b"{}", [])
