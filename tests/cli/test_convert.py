"""The commands `convert` and `split`."""

import gzip
import re
import subprocess
import sys
import tracemalloc
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from nestag.cli import app
from nestag.data.document import document_of
from nestag.data.segment import Options
from nestag.data.sentence import Entity, Sentence
from nestag.formats import corpus as corpus_module
from nestag.formats import jsonl
from nestag.formats.registry import Format, available
from strategies import sentences

CROSSED = Sentence(["a", "b", "c"], [Entity(0, 2, "X"), Entity(1, 3, "Y"), Entity(0, 3, "Z")], "doc-1")
PLAIN = Sentence(["d", "e"], [Entity(0, 2, "X")], "doc-2")


def nestag(*arguments: object, given: str = "") -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "nestag", *map(str, arguments)]
    return subprocess.run(command, input=given, capture_output=True, text=True, encoding="utf-8", check=False)


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    jsonl.write([CROSSED, PLAIN], tmp_path / "in.jsonl")
    return tmp_path / "in.jsonl"


def test_convert_keeps_the_corpus_and_reports_to_stderr(corpus: Path) -> None:
    target = corpus.with_name("out.jsonl.gz")
    done = CliRunner().invoke(app, ["convert", str(corpus), str(target)])
    assert (done.exit_code, done.stdout) == (0, "")
    assert done.stderr == (
        "converted 2 sentences, 5 tokens, 4 entities from jsonl to jsonl\n"
        f"1 pair of crossing entities kept ({corpus}: sentence 1 (doc-1): [0, 2) X and [1, 3) Y)\n"
    )
    assert list(jsonl.read(target)) == [CROSSED, PLAIN]
    assert gzip.decompress(target.read_bytes())


