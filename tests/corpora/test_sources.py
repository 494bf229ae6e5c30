"""The paper's corpora from their sources: words, entities and splits come out right, and nothing is lost unseen."""

from __future__ import annotations

import gzip
import io
import json
import os
import tarfile
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from xml.sax.saxutils import escape, quoteattr

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from nestag.cli import app
from nestag.corpora.report import Report
from nestag.corpora.sources import ace, apf, genia, nne, treebank
from nestag.corpora.sources.build import build, depth
from nestag.corpora.sources.ends import sentences
from nestag.corpora.sources.markup import events
from nestag.corpora.sources.split import Placed, published_list, read_list
from nestag.corpora.sources.words import words
from nestag.data import Entity, Sentence
from nestag.errors import InputError

CORPORA = os.environ.get("NESTAG_CORPORA")
real = pytest.mark.skipif(not CORPORA, reason="NESTAG_CORPORA does not name the corpora")

HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE set SYSTEM "gpml.dtd">\n<set>\n'


def covered(sentence: Sentence) -> set[tuple[str, str]]:
    """The entities by their words."""
    return {(" ".join(sentence.tokens[start:end]), kind) for start, end, kind in sentence.entities}


def spelled(text: str, spans: Sequence[tuple[int, int]]) -> str:
    return " ".join(text[start:end] for start, end in spans)


# words and sentence ends


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The cells (n=3) died.", "The cells ( n = 3 ) died ."),
        ("(Abc)-kappa and factor(s) cannot rise.", "( Abc ) -kappa and factor ( s ) can not rise ."),
        ("t(8;21) [3H]thymidine CD4(+) 1,25(OH)2D3 (+)", "t(8;21) [3H]thymidine CD4(+) 1,25(OH)2D3 (+)"),
        ("(A/T)GATA (P<0.05) C-->T 5' ends", "(A/T)GATA ( P < 0.05 ) C --> T 5' ends"),
        ("See 27;271(52):33705] i.e. there", "See 27 ; 271 ( 52 ) : 33705 ] i.e. there"),
        ('"They can\'t," he said.', '" They ca n\'t , " he said .'),
        ("``We're gonna pay US$5.2 million...''", "`` We 're gon na pay US$ 5.2 million ... ''"),
        ("the boys' 'old' house at 5 p.m.", "the boys ' ' old ' house at 5 p.m."),
        ("Mr. Li's 50% (in the '90s), etc.", "Mr. Li 's 50 % ( in the '90s ) , etc ."),
        ("He (she.)", "He ( she . )"),
    ],
)
def test_words(text: str, expected: str) -> None:
    assert spelled(text, words(text)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Mr. A. Li left. He slept.", ["Mr. A. Li left.", "He slept."]),
        ("In the U.S. The end.", ["In the U.S.", "The end."]),
        ("In the U.S. Senate, Co. men", ["In the U.S. Senate, Co. men"]),
        ('He said "No." Then No. 5 left?! Yes', ['He said "No."', "Then No. 5 left?!", "Yes"]),
        ("A title\n \n  so it. went on... and on", ["A title", "so it.", "went on... and on"]),
        (" \n\n ", []),
    ],
)
def test_sentence_ends(text: str, expected: list[str]) -> None:
    assert [text[start:end] for start, end in sentences(text)] == expected


NEWSY = st.text(st.sampled_from("abS.!?'’\"`()[]{}-/<>=$%&;:,5 \n\u2028é"), max_size=40)


def uncovered(text: str, spans: Sequence[tuple[int, int]]) -> str:
    """What no span covers; the spans must rise and none be empty."""
    before, left = 0, ""
    for start, end in spans:
        assert before <= start < end <= len(text)
        left, before = left + text[before:start], end
    return left + text[before:]


@given(NEWSY)
def test_words_lose_nothing_but_white_space(text: str) -> None:
    spans = words(text)
    assert not uncovered(text, spans).strip()
    assert not any(text[start:end].split() != [text[start:end]] for start, end in spans)


@given(NEWSY)
def test_sentences_lose_nothing_but_white_space(text: str) -> None:
    assert not uncovered(text, list(sentences(text))).strip()


