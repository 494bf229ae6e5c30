"""Distillation: text is tagged once by the teachers, and the student learns from it and from gold."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import nestag
from nestag.cli import app
from nestag.data.sentence import Entity, Sentence
from nestag.errors import InputError
from nestag.formats import jsonl
from nestag.model.predictor import TextEntities, TextEntity
from nestag.model.recognizer import NestedNER
from nestag.training.distillation import Panel, distill
from nestag.training.run import train
from nestag.training.run_folder import TAGGED
from two_sentences import CORPUS, MANY, quick

TEXT = [Sentence(["the", "mayor", "of", "the", "usa", "slept"]), Sentence(["lincoln", "slept", "."]), CORPUS[1]]


@pytest.fixture(scope="module")
def light(tiny_encoder: Callable[[str], str]) -> str:
    return f"light:{tiny_encoder('bert')}"


@pytest.fixture(scope="module")
def teacher(light: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("distillation") / "teacher"
    train(MANY, CORPUS, folder, quick(light, conv_size=24, learning_rate=1e-2, epochs=30), use_cpu=True)
    return folder


def student(teacher: Path, light: str, folder: Path, **more: Any) -> nestag.training.distillation.Distillation:
    recipe = quick(light, conv_size=24, learning_rate=1e-2, epochs=10)
    return distill(teacher, TEXT, MANY, [CORPUS[1]], folder, recipe, encoder=light, use_cpu=True, **more)


def test_student_is_trained_on_gold_and_tagged_sentences(teacher: Path, light: str, tmp_path: Path) -> None:
    done = student(teacher, light, tmp_path / "student", gold_repeats=2)
    assert (done.text.sentences, done.text.held_out, done.text.unsure, done.gold_repeats) == (2, 1, 0, 2)
    assert done.run.plan.sentences == 2 * len(MANY) + 2  # without the sentence of dev
    card = (tmp_path / "student" / "README.md").read_text()
    assert "## Distillation\n\n16 annotated sentences, 2 times. 2 sentences with" in card
    (part,) = (tmp_path / "student" / TAGGED).iterdir()
    tagged = list(jsonl.read(part))
    assert [sentence.tokens for sentence in tagged] == [sentence.tokens for sentence in TEXT]
    assert [sentence.entities for sentence in tagged] == NestedNER.from_pretrained(teacher, "cpu").predict(TEXT)


def test_teacher_is_checked_before_anything_of_it_is_read(teacher: Path, light: str, tmp_path: Path) -> None:
    """Reading a pipe would wait for ever."""
    folder = Path(shutil.copytree(teacher, tmp_path / "teacher"))
    os.mkfifo(tmp_path / "pipe")
    (folder / "manifest.json").unlink()
    (folder / "manifest.json").symlink_to(tmp_path / "pipe")
    with pytest.raises(InputError, match=r"there is no manifest\.json in it"):
        student(folder, light, tmp_path / "student")


def test_teacher_tags_text_once(teacher: Path, light: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = student(teacher, light, tmp_path / "student")
    with monkeypatch.context() as patch:
        patch.delattr(Panel, "tag")
        again = student(teacher, light, tmp_path / "student")
    assert (again.text, again.run.scores) == (first.text, first.run.scores)


def test_raw_text_is_tokenized_as_by_the_teacher(teacher: Path) -> None:
    panel = Panel.load(teacher, "cpu")
    sentences = list(panel.sentences(["Lincoln slept. He woke.", "The mayor's house."]))
    assert [sentence.tokens[-2] for sentence in sentences] == ["slept", "woke", "house"]


def test_unsure_sentences_are_dropped_and_empty_text_is_refused(teacher: Path, light: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no sentence to learn from"):
        student(teacher, light, tmp_path / "student", min_confidence=1.0)
    with pytest.raises(InputError, match="no teacher"):
        distill([], TEXT, MANY, CORPUS, tmp_path / "other")


class Fixed:
    """A teacher that predicts the same entities for every sentence."""

    def __init__(self, *entities: tuple[int, int, str, float]) -> None:
        self.entities = entities

    def pipe(self, sentences: list[Sentence]) -> list[TextEntities[Sentence]]:
        entities = [
            TextEntity(0, 1, kind, "", confidence, start, end) for start, end, kind, confidence in self.entities
        ]
        return [TextEntities(sentence, sentence.tokens, entities) for sentence in sentences]


def test_teachers_vote() -> None:
    teachers: list[Any] = [
        Fixed((0, 1, "A", 0.9), (1, 3, "B", 0.5)),
        Fixed((0, 1, "A", 0.7), (2, 3, "B", 0.5)),
        Fixed((2, 3, "B", 0.9), (0, 1, "C", 0.9)),
    ]
    (ballot,) = Panel(teachers, ["x"], ["y"]).tag([Sentence(["a", "b", "c"])])
    assert ballot.sentence.entities == (Entity(0, 1, "A"), Entity(2, 3, "B"))
    assert ballot.confidence == pytest.approx(0.7)


def test_distill_command(teacher: Path, light: str, tmp_path: Path) -> None:
    for name, sentences in (("train", MANY), ("dev", CORPUS[1:]), ("text", TEXT)):
        jsonl.write(sentences, tmp_path / f"{name}.jsonl")
    options = ["--train", tmp_path / "train.jsonl", "--dev", tmp_path / "dev.jsonl", "-o", tmp_path / "student"]
    line = ["distill", teacher, tmp_path / "text.jsonl", *options, "--encoder", light, "--set", "epochs=1", "--cpu"]
    done = CliRunner().invoke(app, list(map(str, line)))
    assert done.exit_code == 0, done.stderr
    assert "2 sentences with" in done.stderr
    assert "seed 1 dev " in done.stderr
    assert nestag.load(tmp_path / "student", "cpu").vocabulary.types == ("GPE", "ORG", "PER")
