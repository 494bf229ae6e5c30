"""Packs: an experiment in one small file, with the same tables."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from finished_runs import result
from nestag.cli import app
from nestag.data.sentence import Entity, Sentence
from nestag.errors import InputError
from nestag.evaluation.evaluator import evaluate_pairs
from nestag.evaluation.matching import Pair
from nestag.formats import jsonl
from nestag.formats.files import read_text
from nestag.inspect.tables import shown
from nestag.training.recipe import Recipe
from nestag_lab.experiment.pack import PACK, Pack, joined, pack_of, read_pack, write_pack
from nestag_lab.experiment.result import RunResult, write_result
from nestag_lab.experiment.spec import CorpusFiles, Spec, folder_of, write_spec
from nestag_lab.paper.differences import comparisons
from nestag_lab.paper.pages import DIFFERENCES, packed_pages, pages_of

TEST = [
    Sentence([f"secret{number}", "x"], [Entity(0, 1, "A"), Entity(0, 2, "B")], f"book {number // 2}-{number % 2}")
    for number in range(12)
]
WAYS = ("greedy-first", "greedy-majority", "constrained")


def predicted(encoding: str, seed: int, way: str) -> list[Sentence]:
    """Miss some entities, fewer with constrained decoding and with dyn."""
    missed = 6 - 2 * WAYS.index(way) - (encoding == "dyn") + seed
    return [one.with_entities(one.entities[: 1 + (number >= missed)]) for number, one in enumerate(TEST)]


def finished_run(root: Path, encoding: str, seed: int) -> RunResult:
    found = {way: evaluate_pairs(map(Pair, TEST, predicted(encoding, seed, way))) for way in WAYS}
    made = result("books", encoding, seed, test=found)
    made = replace(made, settings={**made.settings, "encoder": "/home/somebody/encoder"})
    folder = folder_of(root, made.key)
    files = CorpusFiles("books", *[str(root / "test.jsonl")] * 3)
    write_spec(Spec(made.key, files, Recipe(), WAYS, False, folder))  # type: ignore[arg-type]
    for way in WAYS:
        jsonl.write(predicted(encoding, seed, way), folder / f"test.{way}.jsonl.gz")
    write_result(made, folder)
    return made


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs")
    jsonl.write(TEST, folder / "test.jsonl")
    for encoding in ("rel", "dyn"):
        for seed in (1, 2):
            finished_run(folder, encoding, seed)
    return folder


@pytest.fixture(scope="module")
def pack(root: Path) -> Pack:
    return pack_of(root)


def test_pack_counts_every_sentence(pack: Pack) -> None:
    assert pack.gold["books"].gold.tolist() == [2] * 12
    assert pack.gold["books"].documents.tolist() == [0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5]
    for one in pack.results:
        for way, found in pack.counts[one.key].items():
            overall = one.evaluations["test"][way].overall
            assert (found.correct.sum(), found.predicted.sum()) == (overall.correct, overall.predicted)
            right = [len(sentence.entities) for sentence in predicted(one.key.encoding, one.key.seed, way)]
            assert found.correct.tolist() == right


def test_pack_round_trips_and_holds_no_text(pack: Pack, tmp_path: Path) -> None:
    write_pack(pack, tmp_path / "new")
    back = read_pack(tmp_path / "new")
    assert (back.results, back.facts, back.wanted) == (pack.results, pack.facts, pack.wanted)
    for key, ways in pack.counts.items():
        for way, found in ways.items():
            assert all(np.array_equal(a, b) for a, b in zip(found, back.counts[key][way], strict=True))
    packed = read_text(tmp_path / "new" / PACK)
    assert "secret" not in packed
    assert "somebody" not in packed


def test_packs_are_joined_run_by_run(pack: Pack, tmp_path: Path) -> None:
    jsonl.write(TEST, tmp_path / "test.jsonl")
    finished_run(tmp_path, "rel", 2)
    finished_run(tmp_path, "rel", 3)
    new = pack_of(tmp_path)
    both = joined(pack, new)
    assert [(one.key.encoding, one.key.seed) for one in both.results] == [
        ("dyn", 1), ("dyn", 2), ("rel", 1), ("rel", 2), ("rel", 3),
    ]  # fmt: skip
    assert both.results[3] is new.results[0]
    assert both.counts.keys() == {one.key for one in both.results}
    shorter = replace(new, gold={"books": new.gold["books"]._replace(gold=new.gold["books"].gold[:6])})
    with pytest.raises(InputError, match="books: the test set is another one"):
        joined(pack, shorter)


def test_tables_of_a_pack_equal_those_of_its_runs(pack: Pack) -> None:
    plain = pages_of(pack.results, {})
    packed = packed_pages(pack)
    assert {page.name for page in packed.pages} == {page.name for page in plain.pages} | {DIFFERENCES}
    assert [page for page in packed.pages if page.name != DIFFERENCES] == list(plain.pages)


def test_differences_are_over_seeds_and_documents(pack: Pack) -> None:
    made = list(comparisons(pack))
    assert [(one.first.way, one.second.way, one.first.encoding) for one in made] == [
        ("constrained", "greedy-first", "rel"), ("constrained", "greedy-majority", "rel"),
        ("constrained", "greedy-first", "dyn"), ("constrained", "greedy-majority", "dyn"),
        *((way, way, "dyn") for way in WAYS),
    ]  # fmt: skip
    assert all(one.found.seeds == 2 and one.found.units == 6 and one.documents for one in made)
    table = packed_pages(pack).table(DIFFERENCES)
    assert table is not None
    first = table.sections[0].rows[0]
    mean = 100 * np.mean([
        ways["constrained"].overall.f1 - ways["greedy-first"].overall.f1
        for ways in (one.evaluations["test"] for one in pack.results if one.key.encoding == "rel")
    ])  # fmt: skip
    assert shown(first[5]).startswith(f"{mean:+.2f}")
    assert 0 < made[0].found.p <= 1
    assert float(shown(first[9])) >= float(shown(first[8]))


def test_predictions_of_another_run_are_refused(root: Path, tmp_path: Path) -> None:
    one = finished_run(tmp_path, "abs", 1)
    jsonl.write(TEST, tmp_path / "test.jsonl")
    jsonl.write(TEST, folder_of(tmp_path, one.key) / "test.constrained.jsonl.gz")
    with pytest.raises(InputError, match="the predictions are not those of the result"):
        pack_of(tmp_path)
    (tmp_path / "test.jsonl").unlink()
    with pytest.raises(InputError, match="there is no such file"):
        pack_of(tmp_path)


def test_broken_pack_is_refused(pack: Pack, tmp_path: Path) -> None:
    write_pack(replace(pack, results=()), tmp_path)
    assert read_pack(tmp_path).results == ()
    jsonl.write(TEST, tmp_path / PACK)
    with pytest.raises(InputError, match="not of version 1"):
        read_pack(tmp_path)


def test_command_makes_the_same_tables_from_a_pack(root: Path, tmp_path: Path) -> None:
    packed, again = tmp_path / "packed", tmp_path / "again"
    done = CliRunner().invoke(app, ["tables", str(root), "--pack", "-o", str(packed)])
    assert done.exit_code == 0, done.stderr
    assert CliRunner().invoke(app, ["tables", str(packed), "-o", str(again)]).exit_code == 0
    files = {path.name: path.read_bytes() for path in again.iterdir()}
    assert files == {path.name: path.read_bytes() for path in packed.iterdir() if path.name != PACK}
    assert {"differences.md", "dyn_rel.md", "length_own.csv"} <= set(files)
