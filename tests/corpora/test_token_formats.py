"""Formats of tokens: every one gives back what it was given, and each reads what others publish."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nestag.corpora.format import Format
from nestag.corpora.formats import authors, brackets, columns, conllu, jsonl
from nestag.corpora.registry import available, format_for, format_of
from nestag.corpora.report import Report
from nestag.crossing import set_aside_crossing
from nestag.data import Entity, Origin, Sentence
from nestag.errors import InputError

TOKEN_FORMATS = [entry for entry in available().values() if entry.write and not entry.raw_text]
OURS = (authors.FORMAT, columns.FORMAT, conllu.FORMAT, brackets.FORMAT)
AWKWARD = (
    " ", "a b", "\t", "\n", "\r", "\u2028", "\x85", "\ufeff", "\xa0", "#", "# doc: x", "#x", "[", "]", "[PER", "\\",
    "\\s", "\\u0020", "\\u005c", "\\\\u0009", "|", ",", "-", "(", ")", "_", "O", "B-PER", "1", "0,0 PER", "Entity=(1",
)  # fmt: skip
CORPORA = Path(os.environ.get("NESTAG_CORPORA", "missing"))
with_corpora = pytest.mark.skipif("NESTAG_CORPORA" not in os.environ, reason="needs NESTAG_CORPORA")

texts = st.sampled_from(AWKWARD) | st.text(min_size=1, max_size=4)
ids = st.none() | texts | st.just("") | st.builds("{}-{}".format, st.sampled_from("ab"), st.integers(0, 3))


@st.composite
def sentences(draw: st.DrawFn) -> Sentence:
    tokens = draw(st.lists(texts, min_size=1, max_size=8))
    places = st.tuples(st.integers(0, len(tokens)), st.integers(0, len(tokens)), texts)
    drawn = draw(st.lists(places, max_size=6))
    return Sentence(tokens, [Entity(min(a, b), max(a, b), kind) for a, b, kind in drawn if a != b], draw(ids))


def read(entry: Format, path: Path, text: str) -> tuple[list[Sentence], Counter[str]]:
    path.write_bytes(text.encode())
    report = Report()
    return list(entry.read(path, report=report)), report.counts


def written(entry: Format, path: Path, *given_sentences: Sentence) -> str:
    assert entry.write
    entry.write(given_sentences, path)
    return path.read_bytes().decode()


def there_and_back(entry: Format, given_sentences: list[Sentence], path: Path) -> tuple[list[Sentence], Report]:
    assert entry.write
    report = Report()
    entry.write(given_sentences, path, report=report)
    return list(entry.read(path, report=report)), report


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("entry", TOKEN_FORMATS, ids=lambda entry: entry.name)
@given(st.lists(sentences(), max_size=4))
@settings(max_examples=40, deadline=None)
def test_what_is_written_is_read_again(entry: Format, packed: bool, drawn: list[Sentence]) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / f"file{entry.suffixes[0] if entry.suffixes else ''}{'.gz' if packed else ''}"
        try:
            back, report = there_and_back(entry, drawn, path)
        except InputError as error:
            if "cross" not in str(error):
                raise
            drawn = [sentence.with_entities(set_aside_crossing(sentence.entities).kept) for sentence in drawn]
            back, report = there_and_back(entry, drawn, path)
    assert [(s.tokens, s.entities) for s in back] == [(s.tokens, s.entities) for s in drawn]
    lost = [(a.id, b.id) for a, b in zip(drawn, back, strict=True) if a.id != b.id]
    assert all(after is None for _, after in lost)
    assert len(lost) == report.counts["sentence id left out"]


@pytest.mark.parametrize("entry", TOKEN_FORMATS, ids=lambda entry: entry.name)
def test_awkward_words_and_types_survive(entry: Format, tmp_path: Path) -> None:
    for text in AWKWARD:
        given_sentences = [Sentence([text, "x", text], [Entity(0, 2, text), Entity(0, 1, f"a{text}b")])]
        assert there_and_back(entry, given_sentences, tmp_path / "f")[0] == given_sentences


@pytest.mark.parametrize("entry", [jsonl.FORMAT, conllu.FORMAT], ids=lambda entry: entry.name)
def test_formats_that_hold_ids_hold_all(entry: Format, tmp_path: Path) -> None:
    given_sentences = [Sentence(["a"], id=name) for name in (None, "", " x ", "d-1", "d-7", None, "e-2", "a\nb")]
    assert there_and_back(entry, given_sentences, tmp_path / "f")[0] == given_sentences


@pytest.mark.parametrize("entry", OURS, ids=lambda entry: entry.name)
def test_what_no_token_format_holds_is_reported(entry: Format, tmp_path: Path) -> None:
    origin = Origin("d", 0, "a", ((0, 1),))
    back, report = there_and_back(entry, [Sentence([], id="e"), Sentence(["a"], origin=origin)], tmp_path / "f")
    assert [s.tokens for s in back] == [("a",)]
    assert report.counts == {"sentence without tokens left out": 1, "place in a text left out": 1}


@pytest.mark.parametrize("entry", OURS, ids=lambda entry: entry.name)
def test_half_a_character_is_refused_and_leaves_no_file(entry: Format, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"sentence 2: .*half of a character"):
        there_and_back(entry, [Sentence(["a"]), Sentence(["\ud800"])], tmp_path / "f")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("entry", OURS, ids=lambda entry: entry.name)
def test_files_are_recognised(entry: Format, tmp_path: Path) -> None:
    sentence = Sentence(["the", "USA"], [Entity(0, 2, "GPE")], "a-1")
    text = written(entry, tmp_path / "file", sentence)
    assert [other.name for other in OURS if other.looks_like and other.looks_like(text)] == [entry.name]
    assert format_of(tmp_path / "file") == entry
    for suffix in entry.suffixes:
        assert format_for(f"x{suffix}.gz") == entry


def test_an_escape_that_is_never_written_is_ordinary_text(tmp_path: Path) -> None:
    for token in ("1\\/2", "C:\\temp\\new", "\\u00e9", "\\ud800", "\\"):
        assert read(authors.FORMAT, tmp_path / "f", f"{token}\n\n\n")[0] == [Sentence([token])]
        assert read(columns.FORMAT, tmp_path / "f", f"{token}\tO\n")[0] == [Sentence([token])]


# the authors' .data


def test_data_as_the_authors_write_it(tmp_path: Path) -> None:
    text = "Ada was queen of the Isle\n0,0 PER|2,5 PER|4,5 GPE\n\nIt rained\n\n\nWho ?\n0,0 PER\n\n"
    sentences_read = [
        Sentence(
            ["Ada", "was", "queen", "of", "the", "Isle"],
            [Entity(0, 1, "PER"), Entity(2, 6, "PER"), Entity(4, 6, "GPE")],
        ),
        Sentence(["It", "rained"]),
        Sentence(["Who", "?"], [Entity(0, 1, "PER")]),
    ]
    assert read(authors.FORMAT, tmp_path / "f", text) == (sentences_read, {})
    assert written(authors.FORMAT, tmp_path / "g", *sentences_read) == text


@pytest.mark.parametrize("end", ["", "\n", "\n\n", "\n\n\n"])
def test_data_with_tags_between(tmp_path: Path, end: str) -> None:
    text = f"Ada slept\nNNP VBD\n0,0 PER\n\nIt rained\nPRP VBD\n\n\nAda\nNNP\n0,0 PER\n\nOh\nUH{end}"
    found, counts = read(authors.FORMAT, tmp_path / "f", text)
    assert [(" ".join(s.tokens), len(s.entities)) for s in found] == [
        ("Ada slept", 1),
        ("It rained", 0),
        ("Ada", 1),
        ("Oh", 0),
    ]
    assert not counts


def test_data_sets_inverted_entities_aside(tmp_path: Path) -> None:
    found, counts = read(authors.FORMAT, tmp_path / "f", "a b c\n2,1 X|1,0 Y|1,1 Z|1,1 Z\n\n")
    assert found == [Sentence(["a", "b", "c"], [Entity(1, 2, "Z")])]
    assert counts == {"entity that ends before it starts set aside": 2, "duplicate entity merged": 1}


def test_data_keeps_the_order_of_entities(tmp_path: Path) -> None:
    text = "a b\n1,1 Y|0,1 X|0,0 Z\n\n"
    assert written(authors.FORMAT, tmp_path / "g", *read(authors.FORMAT, tmp_path / "f", text)[0]) == text


@pytest.mark.parametrize(
    ("text", "line", "what"),
    [
        ("a b\n0,0 X\n\na\n\nb\n\n\n", 4, "one blank line after the tokens"),
        ("a b\n0;1 X\n\nc\n\n\n", 2, "no entity"),
        ("a b\n0,1 X|\n\n", 2, "no entity"),
        ("a b\n0,1 X\n\nb\nX\n\n\n", 5, "no entity"),
        ("a b\n\n\nb\nX\n\n\n", 5, "no entity"),
        ("a b\n0,2 X\n\n", 2, "ends outside"),
        ("a b\nN N\n0,1\n\n", 3, "no entity"),
        ("a b\nN\n0,1 X\n\n", 2, "neither entities nor one tag"),
        ("a\nN\n0,0 X\nb\n", 4, "a fourth line"),
        ("a  b\n\n\n", 1, "two spaces after token 1"),
        ("a\n0,99999999999 X\n\nb\n\n\n", 2, "no entity"),
    ],
)
def test_data_that_cannot_be_read(tmp_path: Path, text: str, line: int, what: str) -> None:
    with pytest.raises(InputError, match=f"f:{line}: .*{what}"):
        read(authors.FORMAT, tmp_path / "f", text)


# columns


def column_entities(tmp_path: Path, *tags: str) -> tuple[tuple[Entity, ...], Counter[str]]:
    found, counts = read(columns.FORMAT, tmp_path / "f", "".join(f"w\t{tag}\n" for tag in tags))
    return found[0].entities, counts


@pytest.mark.parametrize(
    "tags",
    [
        ("B-A", "I-A", "B-A", "O", "B-B", "I-B", "I-B"),
        ("B-A", "E-A", "S-A", "O", "B-B", "I-B", "E-B"),
        ("B-A", "L-A", "U-A", "O", "B-B", "I-B", "L-B"),
    ],
)
def test_columns_of_each_scheme(tmp_path: Path, tags: tuple[str, ...]) -> None:
    assert column_entities(tmp_path, *tags) == ((Entity(0, 2, "A"), Entity(2, 3, "A"), Entity(4, 7, "B")), {})


def test_columns_of_iob1_need_no_repair_but_are_named(tmp_path: Path) -> None:
    found, counts = column_entities(tmp_path, "I-A", "I-A", "B-A", "O", "I-B", "I-C")
    assert found == (Entity(0, 2, "A"), Entity(2, 3, "A"), Entity(4, 5, "B"), Entity(5, 6, "C"))
    assert counts == {"file read as IOB1, where I- may begin an entity": 1}


@pytest.mark.parametrize(
    ("tags", "found", "repairs"),
    [
        (("B-A", "O", "I-A", "I-A"), ((0, 1, "A"), (2, 4, "A")), 1),
        (("B-A", "I-B", "I-B"), ((0, 1, "A"), (1, 3, "B")), 1),
        (("S-A", "I-A", "E-A"), ((0, 1, "A"), (1, 3, "A")), 1),
        (("B-A", "E-A", "E-A"), ((0, 2, "A"), (2, 3, "A")), 1),
        (("B-A", "O", "L-A"), ((0, 1, "A"), (2, 3, "A")), 1),
    ],
)
def test_columns_are_repaired_as_conlleval_does(
    tmp_path: Path, tags: tuple[str, ...], found: tuple[tuple[int, int, str], ...], repairs: int
) -> None:
    assert column_entities(tmp_path, *tags) == (found, {"tag repaired to begin an entity": repairs})


def test_columns_with_index_and_comments(tmp_path: Path) -> None:
    text = (
        "#\thttp://example.org/1980\t[2009-10-17]\n1\t1\tO\tO\n\n# more\n1\tO\tO\tO\n2\t#\tB-A\tB-B\n3\tIsle\tI-A\tO\n"
    )
    found, counts = read(columns.FORMAT, tmp_path / "f", text)
    assert found == [Sentence(["1"]), Sentence(["O", "#", "Isle"], [Entity(1, 3, "A"), Entity(1, 2, "B")])]
    assert not counts


def test_columns_where_numbers_and_hashes_are_tokens(tmp_path: Path) -> None:
    text = "#\thttp://example.org\t[2009]\n1\tO\tO\n2\tB-A\tO\n\n#\tO\tO\n#x\tB-A\tO\n# a comment\n\n# alone\n\n"
    found, _ = read(columns.FORMAT, tmp_path / "f", text)
    assert found == [Sentence(["1", "2"], [Entity(1, 2, "A")]), Sentence(["#", "#x"], [Entity(1, 2, "A")])]


def test_columns_are_as_many_as_the_file_needs(tmp_path: Path) -> None:
    nested = Sentence(list("abcd"), [Entity(0, 4, "A"), Entity(1, 3, "B")])
    crossing = Sentence(list("ab"), [Entity(0, 1, "A"), Entity(1, 2, "A"), Entity(0, 2, "A"), Entity(0, 1, "B")])
    text = written(columns.FORMAT, tmp_path / "f", Sentence(["x"]), nested, crossing)
    assert text == (
        "x\tO\tO\tO\n\n"
        "a\tB-A\tO\tO\nb\tI-A\tB-B\tO\nc\tI-A\tI-B\tO\nd\tI-A\tO\tO\n\n"
        "a\tB-A\tB-A\tB-B\nb\tI-A\tB-A\tO\n\n"
    )
    assert written(columns.FORMAT, tmp_path / "f", Sentence(["x"])) == "x\tO\n\n"


def test_columns_merge_and_count_duplicates(tmp_path: Path) -> None:
    found, counts = read(columns.FORMAT, tmp_path / "f", "a\tB-A\tB-A\n")
    assert found == [Sentence(["a"], [Entity(0, 1, "A")])]
    assert counts == {"duplicate entity merged": 1}


@pytest.mark.parametrize(
    ("text", "line", "what"),
    [
        ("a\tO\nb\n", 2, "1 columns where 2 are due"),
        ("a\n", 1, "1 columns where 2 are due"),
        ("a\tO\nb\tO\tO\n", 2, "3 columns where 2 are due"),
        ("a\tPER\n", 1, "'PER' in column 2 is no tag"),
        ("a\tB-\n", 1, "'B-' in column 2 is no tag"),
        ("a\tO\n\tO\n", 2, "the token is empty"),
        ("1\ta\tO\n2\tb\tO\n\n" * columns.LOOKED_AT + "1\ta\tO\n3\tb\tO\n", 302, "it should be 2"),
    ],
)
def test_columns_that_cannot_be_read(tmp_path: Path, text: str, line: int, what: str) -> None:
    with pytest.raises(InputError, match=f"f:{line}: .*{what}"):
        read(columns.FORMAT, tmp_path / "f", text)


def test_columns_without_blank_lines_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(columns, "LONGEST_BLOCK", 10)
    with pytest.raises(InputError, match="f:11: 10 lines without a blank one"):
        read(columns.FORMAT, tmp_path / "f", "a\tO\n" * 20)


# CoNLL-U


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


def test_conllu_as_others_write_it(tmp_path: Path) -> None:
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


def test_conllu_of_older_headers(tmp_path: Path) -> None:
    text = "# global.Entity = entity-GRP-infstat\n" + rows("a Entity=(person-1-new", "b Entity=person-1)")
    assert read(conllu.FORMAT, tmp_path / "f", text)[0] == [Sentence(["a", "b"], [Entity(0, 2, "person")])]


def test_conllu_with_empty_nodes(tmp_path: Path) -> None:
    text = rows("a", "1.1:x Entity=(e1-A(e2-B)", "b Entity=e1)(e3-C", "2.1:_ Entity=e3)")
    found, counts = read(conllu.FORMAT, tmp_path / "f", text)
    assert found == [Sentence(["a", "b"], [Entity(1, 2, "A"), Entity(1, 2, "C")])]
    assert counts == {"entity without words left out": 1}


def test_conllu_reports_what_it_leaves_out(tmp_path: Path) -> None:
    text = (
        rows("a Entity=(e1[1/2]-A(e2-B", "b Entity=e1[1/2])", "c Entity=(e1[2/2]-A)(e4)")
        + rows("d Entity=e2)(e5-E", "e Entity=e5)(e6-F")
        + "# newdoc\n"
        + rows("f Entity=(e6-G)")
    )
    found, counts = read(conllu.FORMAT, tmp_path / "f", text)
    assert [s.entities for s in found] == [(), (Entity(0, 2, "E"),), (Entity(0, 1, "G"),)]
    assert counts == {
        "discontinuous entity left out": 1,
        "entity without a type left out": 1,
        "entity that does not close in its sentence left out": 2,
    }


def test_conllu_is_written_as_it_should_be(tmp_path: Path) -> None:
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


def test_conllu_tells_crossing_brackets_apart(tmp_path: Path) -> None:
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
def test_conllu_that_cannot_be_read(tmp_path: Path, text: str, line: int, what: str) -> None:
    with pytest.raises(InputError, match=f"f:{line}: .*{what}"):
        read(conllu.FORMAT, tmp_path / "f", text)


# real corpora


@with_corpora
def test_germeval_as_published() -> None:
    raw = columns.read(CORPORA.parent / "raw/germeval2014/germ.dev.iob2")
    gold = jsonl.read(CORPORA / "germeval2014/dev.jsonl.gz")
    pairs = [((a.tokens, a.entities), (b.tokens, b.entities)) for a, b in zip(raw, gold, strict=True)]
    assert len(pairs) == 2200
    assert all(a == b for a, b in pairs)


@with_corpora
def test_gum_as_published() -> None:
    gold = {s.id: s for file in (CORPORA / "gum").glob("*.jsonl.gz") for s in jsonl.read(file)}
    raw = [s for file in (CORPORA.parent / "raw/gum").glob("*.conllu") for s in conllu.read(file)]
    assert len(raw) == 48
    assert all(gold[s.id] == s for s in raw)


@with_corpora
def test_nne_as_published() -> None:
    gold = {s.id: s for file in (CORPORA / "nne_notext").glob("*.jsonl.gz") for s in jsonl.read(file)}
    for file in (CORPORA.parent / "raw/nne").glob("*.mrg"):
        for number, sentence in enumerate(authors.read(file)):
            assert sentence.entities == gold[f"{file.stem}-{number}"].entities


@with_corpora
@pytest.mark.parametrize("entry", TOKEN_FORMATS, ids=lambda entry: entry.name)
@pytest.mark.parametrize("corpus", ["genia", "germeval2014", "gum", "litbank", "nne_notext"])
def test_corpora_lose_nothing(entry: Format, corpus: str, tmp_path: Path) -> None:
    gold = list(jsonl.read(CORPORA / corpus / "dev.jsonl.gz"))
    if entry == brackets.FORMAT:
        gold = [s.with_entities(set_aside_crossing(s.entities).kept) for s in gold]
    back, _ = there_and_back(entry, gold, tmp_path / "f.gz")
    assert [(s.tokens, s.entities) for s in back] == [(s.tokens, s.entities) for s in gold]