@given(NEWSY)
def test_a_layout_knows_where_every_character_went(text: str) -> None:
    layout = ace.laid_out(text)
    assert len(layout.places) == len(text) + 1
    for before, character in enumerate(text):
        if not character.isspace():
            assert layout.text[layout.places[before]] == character
    assert "".join(layout.text.split()) == "".join(text.split())


def test_a_layout_has_characters_for_entities() -> None:
    layout = ace.laid_out("AT&amp;T &LT;&unknown;")
    assert layout.text == "AT&T < &unknown ;"
    assert layout.places[7] == layout.text.index("T", 2)


# XML


BOMB = '<!DOCTYPE a [<!ENTITY b "bbbbbbbb"><!ENTITY c "&b;&b;&b;&b;&b;">]><a>&c;</a>'


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (BOMB, "'b' is declared"),
        ('<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]><a>&b;</a>', "'b' is declared"),
        ('<!DOCTYPE a [<!ENTITY % b SYSTEM "x.dtd"> %b;]><a/>', "'b' is declared"),
        ('<!DOCTYPE a SYSTEM "x.dtd">\n<a>&alpha;</a>', ":2: the entity &alpha;"),
        ("<a>\n<b></a>", ":2: not XML"),
        ('<?xml version="1.0" encoding="klingon"?><a/>', "klingon"),
        ("<a>" * 1_001, "1000 elements"),
        ("", "no element"),
    ],
)
def test_unsafe_and_broken_xml_is_refused(text: str, problem: str) -> None:
    with pytest.raises(InputError, match=r"f\.xml:") as error:
        list(events(io.BytesIO(text.encode()), "f.xml"))
    assert problem in str(error.value)


def test_a_tag_without_end_is_refused_before_it_fills_the_memory() -> None:
    class Endless(io.BytesIO):
        def read(self, size: int | None = -1) -> bytes:
            return super().read(size) or b"a" * 2**20

    with pytest.raises(InputError, match="one tag is longer than"):
        list(events(Endless(b"<a b='"), "f.xml"))


def test_a_document_type_is_not_loaded_and_xmls_own_entities_are_known_in_any_case() -> None:
    text = '<!DOCTYPE a SYSTEM "http://nowhere.invalid/x.dtd"><a b="1">x &AMP; &lt;</a>'
    opened, *texts, closed = events(io.BytesIO(text.encode()), "f.xml")
    assert (opened, closed) == (("a", {"b": "1"}, 1), ("a",))
    assert "".join(text for (text,) in texts) == "x & <"


def test_a_text_longer_than_any_sentence_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module, limit in ((genia, "LONGEST"), (treebank, "MOST_LEAVES"), (ace, "LARGEST")):
        monkeypatch.setattr(module, limit, 3)
    with pytest.raises(InputError, match="M:1-0 is longer than 3"):
        list(genia.read(genia_file(tmp_path, article("M:1", "a b c d <cons/>"))))
    with pytest.raises(InputError, match=":2: a tree has more than 3"):
        list(treebank.read(nne_file(tmp_path, "((A a) (B b)\n(A a)\n)")))
    with pytest.raises(InputError, match="more than 3 bytes"):
        list(ace.read_document(ace_document(tmp_path), "extent", Report()))


# GENIA


MADE_BY_RULES = "sentence whose words are made by rules (GENIAcorpus3.02.merged.xml has them)"


def article(name: str, *marked: str) -> str:
    body = "\n".join(f"<sentence>{sentence}</sentence>" for sentence in marked)
    return (
        f"<article>\n<articleinfo>\n<bibliomisc>{name}</bibliomisc>\n</articleinfo>\n<title>\n{body}\n</title>"
        "\n<abstract>\n</abstract>\n</article>\n"
    )


def cons(text: str, meaning: str) -> str:
    return f'<cons lex="x" sem="G#{meaning}">{text}</cons>'


def genia_file(folder: Path, *articles: str, name: str = "GENIAcorpus3.02.xml") -> Path:
    path = folder / name
    path.write_text(HEAD + "".join(articles) + "</set>\n", encoding="utf-8")
    return path


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
    assert report.counts == {"term of another class left out": 1, MADE_BY_RULES: 1}


