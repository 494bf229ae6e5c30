"""JSON of tokens and spans of GLiNER, SpERT, DyGIE, W2NER and OneIE."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from nestag.data.report import Report
from nestag.data.segment import Options
from nestag.data.sentence import Entity, Sentence
from nestag.errors import InputError
from nestag.formats.registry import Format, format_named, format_of
from raw_texts import read_all, saved

NESTED = [Entity(2, 6, "PER"), Entity(4, 6, "GPE")]
TOKENS = ["Ada", "was", "queen", "of", "the", "Isle"]


def read(entry: Format, folder: Path, content: Any, lines: bool = False) -> tuple[list[Sentence], Report]:
    text = "".join(json.dumps(record) + "\n" for record in content) if lines else json.dumps(content)
    path = saved(folder, "x.json", text)
    assert format_of(path) == entry
    return read_all(entry, path)


@pytest.mark.parametrize("lines", [False, True])
def test_gliner_is_read(lines: bool, tmp_path: Path) -> None:
    records = [
        {"tokenized_text": TOKENS, "ner": [[2, 5, "PER"], [4, 5, "GPE"]], "relations": [[0, 1, "rules"]]},
        {"tokenized_text": ["It", "rained"], "ner": [], "language": "en"},
        {"tokenized_text": ["It", "rained"], "ner": None, "id": 7},
    ]
    found, report = read(format_named("gliner"), tmp_path, records, lines)
    assert found == [Sentence(TOKENS, NESTED), Sentence(["It", "rained"]), Sentence(["It", "rained"], [], "7")]
    assert report.counts == {"relation dropped": 1}


def test_gliner_is_written_as_a_list_or_in_lines(tmp_path: Path) -> None:
    format_named("gliner").write([Sentence(TOKENS, NESTED)], tmp_path / "x.json")  # type: ignore[misc]
    assert json.loads((tmp_path / "x.json").read_text()) == [
        {"tokenized_text": TOKENS, "ner": [[2, 5, "PER"], [4, 5, "GPE"]]}
    ]
    format_named("gliner").write([Sentence(["a"]), Sentence(["b"])], tmp_path / "x.jsonl")  # type: ignore[misc]
    assert [json.loads(line)["ner"] for line in (tmp_path / "x.jsonl").read_text().splitlines()] == [[], []]
    for name, content in (("x.json", "[]\n"), ("x.jsonl", "")):
        format_named("gliner").write([], tmp_path / name)  # type: ignore[misc]
        assert (tmp_path / name).read_text() == content


def test_spert_is_read_and_written(tmp_path: Path) -> None:
    entities = [{"type": "PER", "start": 2, "end": 6}, {"type": "GPE", "start": 4, "end": 6}]
    relations = [{"type": "Rules", "head": 0, "tail": 1}]
    found, report = read(
        format_named("spert"),
        tmp_path,
        [{"tokens": TOKENS, "entities": entities, "relations": relations, "orig_id": 5178}],
    )
    assert found == [Sentence(TOKENS, NESTED, "5178")]
    assert report.counts == {"relation dropped": 1}


def test_w2ner_counts_discontinuous_entities(tmp_path: Path) -> None:
    entities = [
        {"index": [2, 3, 4, 5], "type": "PER"},
        {"index": [5, 4], "type": "GPE"},
        {"index": [0, 2], "type": "X"},
    ]
    found, report = read(format_named("w2ner"), tmp_path, [{"sentence": TOKENS, "ner": entities, "word": [[0]]}])
    assert found == [Sentence(TOKENS, NESTED)]
    assert [tuple(finding)[::2] for finding in report.findings] == [("discontinuous entity dropped", "[0, 2] X")]


def test_dygie_offsets_count_over_the_document(tmp_path: Path) -> None:
    document = {
        "doc_key": "J87",
        "dataset": "x",
        "sentences": [["It", "rained", "."], TOKENS],
        "ner": [[[0, 0, "THING"]], [[5, 8, "PER", 3.2, 0.9], [7, 8, "GPE"], [2, 4, "X"]]],
        "relations": [[], [[5, 8, 7, 8, "RULES"]]],
        "clusters": [[[0, 0], [5, 8]]],
    }
    found, report = read(
        format_named("dygie"), tmp_path, [document, {"doc_key": "K", "sentences": [["a"]]}], lines=True
    )
    assert found == [
        Sentence(["It", "rained", "."], [Entity(0, 1, "THING")], "J87-1"),
        Sentence(TOKENS, NESTED, "J87-2"),
        Sentence(["a"], [], "K-1"),
    ]
    assert report.counts == {"relation dropped": 1, "cluster dropped": 2, "entity outside its sentence dropped": 1}


def test_dygie_is_written_by_documents(tmp_path: Path) -> None:
    sentences = [Sentence(["a", "b"], [Entity(1, 2, "X")], "d-1"), Sentence(["c"], [Entity(0, 1, "Y")], "d-2")]
    format_named("dygie").write([*sentences, Sentence(["e"], id="e-7")], tmp_path / "x.jsonl")  # type: ignore[misc]
    first, second = map(json.loads, (tmp_path / "x.jsonl").read_text().splitlines())
    assert first == {"doc_key": "d", "sentences": [["a", "b"], ["c"]], "ner": [[[1, 1, "X"]], [[2, 2, "Y"]]]}
    assert second == {"doc_key": "e", "sentences": [["e"]], "ner": [[]], "_ids": ["e-7"]}


def test_oneie_is_read(tmp_path: Path) -> None:
    mention = {"id": "d-E1", "text": "the Isle", "entity_type": "GPE", "mention_type": "NAM", "start": 4, "end": 6}
    record = {"doc_id": "d", "sent_id": "d-1", "tokens": TOKENS, "entity_mentions": [mention], "event_mentions": [{}]}
    found, report = read(format_named("oneie"), tmp_path, [record], lines=True)
    assert found == [Sentence(TOKENS, [Entity(4, 6, "GPE")], "d-1")]
    assert report.counts == {"event dropped": 1}


@pytest.mark.parametrize(
    ("entry", "record", "message"),
    [
        ("gliner", {"tokenized_text": ["a"], "ner": [[0, "X"]]}, "is not \\["),
        ("gliner", {"tokenized_text": ["a"], "ner": [[0, 1, "X"]]}, "ends outside the sentence"),
        ("gliner", {"tokenized_text": ["a", ""], "ner": []}, "is empty"),
        ("gliner", {"tokenized_text": "a b", "ner": []}, "make it a list of words"),
        ("gliner", {"tokenized_text": ["a"], "ner": {"x": 1}}, "make it a list of"),
        ("spert", {"tokens": ["a"], "entities": [{"type": "X", "start": 0}]}, "'end' is missing"),
        ("w2ner", {"sentence": ["a"], "ner": [{"index": [], "type": "X"}]}, "make it a list of the positions"),
        ("dygie", {"sentences": [["a"]], "ner": [[], []]}, "one list of entities for each sentence"),
        ("dygie", {"sentences": ["a"], "ner": [[]]}, "make it a list of words"),
        ("dygie", {"sentences": [["a"]], "ner": [7]}, "is not a list of entities"),
        ("dygie", {"sentences": 7, "ner": []}, "make it a list of lists"),
        ("oneie", {"tokens": ["a"], "entity_mentions": [{"start": 0, "end": 1}]}, "'entity_type' is missing"),
    ],
)
def test_bad_records_are_named_or_skipped(entry: str, record: Any, message: str, tmp_path: Path) -> None:
    path = saved(tmp_path, "x.json", json.dumps([record, record], indent=1))
    with pytest.raises(InputError, match=rf"x\.json:2: .*{message}"):
        read_all(format_named(entry), path)
    found, report = read_all(format_named(entry), path, Options(skip_bad=True))
    assert (found, report.counts) == ([], {"bad record skipped": 2})
