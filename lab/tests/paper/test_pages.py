"""All tables of an experiment as files, and the report of missing ones."""

import csv
import os
import re
from dataclasses import replace
from pathlib import Path

import pytest

from finished_runs import evaluation, percent, result
from nestag.data.sentence import Entity, Sentence
from nestag.errors import InputError
from nestag.evaluation.result import Score
from nestag.inspect.statistics import describe
from nestag.inspect.table_forms import to_csv
from nestag.inspect.tables import shown
from nestag_lab.corpora.coverage import count_coverage
from nestag_lab.experiment.facts import Facts, write_facts
from nestag_lab.experiment.result import Key, RunResult, write_result, write_wanted
from nestag_lab.experiment.spec import folder_of
from nestag_lab.paper.pages import DIFFERENCES, NAMES, everything, missing_runs, pages_of, read_pages, write_tables

CORPORA = os.environ.get("NESTAG_CORPORA")
NESTED = Sentence(
    ["Lincoln", "was", "president", "of", "the", "USA"],
    [Entity(0, 1, "PER"), Entity(2, 6, "PER"), Entity(4, 6, "GPE")],
)


def facts(corpus: str) -> Facts:
    splits = {"train": [NESTED, NESTED], "dev": [NESTED], "test": [Sentence(["x"], [Entity(0, 1, "GPE")])]}
    others = {name: sentences for name, sentences in splits.items() if name != "train"}
    return Facts(corpus, {}, describe(splits), count_coverage(splits["train"], others))


def both_ways(corpus: str, encoding: str, seed: int) -> RunResult:
    part = {0: Score.of(7, 10, 10), 1: Score.of(1, 2, 4)}
    found = {
        decoding: evaluation(percent(70 + seed + gain), {"a_b": percent(60)}, part, {1: percent(50)}, part)
        for decoding, gain in (("greedy-first", 0), ("constrained", 1.5))
    }
    return result(corpus, encoding, seed, test=found, dev=found)


