"""Export folders round-trip for every target and encoding."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner, Result

from nestag.cli import app
from nestag.data.sentence import Entity, Sentence
from nestag.encodings import encoding
from nestag.encodings.notation import write_chain, write_name
from nestag.encodings.vocabulary import Vocabulary
from nestag.errors import InputError
from nestag.formats import jsonl
from nestag.formats.corpus import CorpusFile
from nestag.formats.files import writing
from nestag.formats.labels import LabellingTally, read_vocabulary
from nestag.integrations.export import TARGETS as TARGETS_BY_NAME
from nestag.integrations.export import read_export, recover, write_export
from nestag.integrations.hf_dataset import HuggingFace
from nestag.integrations.taggers import Conll, MaChAmp, Target, label_writer
from strategies import ENCODINGS, sentences

TARGETS: tuple[Target, ...] = (MaChAmp(), Conll("joint"), Conll("separate"), HuggingFace())
USA = Sentence(["the", "USA", "won"], [Entity(0, 2, "GPE"), Entity(0, 2, "ORG")], "usa")
LINCOLN = Sentence(
    ["Lincoln", "was", "president", "of", "the", "USA"],
    [Entity(0, 1, "PER"), Entity(2, 6, "PER"), Entity(4, 6, "GPE")],
    "lincoln",
)


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["export", *map(str, arguments)])


def corpus(path: Path, *given: Sentence) -> Path:
    jsonl.write(given, path)
    return path


def as_predictions(target: Target, file: Path, gold: list[Sentence], vocabulary: Vocabulary, joint: bool) -> Path:
    """The exported gold labels in the form in which predictions come."""
    if not isinstance(target, HuggingFace):
        return file
    by = encoding(vocabulary.encoding)
    out = file.with_suffix(".predicted.jsonl")
    with writing(out) as stream:
        for sentence in gold:
            labels = vocabulary.encode(sentence)
            if joint:
                record = {"ner_tags": list(map(label_writer(by, "|"), labels))}
            else:
                record = {
                    "n": [by.write_n(label.n) for label in labels],
                    "c": [write_name(label.c) for label in labels],
                    "u": [write_chain(label.u) for label in labels],
                }
            stream.write(json.dumps(record) + "\n")
    return out


@settings(max_examples=settings.default.max_examples // 4)
@given(
    st.lists(sentences(6), min_size=1, max_size=4).filter(lambda found: any(map(len, found))),
    st.lists(sentences(6), max_size=4),
    st.booleans(),
)
@pytest.mark.parametrize("by", ENCODINGS)
@pytest.mark.parametrize("target", TARGETS, ids=["machamp", "joint", "separate", "hf"])
def test_gold_labels_of_an_export_round_trip(
    tmp_path_factory: pytest.TempPathFactory,
    target: Target,
    by: str,
    train: list[Sentence],
    dev: list[Sentence],
    joint: bool,
) -> None:
    base = tmp_path_factory.mktemp("export")
    paths = {"train": corpus(base / "train.jsonl", *train), "dev": corpus(base / "dev.jsonl", *dev)}
    write_export(target, base / "out", **paths, encoding=by)
    export = read_export(base / "out")
    for split, gold in (("train", train), ("dev", dev)):
        tally = LabellingTally()
        file = as_predictions(target, base / "out" / target.files[split], gold, export.vocabulary, joint)
        assert list(recover(export, gold, file, tally, unseen="allow")) == gold
        assert tally.repaired == 0


@pytest.mark.parametrize("name", ["machamp", "conll", "hf"])
def test_export_describes_itself(tmp_path: Path, name: str) -> None:
    train = corpus(tmp_path / "train.jsonl", LINCOLN, USA)
    made = run(name, tmp_path / "new" / "out", "--train", train, "--dev", train, "--test", train, "-e", "dyn")
    assert made.exit_code == 0, made.output
    out = tmp_path / "new" / "out"
    found = read_export(out)
    assert type(found.target) is TARGETS_BY_NAME[name]
    assert found.vocabulary == read_vocabulary(out / "vocabulary.json") == Vocabulary.learn([LINCOLN, USA], "dyn")
    assert all((out / file).exists() for file in found.target.files.values())
    assert f"nestag export back . {train.resolve()} " in (out / "README.md").read_text("utf-8")
    assert "test: 2 sentences, 9 tokens, 5 entities, 0 label parts that train lacks" in made.output
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["out"]
    assert out.stat().st_mode & 0o777 == (tmp_path / "new").stat().st_mode & 0o777


def test_same_span_types_follow_the_order_of_train(tmp_path: Path) -> None:
    outer = Sentence(["a", "b", "c"], [Entity(0, 3, "ORG"), Entity(0, 2, "GPE")])
    train = corpus(tmp_path / "train.jsonl", outer, USA)
    dev = corpus(tmp_path / "dev.jsonl", USA)
    assert run("conll", tmp_path / "out", "--train", train, "--dev", dev, "--labels", "separate").exit_code == 0
    assert (tmp_path / "out" / "dev.tsv").read_text("utf-8").startswith("the\t3\tORG+GPE\t-\n")


def test_labels_only_in_dev_are_counted(tmp_path: Path) -> None:
    train, dev = corpus(tmp_path / "train.jsonl", USA), corpus(tmp_path / "dev.jsonl", USA, LINCOLN)
    told = run("machamp", tmp_path / "out", "--train", train, "--dev", dev).output
    assert "train: 1 sentences, 3 tokens, 2 entities, 0 label parts that train lacks" in told
    assert "dev: 2 sentences, 9 tokens, 5 entities, 7 label parts that train lacks" in told
    assert "7 label part that train lacks" in told
    assert "sentence 2: n 1)" in told


def test_empty_sentences_are_skipped_and_restored(tmp_path: Path) -> None:
    gold = [Sentence([], id="none"), USA, Sentence([]), LINCOLN]
    train = corpus(tmp_path / "train.jsonl", *gold)
    told = run("conll", tmp_path / "out", "--train", train, "--dev", train).output
    assert "4 sentence without tokens skipped" in told
    assert "\n\n\n" not in (tmp_path / "out" / "train.tsv").read_text("utf-8")
    back = run("back", tmp_path / "out", train, tmp_path / "out" / "train.tsv", "-o", tmp_path / "back.jsonl")
    assert back.exit_code == 0, back.output
    assert list(jsonl.read(tmp_path / "back.jsonl")) == gold


def test_export_refuses_or_drops_crossing_entities(tmp_path: Path) -> None:
    crossing = Sentence(["a", "b", "c"], [Entity(0, 2, "X"), Entity(1, 3, "Y")], "knot")
    train, dev = corpus(tmp_path / "train.jsonl", USA, crossing), corpus(tmp_path / "dev.jsonl", USA)
    for first, second in ((train, dev), (dev, train)):
        refused = run("hf", tmp_path / "out", "--train", first, "--dev", second)
        assert refused.exit_code == 2
        assert f"{train}: sentence 2 (knot): entities [0, 2) X and [1, 3) Y cross" in refused.output
        assert sorted(path.name for path in tmp_path.iterdir()) == ["dev.jsonl", "train.jsonl"]
    told = run("hf", tmp_path / "out", "--train", train, "--dev", dev, "--crossing", "drop")
    assert told.exit_code == 0
    assert "1 crossing entity dropped" in told.output


def test_export_refuses_a_folder_with_files(tmp_path: Path) -> None:
    train = corpus(tmp_path / "train.jsonl", USA)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "kept").write_text("kept")
    for there in (tmp_path / "full", train):
        refused = run("conll", there, "--train", train, "--dev", train)
        assert refused.exit_code == 2
        assert "is there already" in refused.output
    assert [path.name for path in (tmp_path / "full").iterdir()] == ["kept"]
    (tmp_path / "empty").mkdir()
    assert run("conll", tmp_path / "empty", "--train", train, "--dev", train).exit_code == 0


def test_train_must_be_a_file_with_tokens(tmp_path: Path) -> None:
    dev = corpus(tmp_path / "dev.jsonl", USA)
    none = corpus(tmp_path / "none.jsonl", Sentence([]))
    assert "no tokens" in run("conll", tmp_path / "out", "--train", none, "--dev", dev).output
    assert "more than once" in run("conll", tmp_path / "out", "--train", "-", "--dev", dev).output
    assert (
        "there is no such file"
        in run("conll", tmp_path / "out", "--train", dev, "--dev", dev.parent / "x.jsonl").output
    )
    assert not (tmp_path / "out").exists()


def _with(**changes: object) -> Callable[[str], str]:
    return lambda text: json.dumps({**json.loads(text), **changes})


@pytest.mark.parametrize(
    "broken", [lambda text: "{", lambda text: "[]", _with(format=0), _with(target="x"), _with(colour="red")]
)
def test_folder_without_an_export_is_refused(tmp_path: Path, broken: Callable[[str], str]) -> None:
    train = corpus(tmp_path / "train.jsonl", USA)
    write_export(Conll(), tmp_path / "out", train, train, encoding="abs")
    file = tmp_path / "out" / "export.json"
    file.write_text(broken(file.read_text("utf-8")), "utf-8")
    with pytest.raises(InputError, match=r"export\.json: .*export again"):
        read_export(tmp_path / "out")


def test_failed_export_leaves_no_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Conll, "texts", fails)
    train = corpus(tmp_path / "train.jsonl", USA)
    with pytest.raises(KeyboardInterrupt):
        write_export(Conll(), tmp_path / "out", train, train, encoding="abs")
    assert [path.name for path in tmp_path.iterdir()] == ["train.jsonl"]


@pytest.mark.skipif("NESTAG_CORPORA" not in os.environ, reason="needs NESTAG_CORPORA")
@pytest.mark.parametrize("by", ENCODINGS)
@pytest.mark.parametrize("target", TARGETS[:3], ids=["machamp", "joint", "separate"])
def test_real_corpus_round_trips(tmp_path: Path, target: Target, by: str) -> None:
    source = CorpusFile(os.environ["NESTAG_CORPORA"] + "/genia/dev.jsonl.gz")
    write_export(target, tmp_path / "out", source, source, encoding=by)
    gold, tally = list(source), LabellingTally()
    found = list(recover(read_export(tmp_path / "out"), gold, tmp_path / "out" / "dev.tsv", tally))
    assert found == gold
    assert (tally.sentences, tally.entities, tally.repaired, tally.unseen) == (1669, 4461, 0, 0)
