"""CoNLL-U: entities of other tools, and drops."""

from __future__ import annotations

from pathlib import Path

import pytest

from nestag.data.report import Report
from nestag.data.segment import Options
from nestag.data.sentence import Entity, Sentence
from nestag.errors import InputError
from nestag.formats import conllu, jsonl
from token_texts import CORPORA, read, there_and_back, with_corpora, written


def rows(*words: str) -> str:
    """Lines of words, each `form` or `form Entity=...`; an id may stand before a colon."""
    text = ""
    number = 0
    for word in words:
        place, _, rest = word.rpartition(":")
        number += not place
        form, _, misc = rest.partition(" ")
        text += f"{place or number}\t{form}\t_\t_\t_\t_\t_\t_\t_\t{misc or '_'}\n"
    return text + "\n"


def test_conllu_of_other_tools(tmp_path: Path) -> None:
    text = (
        "# newdoc id = d\n# global.Entity = GRP-etype-infstat-link\n# sent_id = d-one\n# text = Ada's cat\n"
        + rows(
            "1-2:Ada's", "Ada Cased=Yes|Entity=(1-animal-new(2-person-giv-Ada_L)|SpaceAfter=No", "'s", "cat Entity=1)"
        )
        + "# text = Who\n"
        + rows("Who Entity=(2-person-giv-Ada_L)(3-person)")
    )
    found, counts = read(conllu.FORMAT, tmp_path / "f", text)
    assert found == [
        Sentence(["Ada", "'s", "cat"], [Entity(0, 3, "animal"), Entity(0, 1, "person")], "d-one"),
        Sentence(["Who"], [Entity(0, 1, "person")], "d-2"),
    ]
    assert counts == {"duplicate entity merged": 1}


def test_conllu_with_old_headers(tmp_path: Path) -> None:
    text = "# global.Entity = entity-GRP-infstat\n" + rows("a Entity=(person-1-new", "b Entity=person-1)")
    assert read(conllu.FORMAT, tmp_path / "f", text)[0] == [Sentence(["a", "b"], [Entity(0, 2, "person")])]


@pytest.mark.parametrize(
    ("header", "first", "second", "third"),
    [
        ("", "(person(place)", "", "person)"),  # types alone
        ("", "(person-1(place-2)", "", "person-1)"),  # a type and a number, on both sides
        ("", "(e1-person(e2-place)", "", "e1)"),  # as ours, without the header
        ("", "(person-1-new(place-2-giv)", "", "1)"),
        ("", "(person(place)", "", ")"),  # no name to close by
        ("etype-identity", "(person(place-Scetis)", "", "person)"),
        ("etype-eid-infstat-minspan-link-identity", "(person-5-new-1(place-6-giv-1-coref-Scetis)", "", "5)"),
        ("eid-etype-head-other", "(e5-person-1-(e6-place-1-)", "", "e5)"),
    ],
)
def test_conllu_with_and_without_ids_and_headers(
    header: str, first: str, second: str, third: str, tmp_path: Path
) -> None:
    text = (f"# global.Entity = {header}\n" if header else "") + rows(
        f"a Entity={first}", f"b {second}".strip(), f"c SpaceAfter=No|Entity={third}"
    )
    found, counts = read(conllu.FORMAT, tmp_path / "f", text)
    assert found == [Sentence(["a", "b", "c"], [Entity(0, 3, "person"), Entity(0, 1, "place")])]
    assert not counts


def test_stray_bracket_is_named_or_skipped(tmp_path: Path) -> None:
    text = rows("a Entity=(e1-A)e7)", "b Entity=e1)(e2-B)") + rows("c Entity=(e3-C)")
    with pytest.raises(InputError, match=r"f:1: Entity=e7\) closes what was not opened.*skip_bad=True"):
        read(conllu.FORMAT, tmp_path / "f", text)
    report = Report()
    found = list(conllu.FORMAT.read(tmp_path / "f", Options(skip_bad=True), report))
    assert [sentence.entities for sentence in found] == [(Entity(0, 1, "A"), Entity(1, 2, "B")), (Entity(0, 1, "C"),)]
    assert [finding.place for finding in report.findings] == [f"{tmp_path / 'f'}:1", f"{tmp_path / 'f'}:2"]


def test_bad_row_drops_its_sentence(tmp_path: Path) -> None:
    (tmp_path / "f").write_text(rows("a", "7:b") + rows("c Entity=(e3-C)"))
    report = Report()
    assert [s.tokens for s in conllu.FORMAT.read(tmp_path / "f", Options(skip_bad=True), report)] == [("c",)]
    assert report.counts == {"bad record skipped": 1}


