"""Brackets in text: parsing, round trips, and errors that show the mistake."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nestag.data.crossing import drop_crossing
from nestag.data.report import Report
from nestag.data.sentence import Entity, Sentence
from nestag.errors import CrossingError, DataError, InputError
from nestag.formats.brackets import FORMAT, parse, render
from strategies import typed_places

AWKWARD = ("[", "]", "\\", "#", "# doc: x", "\\s", " ", "a b", "\t", "\n", "\r", "\u2028", "\ufeff", "[PER", "]]")
texts = st.sampled_from(AWKWARD) | st.text(min_size=1, max_size=4)
some_tokens = st.lists(texts, min_size=1, max_size=8)


@st.composite
def sentences(draw: st.DrawFn) -> Sentence:
    tokens = draw(some_tokens)
    drawn = draw(typed_places(len(tokens), texts, 6))
    entities = [Entity(min(a, b), max(a, b), kind) for a, b, kind in drawn if a != b]
    return Sentence(tokens, drop_crossing(entities).nested)


def lines(tmp_path: Path, text: str) -> list[Sentence]:
    path = tmp_path / "f.nested"
    path.write_bytes(text.encode())
    return list(FORMAT.read(path))


@given(sentences())
def test_brackets_round_trip(sentence: Sentence) -> None:
    line = render(sentence)
    assert len(line.splitlines()) == 1
    assert not line.startswith(("#", "\ufeff"))
    assert parse(line) == sentence
    assert render(parse(line)) == line


def test_example_of_the_paper() -> None:
    line = "[PER Lincoln] was [PER president of [GPE the USA]]"
    sentence = Sentence(
        ["Lincoln", "was", "president", "of", "the", "USA"],
        [Entity(0, 1, "PER"), Entity(2, 6, "PER"), Entity(4, 6, "GPE")],
    )
    assert parse(line) == sentence
    assert render(sentence) == line


@pytest.mark.parametrize(
    ("line", "tokens", "kind"),
    [
        (r"[a\sb \[1\]]", ("[1]",), "a b"),
        (r"[A x\ty\nz\u2028\\]", ("x\ty\nz\u2028\\",), "A"),
        (r"[A \#]", ("#",), "A"),
        (r"[\[\] #]", ("#",), "[]"),
        (r"[A \\s\s]", ("\\s ",), "A"),
    ],
)
def test_escapes_are_read(line: str, tokens: tuple[str, ...], kind: str) -> None:
    assert parse(line) == Sentence(tokens, [Entity(0, len(tokens), kind)])


def test_types_over_the_same_tokens_keep_their_order() -> None:
    assert render(parse("[B [A x] ] y".replace(" ]", "]"))) == "[B [A x]] y"
    assert render(parse("[A [B x]] y")) == "[A [B x]] y"


@pytest.mark.parametrize(
    ("line", "column", "what"),
    [
        ("a  b", 3, "a token or type is missing"),
        ("a ", 3, "a token or type is missing"),
        ("a [ b]", 3, "a token or type is missing"),
        ("a [X ]", 6, "a token or type is missing"),
        ("a [X]", 3, "has no tokens"),
        ("a b]", 4, "closes nothing"),
        ("[A b]]", 6, "closes nothing"),
        ("a [B c", 3, "is not closed"),
        ("a b[c", 4, r"\[ inside 'b\[c'; write \\\["),
        ("a [B [C d]e]", 10, r"\] inside 'd\]e\]'; write \\\]"),
        ("a b\\", 4, "inside"),
        (r"a b\q", 3, "unknown escape"),
        (r"a \ud800", 3, "half of a character"),
    ],
)
def test_errors_show_the_mistake(tmp_path: Path, line: str, column: int, what: str) -> None:
    with pytest.raises(DataError, match=f"^column {column}: .*(?:{what})"):
        parse(line)
    with pytest.raises(InputError, match=f"f.nested:3: column {column}: "):
        lines(tmp_path, f"# doc: d\nfine\n{line}\n")


def test_documents_and_comments_are_read(tmp_path: Path) -> None:
    text = "free\n# doc: d\n# a comment\n#\none\n#two\n\\# three\n\nfree\n# doc: e f\none\n# doc: d\none\n"
    assert [(s.tokens[0], s.id) for s in lines(tmp_path, text)] == [
        ("free", None), ("one", "d-1"), ("#two", "d-2"), ("#", "d-3"), ("free", None), ("one", "e f-1"), ("one", "d-1"),
    ]  # fmt: skip


def test_document_needs_a_name(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"f.nested:2: the document has no name"):
        lines(tmp_path, "a\n# doc: \n")


def test_documents_are_written(tmp_path: Path) -> None:
    names = ["d-1", "d-2", "e f-1", None, "d-1", "d-1", "d-3", "x", "-1", "e-0", "e-1"]
    kept = ["d-1", "d-2", "e f-1", None, "d-1", "d-1", None, None, None, None, "e-1"]
    report = Report()
    FORMAT.write([Sentence(["w"], id=name) for name in names], tmp_path / "f.nested.gz", report=report)
    assert [s.id for s in FORMAT.read(tmp_path / "f.nested.gz")] == kept
    assert report.counts == {"sentence id dropped": 4}


def test_output_is_readable(tmp_path: Path) -> None:
    text = "free\n# doc: d\n[A one]\ntwo\n\n# doc: e\n\\#\n"
    FORMAT.write(lines(tmp_path, text), tmp_path / "g")
    assert (tmp_path / "g").read_text() == text


def test_duplicates_are_counted(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("[A [A x]]\n")
    report = Report()
    assert [s.entities for s in FORMAT.read(tmp_path / "f", report=report)] == [(Entity(0, 1, "A"),)]
    assert report.counts == {"duplicate entity merged": 1}


def test_crossing_entities_are_named_before_writing(tmp_path: Path) -> None:
    sentence = Sentence(list("abc"), [Entity(0, 2, "X"), Entity(1, 3, "Y")], "d-1")
    with pytest.raises(CrossingError, match="X and"):
        render(sentence)
    with pytest.raises(InputError, match=r"g: sentence 2 \(d-1\): entities \[0, 2\) X and \[1, 3\) Y cross"):
        FORMAT.write([Sentence(["a"]), sentence], tmp_path / "g")
    assert not list(tmp_path.iterdir())
