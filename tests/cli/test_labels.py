"""The commands `encode`, `decode`, `vocabulary` and `show`."""

import gzip
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner, Result

from nestag import Sentence
from nestag.cli import app
from nestag.formats import jsonl
from strategies import ENCODINGS, sentences

FIGURE_1 = {
    "tokens": ["Lincoln", "was", "president", "of", "the", "USA"],
    "entities": [
        {"start": 0, "end": 1, "type": "PER"},
        {"start": 4, "end": 6, "type": "GPE"},
        {"start": 2, "end": 6, "type": "PER"},
    ],
    "id": "figure-1",
}
DYN = "Lincoln\t1\tS\tPER\nwas\t0\tS\t-\npresident\t1\tPER\t-\nof\t0\tPER\t-\nthe\t1\tGPE\t-\nUSA\t=1\tS\t-\n\n"


def nestag(*arguments: str | Path, given: str | bytes = b"", **environment: str) -> Result:
    return CliRunner().invoke(app, list(map(str, arguments)), given, {"COLUMNS": "80", **environment})


@pytest.fixture
def figure(tmp_path: Path) -> Path:
    path = tmp_path / "figure.jsonl"
    path.write_text(json.dumps(FIGURE_1) + "\n")
    return path


def test_encode_writes_the_columns(figure: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.tsv"
    done = nestag("encode", figure, "-o", out, "--encoding", "dyn")
    assert (done.exit_code, done.stdout) == (0, "")
    assert out.read_text() == DYN
    assert "encoded 1 sentences, 6 tokens, 3 entities as dyn" in done.stderr


def test_encode_reads_pipes_and_gzip(figure: Path, tmp_path: Path) -> None:
    assert nestag("encode", "-", "-e", "dyn", given=figure.read_bytes()).stdout == DYN
    packed = tmp_path / "out.tsv.gz"
    nestag("encode", figure, "-o", packed, "-e", "dyn")
    assert gzip.decompress(packed.read_bytes()).decode() == DYN
    done = nestag("decode", packed, "-e", "dyn")
    assert json.loads(done.stdout)["entities"] == sorted(FIGURE_1["entities"], key=lambda e: (e["start"], -e["end"]))
    assert "repaired 0 labels in 0 sentences" in done.stderr


def test_crlf_and_a_byte_order_mark_are_read() -> None:
    labels = ("\ufeff" + DYN).replace("\n", "\r\n")
    assert len(json.loads(nestag("decode", "-", "-e", "dyn", given=labels).stdout)["entities"]) == 3


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_decode_is_the_inverse_of_encode(encoding: str, tmp_path: Path) -> None:
    from nestag.encodings import encoding as named
    from nestag.formats.labels import decode_file, encode_file

    @given(st.lists(sentences(), max_size=4))
    def check(corpus: list[Sentence]) -> None:
        encode_file(corpus, tmp_path / "labels.tsv", named(encoding))
        tally = decode_file(tmp_path / "labels.tsv", tmp_path / "back.jsonl", named(encoding))
        back = list(jsonl.read(tmp_path / "back.jsonl"))
        assert [(s.tokens, s.entities) for s in back] == [(s.tokens, s.entities) for s in corpus]
        assert tally.repaired == 0

    check()


def test_repairs_are_counted() -> None:
    done = nestag("decode", "-", "-e", "rel", given="a\t1\tS\t-\nb\t-7\tS\t-\nc\t0\tS\t-\n")
    assert json.loads(done.stdout)["entities"] == []
    assert "repaired 1 labels in 1 sentences" in done.stderr


def test_node_labels_by_majority() -> None:
    given_labels = "a\t2\tA\t-\nb\t2\tB\t-\nc\t2\tB\t-\nd\t1\tS\t-\ne\t1\tS\t-\n"
    done = nestag("decode", "-", "-e", "abs", "--node-label-strategy", "majority", given=given_labels)
    assert json.loads(done.stdout)["entities"] == [{"start": 0, "end": 4, "type": "B"}]


GOOD = json.dumps(FIGURE_1)
LABELS = DYN.rstrip("\n")


def entity(**fields: object) -> str:
    return json.dumps({"tokens": ["a", "b"], "entities": [{"start": 0, "end": 1, "type": "X"} | fields]})


@pytest.mark.parametrize(
    ("command", "text", "told"),
    [
        ("encode", '{"entities": []}', "no list 'tokens'"),
        ("encode", '{"tokens": ["a"]}', "no list 'entities'"),
        ("encode", '{"tokens": ["a"], "entities": [{"start": 0, "end": 1}]}', "is not an entity"),
        ("encode", entity(start=1, end=0), "ends before it starts"),
        ("encode", entity(end=3), "ends outside the sentence of 2 tokens"),
        ("encode", entity(start=-1), "starts before the sentence"),
        ("encode", entity(start="0"), "not an integer"),
        ("encode", '{"tokens": ["a", ""], "entities": []}', "token 1 is ''"),
        ("encode", '{"tokens": ["a"', "not JSON"),
        ("encode", "[" * 100_000, "not JSON"),
        ("encode", "[1]", "not an object"),
        ("encode", '{"tokens": ["\\ud800"], "entities": []}', "half of a character"),
        ("encode", b'{"tokens": ["\xff"], "entities": []}', "byte 13 (0xff) is not UTF-8"),
        ("encode", '{"tokens": ["a"], "entities": [], "id": [1]}', "'id' is [1]"),
        ("decode", "a\t1\tS", "3 columns; write the 4 columns token, n, c, u"),
        ("decode", "a\tx\tS\t-", "n is 'x'"),
        ("decode", "a\t1\tS\tA++B", "not a chain of types"),
        ("decode", "\t1\tS\t-", "the token is empty"),
        ("decode", b"\xff\t1\tS\t-", "not UTF-8"),
    ],
)
def test_bad_input_names_file_and_line(command: str, text: str | bytes, told: str, tmp_path: Path) -> None:
    source, out = tmp_path / "in.jsonl", tmp_path / "out.txt"
    before = GOOD if command == "encode" else LABELS
    raw = text if isinstance(text, bytes) else text.encode()
    source.write_bytes(before.encode() + b"\n" + raw + b"\n")
    line = before.count("\n") + 2
    done = nestag(command, source, "-o", out, "-e", "dyn")
    assert done.exit_code == 2
    assert done.stderr.startswith(f"nestag: {source}:{line}: ")
    assert told in done.stderr
    assert done.stderr.count("\n") == 1
    assert done.stdout == ""
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.jsonl"]


def test_failure_keeps_an_earlier_output(tmp_path: Path) -> None:
    (tmp_path / "out.tsv").write_text("precious")
    assert nestag("encode", "-", "-o", tmp_path / "out.tsv", given="{").exit_code == 2
    assert (tmp_path / "out.tsv").read_text() == "precious"


def test_encode_reads_any_format(figure: Path, tmp_path: Path) -> None:
    other = tmp_path / "figure.nested"
    assert nestag("convert", figure, other).exit_code == 0
    assert nestag("encode", other, "-e", "dyn").stdout == DYN
    assert nestag("encode", "-", "--from", "brackets", "-e", "dyn", given=other.read_bytes()).stdout == DYN
    assert nestag("vocabulary", other).stdout == nestag("vocabulary", figure).stdout != ""
    assert nestag("show", other).stdout == nestag("show", figure).stdout != ""
    refused = nestag("encode", other, "--from", "nothing")
    assert (refused.exit_code, refused.stderr.count("\n")) == (2, 1)
    assert "no format is called 'nothing'" in refused.stderr


def test_changes_while_reading_are_reported_by_encode(tmp_path: Path) -> None:
    (tmp_path / "in.txt").write_text("Lincoln slept")
    (tmp_path / "in.ann").write_text("T1\tPER 0 5\tLinco\n")
    for command in ("encode", "show", "vocabulary"):
        done = nestag(command, tmp_path / "in.ann", "--tokenizer", "whitespace")
        assert done.exit_code == 0, done.stderr
        assert "PER" in done.stdout
        assert "1 span widened" in done.stderr
        refused = nestag(command, tmp_path / "in.ann", "--tokenizer", "whitespace", "--boundaries", "refuse")
        assert refused.exit_code == 2


@pytest.mark.parametrize(
    ("source", "told"),
    [
        ("missing.jsonl", "no such file"),
        (".", "bad.jsonl.gz: not a whole gzip file"),  # a folder is read file by file
        ("bad.jsonl.gz", "not a whole gzip file"),
    ],
)
def test_unreadable_files_exit_with_2(source: str, told: str, tmp_path: Path) -> None:
    (tmp_path / "bad.jsonl.gz").write_bytes(b"\x1f\x8bnonsense")
    done = nestag("encode", tmp_path / source)
    assert (done.exit_code, done.stderr.count("\n")) == (2, 1)
    assert told in done.stderr


def test_unwritable_output_exits_with_2(figure: Path, tmp_path: Path) -> None:
    done = nestag("encode", figure, "-o", tmp_path / "no" / "out.tsv")
    assert done.exit_code == 2
    assert "cannot be written (No such file or directory)" in done.stderr


def test_crossing_entities_are_refused_or_dropped() -> None:
    crossing = [{"start": 0, "end": 2, "type": "A"}, {"start": 1, "end": 4, "type": "B"}]
    corpus = json.dumps({"tokens": list("abcd"), "entities": crossing, "id": "x"}) + "\n"
    stopped = nestag("encode", "-", given=corpus)
    assert stopped.exit_code == 2
    assert "-: sentence 1 (x): entities [0, 2) A and [1, 4) B cross" in stopped.stderr
    done = nestag("encode", "-", "--crossing", "drop", given=corpus)
    assert done.exit_code == 0
    assert "1 crossing entity dropped (-: sentence 1 (x): [0, 2) A)" in done.stderr


def test_duplicates_are_reported() -> None:
    twice = json.dumps({"tokens": ["a"], "entities": [{"start": 0, "end": 1, "type": "A"}] * 3})
    assert "2 duplicate entity merged (-:1: [0, 1) A)" in nestag("encode", "-", given=twice).stderr


def test_vocabulary_orders_same_spans_and_counts_unknown_labels(tmp_path: Path) -> None:
    train = {
        "tokens": ["Ada", "B"],
        "entities": [{"start": 0, "end": 2, "type": "PER"}, {"start": 0, "end": 1, "type": "FIRST"}],
    }
    single = {"tokens": ["Ada"], "entities": [{"start": 0, "end": 1, "type": kind} for kind in ("FIRST", "PER")]}
    learned = nestag("vocabulary", "-", "-o", tmp_path / "v.json", "-e", "abs", given=json.dumps(train))
    assert "learned 1 n, 1 c and 2 u for abs" in learned.stderr
    done = nestag("encode", "-", "-e", "abs", "--vocabulary", tmp_path / "v.json", given=json.dumps(single))
    assert done.stdout == "Ada\t1\tS\tPER+FIRST\n\n"
    assert "3 label parts are not in the vocabulary" in done.stderr
    other = nestag("encode", "-", "-e", "rel", "--vocabulary", tmp_path / "v.json", given=json.dumps(single))
    assert "the vocabulary is for abs; use --encoding abs" in other.stderr


def test_an_unknown_encoding_is_refused(figure: Path) -> None:
    done = nestag("encode", figure, "-e", "bio")
    assert done.exit_code == 2
    assert "no encoding is called 'bio'" in done.stderr


def test_show_draws_five_levels() -> None:
    deep = {
        "tokens": [f"word{i}" for i in range(12)],
        "entities": [{"start": i, "end": 12 - i, "type": f"LEVEL{i}"} for i in range(5)],
    }
    done = nestag("show", "-", "-e", "rel", given=json.dumps(deep), COLUMNS="120", NO_COLOR="1")
    lines = [line.rstrip() for line in done.stdout.splitlines()]
    assert lines[0] == " ".join(deep["tokens"])
    for row, level in enumerate(reversed(range(5)), 1):
        start, end = lines[0].index(f"word{level}"), lines[0].index(f"word{11 - level}") + len(f"word{11 - level}")
        bracket = lines[row].strip()
        assert (bracket[0], bracket[-1]) == ("╰", "╯")
        assert f"─LEVEL{level}─" in bracket
        assert lines[row].index("╰") == start
        assert len(lines[row]) == end
    assert "├── LEVEL1" in done.stdout
    assert any(line.split() == ["word4", "1", "LEVEL4", "-"] for line in lines)


def test_show_wraps_wide_sentences_and_makes_controls_visible() -> None:
    wide = {"tokens": ["\x1b[31m", "漢字"] * 20, "entities": [{"start": 0, "end": 40, "type": "X"}], "id": "a\x07b"}
    done = nestag("show", "-", given=json.dumps(wide), COLUMNS="60")
    assert "\x1b[31m" not in done.stdout
    assert "\x07" not in done.stdout
    assert "␛[31m" in done.stdout
    assert done.stdout.count("漢字") == 40


def test_show_reports_its_limit() -> None:
    many = "".join(json.dumps({"tokens": [f"t{i}"], "entities": []}) + "\n" for i in range(4))
    done = nestag("show", "-", "--limit", "2", given=many)
    assert "t1" in done.stdout
    assert "t2" not in done.stdout
    assert "stopped after 2 sentences; --limit 0 shows all" in done.stderr
    assert "t3" in nestag("show", "-", "--limit", "0", given=many).stdout


def test_show_draws_crossing_entities_without_a_tree() -> None:
    crossing = [{"start": 0, "end": 2, "type": "A"}, {"start": 1, "end": 3, "type": "B"}]
    done = nestag("show", "-", given=json.dumps({"tokens": list("abc"), "entities": crossing}))
    assert "entities cross, so there is no tree" in done.stdout


def test_version_is_printed() -> None:
    import nestag as package

    assert nestag("--version").stdout == f"nestag {package.__version__}\n"
