"""Facts of a corpus: the input of the tables of datasets and labels, as JSON."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from nestag.data.sentence import Entity, Sentence
from nestag.data.validation import from_mapping, to_mapping
from nestag.errors import InputError
from nestag.formats import jsonl
from nestag.inspect.statistics import describe
from nestag_lab.corpora.coverage import count_coverage
from nestag_lab.experiment.facts import Facts, facts_file, facts_of, fingerprints, main, read_all_facts, read_facts
from nestag_lab.experiment.spec import CorpusFiles

TRAIN = [
    Sentence(["the", "mayor", "of", "new", "york"], [Entity(0, 5, "PER"), Entity(3, 5, "GPE"), Entity(3, 5, "ORG")]),
    Sentence(["he", "slept"], [Entity(0, 1, "PER")]),
    Sentence(["he", "slept"]),
]
DEV = [Sentence(["a", "b", "c"], [Entity(0, 2, "PER"), Entity(1, 3, "GPE")])]
TEST = [Sentence(["he", "slept"]), Sentence(["york"], [Entity(0, 1, "GPE")])]


@pytest.fixture
def corpus(tmp_path: Path) -> CorpusFiles:
    paths = {name: str(tmp_path / f"{name}.jsonl") for name in ("train", "dev", "test")}
    for sentences, path in zip((TRAIN, DEV, TEST), paths.values(), strict=True):
        jsonl.write(sentences, path)
    with open(paths["test"], "a") as stream:
        entity = '{"start": 0, "end": 1, "type": "X"}'
        stream.write(f'{{"tokens": ["a"], "entities": [{entity}, {entity}]}}\n')
    return CorpusFiles("small", **paths)


def test_facts_match_the_counts_of_their_modules(corpus: CorpusFiles) -> None:
    test = [*TEST, Sentence(["a"], [Entity(0, 1, "X")])]
    found = facts_of(corpus)
    expected = describe({"train": TRAIN, "dev": DEV, "test": test})
    assert found.statistics["train"] == expected["train"]
    assert found.statistics["dev"].crossing == 1
    assert (found.statistics["test"].in_train, found.statistics["test"].duplicates) == (1, 1)
    assert found.coverage == count_coverage(TRAIN, {"dev": DEV, "test": test})
    assert found.coverage.crossing["dev"] == 1
    assert found.findings["train"] == ()
    assert found.findings["test"][0].startswith("1 duplicate entity merged")


def test_facts_round_trip_through_json(corpus: CorpusFiles) -> None:
    found = facts_of(corpus)
    again = from_mapping(Facts, json.loads(json.dumps(to_mapping(found))), "facts")
    assert again == found
    assert again.statistics["train"].mean_depth == found.statistics["train"].mean_depth
    assert again.coverage.rows[0].labels.n == found.coverage.rows[0].labels.n


def test_facts_are_written_by_a_process(corpus: CorpusFiles, tmp_path: Path) -> None:
    main([str(tmp_path / "out"), json.dumps(to_mapping(corpus))])
    assert read_all_facts(tmp_path / "out") == {"small": facts_of(corpus)}


def test_fingerprints_depend_on_every_byte_and_name(corpus: CorpusFiles, tmp_path: Path) -> None:
    before = fingerprints(corpus)
    Path(corpus.dev).write_text(Path(corpus.dev).read_text() + "\n")
    after = fingerprints(corpus)
    assert [split for split in before if before[split] != after[split]] == ["dev"]
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "a").write_text("x")
    folder = replace(corpus, test=str(tmp_path / "folder"))
    before = fingerprints(folder)
    (tmp_path / "folder" / "a").rename(tmp_path / "folder" / "b")
    assert fingerprints(folder)["test"] != before["test"]


def test_invalid_facts_are_refused(tmp_path: Path) -> None:
    file = facts_file(tmp_path, "x")
    file.parent.mkdir()
    file.write_text("[]")
    with pytest.raises(InputError, match="not the facts of a corpus"):
        read_facts(file)
