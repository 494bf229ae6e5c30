"""Tables of overall scores: means, deviations, best figures, and the paper's rows."""

import statistics
from collections.abc import Iterable
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from finished_runs import evaluation, percent, result
from nestag.evaluation.result import Score
from nestag.inspect.tables import Cell, Figure, Row, Table, shown
from nestag.training.plan import Scoring
from nestag_lab.experiment.result import RunResult
from nestag_lab.paper.gains import gains_table
from nestag_lab.paper.runs import ScoredRun, best_run, closest, finished, mean_of
from nestag_lab.paper.scores import best_table, f1_table, lead_table, precision_recall_table, runs_table

OURS = "minilm 23M, default, greedy-first"


def rows(table: Table, section: str) -> dict[Cell, Row]:
    [found] = [part.rows for part in table.sections if part.title == section]
    return {row[0]: row[1:] for row in found}


def people(row: Iterable[Cell]) -> list[str]:
    return [shown(cell) for cell in row]


def bold(table: Table) -> list[str]:
    cells = [cell for part in table.sections for row in part.rows for cell in row]
    return [shown(cell) for cell in cells if isinstance(cell, Figure) and cell.bold]


def seeds(corpus: str, encoding: str, *scores: float) -> list[RunResult]:
    return [result(corpus, encoding, seed, f1) for seed, f1 in enumerate(scores, 1)]


RUNS = [*seeds("genia", "abs", 74, 75, 76), *seeds("genia", "4tg", 73, 75.5), *seeds("gum", "abs", 60, 62, 70)]


def test_f1_is_mean_and_deviation_and_missing_seeds_are_reported() -> None:
    table = f1_table(finished(RUNS, "test"))
    assert table.columns == ("encoding", "genia", "gum")
    ours = rows(table, OURS)
    assert people(ours["abs"]) == ["75.00 ± 1.00", f"64.00 ± {statistics.stdev([60, 62, 70]):.2f}"]
    assert people(ours["4tg"]) == ["74.25 ± 1.77 (n=2)", "–"]
    assert "n=3, fewer where a cell says so" in table.title
    assert ours["4tg"][0] == Figure(74.25, pytest.approx(1.7678, abs=1e-4), 2, note="(n=2)")


def test_a_single_seed_has_no_deviation() -> None:
    table = f1_table(finished([result()], "test"))
    assert people(rows(table, OURS)["abs"]) == ["75.00"]
    assert table.title.endswith("one seed each")


def test_paper_rows_name_encoder_and_size() -> None:
    table = f1_table(finished(RUNS, "test"))
    assert [part.title for part in table.sections] == [
        OURS,
        "paper, BioBERT-large 340M, greedy-majority",
        "other systems, as the paper cites them",
    ]
    assert people(rows(table, "paper, BioBERT-large 340M, greedy-majority")["rel"]) == ["75.1 ± 0.7", "–"]
    assert people(rows(table, "other systems, as the paper cites them")["Shen et al. 2021, O(n²)"]) == ["80.5", "–"]
    assert "means of five runs" in table.note


def test_paper_rows_need_the_same_corpus_and_split() -> None:
    for runs, split in (
        (seeds("gum", "abs", 60), "test"),
        ([result(dev={"greedy-first": evaluation(percent(70))})], "dev"),
    ):
        table = f1_table(finished(runs, split))
        assert [part.title for part in table.sections] == [OURS]
        assert "paper" not in table.note
    ace = f1_table(finished(seeds("ACE-2004", "abs", 60), "test"))
    assert [part.title.split(",")[1] for part in ace.sections[1:3]] == [" RoBERTa-large 355M", " BERT-large 340M"]


def test_our_best_figure_is_bold_and_the_paper_never() -> None:
    assert bold(f1_table(finished(RUNS, "test"))) == ["75.00 ± 1.00", "64.00 ± 5.29"]
    equal = [*seeds("gum", "abs", 75.001), *seeds("gum", "rel", 75.004), *seeds("gum", "dyn", 74.9)]
    assert bold(f1_table(finished(equal, "test"))) == ["75.00", "75.00"]  # as people see them, they are equal


def test_sections_are_encoder_recipe_and_decoding() -> None:
    both = {"constrained": evaluation(percent(80)), "greedy-first": evaluation(percent(79))}
    table = f1_table(finished([result("gum", test=both), result("gum", recipe="paper")], "test"))
    titles = [part.title for part in table.sections]
    assert titles == [OURS, "minilm 23M, default, constrained", "minilm 23M, paper, greedy-first"]


def test_precision_and_recall_have_their_columns() -> None:
    found = {"greedy-first": evaluation(Score.of(30, 40, 60))}
    table = precision_recall_table(finished([result(test=found)], "test"))
    assert table.columns == ("encoding", "genia precision", "genia recall")
    assert people(rows(table, OURS)["abs"]) == ["75.00", "50.00"]
    assert people(rows(table, "paper, BioBERT-large 340M, greedy-majority")["dyn"]) == ["78.5 ± 0.5", "72.5 ± 1.3"]


