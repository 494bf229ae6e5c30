"""The comparison with a flat tagger: its labels, its two ways to tag, and the page of all peers."""

import argparse
import importlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest

from nestag.data.sentence import Entity, Sentence
from two_sentences import CORPUS, MANY

FOLDER = Path(__file__).parents[2] / "benchmarks/peers"


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], ModuleType]]:
    """Imports a script of the folder, and forgets it and its neighbours again."""
    monkeypatch.syspath_prepend(str(FOLDER))
    yield importlib.import_module
    for path in FOLDER.glob("*.py"):
        sys.modules.pop(path.stem, None)


def test_bio_keeps_the_outermost_entities(script: Callable[[str], ModuleType]) -> None:
    flat = script("flat")
    sentence = Sentence(list("abcdef"), [(0, 3, "X"), (1, 2, "Y"), (3, 4, "X"), (5, 6, "Z")])
    assert flat.to_bio(sentence) == ["B-X", "I-X", "I-X", "B-X", "O", "B-Z"]
    assert flat.from_bio(flat.to_bio(sentence)) == [(0, 3, "X"), (3, 4, "X"), (5, 6, "Z")]
    assert flat.from_bio(["I-X", "I-Y", "I-Y"]) == [(0, 1, "X"), (1, 3, "Y")]


@pytest.mark.filterwarnings("ignore")  # of torch and transformers
def test_both_ways_of_a_flat_tagger_find_what_it_learned(
    script: Callable[[str], ModuleType], tiny_encoder: Callable[[str], str], tmp_path: Path
) -> None:
    flat = script("flat")
    flat.train(tmp_path / "flat", MANY * 4, tiny_encoder("bert"), 40, 5e-3)
    expected = [flat.outermost(sentence.entities) for sentence in CORPUS]
    assert flat.plain(tmp_path / "flat", "cpu")(CORPUS) == expected
    assert flat.piped(tmp_path / "flat", "cpu")(CORPUS) == expected


def test_characters_become_words(script: Callable[[str], ModuleType]) -> None:
    measuring = script("measuring")
    sentence = Sentence(["in", "New", "York", "."])
    assert list(measuring.characters_to_words(sentence, [(3, 11, "GPE"), (12, 13, "X")])) == [
        Entity(1, 3, "GPE"),
        Entity(3, 4, "X"),
    ]


def test_the_price_of_a_tagger(script: Callable[[str], ModuleType]) -> None:
    flat = script("flat")
    share = "nestag beside plain batches"
    assert flat.price({"plain batches": 9.5, "nestag": 10.0}) == {share: 0.95, "at least 0.9": "yes"}
    assert flat.price({"plain batches": 8.9, "nestag": 10.0}) == {share: 0.89, "at least 0.9": "no"}


def test_the_page_has_the_best_round_of_each(script: Callable[[str], ModuleType]) -> None:
    beside = script("beside")
    given = argparse.Namespace(test=5, corpus="genia", threads=2, sentences=9, epochs=1, rounds=2, gliner=None)

    def runs(speed: float) -> list[dict[str, object]]:
        return [
            {
                "sentences/s": speed - late,
                "memory": 100 + late,
                "epochs": "3",
                "f1": 50.0,
                "processor": "P",
                "versions": {"a": "1"},
            }
            for late in (0, 2)
        ]

    page = "\n".join(beside.page({beside.OURS: runs(80.0), "flat tagger, plain batches": runs(100.0)}, given))
    assert "| nestag | 80 | 1.00 | 100 MiB | 3 | 50.0 |" in page
    assert "| flat tagger, plain batches | 100 | 1.25 | 100 MiB | 3 | 50.0 |" in page
