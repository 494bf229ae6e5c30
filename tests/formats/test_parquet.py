"""Tables of Hugging Face datasets: tag columns, nested lists, folders, and errors."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from late_imports import datasets
from nestag.data.segment import Options
from nestag.data.sentence import Entity, Sentence
from nestag.errors import InputError, MissingExtraError
from nestag.formats import parquet
from nestag.formats.registry import format_of
from raw_texts import read_all, saved

TAGS = ["O", "B-PER", "I-PER", "B-GPE", "I-GPE"]
GIVEN = [
    Sentence(["queen", "of", "the", "Isle"], [Entity(0, 4, "PER"), Entity(2, 4, "GPE"), Entity(2, 4, "PER")], "a"),
    Sentence(["it", "rained"], [], "b"),
]


@pytest.fixture(autouse=True)
def _quiet() -> None:
    datasets.disable_progress_bars()


def dataset(columns: dict[str, Any], **names: list[str]) -> Any:
    rows = datasets.Dataset.from_dict(columns)
    for column, classes in names.items():
        rows = rows.cast_column(column, datasets.Sequence(datasets.ClassLabel(names=classes)))
    return rows


def conll(**more: Any) -> Any:
    columns = {
        "id": ["0", "1"],
        "tokens": [["Ada", "B"], ["slept"]],
        "pos_tags": [[0, 0], [1]],
        "chunk_tags": [[1, 2], [0]],
        "ner_tags": [[1, 2], [0]],
        "nested_ner_tags": [[3, 0], [0]],
    }
    classes = {"pos_tags": ["NN", "VB"], "chunk_tags": ["O", "B-NP", "I-NP"], "ner_tags": TAGS, "nested_ner_tags": TAGS}
    return dataset(columns | more, **classes)


@pytest.mark.parametrize("saving", ["to_parquet", "save_to_disk"])
def test_parquet_tags_with_class_names(saving: str, tmp_path: Path) -> None:
    path = tmp_path / ("x.parquet" if saving == "to_parquet" else "x")
    getattr(conll(), saving)(str(path))
    assert format_of(path) == parquet.FORMAT
    found, report = read_all(parquet.FORMAT, path)
    assert found == [
        Sentence(["Ada", "B"], [Entity(0, 2, "PER"), Entity(0, 1, "GPE")], "0"),
        Sentence(["slept"], [], "1"),
    ]
    assert "tags read from ner_tags, nested_ner_tags; ignored: pos_tags, chunk_tags" in report.notes[-1]
    only, _ = read_all(parquet.FORMAT, path, Options(field="chunk_tags"))
    assert only[0].entities == (Entity(0, 2, "NP"),)


@pytest.mark.parametrize(
    "tags",
    [
        [[["B-PER", "I-PER"], ["B-GPE", "O"], ["O", "O"]], [["O"], ["O"]]],  # a list of levels
        [[["B-PER", "B-GPE"], ["I-PER"]], [["O"]]],  # a list of tags for each token
        [["B-PER|B-GPE", "I-PER"], ["O"]],
    ],
)
def test_parquet_nested_tags_in_one_column(tags: Any, tmp_path: Path) -> None:
    dataset({"words": [["Ada", "B"], ["slept"]], "labels": tags}).to_parquet(str(tmp_path / "x.parquet"))
    found, _ = read_all(parquet.FORMAT, tmp_path / "x.parquet")
    assert found == [Sentence(["Ada", "B"], [Entity(0, 2, "PER"), Entity(0, 1, "GPE")]), Sentence(["slept"])]


def test_parquet_spans_in_a_column(tmp_path: Path) -> None:
    spans = [[{"start": 0, "end": 2, "type": "PER"}], []]
    dataset({"tokens": [["Ada", "B"], ["slept"]], "entities": spans}).to_parquet(str(tmp_path / "x.parquet"))
    found, _ = read_all(parquet.FORMAT, tmp_path / "x.parquet")
    assert found == [Sentence(["Ada", "B"], [Entity(0, 2, "PER")]), Sentence(["slept"])]


@pytest.mark.parametrize("name", ["x.parquet", "x"])
def test_datasets_reads_our_parquet(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    parquet.FORMAT.write(GIVEN, path)
    rows = datasets.load_from_disk(str(path)) if name == "x" else datasets.Dataset.from_parquet(str(path))
    assert rows.column_names == ["id", "tokens", "ner_tags", "ner_tags_2", "ner_tags_3"]
    names = rows.features["ner_tags"].feature.names
    assert names == ["O", "B-GPE", "B-PER", "I-GPE", "I-PER"]
    assert [names[tag] for tag in rows[0]["ner_tags"]] == ["B-PER", "I-PER", "I-PER", "I-PER"]
    assert read_all(parquet.FORMAT, path)[0] == GIVEN


def test_level_that_begins_late_is_read(tmp_path: Path) -> None:
    given = [Sentence(["a"], [Entity(0, 1, "X")])] * 200 + [Sentence(["a"], [Entity(0, 1, "X"), Entity(0, 1, "Y")])]
    parquet.FORMAT.write(given, tmp_path / "x.parquet")
    assert read_all(parquet.FORMAT, tmp_path / "x.parquet")[0] == given


def phrase_then_place(first: int, second: int) -> list[Sentence]:
    """Sentences whose inner entities are phrases first, and others only later."""
    phrases = Sentence(["a", "b"], [Entity(0, 2, "PER"), Entity(0, 1, "NP")])
    places = Sentence(["a", "b"], [Entity(0, 2, "PER"), Entity(0, 1, "GPE")])
    return [phrases] * first + [places] * second


@pytest.mark.parametrize("name", ["x.parquet", "x", "x.parquet.gz"])
def test_parquet_round_trips_late_types_and_ids(name: str, tmp_path: Path) -> None:
    late = [Sentence(["a"])] * 1_100 + [Sentence(["a"], id="x")]
    for given in (phrase_then_place(100, 50), phrase_then_place(100, 0), late, [Sentence(["a"], [Entity(0, 1, "NP")])]):
        path = tmp_path / f"{len(given)}" / name
        path.parent.mkdir()
        parquet.FORMAT.write(given, path)
        found, report = read_all(parquet.FORMAT, path)
        assert found == given
        assert not report.counts


@pytest.mark.parametrize("shards", [1, 2])
def test_all_rows_decide_which_columns_hold_tags(shards: int, tmp_path: Path) -> None:
    given = phrase_then_place(1_100, 50)
    columns = {
        "id": [None] * 1_149 + ["x"],
        "tokens": [list(sentence.tokens) for sentence in given],
        "tags": [["B-PER", "I-PER"]] * 1_150,
        "inner": [[f"B-{sentence.entities[1].type}", "O"] for sentence in given],
    }
    for shard in range(shards):
        part = slice(shard * 1_100 if shards > 1 else 0, 1_100 if shards > 1 and not shard else None)
        rows = {name: values[part] for name, values in columns.items()}
        dataset(rows).to_parquet(str(tmp_path / f"{shard}.parquet"))
    found, report = read_all(parquet.FORMAT, tmp_path if shards > 1 else tmp_path / "0.parquet")
    assert [sentence.entities for sentence in found] == [sentence.entities for sentence in given]
    assert not any("ignored" in note for note in report.notes)


def test_a_folder_of_several_splits_is_refused(tmp_path: Path) -> None:
    datasets.DatasetDict({"train": conll(), "test": conll()}).save_to_disk(str(tmp_path / "x"))
    with pytest.raises(InputError, match=r"it holds several splits; name one, such as .*x/test, .*x/train"):
        read_all(parquet.FORMAT, tmp_path / "x")
    assert len(read_all(parquet.FORMAT, tmp_path / "x" / "train")[0]) == 2


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"text": ["a"]}, "no column tokens or words .* among text"),
        ({"tokens": [["a"]], "ner_tags": [[1]]}, "no column of tags among tokens, ner_tags; name it with field="),
        ({"tokens": [["a"]], "ner_tags": [["O", "O"]]}, "row 1: 'ner_tags' has 2 tags for 1 tokens"),
        ({"tokens": [["a"]], "ner_tags": ["B-X"]}, "no column of tags"),
        ({"tokens": [[""]], "ner_tags": [["O"]]}, "row 1: 'tokens' is empty"),
    ],
)
def test_table_errors_name_the_column(columns: dict[str, Any], message: str, tmp_path: Path) -> None:
    dataset(columns).to_parquet(str(tmp_path / "x.parquet"))
    with pytest.raises(InputError, match=message):
        read_all(parquet.FORMAT, tmp_path / "x.parquet")


def test_bad_rows_are_skipped_and_missing_columns_named(tmp_path: Path) -> None:
    columns = {"tokens": [["a"], ["b"]], "ner_tags": [["O", "O"], ["B-X"]]}
    dataset(columns).to_parquet(str(tmp_path / "x.parquet"))
    found, report = read_all(parquet.FORMAT, tmp_path / "x.parquet", Options(skip_bad=True))
    assert (len(found), report.counts) == (1, {"bad record skipped": 1})
    with pytest.raises(InputError, match=r"no column 'tags'; field=\.\.\. takes some of tokens, ner_tags"):
        read_all(parquet.FORMAT, tmp_path / "x.parquet", Options(field="tags"))


def test_broken_files_and_missing_libraries_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("x.parquet", "x.arrow"):
        with pytest.raises(InputError, match=rf"{name}: not a table that can be read"):
            read_all(parquet.FORMAT, saved(tmp_path, name, b"PAR1 rubbish"))
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match=r"the folder has no \.parquet"):
        read_all(parquet.FORMAT, tmp_path / "empty")
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'nestag\[parquet\]'"):
        parquet.FORMAT.write(GIVEN, tmp_path / "y.parquet")


def test_too_deep_schema_is_a_one_line_error(tmp_path: Path) -> None:
    pa, parquet_files = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    table = pa.table({"tokens": [["a"]], "ner_tags": [[0]]})
    parquet_files.write_table(table.replace_schema_metadata({b"huggingface": b"[" * 100_000}), tmp_path / "x.parquet")
    with pytest.raises(InputError, match="its description of features is broken"):
        read_all(parquet.FORMAT, tmp_path / "x.parquet")


@pytest.mark.parametrize("damage", [(b"list", b"\x80ist"), (b"slept", b"sl\xffpt")])
def test_text_that_is_not_utf8_is_an_error(damage: tuple[bytes, bytes], tmp_path: Path) -> None:
    table = pa.table({"tokens": [["Ada", "slept"]], "ner_tags": [["B-PER", "O"]]})
    pq.write_table(table, tmp_path / "x.parquet", compression="none")
    data = (tmp_path / "x.parquet").read_bytes()
    assert damage[0] in data
    (tmp_path / "x.parquet").write_bytes(data.replace(*damage))
    with pytest.raises(InputError, match="save it again"):
        list(parquet.FORMAT.read(tmp_path / "x.parquet"))
