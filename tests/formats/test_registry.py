"""Format detection by name, suffix and content, and its errors."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from nestag.data.report import Report
from nestag.data.segment import DEFAULT, Options
from nestag.data.sentence import Entity, Sentence
from nestag.errors import InputError
from nestag.formats import columns, jsonl, text
from nestag.formats.corpus import read_corpus
from nestag.formats.registry import Format, Remedy, format_of
from raw_texts import LINES, saved


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("a.txt", "He flew a B-52\n", 4),
        ("a.txt", "My blood type is O\n", 5),
        ("a.txt", "My blood type is O\nShe flew a B-52\n", 9),
        ("a.txt", "1,200 people came .\n", 4),
        ("a.txt", "12|t|A title\n", 2),
        ("a.nested", "[PER Gary] flew [X the U-2]\n", 4),
        ("a.data", "Ada B-PER\n\n\nslept O\n\n\n", 4),
    ],
)
def test_known_suffix_wins_over_content(name: str, text: str, words: int, tmp_path: Path) -> None:
    corpus = read_corpus(saved(tmp_path, name, text), tokenizer="whitespace")
    assert sum(map(len, corpus)) == words


@pytest.mark.parametrize(
    ("name", "text", "other"),
    [
        ("a.txt", "Ada B-PER\nslept O\n", "columns"),
        ("a.txt", "12|t|A title\n12|a|\n", "pubtator"),
        ("a.txt", '{"tokens": ["a"], "entities": []}\n', "jsonl"),
        ("texts/a.txt", "Ada B-PER\nslept O\n", "columns"),
    ],
)
def test_text_that_looks_like_another_format_gives_a_warning(name: str, text: str, other: str, tmp_path: Path) -> None:
    (tmp_path / "texts").mkdir()
    path = saved(tmp_path, name, text)
    path = path.parent if path.parent != tmp_path else path
    assert any(f'format="{other}"' in note for note in read_corpus(path).report.notes)
    assert not read_corpus(path, "text").report.notes or path.is_dir()
    assert read_corpus(path, other)
    assert not any(
        "format=" in note for note in read_corpus(saved(tmp_path, "b.txt", "1,200 people came.\n")).report.notes
    )


def test_error_names_the_likely_format(tmp_path: Path) -> None:
    header = "#FORMAT=WebAnno TSV 3.2\n#T_SP=x.A|a|b|c|d|e|f|value\n\n#Text=Ada\n"
    text = header + "1-1\t0-3\tAda\t_\t_\t_\t_\t_\t_\tPER\n"
    assert format_of(saved(tmp_path, "a.tsv", text)).name == "webanno"
    assert format_of(saved(tmp_path, "a.tsv", "#FORMAT=WebAnno TSV 3\tB-X\nb\tO\n")).name == "columns"
    with pytest.raises(InputError, match='format="webanno"'):
        read_corpus(saved(tmp_path, "a.conllu", text))
    with pytest.raises(InputError, match='format="columns"'):
        read_corpus(saved(tmp_path, "a.jsonl", "Ada\tB-PER\n"))


def test_unknown_tsv_is_refused(tmp_path: Path) -> None:
    told = r"it could be several formats; name the format \(format=\.\.\.\), one of columns, webanno"
    with pytest.raises(InputError, match=told):
        format_of(saved(tmp_path, "a.tsv", "Ada\tPER\nslept\tO\n"))


def test_detection_reads_more_than_one_record(tmp_path: Path) -> None:
    plain = '{"text": "nothing", "meta": {}}\n'
    path = saved(tmp_path, "a.jsonl", plain * 50 + '{"text": "Ada", "spans": [{"start": 0, "end": 3, "label": "X"}]}\n')
    assert format_of(path).name == "prodigy"


def test_detection_reads_a_long_first_record(tmp_path: Path) -> None:
    record = {"text": "word " * 300_000, "label": [[0, 4, "W"]]}
    assert format_of(saved(tmp_path, "a.json", json.dumps(record))).name == "doccano"


def test_detection_reads_more_than_one_file(tmp_path: Path) -> None:
    saved(tmp_path, "000.ann", "")
    saved(tmp_path, "001.ann", "no annotation at all\n")
    saved(tmp_path, "002.ann", "T1\tPER 0 3\tAda\n")
    saved(tmp_path, "notes.xml", "<notes/>")
    assert format_of(tmp_path).name == "brat"


def test_detection_finds_annotations_after_many_texts(tmp_path: Path) -> None:
    for number in range(150):
        saved(tmp_path, f"a{number:03}.txt", "Ada B-PER\nslept O\n")
    saved(tmp_path, "a149.ann", "T1\tPER 0 3\tAda\n")
    assert format_of(tmp_path).name == "brat"


@pytest.mark.parametrize("space", ["\xa0", "\f", "\u3000", "\x1c", "\x85", "\u2028", "\ufeff", "\u200b", " ", "\r"])
@pytest.mark.parametrize("tokenizer", ["spacy", "whitespace"])
@pytest.mark.parametrize("text", ["Hello world\n{}\nBye\n", "{}\nHello", "Hello\n{}", "{}", "a{}{}b {}\n{} c"])
def test_whitespace_lines_do_not_end_a_text(text: str, tokenizer: Any, space: str, tmp_path: Path) -> None:
    text = text.replace("{}", space)
    corpus = read_corpus(saved(tmp_path, "a.txt", text), tokenizer=tokenizer)
    assert "".join(sentence.origin.text for sentence in corpus if sentence.origin) == text
    for sentence in corpus:
        assert sentence.origin
        assert [text[start:end] for start, end in sentence.origin.offsets] == list(sentence.tokens)
    if space not in "\u200b\ufeff":
        assert [token for sentence in corpus for token in sentence.tokens] == text.split()


@pytest.mark.parametrize("blank", ["", "\xa0", "\u3000 ", "\t"])
def test_whitespace_line_ends_a_sentence_in_columns(blank: str, tmp_path: Path) -> None:
    corpus = read_corpus(saved(tmp_path, "a.conll", f"Ada B-PER\n{blank}\nBob B-PER\n\xa0 O\n"))
    assert [sentence.tokens for sentence in corpus] == [("Ada",), ("Bob", "\xa0")]


def test_folder_without_known_files_is_refused(tmp_path: Path) -> None:
    saved(tmp_path, "a.xyz", "1\ta\n")
    with pytest.raises(InputError, match=r"a folder can be .*brat \(\*\.ann.*; this one has a\.xyz: name one"):
        format_of(tmp_path)


def test_folder_of_one_format_is_read_file_by_file(tmp_path: Path) -> None:
    for name in ("b.jsonl", "a/c.jsonl.gz", "a.jsonl"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        jsonl.write([Sentence([name], id=name)], tmp_path / name)
    saved(tmp_path, "README.txt", "what this is")
    saved(tmp_path, ".hidden.jsonl", "oh dear")
    corpus = read_corpus(tmp_path)
    assert [sentence.id for sentence in corpus] == ["a/c.jsonl.gz", "a.jsonl", "b.jsonl"]
    assert f"{tmp_path}: 3 files read; ignored: README.txt" in corpus.report.notes
    assert list(read_corpus(tmp_path, "jsonl")) == list(corpus)


def test_folder_of_column_tsv_files_is_not_webanno(tmp_path: Path) -> None:
    for name in ("a.tsv", "b.tsv"):
        saved(tmp_path, name, "Ada\tB-PER\nslept\tO\n")
    assert format_of(tmp_path).name == "columns"
    assert len(read_corpus(tmp_path)) == 2
    saved(tmp_path, "c.jsonl", '{"tokens": ["a"], "entities": []}\n')
    with pytest.raises(InputError, match="name one of its files"):
        format_of(tmp_path)


def test_splits_of_a_folder_are_not_mixed(tmp_path: Path) -> None:
    for name in ("train.jsonl", "dev.jsonl"):
        jsonl.write([Sentence(["a"])], tmp_path / name)
    with pytest.raises(InputError, match=r"it holds several splits; name one, such as .*train\.jsonl"):
        read_corpus(tmp_path)


def test_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no such file"):
        format_of(tmp_path / "a.json")


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


def test_detected_format_is_reported(tmp_path: Path) -> None:
    path = saved(tmp_path, "a.txt", "Ada\tB-PER\n")
    assert notes(columns.FORMAT, path) == [f"{path}: read as columns (a token and its BIO tags a line)"]
    assert not notes(columns.FORMAT, saved(tmp_path, "a.IOB2", "Ada\tB-PER\n"))


def test_no_entities_give_a_warning_with_options(tmp_path: Path) -> None:
    path = saved(tmp_path, "a.conll", "Ada\tO\n\nBob\tO\n")
    assert notes(columns.FORMAT, path) == [
        f"warning: {path}: no entity in 2 sentences, read as columns; columns=... names the columns of tokens and tags;"
        " format=... names another format"
    ]
    assert "no sentence, read as jsonl" in notes(jsonl.FORMAT, saved(tmp_path, "a.jsonl", ""))[0]
    assert not notes(text.FORMAT, saved(tmp_path, "a.txt", "Ada slept."))


def test_text_for_tagging_needs_no_entities() -> None:
    report = Report()
    assert len(list(made(entities=0, empty=2, lost=0).read("a.x", LINES, report, annotated=False))) == 2
    assert not report.notes


def test_many_dropped_annotations_give_a_warning() -> None:
    assert notes(made(entities=1, empty=2, lost=5), "a.x") == [
        "warning: a.x: 5 annotations were dropped and 1 kept, so 2 of 3 sentences have no entity;"
        " field=... names a layer; format=... names another format"
    ]
    assert not notes(made(entities=3, empty=2, lost=5), "a.x")
    assert not notes(made(entities=1, empty=2, lost=1), "a.x")