def test_webanno_with_ten_columns_is_not_conllu(tmp_path: Path) -> None:
    text = "1-1\t0-3\tAda\t_\t_\t_\t_\tPER[1]\t_\t_\n1-2\t4-9\tslept\t_\t_\t_\t_\tPER[1]\t_\t_\n"
    assert not conllu.looks_like(text)
    assert not conllu.looks_like("#FORMAT=WebAnno TSV 3.3\n\n" + rows("a"))
    with pytest.raises(InputError, match="f:1: 10 columns, the first '1-1'"):
        read(conllu.FORMAT, tmp_path / "f", text)


def test_conllu_with_empty_nodes(tmp_path: Path) -> None:
    text = rows("a", "1.1:x Entity=(e1-A(e2-B)", "b Entity=e1)(e3-C", "2.1:_ Entity=e3)")
    found, counts = read(conllu.FORMAT, tmp_path / "f", text)
    assert found == [Sentence(["a", "b"], [Entity(1, 2, "A"), Entity(1, 2, "C")])]
    assert counts == {"entity without words dropped": 1}


def test_conllu_reports_drops(tmp_path: Path) -> None:
    text = (
        rows("a Entity=(e1[1/2]-A(e2-B", "b Entity=e1[1/2])", "c Entity=(e1[2/2]-A)(e4)")
        + rows("d Entity=e2)(e5-E", "e Entity=e5)(e6-F")
        + "# newdoc\n"
        + rows("f Entity=(e6-G)")
    )
    found, counts = read(conllu.FORMAT, tmp_path / "f", text)
    assert [s.entities for s in found] == [(), (Entity(0, 2, "E"),), (Entity(0, 1, "G"),)]
    assert counts == {
        "discontinuous entity dropped": 1,
        "entity without a type dropped": 1,
        "entity that does not close in its sentence dropped": 2,
    }


def test_conllu_output_is_valid(tmp_path: Path) -> None:
    nested = Sentence(
        ["queen", "of", "the", "Isle"], [Entity(0, 4, "PER"), Entity(2, 4, "a-b"), Entity(3, 4, "GPE")], "d-1"
    )
    crossing = Sentence(["a", "b c"], [Entity(0, 2, "X"), Entity(1, 2, "Y")])
    assert written(conllu.FORMAT, tmp_path / "f", nested, crossing) == (
        "# global.Entity = eid-etype-head-other\n# newdoc id = d\n# sent_id = d-1\n# text = queen of the Isle\n"
        + rows("queen Entity=(e1-PER", "of", "the Entity=(e2-a\\u002db", "Isle Entity=(e3-GPE)e2)e1)")
        + "# newdoc\n# text = a b\\u0020c\n"
        + rows("a Entity=(e4-X", "b\\u0020c Entity=(e5-Y)e4)")
    )


def test_conllu_reads_crossing_brackets(tmp_path: Path) -> None:
    sentence = Sentence(list("abc"), [Entity(0, 2, "X"), Entity(1, 3, "Y"), Entity(1, 2, "Z")])
    assert "Entity=e1)(e2-Y(e3-Z)" in written(conllu.FORMAT, tmp_path / "f", sentence)
    assert there_and_back(conllu.FORMAT, [sentence], tmp_path / "f")[0] == [sentence]


@pytest.mark.parametrize(
    ("text", "line", "what"),
    [
        ("1\ta\n", 1, "2 columns"),
        (rows("x:a"), 1, "the first 'x'"),
        (rows("a", "3:b"), 2, "it should be 2"),
        (rows("a Entity=e1)"), 1, "closes what was not opened"),
        (rows("a Entity=(e1-A)e2"), 1, "cannot be read from 'e2' on"),
        (rows("1-2:ab Entity=(e1-A)", "a", "b"), 1, "on a multiword token"),
        ("# global.Entity = eid-head\n" + rows("a"), 1, "no field 'etype'"),
        (rows("a Entity=(e1-A") + "# newdoc id = x\n" + rows("b Entity=e1)"), 4, "closes what was not opened"),
    ],
)
def test_conllu_errors_name_the_line(tmp_path: Path, text: str, line: int, what: str) -> None:
    with pytest.raises(InputError, match=f"f:{line}: .*{what}"):
        read(conllu.FORMAT, tmp_path / "f", text)


@with_corpora
def test_gum_original_format() -> None:
    gold = {s.id: s for file in (CORPORA / "gum").glob("*.jsonl.gz") for s in jsonl.read(file)}
    raw = [s for file in (CORPORA.parent / "raw/gum").glob("*.conllu") for s in conllu.FORMAT.read(file)]
    assert len(raw) == 48
    assert all(gold[s.id] == s for s in raw)
