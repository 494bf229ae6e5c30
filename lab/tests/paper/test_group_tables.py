"""Tables by depth, length and type."""

from finished_runs import evaluation, percent, result
from nestag.evaluation.result import Score
from nestag.inspect.tables import Figure, Table, shown
from nestag_lab.experiment.result import RunResult
from nestag_lab.paper.groups import depth_table, length_table, own_depth_table, own_length_table
from nestag_lab.paper.runs import finished
from nestag_lab.paper.scores import types_table


def row(table: Table, section: str, *head: str) -> list[str]:
    """Return a row as it is shown."""
    [found] = [part.rows for part in table.sections if part.title == section]
    [cells] = [cells[len(head) :] for cells in found if cells[: len(head)] == head]
    return [shown(cell) for cell in cells]


def run(seed: int, f1: float, correct: int, found: int) -> RunResult:
    """Return a run with an F1 in all, and of 10 predicted and 20 gold entities at depth 1 so many right and found."""
    one = {0: Score.of(5, 5, 5), 1: Score(correct, 10, 20, found), 2: Score(0, 0, 4, 0)}
    overall = percent(f1)
    return result(encoding="rel", seed=seed, test={"greedy-first": evaluation(overall, same_depth=one, depths=one)})


RUNS = finished([run(1, 70, 9, 8), run(2, 74, 6, 12), run(3, 76, 3, 16)], "test")
OURS = "minilm 23M, default, greedy-first"


def test_precision_comes_from_the_median_run_and_recall_from_all() -> None:
    table = depth_table(RUNS)
    assert table.columns == ("encoding", "depth", "genia precision", "genia recall")
    assert row(table, OURS, "rel", "1") == ["60.00", "60.00"]  # seed 2 has 6 of 10 right; 12 of 20 is the mean
    assert row(table, OURS, "rel", "0") == ["100.00", "100.00"]
    assert row(table, OURS, "rel", "≥ 1") == ["60.00", "25.00"]  # 6 of 10, and 4, 6 and 8 of 24
    assert row(table, OURS, "rel", "≥ 2") == ["0.00", "0.00"]  # nothing predicted there, as the paper has it


def test_rows_are_grouped_by_encoding_above_the_paper() -> None:
    table = depth_table(RUNS)
    assert [cells[:2] for cells in table.sections[0].rows] == [("rel", d) for d in ("0", "1", "≥ 1", "≥ 2")]
    paper = [cells[:2] for cells in table.sections[1].rows]
    assert paper == [(e, d) for e in ("abs", "rel", "dyn", "4tg") for d in ("0", "1", "≥ 1", "≥ 2")]
    assert row(table, "paper, BioBERT-large 340M, greedy-majority", "4tg", "≥ 2") == ["3.8", "10.0"]
    others = "other systems, as the paper cites them"
    assert row(table, others, "Shibuya and Hovy 2020, O(n²)", "≥ 2") == ["66.7", "0.0"]


def test_depth_table_has_counts_and_means() -> None:
    table = own_depth_table(RUNS)
    assert [part.title for part in table.sections] == [f"genia: {OURS}"]
    cells = row(table, f"genia: {OURS}", "rel", "1")
    assert cells[:3] == ["20", "60.00 ± 30.00", "60.00 ± 20.00"]
    assert row(table, f"genia: {OURS}", "rel", "≥ 2") == ["4", "0.00 ± 0.00", "0.00 ± 0.00", "0.00 ± 0.00"]


def test_missing_figures_are_dashes() -> None:
    flat = finished([result(test={"greedy-first": evaluation(percent(70), depths={0: Score.of(1, 2, 2)})})], "test")
    assert row(own_depth_table(flat), f"genia: {OURS}", "abs", "≥ 1") == ["0", "–", "–", "–"]
    spurious = {0: Score.of(1, 2, 2), 1: Score(0, 3, 0, 0)}
    guessed = finished([result(test={"greedy-first": evaluation(percent(70), depths=spurious)})], "test")
    assert row(own_depth_table(guessed), f"genia: {OURS}", "abs", "≥ 1") == ["0", "0.00", "–", "–"]


def test_best_figure_of_each_depth_is_bold() -> None:
    better = result(
        encoding="abs", seed=1, test={"greedy-first": evaluation(percent(70), same_depth={1: Score.of(9, 10, 10)})}
    )
    table = depth_table(finished([better, run(1, 70, 6, 12)], "test"))
    bold = [
        (row[0], row[1], place)
        for row in table.sections[0].rows
        for place, cell in enumerate(row)
        if isinstance(cell, Figure) and cell.bold
    ]
    assert ("abs", "1", 2) in bold
    assert ("rel", "1", 2) not in bold
    assert ("rel", "0", 2) in bold


def test_lengths_are_means_over_seeds() -> None:
    def run(seed: int, correct: int) -> RunResult:
        lengths = {1: Score.of(5, 10, 10), 2: Score.of(9, 9, 9), 4: Score.of(correct, 10, 20), 12: Score.of(0, 0, 10)}
        return result(seed=seed, test={"greedy-first": evaluation(percent(70), lengths=lengths)})

    table = length_table(finished([run(1, 4), run(2, 6)], "test"))
    assert row(table, OURS, "abs", "1") == ["100.00 ± 0.00", "100.00 ± 0.00"]  # those of two tokens, as the code counts
    assert row(table, OURS, "abs", "2–4") == ["50.00 ± 14.14", "25.00 ± 7.07"]
    assert row(table, OURS, "abs", "≥ 2") == ["50.00 ± 14.14", "16.67 ± 4.71"]
    own = own_length_table(finished([run(1, 4), run(2, 6)], "test"))
    assert row(own, OURS, "abs", "1") == ["50.00 ± 0.00", "50.00 ± 0.00"]
    assert all(part.title == OURS for part in own.sections)
    assert row(table, OURS, "abs", "5–9") == ["–", "–"]
    assert row(table, OURS, "abs", "≥ 10") == ["0.00 ± 0.00", "0.00 ± 0.00"]
    assert row(table, "paper, BioBERT-large 340M, greedy-majority", "abs", "≥ 10") == ["81.8", "75.0"]


def test_types_are_averaged_over_seeds_first() -> None:
    def run(seed: int, protein: float, rna: float) -> RunResult:
        types = {"DNA": percent(80), "RNA": percent(rna), "protein": percent(protein), "odd": Score.of(0, 3, 0)}
        return result(seed=seed, test={"greedy-first": evaluation(percent(70), types=types)})

    table = types_table(finished([run(1, 100, 75), run(2, 40, 75)], "test"))
    assert table.columns == ("encoding", "best", "best F1", "worst", "worst F1", "mean", "deviation")
    # protein is the best of seed 1 and the worst of seed 2; over both it has 70; what gold lacks does not count
    assert row(table, f"genia: {OURS}", "abs") == ["DNA", "80.00", "protein", "70.00", "75.00", "4.08"]
    paper = "genia: paper, BioBERT-large 340M, greedy-majority"
    assert row(table, paper, "abs") == ["protein", "–", "cell_type", "–", "74.7", "3.4"]


def test_run_without_types_has_a_table() -> None:
    assert row(types_table(finished([result("gum")], "test")), f"gum: {OURS}", "abs") == ["–"] * 6
