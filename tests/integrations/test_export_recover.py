"""Entities from predicted labels, and errors in predictions."""

from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from nestag.cli import app
from nestag.data.sentence import Entity, Sentence
from nestag.formats import jsonl

LINCOLN = Sentence(["Lincoln", "was", "president"], [Entity(0, 1, "PER"), Entity(1, 3, "PER")], "lincoln")
USA = Sentence(["the", "USA"], [Entity(0, 2, "GPE")], "usa")
GOLD = {
    "joint": "Lincoln 1|S|PER\nwas 1|PER|-\npresident -1|S|-\n\nthe 2|S+GPE|-\nUSA 0|S+GPE|-\n\n",
    "separate": "Lincoln 1 S PER\nwas 1 PER -\npresident -1 S -\n\nthe 2 S+GPE -\nUSA 0 S+GPE -\n\n",
}


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["export", *map(str, arguments)])


def back(tmp_path: Path, predictions: str, *options: str, labels: str = "joint") -> Result:
    train = tmp_path / "train.jsonl"
    jsonl.write([LINCOLN, USA], train)
    if not (tmp_path / "out").exists():
        assert run("conll", tmp_path / "out", "--train", train, "--dev", train, "--labels", labels).exit_code == 0
    (tmp_path / "predicted").write_text(predictions, "utf-8")
    return run("back", tmp_path / "out", train, tmp_path / "predicted", "-o", tmp_path / "back.jsonl", *options)


@pytest.mark.parametrize("labels", ["joint", "separate"])
def test_labels_are_the_last_columns(tmp_path: Path, labels: str) -> None:
    gold = GOLD[labels]
    more = "\n".join(line and line.replace(" ", " 7 gold ", 1) for line in gold.split("\n"))
    for predictions in (gold, gold.replace(" ", "\t"), gold.rstrip("\n"), more):
        told = back(tmp_path, predictions, labels=labels)
        assert told.exit_code == 0, told.output
        assert list(jsonl.read(tmp_path / "back.jsonl")) == [LINCOLN, USA]
        assert "decoded 2 sentences, 5 tokens, 3 entities from rel\nrepaired 0 labels in 0 sentences\n" in told.output


def test_invalid_labels_are_repaired_and_counted(tmp_path: Path) -> None:
    told = back(tmp_path, GOLD["joint"].replace("was 1|PER|-", "was -1|PER|-"))
    assert told.exit_code == 0
    assert "decoded 2 sentences, 5 tokens, 2 entities from rel\nrepaired 2 labels in 1 sentences\n" in told.output


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("was 1|PER|-", "was O", ":2: 'O' is not a joint label"),
        ("was 1|PER|-", "was", ":2: 1 columns; write the token first and the predicted label last"),
        ("was 1|PER|-", " ", ":2: 0 columns"),
        ("was 1|PER|-", "was one|PER|-", ":2: n is 'one'; this encoding takes an integer"),
        ("was 1|PER|-", "was 7|PER|-", ":2: n is '7', which no label of train has"),
        ("was 1|PER|-", "was 1|_|-", ":2: c is '_', which no label of train has"),
        ("was 1|PER|-", "was 1|PER|<unk>", ":2: u is '<unk>', which no label of train has"),
        ("was 1|PER|-\n", "", ":1: 2 labels for sentence 1, which has 3 tokens"),
        ("USA 0", "Peru 0", ":5: token 1 of sentence 2 is 'Peru', in the corpus 'USA'"),
        ("\nthe 2|S+GPE|-\nUSA 0|S+GPE|-\n\n", "", ": ends before sentence 2 of the corpus"),
        ("\nthe", "\nthe 2|S+GPE|-\nUSA 0|S+GPE|-\n\nthe", ":8: there are more sentences here than in the corpus"),
    ],
)
def test_impossible_predictions_name_their_place(tmp_path: Path, old: str, new: str, reason: str) -> None:
    told = back(tmp_path, GOLD["joint"].replace(old, new))
    assert told.exit_code == 2
    assert f"{tmp_path / 'predicted'}{reason}" in told.output
    assert not (tmp_path / "back.jsonl").exists()


def test_unseen_labels_can_be_allowed_and_are_counted(tmp_path: Path) -> None:
    told = back(tmp_path, GOLD["joint"].replace("|PER", "|NEW"), "--unseen", "allow")
    assert told.exit_code == 0
    assert "2 predicted label parts are not in train" in told.output
    found = list(jsonl.read(tmp_path / "back.jsonl"))
    assert found[0].entities == (Entity(0, 1, "NEW"), Entity(1, 3, "NEW"))
    assert found[0].id == "lincoln"


def test_corpus_and_output_may_have_any_format(tmp_path: Path) -> None:
    assert back(tmp_path, GOLD["joint"]).exit_code == 0
    corpus = tmp_path / "corpus.nested"
    corpus.write_text("Lincoln was president\n[PER the USA]\n", "utf-8")
    target = tmp_path / "back.nested"
    told = run("back", tmp_path / "out", corpus, tmp_path / "predicted", "-o", target)
    assert told.exit_code == 0, told.output
    assert target.read_text("utf-8").split("\n")[:2] == ["[PER Lincoln] [PER was president]", "[GPE the USA]"]
