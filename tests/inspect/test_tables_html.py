"""Tables as HTML."""

from xml.etree import ElementTree

from nestag.inspect.table_forms import to_html
from nestag.inspect.tables import Figure, Percent, Section, Table

TABLE = Table(
    "<Types>",
    ("name", "of", "count", "share %"),
    (
        Section("", (("PER", "x", 47006, Percent(99.999)), ('a"b<i>', "y", 0, None))),
        Section("rare & odd", (("x\ny", "", 3, Figure(75.9, 0.13, 3, bold=True)),)),
    ),
    "not shown here",
)


def test_html_tables_have_headers_and_align_numbers() -> None:
    root = ElementTree.fromstring(to_html(TABLE))
    assert root.findtext("caption") == "<Types>"
    assert [cell.get("class") for cell in root.findall("thead/tr/th")] == [None, None, "number", "number"]
    assert {cell.get("scope") for cell in root.findall("thead/tr/th")} == {"col"}
    rows = [[("".join(cell.itertext()), cell.tag, cell.get("scope")) for cell in row] for row in root.iter("tr")][1:]
    assert rows[0][0] == ("PER", "th", "row")
    assert [text for text, _, _ in rows[0]] == ["PER", "x", "47,006", ">99.99"]
    assert [text for text, _, _ in rows[1]] == ['a"b<i>', "y", "0", "–"]
    assert rows[2] == [("rare & odd", "th", "rowgroup")]
    assert [text for text, _, _ in rows[3]] == ["x␊y", "", "3", "75.90 ± 0.13"]
    assert root.findtext("tbody[2]/tr[2]/td[3]/strong") == "75.90 ± 0.13"
    assert len(root.findall("tbody")) == 2


def test_numeric_first_column_is_not_a_header() -> None:
    assert '<th scope="row"' not in to_html(Table("", ("n",), (Section("", ((1,),)),)))