@settings(max_examples=settings.default.max_examples // 2)
@given(st.lists(sentences(), max_size=4))
def test_conversion_keeps_every_sentence(tmp_path: Path, found: list[Sentence]) -> None:
    jsonl.write(found, tmp_path / "a.jsonl")
    assert CliRunner().invoke(app, ["convert", str(tmp_path / "a.jsonl"), str(tmp_path / "b.jsonl")]).exit_code == 0
    assert list(jsonl.read(tmp_path / "b.jsonl")) == found


def test_format_of_a_pipe_is_detected_or_required(corpus: Path) -> None:
    text = corpus.read_text("utf-8")
    found = nestag("convert", "-", corpus.with_name("x.jsonl"), given=text)
    assert (found.returncode, corpus.with_name("x.jsonl").read_text("utf-8")) == (0, text)
    refused = nestag("convert", "-", corpus.with_name("x.jsonl"), given="what is this")
    assert (refused.returncode, "name the format (--from)" in refused.stderr) == (2, True)
    for options in (["--to", "jsonl"], []):
        done = nestag("convert", "-", "-", "--from", "jsonl", *options, given=text)
        assert (done.returncode, done.stdout) == (0, text)


def test_crossing_entities_are_kept_refused_or_dropped(corpus: Path) -> None:
    target = corpus.with_name("out.jsonl")
    refused = CliRunner().invoke(app, ["convert", str(corpus), str(target), "--crossing", "error"])
    assert refused.exit_code == 2
    assert f"{corpus}: sentence 1 (doc-1): entities [0, 2) X and [1, 3) Y cross" in refused.stderr
    assert not target.exists()
    aside = CliRunner().invoke(app, ["convert", str(corpus), str(target), "--crossing", "drop"])
    assert aside.exit_code == 0
    assert "1 crossing entity dropped" in aside.stderr
    assert [len(sentence.entities) for sentence in jsonl.read(target)] == [2, 1]


def test_list_shows_every_finding(tmp_path: Path) -> None:
    jsonl.write([CROSSED] * 1_500, tmp_path / "in.jsonl")
    arguments = ["convert", str(tmp_path / "in.jsonl"), str(tmp_path / "out.jsonl"), "--crossing", "drop"]
    short = CliRunner().invoke(app, arguments).stderr
    listed = CliRunner().invoke(app, [*arguments, "--list"]).stderr
    assert (len(short.splitlines()), len(listed.splitlines())) == (2, 1_502)
    assert f"{tmp_path}/in.jsonl: sentence 1500 (doc-1): crossing entity dropped: [" in listed


def test_unreadable_and_unwritable_paths_exit_with_2(corpus: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for arguments, part in (
        (["no.jsonl", "x.jsonl"], "there is no such file"),
        ([str(corpus), "x.unknown"], "name the format (--to)"),
        ([str(corpus), "x", "--to", "nonsense"], "no format is called 'nonsense'"),
    ):
        done = CliRunner().invoke(app, ["convert", *arguments])
        assert (done.exit_code, len(done.stderr.splitlines())) == (2, 1)
        assert part in done.stderr


def test_help_names_every_format() -> None:
    told = CliRunner().invoke(app, ["convert", "--help"], env={"TERM": "dumb", "COLUMNS": "200"}).stdout
    formats = re.search(r"The formats are (.*?);", " ".join(told.split()))
    assert formats
    assert re.split(r", | and ", formats[1]) == sorted(available())


def test_reading_options_are_applied(corpus: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []

    def read(path: object, options: object, report: object) -> Sequence[Sentence]:
        seen.append(options)
        return [PLAIN]

    monkeypatch.setattr(corpus_module, "format_of", lambda path, name: Format("x", "", (), read, jsonl.FORMAT.writer))
    flags = ["--tokenizer", "whitespace", "--language", "de", "--boundaries", "split", "--field", "gold"]
    flags += ["--columns", "2,-1", "--skip-bad"]
    assert CliRunner().invoke(app, ["convert", "in", str(corpus.with_name("o.jsonl")), *flags]).exit_code == 0
    assert seen == [Options("whitespace", "de", "split", "gold", (2, -1), skip_bad=True)]


def peak(source: Path) -> int:
    tracemalloc.start()
    assert CliRunner().invoke(app, ["convert", str(source), str(source.with_suffix(".out.jsonl"))]).exit_code == 0
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return most


def test_convert_needs_constant_memory(tmp_path: Path) -> None:
    line = jsonl.to_line(Sentence(["word"] * 30, [Entity(i, i + 2, "TYPE") for i in range(0, 28, 2)]))
    small, large = tmp_path / "small.jsonl", tmp_path / "large.jsonl"
    small.write_text(line * 100)
    large.write_text(line * 1_000)  # 800 kB
    peak(small)
    assert peak(large) - peak(small) < 200_000


def documents(count: int) -> list[Sentence]:
    kinds = ("PER", "GPE", "ORG")
    return [
        Sentence([f"w{document}", "x"], [Entity(0, 1, kinds[document % 3])], f"d{document}-{number}")
        for number in range(3)  # so that documents are in pieces all over the corpus
        for document in range(count)
    ]


def test_split_keeps_documents_together(tmp_path: Path) -> None:
    given = documents(60)
    jsonl.write(given, tmp_path / "all.jsonl.gz")
    out = tmp_path / "new" / "splits"
    done = CliRunner().invoke(app, ["split", str(tmp_path / "all.jsonl.gz"), "-o", str(out)])
    assert done.exit_code == 0, done.stderr
    assert sorted(path.name for path in out.iterdir()) == ["dev.jsonl.gz", "test.jsonl.gz", "train.jsonl.gz"]
    parts = {name: list(jsonl.read(out / f"{name}.jsonl.gz")) for name in ("train", "dev", "test")}
    held = {name: {document_of(sentence) for sentence in part} for name, part in parts.items()}
    assert [len(held[name]) for name in parts] == [42, 9, 9]
    assert sum(map(len, held.values())) == 60
    assert sorted(map(repr, given)) == sorted(repr(sentence) for part in parts.values() for sentence in part)
    assert [s for s in given if document_of(s) in held["dev"]] == parts["dev"]  # in the order of the corpus
    rows = [line.split() for line in done.stdout.splitlines()]
    assert ["sentences", "126", "27", "27", "180", "70.00", "15.00", "15.00"] in rows
    assert ["PER", "42", "9", "9", "60", "70.00", "15.00", "15.00"] in rows


def test_split_depends_on_the_seed_only(tmp_path: Path) -> None:
    jsonl.write(documents(40), tmp_path / "all.jsonl")
    for name, seed in (("a", "1"), ("b", "1"), ("c", "2")):
        assert CliRunner().invoke(
            app, ["split", str(tmp_path / "all.jsonl"), "-o", str(tmp_path / name), "--seed", seed]
        ).exit_code == 0  # fmt: skip
    a, b, c = ((tmp_path / name / "dev.jsonl").read_bytes() for name in "abc")
    assert a == b != c


def test_split_shares_are_free_and_empty_splits_not_written(tmp_path: Path) -> None:
    jsonl.write(documents(40), tmp_path / "all.jsonl")
    out = tmp_path / "out"
    arguments = ["split", str(tmp_path / "all.jsonl"), "-o", str(out), "--by", "sentence", "--shares"]
    assert CliRunner().invoke(app, [*arguments, "3/0/1"]).exit_code == 0
    assert sorted(path.name for path in out.iterdir()) == ["test.jsonl", "train.jsonl"]
    assert len(list(jsonl.read(out / "test.jsonl"))) == 30
    for bad in ("70/30", "a/b/c", "0/0/0", "-1/1/1", "nan/1/1", "inf/1/1"):
        refused = CliRunner().invoke(app, [*arguments, bad])
        assert (refused.exit_code, "write them like 70/15/15" in refused.stderr) == (2, True), bad


def test_single_document_is_refused_with_a_fix(tmp_path: Path) -> None:
    jsonl.write([PLAIN] * 10, tmp_path / "all.jsonl")
    done = CliRunner().invoke(app, ["split", str(tmp_path / "all.jsonl"), "-o", str(tmp_path / "out")])
    assert (done.exit_code, "--by sentence" in done.stderr) == (2, True)
    assert not (tmp_path / "out").exists()


def test_folder_is_split_into_three_files(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    for name in "abc":
        jsonl.write(
            [Sentence([name], [Entity(0, 1, "X")], f"{name}{n}-1") for n in range(10)],
            tmp_path / "in" / f"{name}.jsonl",
        )
    done = CliRunner().invoke(app, ["split", str(tmp_path / "in"), "-o", str(tmp_path / "out")])
    assert done.exit_code == 0, done.output
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["dev.jsonl", "test.jsonl", "train.jsonl"]
    assert sum(len(list(jsonl.read(path))) for path in (tmp_path / "out").iterdir()) == 30


@pytest.mark.parametrize("name", ["train.jsonl", "dev.conll", "valid.txt"])
def test_split_into_a_folder_with_splits_is_refused(name: str, tmp_path: Path) -> None:
    jsonl.write(documents(20), tmp_path / "all.jsonl")
    (tmp_path / name).write_text("mine", encoding="utf-8")
    done = CliRunner().invoke(app, ["split", str(tmp_path / "all.jsonl"), "-o", str(tmp_path)])
    assert done.exit_code == 2
    assert all(part in done.stderr for part in (str(tmp_path), name, "--output"))
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(["all.jsonl", name])


def test_split_refuses_its_source_and_pipes(tmp_path: Path) -> None:
    jsonl.write(documents(20), tmp_path / "train.jsonl")
    before = (tmp_path / "train.jsonl").read_bytes()
    done = CliRunner().invoke(app, ["split", str(tmp_path / "train.jsonl"), "-o", str(tmp_path)])
    assert (done.exit_code, "--output" in done.stderr) == (2, True)
    assert (tmp_path / "train.jsonl").read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["train.jsonl"]
    piped = CliRunner().invoke(app, ["split", "-", "-o", str(tmp_path), "--from", "jsonl"])
    assert (piped.exit_code, "more than once" in piped.stderr) == (2, True)


@pytest.mark.parametrize("columns", ["1", "0,1", "a,b", "1,1", ""])
def test_unknown_columns_are_refused(columns: str, corpus: Path) -> None:
    done = CliRunner().invoke(app, ["stats", str(corpus), "--columns", columns])
    assert (done.exit_code, "like 1,4" in done.stderr) == (2, True)


def test_every_reading_command_reports_odd_files(tmp_path: Path) -> None:
    odd = tmp_path / "odd.conll"
    odd.write_text("Ada NNP O\nslept VBD O\n\n" * 5 + "Bob PER\n", encoding="utf-8")
    for command in (["convert", str(odd), str(tmp_path / "out.jsonl")], ["stats", str(odd)]):
        refused = CliRunner().invoke(app, command)
        assert (refused.exit_code, "odd.conll:16: 2 columns" in refused.stderr) == (2, True)
        done = CliRunner().invoke(app, [*command, "--skip-bad"])
        assert done.exit_code == 0
        for part in (
            "read as columns",
            "no tags in column 2",
            "1 bad record skipped",
            "warning: ",
            "no entity in 5 sentences",
            "--columns names",
        ):
            assert part in done.stderr