def test_genia_words_are_taken_where_they_are_given(tmp_path: Path) -> None:
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


def test_genia_counts_what_it_cannot_keep(tmp_path: Path) -> None:
    twice = cons(cons("Abc", "protein_x"), "protein_y")
    path = genia_file(tmp_path, "stray", article("M:1", f"{twice} {cons(' ', 'DNA_x')}and"))
    report = Report()
    [(_, sentence)] = genia.read(path, report)
    assert sentence.entities == (Entity(0, 1, "protein"),)
    assert report.counts == {
        "duplicate entity merged": 1,
        "term without a word left out": 1,
        "text outside a sentence left out": 1,
        MADE_BY_RULES: 1,
    }


def test_genia_is_split_in_its_order_and_repeated_articles_are_told_apart(tmp_path: Path) -> None:
    path = genia_file(tmp_path, article("M:1", "a", "b"), article("M:2", "c"), article("M:1", "d"))
    found = [(split, sentence.id) for split, sentence in genia.read(path, sizes=(2, 1, 1))]
    assert found == [("train", "M:1-0"), ("train", "M:1-1"), ("dev", "M:2-0"), ("test", "M:1-0@2")]
    with pytest.raises(InputError, match="more than 3 sentences"):
        list(genia.read(path, sizes=(1, 1, 1)))


def test_genia_is_read_from_a_folder_and_from_archives(tmp_path: Path) -> None:
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


def test_genia_says_what_is_wrong_with_a_source(tmp_path: Path) -> None:
    (tmp_path / "cut.xml.gz").write_bytes(gzip.compress(b"<set/>" * 100)[:-9])
    with tarfile.open(tmp_path / "empty.tgz", "w:gz"):
        pass
    (tmp_path / "no.tgz").write_bytes(b"x")
    nested = genia_file(tmp_path, article("M:1", "a <sentence>b</sentence>"), name="nested.xml")
    for source, problem in (
        (tmp_path / "none.xml", "cannot be read"),
        (tmp_path, "has none of"),
        (tmp_path / "cut.xml.gz", "not a whole archive|not XML"),
        (tmp_path / "empty.tgz", "has neither"),
        (tmp_path / "no.tgz", "not a whole archive"),
        (nested, "stands in another"),
    ):
        with pytest.raises(InputError, match=problem):
            list(genia.read(source))


@st.composite
def term_trees(draw: st.DrawFn, deep: int = 3) -> tuple[str, str, list[tuple[str, str]]]:
    """A piece of a sentence: its markup, its text without white space, and its entities."""
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
def test_genia_entities_keep_their_text_whatever_the_words(tree: tuple[str, str, list[tuple[str, str]]]) -> None:
    markup, bare, entities = tree
    found = genia._marked(events(io.BytesIO(f"<sentence>{markup}</sentence>".encode()), "f"), "f", Report())
    sentence = next(found).sentence(Report())
    assert "".join(sentence.tokens) == bare
    kept = {("".join(sentence.tokens[start:end]), kind) for start, end, kind in sentence.entities}
    assert kept == set(entities)


# NNE


NNE = """0 1 2 3
NNP NNP VBD .
0,1 PER|0,0 FIRST|1,1 NAME

0 1
PRP VBD


0 1 2
NN VBD .
2,1 DATE|0,0 NAME|0,0 NAME|0,0 ORG:X
"""
TREES = """
( (S (NP-SBJ-1 (NNP Ada) (NNP Li) )
    (VP (VBD slept) (S (NP-SBJ (-NONE- *-1) )))
    (. .) ))
( (S (NP (PRP He)) (VP (VBD -LRB-) (NP (-NONE- 0)))) )
(S (NN rain) (VBD fell) (. .))
"""


def nne_file(folder: Path, text: str = NNE, name: str = "wsj_0001.mrg") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text, encoding="utf-8")
    return folder / name


