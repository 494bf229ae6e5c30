"""What every format says about a file: what it was taken for, and when entities are missing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from nestag.data.report import Report
from nestag.data.segment import DEFAULT, Options
from nestag.data.sentence import Entity, Sentence
from nestag.formats import columns, jsonl, text
from nestag.formats.registry import Format, Remedy
from raw_texts import LINES, saved


def notes(entry: Format, path: str | Path, options: Options = LINES) -> list[str]:
    report = Report()
    list(entry.read(path, options, report))
    return report.notes


def made(entities: int, empty: int, lost: int) -> Format:
    """A format whose reader gives so many sentences with and without an entity, and loses some annotations."""

    def read(path: str | Path, options: Options = DEFAULT, report: Report | None = None) -> Iterator[Sentence]:
        for _ in range(lost):
            (report or Report()).lose("annotation dropped", str(path), "x")
        yield from [Sentence(["a"], [Entity(0, 1, "X")])] * entities + [Sentence(["a"])] * empty

    return Format("made", "made up", (".x",), read, jsonl.FORMAT.writer, remedy=Remedy("field", "names a layer"))


def test_a_file_is_said_to_be_what_its_name_does_not_say(tmp_path: Path) -> None:
    path = saved(tmp_path, "a.txt", "Ada\tB-PER\n")
    assert notes(columns.FORMAT, path) == [f"{path}: read as columns (a token and its BIO tags a line)"]
    assert not notes(columns.FORMAT, saved(tmp_path, "a.IOB2", "Ada\tB-PER\n"))


def test_no_entity_is_a_warning_with_options_to_try(tmp_path: Path) -> None:
    path = saved(tmp_path, "a.conll", "Ada\tO\n\nBob\tO\n")
    assert notes(columns.FORMAT, path) == [
        f"warning: {path}: no entity in 2 sentences, read as columns; columns=... names the columns of tokens and tags;"
        " format=... names another format"
    ]
    assert "no sentence, read as jsonl" in notes(jsonl.FORMAT, saved(tmp_path, "a.jsonl", ""))[0]
    assert not notes(text.FORMAT, saved(tmp_path, "a.txt", "Ada slept."))


def test_texts_to_be_tagged_need_no_entities() -> None:
    report = Report()
    assert len(list(made(entities=0, empty=2, lost=0).read("a.x", LINES, report, annotated=False))) == 2
    assert not report.notes


def test_few_entities_where_many_annotations_were_left_out_is_a_warning() -> None:
    assert notes(made(entities=1, empty=2, lost=5), "a.x") == [
        "warning: a.x: 5 annotations were dropped and 1 kept, so 2 of 3 sentences have no entity;"
        " field=... names a layer; format=... names another format"
    ]
    assert not notes(made(entities=3, empty=2, lost=5), "a.x")
    assert not notes(made(entities=1, empty=2, lost=1), "a.x")
