"""Detection: by content before suffix, by many records and files, and with a reason where it fails."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from nestag.corpora.corpus import read_corpus
from nestag.corpora.formats import jsonl
from nestag.corpora.registry import format_of
from nestag.data import Sentence
from nestag.errors import InputError
from raw_texts import saved


def test_columns_in_a_text_file_are_no_plain_text(tmp_path: Path) -> None:
    assert format_of(saved(tmp_path, "a.txt", "Ada B-PER\nslept O\n")).name == "columns"
    assert format_of(saved(tmp_path, "b.txt", "Ada slept.\nThe O of the B-52 is round.\n")).name == "text"


def test_ten_columns_of_webanno_are_webanno(tmp_path: Path) -> None:
    header = "#FORMAT=WebAnno TSV 3.2\n#T_SP=x.A|a|b|c|d|e|f|value\n\n#Text=Ada\n"
    path = saved(tmp_path, "a.conllu", header + "1-1\t0-3\tAda\t_\t_\t_\t_\t_\t_\tPER\n")
    assert format_of(path).name == "webanno"


def test_a_tsv_that_looks_like_nothing_is_not_guessed(tmp_path: Path) -> None:
    told = r"it could be several formats; name the format \(format=\.\.\.\), one of columns, webanno"
    with pytest.raises(InputError, match=told):
        format_of(saved(tmp_path, "a.tsv", "Ada\tPER\nslept\tO\n"))


def test_more_than_the_first_record_counts(tmp_path: Path) -> None:
    plain = '{"text": "nothing", "meta": {}}\n'
    path = saved(tmp_path, "a.jsonl", plain * 50 + '{"text": "Ada", "spans": [{"start": 0, "end": 3, "label": "X"}]}\n')
    assert format_of(path).name == "prodigy"


def test_a_first_record_that_is_very_long_is_read_on(tmp_path: Path) -> None:
    record = {"text": "word " * 300_000, "label": [[0, 4, "W"]]}
    assert format_of(saved(tmp_path, "a.json", json.dumps(record))).name == "doccano"


def test_more_than_the_first_file_of_a_folder_counts(tmp_path: Path) -> None:
    saved(tmp_path, "000.ann", "")
    saved(tmp_path, "001.ann", "no annotation at all\n")
    saved(tmp_path, "002.ann", "T1\tPER 0 3\tAda\n")
    saved(tmp_path, "notes.xml", "<notes/>")
    assert format_of(tmp_path).name == "brat"


def test_a_folder_of_nothing_known_is_refused_with_what_it_has(tmp_path: Path) -> None:
    saved(tmp_path, "a.xyz", "1\ta\n")
    with pytest.raises(InputError, match=r"a folder can be .*brat \(\*\.ann.*; this one has a\.xyz: name one"):
        format_of(tmp_path)


def test_a_folder_of_files_of_one_format_is_read_file_by_file(tmp_path: Path) -> None:
    for name in ("b.jsonl", "a/c.jsonl.gz", "a.jsonl"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        jsonl.write([Sentence([name], id=name)], tmp_path / name)
    saved(tmp_path, "README.txt", "what this is")
    saved(tmp_path, ".hidden.jsonl", "oh dear")
    corpus = read_corpus(tmp_path)
    assert [sentence.id for sentence in corpus] == ["a/c.jsonl.gz", "a.jsonl", "b.jsonl"]
    assert f"{tmp_path}: 3 files read; left alone: README.txt" in corpus.report.notes
    assert list(read_corpus(tmp_path, "jsonl")) == list(corpus)


def test_columns_in_a_folder_of_tsv_files_are_no_webanno(tmp_path: Path) -> None:
    for name in ("a.tsv", "b.tsv"):
        saved(tmp_path, name, "Ada\tB-PER\nslept\tO\n")
    assert format_of(tmp_path).name == "columns"
    assert len(read_corpus(tmp_path)) == 2
    saved(tmp_path, "c.jsonl", '{"tokens": ["a"], "entities": []}\n')
    with pytest.raises(InputError, match="name one of its files"):
        format_of(tmp_path)


def test_the_splits_of_a_folder_are_not_mixed(tmp_path: Path) -> None:
    for name in ("train.jsonl", "dev.jsonl"):
        jsonl.write([Sentence(["a"])], tmp_path / name)
    with pytest.raises(InputError, match=r"it holds several splits; name one, such as .*train\.jsonl"):
        read_corpus(tmp_path)


def test_a_missing_file_is_said_to_be_missing(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no such file"):
        format_of(tmp_path / "a.json")