def test_nne_structure_without_words(tmp_path: Path) -> None:
    report = Report()
    found = list(nne.read(nne_file(tmp_path / "nne").parent, None, report))
    assert [sentence.id for _, sentence in found] == ["wsj_0001-0", "wsj_0001-1", "wsj_0001-2"]
    assert found[0].sentence.tokens == ("_", "_", "_", "_")
    assert found[0].sentence.entities == (Entity(0, 2, "PER"), Entity(0, 1, "FIRST"), Entity(1, 2, "NAME"))
    assert found[1].sentence.entities == ()
    assert found[2].sentence.entities == (Entity(0, 1, "NAME"), Entity(0, 1, "ORG:X"))
    assert report.counts == {
        "sentence without words (every token is _)": 3,
        "entity with inverted boundaries left out": 1,
        "duplicate entity merged": 1,
    }


def test_nne_takes_its_words_from_the_treebank(tmp_path: Path) -> None:
    nne_file(tmp_path / "nne" / "00")
    nne_file(tmp_path / "wsj" / "00", TREES)
    report = Report()
    found = [sentence.tokens for _, sentence in nne.read(tmp_path / "nne", tmp_path / "wsj", report)]
    assert found == [("Ada", "Li", "slept", "."), ("He", "-LRB-"), ("rain", "fell", ".")]
    assert not any("without words" in kind for kind in report.counts)


def test_nne_joined_with_its_words_already(tmp_path: Path) -> None:
    [(_, sentence)] = nne.read(nne_file(tmp_path, "Ada slept\nNNP VBD\n0,0 PER\n"))
    assert sentence == Sentence(["Ada", "slept"], [Entity(0, 1, "PER")], "wsj_0001-0")