RESULTS = [both_ways(corpus, by, seed) for corpus in ("genia", "gum") for by in ("abs", "4tg") for seed in (1, 2)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for one in RESULTS:
        place = folder_of(tmp_path, one.key)
        place.mkdir(parents=True)
        write_result(one, place)
    for corpus in ("genia", "gum"):
        write_facts(facts(corpus), tmp_path)
    return tmp_path


def test_every_table_exists_in_every_format(folder: Path) -> None:
    pages = read_pages(folder)
    made = [name for name in NAMES if name != DIFFERENCES]  # that needs a pack
    assert ([page.name for page in pages.pages], pages.missing) == (made, ())
    write_tables(pages, folder / "new" / "tables")
    names = {path.name for path in (folder / "new" / "tables").iterdir()}
    assert names == {f"{name}.{end}" for name in made for end in ("md", "tex", "csv")} | {"tables.md"}


def test_csv_has_plain_numbers(folder: Path) -> None:
    write_tables(read_pages(folder), folder / "tables")
    with open(folder / "tables" / "f1.csv", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert (float(rows[0]["genia"]), rows[0]["genia count"]) == (71.5, "2")
    assert float(rows[0]["genia deviation"]) == pytest.approx(0.5**0.5)
    reported = next(row for row in rows if row["section"].startswith("paper"))
    assert (reported["genia"], reported["genia deviation"], reported["gum"]) == ("76.6", "0.3", "")
    with open(folder / "tables" / "depth.csv", newline="") as stream:
        for row in csv.DictReader(stream):
            for name in row.keys() - {"section", "encoding", "depth"}:
                assert row[name] == "" or float(row[name]) >= 0


def test_latex_and_markdown_are_well_formed(folder: Path) -> None:
    write_tables(read_pages(folder), folder / "tables")
    for path in (folder / "tables").glob("*.tex"):
        text = re.sub(r"(?m)^%.*$", "", path.read_text())
        plain = re.sub(r"\\[{}]", "", text)
        assert plain.count("{") == plain.count("}")
        assert text.count("$") % 2 == 0
        assert text.isascii()
        columns = len(re.search(r"\\begin\{tabular\}\{(\w+)\}", text)[1])  # type: ignore[index]
        rows = [line for line in text.split("\n") if line.endswith(r"\\") and "multicolumn" not in line]
        assert {len(re.findall(r"(?<!\\)&", line)) for line in rows} == {columns - 1}
    for path in (folder / "tables").glob("*.md"):
        for block in re.findall(r"(?m)(?:^\|.*\n)+", path.read_text()):
            assert len({len(re.findall(r"(?<!\\)\|", line)) for line in block.splitlines()}) == 1


def test_combined_page_follows_the_order_of_the_paper(folder: Path) -> None:
    text = everything(read_pages(folder))
    numbers = [int(number) for number in re.findall(r"(?m)^## .*table (\d)", text)]
    assert numbers == list(range(1, 9))
    assert text.count("\n## ") == len(NAMES) - 1
    assert "| abs | **73.00 ± 0.71** | **73.00 ± 0.71** |" in text


def test_missing_tables_are_reported_and_the_others_made(folder: Path) -> None:
    (folder / "corpora" / "gum.json").unlink()
    (folder_of(folder, Key("gum", "minilm", "4tg", "default", 2)) / "result.json").unlink()
    folder_of(folder, Key("gum", "minilm", "rel", "default", 1)).mkdir(parents=True)  # only begun
    write_wanted([*(one.key for one in RESULTS), Key("genia", "minilm", "abs", "default", 3)], folder)
    pages = read_pages(folder)
    assert "gum" in pages.missing[0]
    assert pages.missing[1:] == (
        "no result: genia minilm abs default, seed 3",
        "no result: gum minilm 4tg default, seed 2",
        "no result: gum minilm rel default, seed 1",
    )
    assert "- no result: gum minilm 4tg default, seed 2\n" in everything(pages)
    assert "(n=1)" in everything(pages)


def test_only_requested_tables_are_reported_missing(folder: Path) -> None:
    extra = replace(RESULTS[0], key=Key("genia", "minilm", "abs", "paper", 1))  # of another grid, in the same folder
    assert missing_runs(folder, [*(one.key for one in RESULTS), extra.key]) == []


def test_invalid_list_of_runs_is_refused(folder: Path) -> None:
    (folder / "wanted.json").write_text('[{"corpus": "genia"}]')
    with pytest.raises(InputError, match=r"wanted\.json: not a list of runs"):
        read_pages(folder)


def test_coverage_cells_are_numbers() -> None:
    made = pages_of([], {"genia": facts("genia")}).table("coverage")
    assert made
    (cell,) = [row[made.columns.index("dev %")] for row in made.sections[-1].rows if row[0] == "4tg"]
    assert isinstance(cell, float)
    assert (99.99 < cell < 100, shown(cell)) == (True, ">99.99")
    for row in csv.DictReader(to_csv(made).splitlines()):
        assert float(row["dev %"]) > 0


def test_tables_need_only_their_own_input() -> None:
    alone = pages_of([], {"genia": facts("genia")})
    assert [page.name for page in alone.pages] == ["coverage", "datasets"]
    assert "no finished run has scores on test" in alone.missing[0]
    runs = pages_of([result()], {})
    assert {"coverage", "datasets", "gain"}.isdisjoint(page.name for page in runs.pages)
    assert len(runs.missing) == 2
    assert pages_of([], {}).pages == ()
    no_dev = pages_of([replace(result(), evaluations={"test": {}})], {}, "dev")
    assert no_dev.pages == ()


def test_outdated_tables_are_removed_and_other_files_kept(folder: Path) -> None:
    target = folder / "tables"
    write_tables(read_pages(folder), target)
    (target / "notes.txt").write_text("mine")
    write_tables(pages_of(RESULTS, {}), target)
    names = {path.name for path in target.iterdir()}
    assert "notes.txt" in names
    assert not any(name.startswith(("coverage", "datasets", ".")) for name in names)


def test_facts_are_shown_next_to_the_paper() -> None:
    made = pages_of([], {"gum": facts("gum"), "nne_notext": facts("nne_notext")})
    datasets, labels = made.table("datasets"), made.table("coverage")
    assert datasets
    assert labels
    assert datasets.columns == ("characteristic", "gum", "nne_notext", "nne_notext, paper")
    rows = {(part.title, row[0]): [shown(cell) for cell in row[1:]] for part in datasets.sections for row in part.rows}
    assert rows["", "sentences"] == ["4", "4", "49,211"]
    assert rows["", "sentence length, mean"] == ["4.75", "4.75", "23.9"]
    assert rows["", "tokens"][-1] == "–"
    assert rows["% of entities at depth", "5"] == ["0.00", "0.00", "0.00"]
    assert rows["% of entities of length", "1 token"] == ["40.00", "40.00", "61.77"]
    assert [part.title.split(": ")[1] for part in labels.sections if part.title.startswith("nne")] == [
        "same-span types as annotated", "same-span types in the learned order", "paper",
    ]  # fmt: skip
    assert [shown(cell) for cell in labels.sections[-1].rows[2]] == [
        "dyn", "11", "264", "401", "0", "14", "37", "99.93", "99.95", "–", "–", "1.16", "20.20",
    ]  # fmt: skip


@pytest.mark.skipif(not CORPORA, reason="NESTAG_CORPORA is not set")
def test_genia_has_the_published_number_of_entities() -> None:
    from nestag_lab.experiment.facts import facts_of
    from nestag_lab.experiment.spec import CorpusFiles

    found = facts_of(CorpusFiles("genia", *(f"{CORPORA}/genia/{split}.jsonl.gz" for split in ("train", "dev", "test"))))
    datasets = pages_of([], {"genia": found}).table("datasets")
    assert datasets
    rows = {row[0]: row[1:] for part in datasets.sections for row in part.rows}
    assert rows["entities"] == (57_063, 57_063)
    for depth in "012":
        ours, theirs = rows[depth]
        assert isinstance(ours, float)
        assert round(ours, 2) == theirs
