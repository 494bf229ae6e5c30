"""ACE from its documents: extents, heads, sentences, and changed sources."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nestag.data.report import Report
from nestag.errors import InputError
from nestag_lab.corpora import ace
from source_files import DUTCH, FIRM, PERSON, SGM, ace_document, charseq, covered, entity, untagged


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
    assert report.counts == {"time dropped": 1, "value dropped": 1}


def test_ace_heads_are_optional(tmp_path: Path) -> None:
    path = ace_document(tmp_path, PERSON, FIRM, DUTCH)
    first, *_ = ace.read_document(path, "head", Report())
    assert covered(first) == {("Li", "PER"), ("firm", "ORG"), ("Dutch", "GPE")}


def test_ace_joins_sentences_that_share_a_mention_and_counts_drops(tmp_path: Path) -> None:
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
        "mention outside <TEXT> dropped": 1,
        "mention dropped whose text is not at its offsets": 1,
        "mention with inverted boundaries dropped": 1,
        "mention of an unknown type dropped": 1,
        "span widened to token borders": 1,
        "mention without a word dropped": 1,
        "time dropped": 1,
        "value dropped": 1,
    }


@st.composite
def annotated_texts(draw: st.DrawFn) -> tuple[str, list[tuple[int, int]]]:
    pieces = draw(st.lists(st.sampled_from(["ab", "S-S", "x.", "(", "?", "'s", " ", " ", "\n\n", "é"]), min_size=1))
    text = "".join(pieces)
    places = st.integers(0, len(text))
    spans = [(min(pair), max(pair)) for pair in draw(st.lists(st.tuples(places, places), max_size=5))]
    return text, [(start, end) for start, end in spans if text[start:end].strip()]


@given(annotated_texts())
def test_ace_mentions_keep_their_text(
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


def test_ace_refuses_changed_sources(tmp_path: Path) -> None:
    path = ace_document(tmp_path, PERSON, DUTCH, sgm=SGM.replace("\n", "\r\n"))
    with pytest.raises(InputError, match=r"no mention is at its offsets .*line ends"):
        list(ace.read_document(path, "extent", Report()))
    for sgm, problem in ((b"<DOC>x</DOC>", "no <TEXT>"), (b"<TEXT>\xff</TEXT>", "byte 6 is not UTF-8")):
        path.with_name("d1.sgm").write_bytes(sgm)
        with pytest.raises(InputError, match=problem):
            list(ace.read_document(path, "extent", Report()))
    path.with_name("d1.sgm").unlink()
    with pytest.raises(InputError, match=r"d1\.sgm: cannot be read"):
        list(ace.read_document(path, "extent", Report()))
    with pytest.raises(InputError, match=r"none\.apf\.xml: there is no such file"):
        list(ace.read_mentions(tmp_path / "none.apf.xml", "extent", Report()))
    path = ace_document(tmp_path, PERSON.replace("START", "BEGIN"))
    with pytest.raises(InputError, match="lacks the number START"):
        list(ace.read_document(path, "extent", Report()))


def test_ace_uses_the_listed_adjudicated_english_documents(tmp_path: Path) -> None:
    data = tmp_path / "data"
    for folder in ("English/bn/fp1", "English/bn/adj", "Chinese/bn/adj"):
        ace_document(data / folder, DUTCH)
    ace_document(data / "English/bn/adj", PERSON, name="d2")
    report = Report()
    found = list(ace.read(tmp_path, {"d1": "dev", "d9": "test"}, report=report))
    assert {split for split, _ in found} == {"dev"}
    assert covered(found[0].sentence) == {("Dutch", "GPE")}
    assert report.counts["document that no split lists dropped"] == 1
    assert report.counts["document of the split not found"] == 1
    with pytest.raises(InputError, match="none of its 2 documents, such as d1"):
        list(ace.read(tmp_path, {"d9": "dev"}))
    ace_document(data / "English/nw/adj", DUTCH)
    with pytest.raises(InputError, match="d1 is there twice"):
        ace.find(data)
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match=r"no \.apf\.xml file"):
        ace.find(tmp_path / "empty")