@pytest.mark.parametrize(
    ("trees", "problem"),
    [
        (TREES.replace("VBD fell", "VBZ fell"), "wsj_0001.mrg:9: token 1 is VBD here and VBZ in the treebank .*tree 3"),
        (TREES.replace(" (. .))\n", ")\n"), "3 tokens here and 2 in the treebank"),
        (TREES + "( (NN more) )", "more than its 3 sentences"),
        (TREES.replace("(S (NN rain) (VBD fell) (. .))", ""), "there is no .*tree 3"),
        (TREES + "(S (NN", "2 brackets are still open"),
        (TREES + ")", "outside a tree"),
        ("(S (NN a b))", "more than a word"),
    ],
)
def test_a_treebank_that_differs_is_refused_at_the_first_difference(tmp_path: Path, trees: str, problem: str) -> None:
    nne_file(tmp_path / "nne")
    nne_file(tmp_path / "wsj", trees)
    with pytest.raises(InputError, match=problem):
        list(nne.read(tmp_path / "nne", tmp_path / "wsj"))


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("0 1\nNN\n\n", ":1: 2 positions, but 1 parts"),
        ("0 1\nNN NN", "fewer than three lines"),
        ("0\nNN\n0-0 PER\n", ":3: '0-0 PER' is not an entity"),
        ("0\nNN\n0,1 PER\n", ":3: entity .* outside the sentence"),
    ],
)
def test_a_standoff_file_that_is_wrong_is_refused(tmp_path: Path, text: str, problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        list(nne.read(nne_file(tmp_path, text)))


def test_nne_is_split_by_section_and_needs_every_file(tmp_path: Path) -> None:
    sections = {"wsj_0207.mrg": "dev", "wsj_2300.mrg": "test", "wsj_2454.mrg": "test", "wsj_2200.mrg": "train"}
    for name in sections:
        nne_file(tmp_path / "nne", "0\nNN\n\n", name)
    found = {f"{sentence.id}".removesuffix("-0") + ".mrg": split for split, sentence in nne.read(tmp_path / "nne")}
    assert found == sections
    nne_file(tmp_path / "wsj", "(NN a)", "wsj_0207.mrg")
    with pytest.raises(InputError, match=r"has no wsj_2200\.mrg"):
        list(nne.read(tmp_path / "nne", tmp_path / "wsj"))
    nne_file(tmp_path / "wsj" / "again", "(NN a)", "wsj_0207.mrg")
    for read in (nne.read, treebank.find):
        with pytest.raises(InputError, match=r"there is another wsj_0207\.mrg"):
            list(read(tmp_path / "wsj"))
    nne_file(tmp_path / "nne", name="other.mrg")
    with pytest.raises(InputError, match="section is not known"):
        list(nne.read(tmp_path / "nne"))
    for read in (nne.read, treebank.find):
        (tmp_path / "empty").mkdir(exist_ok=True)
        with pytest.raises(InputError, match=r"no \.mrg file"):
            list(read(tmp_path / "empty"))


# ACE


BEFORE = "<DOC>\n<DOCID> d1 </DOCID>\n<HEADLINE>\nEve Wu\n</HEADLINE>\n<TEXT>"
SGM = (
    f"{BEFORE}\n<TURN>\nMs. Ada Li of AT&amp;T, the Anglo-Dutch firm. She\nslept.\n</TURN>\n\n"
    "The mayor of Rome. And its\nboats left.\n</TEXT>\n</DOC>\n"
)


def untagged(text: str) -> str:
    return "".join(piece.partition(">")[2] if number else piece for number, piece in enumerate(text.split("<")))


def charseq(shown: str, text: str = SGM) -> str:
    """What the annotators would write for the first place where the text is; `shown` is as in the source."""
    start = untagged(text).index(shown)
    return f'<charseq START="{start}" END="{start + len(shown) - 1}">{shown}</charseq>'


def entity(kind: str, extent: str, head: str) -> str:
    return (
        f'<entity ID="d-E" TYPE={quoteattr(kind)} SUBTYPE="x" CLASS="SPC">\n<entity_mention ID="d-E-1" TYPE="NAM">\n'
        f"<extent>\n{extent}\n</extent>\n<head>\n{head}\n</head>\n</entity_mention>\n"
        f'<entity_attributes><name NAME="x">{head}</name></entity_attributes>\n</entity>\n'
    )


def apf_text(*entities: str) -> str:
    return (
        '<?xml version="1.0"?>\n<!DOCTYPE source_file SYSTEM "apf.v5.1.1.dtd">\n<source_file URI="d1.sgm">\n'
        f'<document DOCID="d1">\n{"".join(entities)}'
        f'<timex2 ID="d-T1"><timex2_mention ID="d-T1-1"><extent>{charseq("slept")}</extent></timex2_mention></timex2>\n'
        f'<value ID="d-V1"><value_mention ID="d-V1-1"><extent>{charseq("slept")}</extent></value_mention></value>\n'
        f'<relation ID="d-R1"><relation_mention ID="d-R1-1"><extent>{charseq("Rome")}</extent></relation_mention>'
        "</relation>\n</document>\n</source_file>\n"
    )


def ace_document(folder: Path, *entities: str, name: str = "d1", sgm: str = SGM) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.sgm").write_bytes(sgm.encode())
    (folder / f"{name}.apf.xml").write_text(apf_text(*entities), encoding="utf-8")
    return folder / f"{name}.apf.xml"


PERSON = entity("PER", charseq("Ms. Ada Li of AT&amp;T, the Anglo-Dutch firm"), charseq("Li"))
FIRM = entity("ORG", charseq("AT&amp;T, the Anglo-Dutch firm"), charseq("firm"))
DUTCH = entity("GPE", charseq("Dutch"), charseq("Dutch"))


def test_ace_extents_become_entities(tmp_path: Path) -> None:
    path = ace_document(tmp_path, PERSON, FIRM, DUTCH)
    report = Report()
    first, *rest = ace.read_document(path, "extent", report)
    assert " ".join(first.tokens) == "Ms. Ada Li of AT&T , the Anglo - Dutch firm ."
    assert first.id == "d1-1"
    assert covered(first) == {
        ("Ms. Ada Li of AT&T , the Anglo - Dutch firm", "PER"),
        ("AT&T , the Anglo - Dutch firm", "ORG"),
        ("Dutch", "GPE"),
    }
    assert [" ".join(sentence.tokens) for sentence in rest] == [
        "She slept .", "The mayor of Rome .", "And its boats left ."
    ]  # fmt: skip
    assert report.counts == {"time left out": 1, "value left out": 1}


def test_ace_heads_if_wanted(tmp_path: Path) -> None:
    path = ace_document(tmp_path, PERSON, FIRM, DUTCH)
    first, *_ = ace.read_document(path, "head", Report())
    assert covered(first) == {("Li", "PER"), ("firm", "ORG"), ("Dutch", "GPE")}


def test_ace_joins_sentences_that_a_mention_joins_and_counts_what_it_cannot_keep(tmp_path: Path) -> None:
    joining = charseq("mayor of Rome. And its\nboats")
    blank = untagged(SGM).index(" Rome")
    inverted = charseq("Rome").replace('END="', 'END="-')
    path = ace_document(
        tmp_path,
        entity("PER", joining, charseq("mayor")),
        entity("PER", joining, charseq("mayor")),
        entity("VEH", charseq("boats left"), charseq("boats")),
        entity("PER", charseq("Eve Wu\n"), charseq("Wu")),
        entity("LOC", charseq("Rome").replace("Rome<", "Romo<"), charseq("Rome")),
        entity("LOC", inverted, charseq("Rome")),
        entity("TIGER", charseq("Rome"), charseq("Rome")),
        entity("GPE", charseq("Anglo-Dut"), charseq("Anglo")),
        entity("GPE", charseq("\n\nThe"), charseq("The")),
        entity("GPE", f'<charseq START="{blank}" END="{blank}"> </charseq>', charseq("The")),
    )
    report = Report()
    found = {sentence: covered(sentence) for sentence in ace.read_document(path, "extent", report)}
    assert [" ".join(sentence.tokens) for sentence in found][-1] == "The mayor of Rome . And its boats left ."
    assert list(found.values())[-1] == {
        ("mayor of Rome . And its boats", "PER"), ("boats left", "VEH"), ("The", "GPE")
    }  # fmt: skip
    assert next(iter(found.values())) == {("Anglo - Dutch", "GPE")}
    assert report.counts == {
        "sentences joined because a span covers both": 1,
        "duplicate entity merged": 1,
        "mention outside <TEXT> left out": 1,
        "mention left out that is not where it says": 1,
        "mention with inverted boundaries left out": 1,
        "mention of an unknown type left out": 1,
        "span widened to token borders": 1,
        "mention without a word left out": 1,
        "time left out": 1,
        "value left out": 1,
    }


@st.composite
def annotated_texts(draw: st.DrawFn) -> tuple[str, list[tuple[int, int]]]:
    pieces = draw(st.lists(st.sampled_from(["ab", "S-S", "x.", "(", "?", "'s", " ", " ", "\n\n", "é"]), min_size=1))
    text = "".join(pieces)
    places = st.integers(0, len(text))
    spans = [(min(pair), max(pair)) for pair in draw(st.lists(st.tuples(places, places), max_size=5))]
    return text, [(start, end) for start, end in spans if text[start:end].strip()]


@given(annotated_texts())
def test_ace_mentions_keep_their_text_whatever_the_words_and_sentences(
    annotated: tuple[str, list[tuple[int, int]]],
) -> None:
    text, spans = annotated
    mentions = [
        entity("PER", f'<charseq START="{start}" END="{end - 1}">{text[start:end]}</charseq>', "")
        for start, end in spans
    ]
    with TemporaryDirectory() as folder:
        path = ace_document(Path(folder), *mentions, sgm=f"<DOC><TEXT>{text}</TEXT></DOC>")
        found = list(ace.read_document(path, "extent", Report()))
    assert "".join(token for sentence in found for token in sentence.tokens) == "".join(text.split())
    entities = ["".join(sentence.tokens[start:end]) for sentence in found for start, end, _ in sentence.entities]
    for start, end in spans:
        assert any("".join(text[start:end].split()) in entity for entity in entities)
    assert len(entities) <= len(set(spans))


def test_ace_refuses_sources_that_were_changed(tmp_path: Path) -> None:
    path = ace_document(tmp_path, PERSON, DUTCH, sgm=SGM.replace("\n", "\r\n"))
    with pytest.raises(InputError, match=r"no mention is where it says .*line ends"):
        list(ace.read_document(path, "extent", Report()))
    for sgm, problem in ((b"<DOC>x</DOC>", "no <TEXT>"), (b"<TEXT>\xff</TEXT>", "byte 6 is not UTF-8")):
        path.with_name("d1.sgm").write_bytes(sgm)
        with pytest.raises(InputError, match=problem):
            list(ace.read_document(path, "extent", Report()))
    path.with_name("d1.sgm").unlink()
    with pytest.raises(InputError, match=r"d1\.sgm: cannot be read"):
        list(ace.read_document(path, "extent", Report()))
    with pytest.raises(InputError, match=r"none\.apf\.xml: cannot be read"):
        list(apf.read(tmp_path / "none.apf.xml", "extent", Report()))
    path = ace_document(tmp_path, PERSON.replace("START", "BEGIN"))
    with pytest.raises(InputError, match="lacks the number START"):
        list(ace.read_document(path, "extent", Report()))


def test_ace_takes_the_adjudicated_english_documents_of_the_list(tmp_path: Path) -> None:
    data = tmp_path / "data"
    for folder in ("English/bn/fp1", "English/bn/adj", "Chinese/bn/adj"):
        ace_document(data / folder, DUTCH)
    ace_document(data / "English/bn/adj", PERSON, name="d2")
    report = Report()
    found = list(ace.read(tmp_path, {"d1": "dev", "d9": "test"}, report=report))
    assert {split for split, _ in found} == {"dev"}
    assert covered(found[0].sentence) == {("Dutch", "GPE")}
    assert report.counts["document that no split lists left out"] == 1
    assert report.counts["document of the split not found"] == 1
    with pytest.raises(InputError, match="none of its 2 documents, such as d1"):
        list(ace.read(tmp_path, {"d9": "dev"}))
    ace_document(data / "English/nw/adj", DUTCH)
    with pytest.raises(InputError, match="d1 is there twice"):
        ace.find(data)
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match=r"no \.apf\.xml file"):
        ace.find(tmp_path / "empty")