def test_the_best_run_is_chosen_by_f1_and_named_by_its_seed() -> None:
    table = best_table(finished(RUNS, "test"))
    assert table.columns == ("encoding", "seed", "precision", "recall", "F1")
    assert people(rows(table, f"genia: {OURS}")["abs"]) == ["3", "76.00", "76.00", "76.00"]
    theirs = rows(table, "genia: paper, BioBERT-large 340M, greedy-majority")["4tg"]
    assert people(theirs) == ["–", "74.6", "72.6", "73.5"]
    assert "chosen by its F1 on test itself" in table.note
    assert [part.title.split(":")[0] for part in table.sections] == ["genia", "genia", "gum"]


def test_gains_are_computed_per_model() -> None:
    def run(corpus: str, seed: int, greedy: float, constrained: float) -> RunResult:
        found = {
            "greedy-first": evaluation(percent(greedy)),
            "greedy-majority": evaluation(percent(greedy + 0.5)),
            "constrained": evaluation(percent(constrained)),
        }
        return result(corpus, "rel", seed, test=found, dev=found if seed == 1 else {})

    table = gains_table([run("gum", 1, 70, 71), run("gum", 2, 72, 71.5), run("genia", 1, 60, 63), result("genia")])
    assert [part.title for part in table.sections] == [
        "genia: minilm, default",
        "gum: minilm, default",
        "all corpora: minilm, default",
    ]
    sections = {part.title: {row[1]: people(row[2:]) for row in part.rows} for part in table.sections}
    assert sections["gum: minilm, default"] == {
        "greedy-first": ["2", "+1.00", "+1.00", "+1.00", "+0.25 ± 1.06", "-0.50", "+1.00"],
        "greedy-majority": ["2", "+0.50", "+0.50", "+0.50", "-0.25 ± 1.06", "-1.00", "+0.50"],
    }
    every = sections["all corpora: minilm, default"]
    assert every["greedy-first"][4:] == ["+1.17 ± 1.76", "-0.50", "+3.00"]
    assert every["greedy-majority"][4:] == ["+0.67 ± 1.76", "-1.00", "+2.50"]


def of(*scores: float) -> list[ScoredRun]:
    return [ScoredRun(seed, evaluation(percent(f1))) for seed, f1 in enumerate(scores, 1)]


def test_the_run_closest_to_the_mean_and_the_best_one() -> None:
    assert closest(of(70, 76, 74.5)).seed == 3
    assert closest(of(74, 76)).seed == 1  # both are as close
    assert best_run(of(70, 76, 76)).seed == 2


@given(st.lists(st.integers(0, 10_000), min_size=1, max_size=6))
def test_means_agree_with_the_standard_library(counts: list[int]) -> None:
    runs = of(*(count / 100 for count in counts))
    shares = [run.found.overall.f1 for run in runs]
    mean = mean_of(shares, len(shares))
    assert mean is not None
    assert mean.value == pytest.approx(100 * statistics.fmean(shares))
    assert (mean.deviation is None) == (len(shares) == 1)
    distances = [abs(share - statistics.fmean(shares)) for share in shares]
    assert abs(closest(runs).found.overall.f1 - statistics.fmean(shares)) == min(distances)


def test_every_run_has_a_row_for_each_decoding() -> None:
    both = {"greedy-first": evaluation(percent(70)), "constrained": evaluation(percent(72))}
    one = replace(
        result(test=both, dev={"constrained": evaluation(percent(80))}, seed=4),
        scorings=tuple(Scoring(10 * n, 1.0, Score.of(right, 10, 10), n) for n, right in enumerate((5, 8, 7), 1)),
        seconds=90.0,
    )
    table = runs_table([one], "test")
    greedy, constrained = (dict(zip(table.columns, row, strict=True)) for row in table.sections[0].rows)
    assert people((greedy["seed"], greedy["decoding"], greedy["F1"])) == ["4", "greedy-first", "70.00"]
    assert greedy["dev F1"] is None
    assert people(constrained[name] for name in ("decoding", "F1", "dev F1")) == ["constrained", "72.00", "80.00"]
    assert (constrained["best step"], constrained["steps"], shown(constrained["minutes"])) == (20, 30, "1.5")


def test_dyn_minus_rel_is_computed_per_seed() -> None:
    runs = [*(result("genia", "rel", seed, f1) for seed, f1 in ((1, 70), (2, 72))), result("genia", "rel", 3, 90)]
    runs += [result("genia", "dyn", seed, f1) for seed, f1 in ((1, 71), (2, 74))]
    table = lead_table(finished(runs, "test"))
    assert {part.title: people(part.rows[0][1:]) for part in table.sections} == {
        OURS: ["+1.50 ± 0.71"],
        "paper, its text": ["+0.22"],
        "paper, BioBERT-large 340M, greedy-majority": ["+0.2"],
    }
    assert not lead_table(finished([result("gum", "abs")], "test")).sections
