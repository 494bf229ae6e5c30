"""Evaluations as tables: figures for people, numbers for programs."""

import csv
import io
import json
from typing import get_args

import pytest

from nestag.evaluation.display import (
    Detail,
    comparison,
    confusion,
    mistakes,
    overall,
    tables,
    tables_within,
    verdict,
)
from nestag.evaluation.result import Comparison, Confused, Evaluation, Interval, Intervals, Mistakes, Score
from nestag.inspect.table_forms import TableForm, lines, to_csv, to_json, write
from nestag.inspect.tables import Table, shown

BOUNDS = Intervals(Interval(0.7, 0.8), Interval(0.5, 0.6), Interval(0.61, 0.69))


def evaluation(**changes: object) -> Evaluation:
    """Ten gold entities, eight predicted, six of them right."""
    whole = Score.of(correct=6, predicted=8, gold=10)
    types = {"A": Score.of(1, 3, 2), "B": Score.of(5, 5, 8), "only predicted": Score.of(0, 0, 0)}
    depths = {0: Score(5, 7, 8, 4), 1: Score(1, 1, 2, 2)}
    values: dict[str, object] = {
        "sentences": 1234,
        "overall": whole,
        "types": types,
        "depths": depths,
        "lengths": {1: Score.of(4, 4, 5), 3: Score.of(2, 4, 5)},
        "nesting": {"flat": Score(5, 6, 6, 4), "outer": Score(0, 1, 2, 0), "inner": Score(1, 1, 2, 2)},
        "familiar": {},
        "same_depth": {0: Score(4, 7, 8, 4), 1: Score(0, 1, 2, 2)},
        "mistakes": Mistakes(
            kinds={"type": 1, "boundary": 1, "boundary and type": 0, "missed": 2, "spurious": 0},
            nesting=3,
            confusion=(
                Confused("A", "A", 1),
                Confused("B", "B", 5),
                Confused("B", "A", 1),
                Confused("A", None, 1),
                Confused("B", None, 2),
                Confused(None, "A", 1),
            ),
        ),
        "intervals": dict.fromkeys(("all", "macro", "type A", "type B", "depth 0", "length 1", "flat"), BOUNDS),
    }
    return Evaluation(**values | changes)  # type: ignore[arg-type]


def row(table: Table, name: str) -> list[str]:
    """A row as people see it."""
    return next([shown(cell) for cell in cells] for _, rows in table.sections for cells in rows if cells[0] == name)


def record(table: Table, name: str) -> dict[str, object]:
    """A row as programs get it."""
    rows: list[dict[str, object]] = json.loads(to_json(table))["rows"]
    return next(one for one in rows if one[table.columns[0]] == name)


def test_tables_show_intervals() -> None:
    table = overall(evaluation())
    assert row(table, "micro") == [
        "micro", "75.00 (70.0–80.0)", "60.00 (50.0–60.0)", "66.67 (61.0–69.0)", "10", "8", "6",
    ]  # fmt: skip
    assert row(table, "macro")[1:] == [
        "44.44 (70.0–80.0)", "37.50 (50.0–60.0)", "38.97 (61.0–69.0)", "–", "–", "–",
    ]  # fmt: skip
    assert "1,234 sentences" in table.title
    assert "3 types" in table.note


def test_csv_and_json_have_plain_numbers() -> None:
    for table in tables(evaluation(), detail="numbers").values():
        kinds = {type(value) for one in json.loads(to_json(table))["rows"] for value in list(one.values())[2:]}
        assert kinds <= {int, float, type(None), *([str] if table.title == "Mistakes" else [])}
    table = overall(evaluation(), "numbers")
    micro = record(table, "micro")
    assert micro["F1"] == pytest.approx(200 / 3)
    assert (micro["precision low"], micro["F1 high"], micro["gold"]) == (70, 69, 10)
    read = next(csv.DictReader(io.StringIO(to_csv(table))))
    assert (float(read["recall"]), read["predicted"]) == (60, "8")