# splits, files and the command


@pytest.mark.parametrize(("name", "sizes"), [("ace2004", (356, 41, 46)), ("ace2005", (370, 43, 51))])
def test_published_lists_have_the_published_sizes(name: str, sizes: tuple[int, int, int]) -> None:
    counts = Counter(published_list(name).values())
    assert (counts["train"], counts["dev"], counts["test"]) == sizes


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("train a\nd1\n", ":2: 'd1' is not a split"),
        ("training a", ":1: 'training a' is not"),
        ("train a\ndev a", ":2: a is in train already"),
        ("# only\n", "names no document"),
    ],
)
def test_lists_that_are_wrong_are_refused(tmp_path: Path, text: str, problem: str) -> None:
    (tmp_path / "list").write_text(text)
    with pytest.raises(InputError, match=problem):
        read_list(tmp_path / "list")


def test_depth_counts_chains_only() -> None:
    assert depth([]) == 0
    assert depth([Entity(0, 3, "A"), Entity(1, 4, "B")]) == 1
    assert depth([Entity(0, 3, "A"), Entity(1, 4, "B"), Entity(2, 4, "C"), Entity(2, 4, "D")]) == 3


def test_files_are_written_all_or_none(tmp_path: Path) -> None:
    sentence = Sentence(["a", "b", "c"], [Entity(0, 2, "A"), Entity(1, 3, "B")], "s-1")

    def failing() -> Iterator[Placed]:
        yield Placed("train", sentence)
        raise InputError("no more", "x")

    with pytest.raises(InputError, match="no more"):
        build(failing(), tmp_path / "new" / "deep", packed=False, report=Report())
    assert list(tmp_path.iterdir()) == []
    report = Report()
    tallies = build(iter([Placed("dev", sentence)]), tmp_path / "new", packed=True, report=report)
    assert sorted(path.name for path in (tmp_path / "new").iterdir()) == [
        "dev.jsonl.gz", "test.jsonl.gz", "train.jsonl.gz"
    ]  # fmt: skip
    assert json.loads(gzip.decompress((tmp_path / "new" / "dev.jsonl.gz").read_bytes()))["id"] == "s-1"
    assert tallies["dev"].figures() == (1, 2, 3.0, 1)
    assert report.counts == {"crossing pair of entities kept as it is": 1}
    (tmp_path / "file").write_text("x")
    with pytest.raises(InputError, match="cannot be made"):
        build(iter([]), tmp_path / "file" / "in", packed=False, report=Report())


