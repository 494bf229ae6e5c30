"""Files judged in parts by several processes give what they give as a whole."""

import random
from pathlib import Path

import pytest

from nestag import sample
from nestag.corpora.formats import jsonl
from nestag.data import Entity, Sentence
from nestag.evaluation import Judge, Pair, evaluate, matched
from nestag.evaluation.parallel import LARGE, see_files, workers_for

SIZE = 3_000  # several blocks of lines


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    """Gold and a prediction with mistakes; some entities are given twice."""
    folder = tmp_path_factory.mktemp("files")
    some = sample.sentences("train")
    gold = [Sentence([*one.tokens, str(i)], one.entities, str(i)) for i, one in enumerate(some * (SIZE // len(some)))]
    rng = random.Random(1)
    predicted = [one.with_entities(entity for entity in one.entities if rng.random() < 0.8) for one in gold]
    paths = str(folder / "gold.jsonl"), str(folder / "predicted.jsonl.gz")
    jsonl.write(gold, paths[0])
    jsonl.write(predicted, paths[1])
    lines = Path(paths[0]).read_text().splitlines()
    twice = '"entities": [{"start": 0, "end": 1, "type": "X"}, {"start": 0, "end": 1, "type": "X"}'
    lines[-1] = lines[-1].replace('"entities": [', f"{twice}, ")
    Path(paths[0]).write_text("\n".join(lines) + "\n")
    return paths


def test_parts_give_what_the_whole_gives(files: tuple[str, str]) -> None:
    train = sample.sentences("dev")
    whole = evaluate(matched(*map(jsonl.read, files)), train)
    found = see_files(Judge(train), *files, workers=2)
    assert found
    assert found.judge.result() == whole
    assert found.gold.counts == {"duplicate entity merged": 1}
    alone = Judge(train)
    alone.see(matched(*map(jsonl.read, files)))
    assert found.judge.counts().rows.tolist() == alone.counts().rows.tolist()


def test_what_does_not_match_is_left_to_a_single_process(files: tuple[str, str], tmp_path: Path) -> None:
    sentences = list(jsonl.read(files[1]))
    shorter = str(tmp_path / "shorter.jsonl")
    jsonl.write(sentences[:-1], shorter)
    assert see_files(Judge(), files[0], shorter, workers=2) is None
    (tmp_path / "broken.jsonl").write_text("{\n")
    assert see_files(Judge(), files[0], str(tmp_path / "broken.jsonl"), workers=2) is None


def test_only_large_files_are_worth_processes(files: tuple[str, str], tmp_path: Path) -> None:
    assert workers_for(*files) == 1
    assert workers_for("-", files[1]) == 1
    with open(tmp_path / "large", "wb") as stream:
        stream.truncate(LARGE)
    assert workers_for(str(tmp_path / "large"), files[1]) >= 1


def test_judges_join_whatever_their_types(files: tuple[str, str]) -> None:
    """Also where one has met so many types that its groups are fewer."""
    pairs = list(matched(*map(jsonl.read, files)))
    typed = Sentence(["a"], [Entity(0, 1, f"T{number}") for number in range(300)])
    many = [Pair(typed, typed.with_entities(typed.entities[::2]))]
    for first, second in ((pairs, many), (many, pairs)):
        one, two, whole = Judge(), Judge(), Judge()
        one.see(first)
        two.see(second)
        whole.see([*first, *second])
        one.join(two)
        assert one.result() == whole.result()
        assert one.counts().rows.tolist() == whole.counts().rows.tolist()
