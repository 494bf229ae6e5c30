"""Baselines learn two sentences, and the comparison makes one table of all models."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from typer import Typer
from typer.testing import CliRunner

from nestag.data.sentence import Sentence
from nestag.formats.corpus import write_corpus
from nestag_lab.baseline import compare, flat, spancat
from two_sentences import CORPUS, GOLD, MANY


def test_bio_labels_hold_the_outermost_entities() -> None:
    sentence = Sentence(list("abcdef"), [(0, 3, "X"), (1, 2, "Y"), (3, 4, "X"), (5, 6, "Z")])
    assert flat.to_bio(sentence) == ["B-X", "I-X", "I-X", "B-X", "O", "B-Z"]
    assert flat.from_bio(flat.to_bio(sentence)) == [(0, 3, "X"), (3, 4, "X"), (5, 6, "Z")]


@pytest.mark.filterwarnings("ignore")  # of transformers
def test_a_flat_tagger_learns_the_outermost_entities(
    tiny_encoder: Callable[[], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(flat, "LEARNING_RATE", 1e-2)
    tagger = flat.train(MANY, CORPUS, tiny_encoder(), seed=1)
    assert tagger.predict(CORPUS) == [flat.outermost(entities) for entities in GOLD]


@pytest.mark.filterwarnings("ignore")  # of spaCy and thinc
def test_spancat_learns_nested_entities(tmp_path: Path) -> None:
    pytest.importorskip("spacy")
    model = spancat.train(MANY, CORPUS, tmp_path / "model", seed=1, max_steps=60)
    assert list(map(set, model.predict(CORPUS))) == list(map(set, GOLD))


def test_each_run_appends_one_line_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trained: list[int] = []

    def train(task: compare.Task) -> compare.Predict:
        trained.append(len(task.training))
        return lambda sentences: [sentence.entities[:1] for sentence in sentences]

    monkeypatch.setattr(compare, "MODELS", {"some": train, "other": train})
    (tmp_path / "towns").mkdir()
    for split in ("train", "dev", "test"):
        write_corpus(CORPUS, tmp_path / "towns" / f"{split}.jsonl")
    app = Typer()
    app.command()(compare.main)
    arguments = [str(tmp_path / "towns"), str(tmp_path / "runs.jsonl"), "--sentences", "1,0", "--seeds", "1,2"]
    for models in ("some", "some,other"):
        done = CliRunner().invoke(app, [*arguments, "--models", models, "--times", "1"], catch_exceptions=False)
        assert done.exit_code == 0
    assert sorted(trained) == [1] * 4 + [2] * 4
    lines = list(map(json.loads, (tmp_path / "runs.jsonl").read_text().splitlines()))
    assert {line["test"]["recall"] for line in lines} == {round(100 * 2 / 6, 2)}
    rows = done.output.splitlines()[2:]
    assert [row[: row.index("2 |")] for row in rows] == [
        "| 1 | some | ",
        "| 1 | other | ",
        "| all | some | ",
        "| all | other | ",
    ]