def run(*arguments: str | Path) -> tuple[int, list[list[str]], str]:
    result = CliRunner().invoke(app, ["corpus", *map(str, arguments)])
    return result.exit_code, [line.split() for line in result.stdout.splitlines()], result.stderr


def test_the_command_prints_counts_beside_the_papers(tmp_path: Path) -> None:
    path = genia_file(tmp_path, article("M:1", f"{cons('Abc', 'protein_x')} binds .", "Yes"))
    code, lines, told = run("genia", path, "-o", tmp_path / "out")
    assert (code, told.splitlines()) == (0, [f"2 {MADE_BY_RULES} ({path}:9: M:1-0)"])
    assert lines == [
        ["train", "dev", "test", "all", "paper"],
        ["sentences", "2", "0", "0", "2", "18,549"],
        ["entities", "1", "0", "0", "1", "57,063"],
        ["tokens", "per", "sentence", "2.0", "0.0", "0.0", "2.0", "26.5"],
        ["deepest", "1", "0", "0", "1", "4"],
    ]
    assert len((tmp_path / "out" / "train.jsonl").read_text().splitlines()) == 2


def test_the_command_says_plainly_what_it_did(tmp_path: Path) -> None:
    _, _, told = run("nne", nne_file(tmp_path / "nne").parent, "-o", tmp_path / "out")
    assert "hold no words: tokens are _" in told
    assert "1 entity with inverted boundaries left out" in told
    ace_document(tmp_path / "ace", DUTCH)
    (tmp_path / "list").write_text("test d1\n")
    code, lines, told = run(
        "ace2005", tmp_path / "ace", "--heads", "--split", tmp_path / "list", "-o", tmp_path / "out"
    )
    assert code == 0
    assert lines[1][1:] == ["0", "0", "4", "4", "9,335"]
    assert "list says" in told
    assert "heads of mentions" in told


