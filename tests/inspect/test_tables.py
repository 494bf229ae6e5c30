"""Tables in every format, with cells that need escaping."""

import csv
import io
import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nestag.inspect.table_forms import (
    TableForm,
    escape_latex,
    escape_markdown,
    lines,
    rows_for_programs,
    to_csv,
    to_json,
    to_latex,
    to_markdown,
    to_text,
    write,
)
from nestag.inspect.tables import Figure, Percent, Section, Table, over_seeds, shown

AWKWARD = "a|b_c & 5 % $x$ \\ {#} ~^<i>*_`[y](z)"
TABLE = Table(
    "Types",
    ("name", "count", "share %"),
    (
        Section("", (("PER", 47006, Percent(99.999)), (AWKWARD, 0, None))),
        Section("rare & odd", (("x\ny", 3, Percent(0.25)),)),
    ),
)


def test_percentages_are_never_rounded_to_0_or_100() -> None:
    assert [shown(Percent(x)) for x in (0, 0.004, 0.006, 50, 99.994, 99.996, 100)] == [
        "0.00", "<0.01", "0.01", "50.00", "99.99", ">99.99", "100.00",
    ]  # fmt: skip
    assert [shown(x) for x in (1234567, 1234.5, "1234", None)] == ["1,234,567", "1,234.50", "1234", "–"]


def test_json_and_csv_keep_values_and_sections() -> None:
    rows = json.loads(to_json(TABLE))["rows"]
    assert rows[0] == {"section": "", "name": "PER", "count": 47006, "share %": 99.999}
    assert rows[1]["name"] == AWKWARD
    assert rows[1]["share %"] is None
    assert [row["section"] for row in rows] == ["", "", "rare & odd"]
    read = list(csv.DictReader(io.StringIO(to_csv(TABLE), newline="")))
    assert read[1] == {"section": "", "name": AWKWARD, "count": "0", "share %": ""}
    assert read[2]["name"] == "x\ny"


def test_table_without_sections_has_no_section_column() -> None:
    plain = Table("", ("a",), (Section("", ((1,),)),))
    assert to_csv(plain) == "a\n1\n"
    assert json.loads(to_json(plain)) == {"title": "", "rows": [{"a": 1}]}


def test_markdown_has_the_same_number_of_cells_in_every_row() -> None:
    rows = [line for line in to_markdown(TABLE).split("\n") if line.startswith("|")]
    assert {len(re.findall(r"(?<!\\)\|", row)) for row in rows} == {4}
    assert rows[1] == "| --- | ---: | ---: |"
    assert "&gt;99.99" in rows[2]
    assert "a\\|b\\_c &amp; 5 % \\$x\\$ \\\\" in rows[3]
    assert "x␊y" in rows[5]


def test_latex_escapes_special_characters() -> None:
    text = to_latex(TABLE)
    assert r"a\textbar{}b\_c \& 5 \% \$x\$ \textbackslash{} \{\#\} \textasciitilde{}\textasciicircum{}" in text
    assert text.count(r"\begin{tabular}{lrr}") == text.count(r"\end{tabular}") == 1
    body = [line for line in text.split("\n") if line.endswith(r"\\") and "multicolumn" not in line]
    assert {len(re.findall(r"(?<!\\)&", line)) for line in body} == {2}
    assert r"\multicolumn{3}{l}{\textbf{rare \& odd}} \\" in text


def test_latex_row_may_begin_with_a_bracket() -> None:
    assert "\n{}[a] & 1 \\\\" in to_latex(Table("", ("n", "c"), (Section("", (("[a]", 1),)),)))


def test_columns_align_with_wide_characters() -> None:
    wide = Table(
        "", ("name", "long column name"), (Section("", (("日本", 1), ("abcdef", 12345))), Section("s", ((1, 2),)))
    )
    text = to_text(wide).split("\n")
    assert text[-3:] == ["s", "1            2", ""]
    assert "日本         1" in text
    assert "abcdef  12,345" in text
    assert text[:3] == ["          long", "        column", "name      name"]


def test_a_narrow_terminal_gets_smaller_gaps() -> None:
    table = Table("", tuple("abcde"), (Section("", ((1, 2, 3, 4, 5),)),))
    assert next(lines(table, 80)).text == "a  b  c  d  e"
    assert next(lines(table, 9)).text == "a b c d e"