def test_terminal_shows_the_interval_of_f1_only() -> None:
    assert row(overall(evaluation(), "narrow"), "micro")[1:4] == ["75.00", "60.00", "66.67 (61.0–69.0)"]
    assert tables_within(evaluation(), 78) == tables(evaluation(), "narrow")
    assert all(len(line.text) <= 78 for table in tables_within(evaluation(), 78).values() for line in lines(table, 78))


def test_evaluation_has_a_short_repr_and_html() -> None:
    many = evaluation(types={f"T{number:02}": Score.of(1, 1, 40 - number) for number in range(30)})
    text = repr(many)
    assert (text == str(many), text.count("\n") < 25, max(map(len, text.split("\n"))) <= 100) == (True, True, True)
    assert "66.67 (61.0–69.0)" in text
    assert "18 rarer types not shown" in text
    page = many._repr_html_()
    assert (page.count("<tr>"), "<td" in page, "T11" in page, "T12" in page) == (1 + 2 + 1 + 12, True, True, False)
    assert "<script" not in evaluation(types={"<script>": Score.of(1, 1, 1)})._repr_html_()


def test_types_are_sorted_by_frequency() -> None:
    table = tables(evaluation())["types"]
    assert [cells[0] for cells in table.sections[0].rows] == ["B", "A", "only predicted"]
    assert len(table.sections) == 1


def test_share_of_nothing_is_a_dash() -> None:
    assert row(tables(evaluation())["types"], "only predicted")[1:] == ["–", "–", "–", "0", "0", "0"]
    missed = evaluation(types={"A": Score.of(0, 0, 2)})
    assert row(tables(missed)["types"], "A")[1:4] == ["–", "0.00 (50.0–60.0)", "0.00 (61.0–69.0)"]
    assert record(tables(missed, "numbers")["types"], "A")["precision"] is None


def test_mean_over_no_types_is_a_dash() -> None:
    nothing = evaluation(sentences=1, overall=Score(), types={}, intervals={})
    assert row(overall(nothing), "macro")[1:] == ["–"] * 6
    assert record(overall(nothing, "numbers"), "macro")["F1"] is None
    assert overall(nothing).title == "Scores of 1 sentence"
    assert overall(nothing).note.startswith("macro: the mean over 0 types.")


def test_almost_100_is_not_rounded_to_100() -> None:
    nearly = evaluation(overall=Score.of(99_999, 100_000, 100_000))
    assert row(overall(nearly), "micro")[1].startswith("99.9990 ")
    assert row(overall(nearly, "narrow"), "micro")[1] == ">99.99"


def test_depth_table_has_gold_and_predicted_counts() -> None:
    table = tables(evaluation())["depths"]
    assert row(table, "0") == [
        "0", "71.43 (70.0–80.0)", "50.00 (50.0–60.0)", "58.82 (61.0–69.0)", "8", "4", "7", "5",
    ]  # fmt: skip
    assert [cells[0] for cells in table.sections[0].rows] == ["0", "1", "≥ 1", "≥ 2"]


def test_lengths_are_grouped() -> None:
    table = tables(evaluation())["lengths"]
    assert row(table, "1")[1] == "100.00 (70.0–80.0)"
    assert row(table, "2–4")[1:] == row(table, "≥ 2")[1:] == ["50.00", "40.00", "44.44", "5", "4", "2"]
    assert row(table, "≥ 10")[1] == "–"


def test_seen_and_unseen_are_shown_with_training_data() -> None:
    plain = tables(evaluation())["nesting"]
    assert [cells[0] for cells in plain.sections[0].rows] == ["flat", "outer", "inner"]
    known = tables(evaluation(familiar={"seen": Score.of(6, 6, 7), "unseen": Score.of(0, 2, 3)}))["nesting"]
    assert row(known, "unseen")[1:] == ["0.00", "0.00", "0.00", "3", "0", "2", "0"]


def test_mistakes_are_shares_of_all_mistakes() -> None:
    table = mistakes(evaluation())
    assert row(table, "missed")[:3] == ["missed", "2", "50.00"]
    assert row(table, "nesting")[:3] == ["nesting", "3", "–"]
    assert row(mistakes(evaluation(mistakes=Mistakes())), "type")[1:3] == ["0", "–"]


