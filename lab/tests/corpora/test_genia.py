"""GENIA from its XML: terms, tokens, splits, and drops."""

from __future__ import annotations

import gzip
import io
import tarfile
from pathlib import Path
from xml.sax.saxutils import escape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nestag.data.report import Report
from nestag.data.sentence import Entity
from nestag.errors import InputError
from nestag_lab.corpora import genia
from nestag_lab.corpora.markup import events
from source_files import CORPORA, MADE_BY_RULES, article, cons, genia_file, joined, real, shared


def test_genia_terms_become_entities_of_five_classes(tmp_path: Path) -> None:
    inner = cons("Abc-1", "protein_molecule")
    both = '<cons lex="(AND a b)" sem="(AND G#cell_type G#DNA_N/A)">b and c</cons>'
    path = genia_file(
        tmp_path,
        article("M:1", f"The {cons(f'{inner} gene', 'DNA_domain')} of {cons('flu', 'virus')} &lt;{inner}-like {both}."),
    )
    report = Report()
    [(split, sentence)] = genia.read(path, report)
    assert split == "train"
    assert sentence.id == "M:1-0"
    assert sentence.tokens == ("The", "Abc-1", "gene", "of", "flu", "<", "Abc-1", "-like", "b", "and", "c", ".")
    assert sentence.entities == (
        Entity(1, 3, "DNA"), Entity(1, 2, "protein"), Entity(6, 7, "protein"), Entity(8, 11, "DNA")
    )  # fmt: skip
    assert report.counts == {"term of another class dropped": 1, MADE_BY_RULES: 1}


def test_genia_uses_given_tokens(tmp_path: Path) -> None:
    marked = (
        f'<w c="DT">a</w> {cons("""<w c="*">Abc(x)</w>""", "protein_molecule")}<w c="JJ">-like</w>'
        f' {cons("""<w c="NN">G + C</w> HMG(Y)""", "DNA_N/A")}<w c=".">.</w>'
    )
    path = genia_file(tmp_path, article("M:1", marked), name="GENIAcorpus3.02.merged.xml")
    report = Report()
    [(_, sentence)] = genia.read(path, report)
    assert sentence.tokens == ("a", "Abc(x)", "-like", "G + C", "HMG(Y)", ".")
    assert sentence.entities == (Entity(1, 2, "protein"), Entity(3, 5, "DNA"))
    assert report.counts == {"text outside <w> taken as a word": 1}


def test_genia_counts_drops(tmp_path: Path) -> None:
    twice = cons(cons("Abc", "protein_x"), "protein_y")
    path = genia_file(tmp_path, "stray", article("M:1", f"{twice} {cons(' ', 'DNA_x')}and"))
    report = Report()
    [(_, sentence)] = genia.read(path, report)
    assert sentence.entities == (Entity(0, 1, "protein"),)
    assert report.counts == {
        "duplicate entity merged": 1,
        "term without a word dropped": 1,
        "text outside a sentence dropped": 1,
        MADE_BY_RULES: 1,
    }


def test_genia_split_keeps_the_order_and_renames_repeated_articles(tmp_path: Path) -> None:
    path = genia_file(tmp_path, article("M:1", "a", "b"), article("M:2", "c"), article("M:1", "d"))
    found = [(split, sentence.id) for split, sentence in genia.read(path, sizes=(2, 1, 1))]
    assert found == [("train", "M:1-0"), ("train", "M:1-1"), ("dev", "M:2-0"), ("test", "M:1-0@2")]
    with pytest.raises(InputError, match="more than 3 sentences"):
        list(genia.read(path, sizes=(1, 1, 1)))


def test_genia_reads_folders_and_archives(tmp_path: Path) -> None:
    path = genia_file(tmp_path, article("M:1", cons("Abc", "RNA_x")))
    expected = list(genia.read(path))
    with tarfile.open(tmp_path / "g.tgz", "w:gz") as archive:
        archive.add(path, "GENIA/GENIAcorpus3.02.xml")
    (tmp_path / "g.xml.gz").write_bytes(gzip.compress(path.read_bytes()))
    for source in (tmp_path, tmp_path / "g.tgz", tmp_path / "g.xml.gz"):
        assert list(genia.read(source)) == expected
    genia_file(tmp_path, article("M:9", "<w>x</w>"), name="GENIAcorpus3.02.merged.xml")
    [(_, better)] = genia.read(tmp_path)
    assert better.id == "M:9-0"


def test_genia_source_errors_are_exact(tmp_path: Path) -> None:
    (tmp_path / "cut.xml.gz").write_bytes(gzip.compress(b"<set/>" * 100)[:-9])
    with tarfile.open(tmp_path / "empty.tgz", "w:gz"):
        pass
    (tmp_path / "no.tgz").write_bytes(b"x")
    nested = genia_file(tmp_path, article("M:1", "a <sentence>b</sentence>"), name="nested.xml")
    for source, problem in (
        (tmp_path / "none.xml", "there is no such file"),
        (tmp_path, "has none of"),
        (tmp_path / "cut.xml.gz", "not a whole gzip file|not XML"),
        (tmp_path / "empty.tgz", "has neither"),
        (tmp_path / "no.tgz", "not a whole archive"),
        (nested, "is inside another"),
    ):
        with pytest.raises(InputError, match=problem):
            list(genia.read(source))


@st.composite
def term_trees(draw: st.DrawFn, deep: int = 3) -> tuple[str, str, list[tuple[str, str]]]:
    """Draw a piece of a sentence: its markup, its text without white space, and its entities."""
    markup = bare = ""
    entities: list[tuple[str, str]] = []
    for _ in range(draw(st.integers(1, 3))):
        if deep and draw(st.booleans()):
            inner, text, found = draw(term_trees(deep - 1))
            kind = draw(st.sampled_from([*genia.CLASSES, "other_name"]))
            markup += cons(inner, kind)
            bare += text
            entities += found + ([(text, kind)] if kind in genia.CLASSES else [])
        else:
            text = draw(st.sampled_from(["IL-2", "(x)", "cannot", "a)-b", "T'", "50%", "&<"]))
            markup += escape(text) + draw(st.sampled_from(["", " "]))
            bare += text
    return markup, bare, entities


@given(term_trees())
def test_genia_entities_keep_their_text(tree: tuple[str, str, list[tuple[str, str]]]) -> None:
    markup, bare, entities = tree
    found = genia._marked(events(io.BytesIO(f"<sentence>{markup}</sentence>".encode()), "f"), "f", Report())
    sentence = next(found).sentence(Report())
    assert "".join(sentence.tokens) == bare
    kept = {("".join(sentence.tokens[start:end]), kind) for start, end, kind in sentence.entities}
    assert kept == set(entities)


@real
def test_genia_release_has_the_published_counts() -> None:
    expected = shared("genia")
    same = 0
    for split, sentence in genia.read(f"{CORPORA}/../raw/genia"):
        place, tokens, entities = expected.pop(str(sentence.id))
        assert split == place
        assert joined(sentence.tokens, sentence.entities) == joined(tokens, entities)
        same += list(sentence.tokens) == tokens
    assert not expected
    assert same / 18_546 > 0.98