def test_the_command_refuses_in_one_line(tmp_path: Path) -> None:
    path = genia_file(tmp_path, article("M:1", "a <broken>"))
    code, lines, told = run("genia", path, "-o", tmp_path / "out")
    assert (code, lines) == (2, [])
    assert told.count("\n") == 1
    assert "GENIAcorpus3.02.xml:" in told
    assert not (tmp_path / "out").exists()
    for option in (["--treebank", "x"], ["--heads"], ["--split", "x"]):
        code, _, told = run("genia", path, *option, "-o", tmp_path / "out")
        assert (code, f"{option[0]} is not for genia" in told) == (2, True)


# the real corpora


def shared(name: str) -> dict[str, tuple[str, list[str], set[Entity]]]:
    sentences = {}
    for split in ("train", "dev", "test"):
        with gzip.open(f"{CORPORA}/{name}/{split}.jsonl.gz", "rt", encoding="utf-8") as lines:
            for record in map(json.loads, lines):
                entities = {Entity(**found) for found in record["entities"]}
                sentences[record["id"]] = (split, record["tokens"], entities)
    return sentences


def joined(tokens: Sequence[str], entities: set[Entity] | tuple[Entity, ...]) -> set[tuple[int, str, str]]:
    """Entities by characters, white space aside."""
    bare = ["".join(token.split()) for token in tokens]
    return {(len("".join(bare[:start])), "".join(bare[start:end]), kind) for start, end, kind in entities}


@real
def test_genia_as_released() -> None:
    expected = shared("genia")
    same = 0
    for split, sentence in genia.read(f"{CORPORA}/../raw/genia"):
        place, tokens, entities = expected.pop(str(sentence.id))
        assert split == place
        assert joined(sentence.tokens, sentence.entities) == joined(tokens, entities)
        same += list(sentence.tokens) == tokens
    assert not expected
    assert same / 18_546 > 0.98


@real
def test_nne_as_released() -> None:
    expected = shared("nne_notext")
    found = list(nne.read(f"{CORPORA}/../raw/nne"))
    assert len(found) == 77
    for split, sentence in found:
        assert expected[str(sentence.id)] == (split, list(sentence.tokens), set(sentence.entities))