@pytest.mark.parametrize("form", TableForm)
@given(st.text(max_size=20), st.text(min_size=1, max_size=10))
def test_any_text_can_be_written_in_any_format(form: TableForm, cell: str, title: str) -> None:
    table = Table(title, (title, "n"), (Section(cell, ((cell, 1),)), Section(title, ((title, None),))))
    assert write(table, form).endswith("\n")


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_escaped_text_is_one_harmless_line(text: str) -> None:
    assert len(escape_markdown(text).splitlines()) <= 1
    assert not re.search(r"(?<!\\)(?:\\\\)*\|", escape_markdown(text))
    live = re.sub(r"\\[{}$&#%_]|\\text[a-z]+\{\}|\$(?:\\geq|\\pm|\^\d)\$", "", escape_latex(text))
    assert not re.search(r"[\\{}$&#%_~^]", live)


def test_wrong_row_width_is_an_assertion() -> None:
    with pytest.raises(AssertionError):
        Table("", ("a", "b"), (Section("", ((1,),)),))


MEASURED = Table(
    "Scores",
    ("encoding", "F1", "gain"),
    (
        Section(
            "ours", (("abs", Figure(75.916, 0.131, 3, bold=True), Figure(-0.04, form="+.2f")), ("rel", None, None))
        ),
        Section("paper", (("abs", Figure(76.6, 0.3, form=".1f"), None), ("4tg", Figure(74.0, note="(n=1)"), None))),
    ),
    "One line | about it.",
)


def test_figures_show_deviation_and_note() -> None:
    cells = [
        Figure(75.916, 0.131, 3),
        Figure(76.6, 0.3, form=".1f"),
        Figure(74, note="(n=1)"),
        Figure(1, 2, form="+.1f"),
    ]
    assert [shown(cell) for cell in cells] == ["75.92 ± 0.13", "76.6 ± 0.3", "74.00 (n=1)", "+1.0 ± 2.0"]


def test_csv_has_figures_as_numeric_columns() -> None:
    rows = list(csv.reader(io.StringIO(to_csv(MEASURED))))
    assert rows == [
        ["section", "encoding", "F1", "F1 deviation", "F1 count", "gain"],
        ["ours", "abs", "75.916", "0.131", "3", "-0.04"],
        ["ours", "rel", "", "", "", ""],
        ["paper", "abs", "76.6", "0.3", "", ""],
        ["paper", "4tg", "74.0", "", "", ""],
    ]
    read = json.loads(to_json(MEASURED))
    assert read["note"] == "One line | about it."
    assert read["rows"][0] == {
        "section": "ours", "encoding": "abs", "F1": 75.916, "F1 deviation": 0.131, "F1 count": 3, "gain": -0.04
    }  # fmt: skip


def test_terminal_shows_bold_minus_and_note() -> None:
    markdown, latex, text = to_markdown(MEASURED), to_latex(MEASURED), to_text(MEASURED)
    assert "| abs | **75.92 ± 0.13** | -0.04 |" in markdown
    assert markdown.endswith("|\n\nOne line \\| about it.\n")
    assert r"abs & \textbf{75.92 $\pm$ 0.13} & $-$0.04 \\" in latex
    assert latex.startswith("% Scores\n% One line | about it.\n\\begin{tabular}{lrr}")
    assert "abs       75.92 ± 0.13  -0.04" in text
    assert text.endswith("\nOne line | about it.\n")


def test_bounds_are_numeric() -> None:
    def column(*cells: str | float | None) -> bool:
        return Table("", ("x",), (Section("", tuple((cell,) for cell in cells)),)).numeric[0]

    assert column(1.0, ">99.99", None)
    assert not column(1.0, "> all")
    assert not column(">99.99")


figures = st.builds(Figure, st.floats(-100, 100), st.none() | st.floats(0, 9), st.none() | st.integers(1, 5))


@given(st.lists(st.tuples(st.none() | figures, st.none() | st.integers() | figures), min_size=1))
def test_flat_tables_keep_every_value(rows: list[tuple[Figure | None, int | Figure | None]]) -> None:
    columns, *records = rows_for_programs(Table("", ("a", "b"), (Section("", tuple(rows)),)))
    for before, after in zip(rows, records, strict=True):
        found = dict(zip(columns, after, strict=True))
        for name, cell in zip("ab", before, strict=True):
            told = found[name], found.get(f"{name} deviation"), found.get(f"{name} count")
            wanted = (cell.value, cell.deviation, cell.count) if isinstance(cell, Figure) else (cell, None, None)
            assert told == wanted


def test_a_deviation_needs_two_seeds() -> None:
    assert over_seeds([]) is None
    one, two = over_seeds([75.0]), over_seeds([70.0, 74.0])
    assert one is not None
    assert two is not None
    assert (one.deviation, str(one)) == (None, "75.00")
    assert (two.value, two.count, str(two)) == (72, 2, "72.00 ± 2.83")
    assert two.deviation == pytest.approx(8**0.5)