def test_confusion_rows_are_gold_types() -> None:
    table = confusion(evaluation())
    assert table.columns == ("gold", "B", "A", "only predicted", "–")
    assert row(table, "B") == ["B", "5", "1", "0", "2"]
    assert row(table, "–") == ["–", "0", "1", "0", "–"]


def test_rare_types_are_summarized() -> None:
    table = confusion(evaluation(), most=1)
    assert table.columns == ("gold", "B", "2 others", "–")
    assert row(table, "B") == ["B", "5", "1", "2"]
    assert row(table, "2 others") == ["2 others", "0", "1", "1"]
    many = {f"type number {number}": Score.of(1, 1, 1) for number in range(30)}
    confused = tuple(Confused(kind, kind, 1) for kind in many)
    full = evaluation(types=many, mistakes=Mistakes(confusion=confused))
    assert len(confusion(full).columns) == 1 + 12 + 2
    for width in range(60, 200, 10):
        found = tables_within(full, width)["confusion"]
        sizes = [confusion(full, most) for most in range(1, 13)]
        fitting = [table for table in sizes if all(len(line.text) <= width for line in lines(table, width))]
        assert found == fitting[-1]
        assert sum(cell for cells in found.sections[0].rows for cell in cells[1:] if isinstance(cell, int)) == 30


def test_json_has_every_confusion() -> None:
    kinds = ("gold", "–", *(f"type number {number}" for number in range(20)))
    times = (Confused("gold", "–", 3), Confused("–", "gold", 2), Confused("type number 7", None, 1))
    full = evaluation(types=dict.fromkeys(kinds, Score.of(1, 1, 1)), mistakes=Mistakes(confusion=times))
    table = tables(full, detail="numbers")["confusion"]
    assert json.loads(to_json(table))["rows"] == [
        {"gold": "gold", "predicted": "–", "times": 3},
        {"gold": "–", "predicted": "gold", "times": 2},
        {"gold": "type number 7", "predicted": None, "times": 1},
    ]


SURE = Comparison(0.75, 0.72, 0.03, Interval(0.012, 0.048), 0.001, 0.0001)
UNSURE = Comparison(0.72, 0.725, -0.005, Interval(-0.02, 0.01), 0.4, 0.41)


def test_comparison_has_a_sentence_and_a_table() -> None:
    table = comparison(SURE, ("a.jsonl", "b.jsonl"))
    assert table.note == (
        "a.jsonl is better than b.jsonl by 3.00 points of F1 (95% interval 1.20 to 4.80, p 0.0001);"
        " that is unlikely to be chance."
    )
    assert [shown(cells[0]) for cells in table.sections[0].rows][:2] == ["F1 of a.jsonl", "F1 of b.jsonl"]
    assert [shown(cells[1]) for cells in table.sections[0].rows] == [
        "75.00", "72.00", "+3.00 (+1.2 to +4.8)", "0.0010", "0.0001",
    ]  # fmt: skip
    assert record(comparison(SURE, ("a", "b"), "numbers"), "difference") == {
        "figure": "difference", "value": pytest.approx(3), "low": 1.2, "high": 4.8,
    }  # fmt: skip
    assert record(comparison(SURE, ("a", "b"), "numbers"), "p by the bootstrap")["value"] == 0.001


def test_insignificant_difference_is_reported() -> None:
    assert verdict(UNSURE, ("a", "b")) == (
        "a is worse than b by 0.50 points of F1 (95% interval -1.00 to 2.00, p 0.4100); that may be chance."
    )
    same = UNSURE._replace(difference=0.0)
    assert verdict(same, ("a", "b")) == "a and b have the same F1."


@pytest.mark.parametrize("form", list(TableForm))
@pytest.mark.parametrize("detail", get_args(Detail))
def test_empty_evaluation_can_be_shown(form: TableForm, detail: Detail) -> None:
    nothing = Evaluation(0, Score(), {}, {}, {}, dict.fromkeys(("flat", "outer", "inner"), Score()), {}, {},
                         Mistakes(), {})  # fmt: skip
    for table in tables(nothing, detail=detail).values():
        assert write(table, form)
