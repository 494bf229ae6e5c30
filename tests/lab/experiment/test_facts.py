"""Facts of a corpus: all that the tables of datasets and labels need, through JSON and back."""

import json
from pathlib import Path

import pytest

from nestag.corpora.formats import jsonl
from nestag.data import Entity, Sentence
from nestag.diagnosis.coverage import coverage
from nestag.diagnosis.statistics import describe
from nestag.errors import InputError
from nestag.lab.experiment.facts import Facts, facts_file, facts_of, fingerprints, main, read_all_facts, read_facts
from nestag.lab.experiment.spec import Corpus

TRAIN = [
    Sentence(["the", "mayor", "of", "new", "york"], [Entity(0, 5, "PER"), Entity(3, 5, "GPE"), Entity(3, 5, "ORG")]),
    Sentence(["he", "slept"], [Entity(0, 1, "PER")]),
    Sentence(["he", "slept"]),
]
DEV = [Sentence(["a", "b", "c"], [Entity(0, 2, "PER"), Entity(1, 3, "GPE")])]
TEST = [Sentence(["he", "slept"]), Sentence(["york"], [Entity(0, 1, "GPE")])]


@pytest.fixture
def corpus(tmp_path: Path) -> Corpus:
    paths = {name: str(tmp_path / f"{name}.jsonl") for name in ("train", "dev", "test")}
    for sentences, path in zip((TRAIN, DEV, TEST), paths.values(), strict=True):
        jsonl.write(sentences, path)
    with open(paths["test"], "a") as stream:
        entity = '{"start": 0, "end": 1, "type": "X"}'
        stream.write(f'{{"tokens": ["a"], "entities": [{entity}, {entity}]}}\n')
    return Corpus("small", **paths)


def test_facts_hold_what_the_modules_count(corpus: Corpus) -> None:
    test = [*TEST, Sentence(["a"], [Entity(0, 1, "X")])]
    found = facts_of(corpus)
    expected = describe({"train": TRAIN, "dev": DEV, "test": test})
    assert found.statistics["train"] == expected["train"]
    assert found.statistics["dev"].crossing == 1
    assert (found.statistics["test"].in_train, found.statistics["test"].duplicates) == (1, 1)
    assert found.coverage == coverage(lambda: TRAIN, {"dev": DEV, "test": test})
    assert found.coverage.crossing["dev"] == 1


def test_facts_survive_json(corpus: Corpus) -> None:
    found = facts_of(corpus)
    again = Facts.from_json(json.loads(json.dumps(found.to_json())))
    assert again == found
    assert again.statistics["train"].mean_depth == found.statistics["train"].mean_depth
    assert again.coverage.rows[0].labels.n == found.coverage.rows[0].labels.n


def test_a_process_writes_them(corpus: Corpus, tmp_path: Path) -> None:
    main([str(tmp_path / "out"), *corpus])
    assert read_all_facts(tmp_path / "out") == {"small": facts_of(corpus)}


def test_fingerprints_see_every_byte_and_every_name(corpus: Corpus, tmp_path: Path) -> None:
    before = fingerprints(corpus)
    Path(corpus.dev).write_text(Path(corpus.dev).read_text() + "\n")
    after = fingerprints(corpus)
    assert [split for split in before if before[split] != after[split]] == ["dev"]
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "a").write_text("x")
    folder = corpus._replace(test=str(tmp_path / "folder"))
    before = fingerprints(folder)
    (tmp_path / "folder" / "a").rename(tmp_path / "folder" / "b")
    assert fingerprints(folder)["test"] != before["test"]


def test_what_is_no_facts_is_refused(tmp_path: Path) -> None:
    file = facts_file(tmp_path, "x")
    file.parent.mkdir()
    file.write_text("[]")
    with pytest.raises(InputError, match="not the facts of a corpus"):
        read_facts(file)
