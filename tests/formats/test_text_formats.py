"""All formats of raw text round-trip and are detected by content."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nestag.data.document import Document, TextSpan, documents_of, sentences_of, text_of
from nestag.data.report import Report
from nestag.data.segment import Options
from nestag.data.sentence import Entity, Sentence
from nestag.errors import DataError, InputError, MissingExtraError
from nestag.formats import cas, docbin, registry
from nestag.formats.registry import Format
from raw_texts import EXACT, LINES, read_all, read_documents, saved, spans_of

pytest.importorskip("spacy")
pytest.importorskip("cassis")


PATHS = {
    "doccano": "x.doccano.jsonl",
    "prodigy": "x.prodigy.jsonl.gz",
    "labelstudio": "x.json",
    "brat": "pairs",
    "spacy": "x.spacy",
    "cas": "x.zip",
    "text": "x.txt",
    "webanno": "texts",
    "pubtator": "x.pubtator",
    "bioc": "x.bioc.xml.gz",
    "bioc-json": "x.bioc.json",
    "spacy2": "x.spacy2.json",
}
IN_ORDER_OF_NAMES = ("brat", "cas", "webanno")
IN_XML = ("cas", "bioc")


ODD = "a bB.!?,-'\"\\\t\n\r\x0b\x1c\x7f\x85\u00a0\u00e9e\u0301\u200b\u200d\u2028\u2029\ufeff😀👨北京。<&>%;"


def raw_text_formats() -> list[Format]:
    return [entry for entry in registry.available().values() if entry.raw_text]


names = st.text(st.sampled_from("ab/.:% 1é"), min_size=1, max_size=6)


@cache  # making a strategy takes longer than drawing from it
def spans_in(length: int) -> st.SearchStrategy[list[tuple[int, int]]]:
    return st.lists(st.tuples(st.integers(0, length), st.integers(0, length)), max_size=6)


@st.composite
def documents(draw: st.DrawFn, types: st.SearchStrategy[str], texts: st.SearchStrategy[str]) -> Document:
    content = draw(texts)
    ends = draw(spans_in(len(content)))
    spans = tuple(TextSpan(min(a, b), max(a, b), draw(types)) for a, b in ends if a != b)
    return Document(draw(names), content, spans)


@cache
def kept_by(entry: Format) -> st.SearchStrategy[list[Document]]:
    """Some documents that a format can hold."""
    plain = st.sampled_from(["PER", "+'-", "北", "a:b;c|d"])
    odd_types = {"brat": ["+"], "pubtator": ["a b", "\u2028"]}.get(entry.name, ["a b", "x\ty\n", "\u2028"])
    types = st.one_of(plain, st.sampled_from(odd_types))
    allowed = st.one_of(
        st.sampled_from(
            ODD.replace("\x0b", "").replace("\x1c", "") if entry.name in IN_XML else ODD + "\x00\x01\ufffe"
        ),
        st.characters(exclude_categories=("Cs", "Cc", "Cn")),
    )
    texts = st.text(allowed, max_size=50)
    return st.lists(documents(types, texts), min_size=1, max_size=1 if entry.name == "text" else 3)


def held_by(entry: Format) -> Callable[[Document], Any]:
    """What a format keeps of a document: its text and spans, or less."""

    def words(document: Document) -> Any:
        """Each word and the spans on words: all that WebAnno has, whose white space between sentences is gone."""
        places = [place for segment in document.words or () for place in segment]
        first = {start: number for number, (start, _) in enumerate(places)}
        last = {end: number for number, (_, end) in enumerate(places)}
        spans = sorted((first[start], last[end], kind) for start, end, kind in document.spans)
        return [document.text[start:end] for start, end in places], spans

    def lines(document: Document) -> Any:
        """PubTator has one line end, between title and abstract."""
        return document.text.removesuffix("\n").replace("\n", " ").replace("\r", " "), spans_of(document)

    kept = {"webanno": words, "pubtator": lines}
    return kept.get(entry.name, lambda document: (document.text, spans_of(document)))


@pytest.mark.parametrize("entry", raw_text_formats(), ids=lambda entry: entry.name)
@given(data=st.data())
def test_text_formats_round_trip(entry: Format, data: st.DataObject, tmp_path_factory: pytest.TempPathFactory) -> None:
    given = data.draw(kept_by(entry))
    sentences = [sentence for document in given for sentence in sentences_of(document, EXACT, Report())]
    expected = list(documents_of(sentences))
    path = tmp_path_factory.mktemp("x") / PATHS[entry.name]
    report = Report()
    entry.write(sentences, path, report=report)
    found, reading = read_documents(entry, path)
    if entry.name == "text":
        assert [document.text for document in found] == [document.text for document in expected]
        assert report.counts["entity dropped from plain text"] == sum(len(document.spans) for document in expected)
        return
    order = sorted if entry.name in IN_ORDER_OF_NAMES else list
    assert order(map(held_by(entry), found)) == order(map(held_by(entry), expected))  # type: ignore[operator]
    changed = ("document renamed", "name of a document")
    renamed = sum(count for kind, count in report.counts.items() if kind.startswith(changed))
    assert len({d.id for d in found} & {d.id for d in expected}) >= len({d.id for d in expected}) - renamed
    assert set(reading.counts) <= {
        "text whose offsets were read as UTF-16 units",
        "token cut at a span's border",
        "sentences joined because a span covers both",
    }


@pytest.mark.parametrize("name", ["prodigy", "spacy", "cas", "webanno"])
@pytest.mark.parametrize("tokenizer", ["spacy", "whitespace"])
def test_formats_with_tokens_keep_them(name: str, tokenizer: Any, tmp_path: Path) -> None:
    given = [
        Sentence(["New York", ",", "don't"], [Entity(0, 1, "GPE"), Entity(0, 3, "X")], "d-1"),
        Sentence(["it", "'s"], [Entity(1, 2, "X")], "d-2"),
        Sentence(["😀👍", "end"], [Entity(0, 2, "Y")], "e-1"),
    ]
    entry = registry.format_named(name)
    path = tmp_path / PATHS[name]
    entry.write(given, path)
    found, report = read_all(entry, path, Options(tokenizer))
    assert not report.counts
    if name == "prodigy" and tokenizer == "spacy":  # it has no sentences, and no full stop says where one ends
        assert [sentence.tokens for sentence in found] == [given[0].tokens + given[1].tokens, given[2].tokens]
    else:
        assert found == given


BLANK = [
    Sentence(["a", "\u00a0", "b", "."], [Entity(1, 2, "X"), Entity(1, 3, "Y"), Entity(0, 2, "Z")], "d-1"),
    Sentence([" ", "c", "\u3000", "\u00a0"], [Entity(0, 4, "X")], "d-2"),
]
"""Words of white space, which are entities and stand at the ends of entities."""


@pytest.mark.parametrize("entry", raw_text_formats(), ids=lambda entry: entry.name)
def test_whitespace_tokens_are_kept_or_counted(entry: Format, tmp_path: Path) -> None:
    path = tmp_path / PATHS[entry.name]
    writing = Report()
    entry.write(BLANK, path, report=writing)
    found, report = read_all(entry, path, LINES if entry.name == "prodigy" else Options())
    if entry.name in ("prodigy", "spacy", "cas", "webanno"):
        assert [(s.tokens, s.entities) for s in found] == [(s.tokens, s.entities) for s in BLANK]
        assert not {*writing.counts, *report.counts} - {"sentence id dropped"}
    else:
        assert writing.counts["token of white space, which is not a word in a text"] == 4


def test_brat_trims_whitespace_of_entities_and_counts(tmp_path: Path) -> None:
    writing = Report()
    brat = registry.format_named("brat")
    brat.write(BLANK, tmp_path / "a.ann", report=writing)
    found, report = read_all(brat, tmp_path / "a.ann", LINES)
    assert [(s.tokens, s.entities) for s in found] == [
        (("a", "b", "."), (Entity(0, 1, "Z"), Entity(1, 2, "Y"))),
        (("c",), (Entity(0, 1, "X"),)),
    ]
    counts = writing.counts + report.counts
    assert counts["span of white space dropped"] + counts["entity of white space dropped"] == 1
    assert counts["white space trimmed from a span"] + counts["white space at the ends of an entity dropped"] == 3


@pytest.mark.parametrize(
    ("text", "second", "lost"),
    [("a.\nb.\n", 3, 0), ("a.b.", 2, 0), ("a.\n b.", 4, 0), ("a. b.", 3, 1), ("a.\n\nb. \n", 4, 2), ("a.\tb.", 3, 1)],
)
def test_webanno_counts_lost_whitespace(text: str, second: int, lost: int, tmp_path: Path) -> None:
    webanno = registry.format_named("webanno")
    report = Report()
    document = Document("d", text, (), ([(0, 2)], [(second, second + 2)]))
    webanno.write(sentences_of(document, LINES, Report()), tmp_path / "a.tsv", report=report)
    assert report.counts["white space between sentences not kept"] == lost
    again = "".join(text_of(sentence) for sentence in webanno.read(tmp_path / "a.tsv"))
    assert (again == text.removesuffix("\n")) == (lost == 0)


@pytest.mark.parametrize("entry", raw_text_formats(), ids=lambda entry: entry.name)
def test_empty_and_blank_texts_are_read(entry: Format, tmp_path: Path) -> None:
    for number, content in enumerate(["", " \n\t ", "\ufeff", "\u200b"]):
        path = tmp_path / str(number) / PATHS[entry.name]
        path.parent.mkdir()
        entry.write(sentences_of(Document("d", content), LINES, Report()), path)
        kept = content.strip(" \n\t\ufeff") if entry.name == "webanno" else content
        assert [document.text for document in read_documents(entry, path)[0]] == [kept]
    entry.write([], tmp_path / PATHS[entry.name])


@pytest.mark.parametrize("entry", raw_text_formats(), ids=lambda entry: entry.name)
def test_failed_write_leaves_no_file(entry: Format, tmp_path: Path) -> None:
    def broken() -> Iterator[Sentence]:
        yield Sentence(["a"], [], "d-1")
        yield Sentence(["b"], [], "e-1")
        raise DataError("no more")

    with pytest.raises(DataError, match="no more"):
        entry.write(broken(), tmp_path / PATHS[entry.name])
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("entry", raw_text_formats(), ids=lambda entry: entry.name)
def test_missing_files_are_named(entry: Format, tmp_path: Path) -> None:
    path = tmp_path / PATHS[entry.name].replace("pairs", "a.ann").replace("texts", "a.tsv")
    with pytest.raises(InputError, match="there is no such file"):
        read_all(entry, path)


@pytest.mark.parametrize("entry", raw_text_formats(), ids=lambda entry: entry.name)
@pytest.mark.parametrize("content", [b"\xff\xfe\x00", b"{", b"[", b"[{}]", b"PK\x03\x04", b"<a/>", b'{"text": 1}'])
def test_broken_files_are_refused_by_name(entry: Format, content: bytes, tmp_path: Path) -> None:
    path = tmp_path / PATHS[entry.name].replace("pairs", "x.ann").replace("texts", "x.tsv").removesuffix(".gz")
    path.write_bytes(content)
    path.with_suffix(".txt").write_bytes(content)
    if entry.name == "text" and content[0] < 128:
        return
    with pytest.raises(InputError, match=r"x\."):
        read_all(entry, path)


SAMPLES = {
    "doccano": '{"id": 1, "text": "the USA", "label": [[4, 7, "GPE"]]}',
    "doccano ": '{"text": "a \\"tokens\\": []", "entities": [{"label": "X", "start_offset": 0, "end_offset": 1}]}',
    "prodigy": '{"text": "the USA", "spans": [], "tokens": [], "answer": "accept"}',
    "labelstudio": '[{"id": 1, "data": {"text": "a"}, "annotations": []}]',
    "labelstudio ": '[\n  {"text": "a", "id": 1, "label": [], "annotator": 1, "annotation_id": 2}]',
    "brat": "T1\tPER 0 3\tBob\n",
    "cas": '<?xml version="1.0"?>\n<xmi:XMI xmlns:xmi="http://www.omg.org/XMI" xmi:version="2.0">',
    "cas ": '<typeSystemDescription xmlns="http://uima.apache.org/resourceSpecifier">',
    "jsonl": '{"tokens": ["a"], "entities": []}',
    "prodigy ": '{"text": "a"}\n{"text": "b", "_input_hash": 1, "answer": "accept"}\n{"text": "c", "spans": []}',
    "doccano  ": '{"id": 1, "data": "the USA", "label": [[4, 7, "GPE"]]}',
    "brat ": "#1\tAnnotatorNotes T1\tsure\nT1\tPER 0 3\tBob\n",
    "gliner": '{"tokenized_text": ["a"], "ner": [[0, 0, "X"]]}',
    "spert": '[{"tokens": ["a"], "entities": [], "relations": []}]',
    "w2ner": '[{"sentence": ["a"], "ner": [], "word": [[0]]}]',
    "dygie": '{"clusters": [], "sentences": [["a"]], "ner": [[]], "doc_key": "d"}',
    "oneie": '{"doc_id": "d", "sent_id": "d-1", "tokens": ["a"], "entity_mentions": []}',
    "webanno": "#FORMAT=WebAnno TSV 3.3\n#T_SP=x.Y|value\n\n\n#Text=a\n1-1\t0-1\ta\t_\t\n",
    "pubtator": "\n12|t|A title\n12|a|\n12\t0\t1\tA\tX\n",
    "bioc": '<?xml version="1.0"?>\n<!DOCTYPE collection SYSTEM "BioC.dtd">\n<collection><source>PubMed</source>',
    "bioc-json": '{"source": "", "documents": [{"id": "1", "passages": []}]}',
    "bioc-json ": '{"_id": "1|None", "id": "1", "passages": [{"offset": 0, "text": "a"}]}',
    "spacy2": '[["the USA", {"entities": [[4, 7, "GPE"]]}]]',
    "spacy2 ": '["the USA", {"entities": [[4, 7, "GPE"]]}]\n["a", {"entities": []}]',
    "spacy2  ": '{"classes": ["GPE"], "annotations": [null, ["the USA", {"entities": []}]]}',
    "spacy2   ": '[{"id": 0, "paragraphs": [{"sentences": [{"tokens": [{"orth": "a", "ner": "O"}]}]}]}]',
    "parquet": "PAR1\x15\x04",
    "columns": "Ada NNP B-NP B-PER\nslept VBD B-VP O\n",
    "conllu": "# text = a\n1\ta\t_\t_\t_\t_\t_\t_\t_\tEntity=(e1-X)\n",
    "nner": "a b\n0,1 X\n",
    "brackets": "# doc: d\n[X a]\n",
}


@pytest.mark.parametrize("sample", SAMPLES)
def test_format_is_detected_by_content(sample: str) -> None:
    seen = [
        entry.name for entry in registry.available().values() if entry.looks_like and entry.looks_like(SAMPLES[sample])
    ]
    assert seen == [sample.strip()]


@given(st.text())
def test_format_detection_never_fails(head: str) -> None:
    assert all(isinstance(entry.looks_like(head), bool) for entry in raw_text_formats() if entry.looks_like)


def test_formats_are_found_by_suffix_and_content(tmp_path: Path) -> None:
    saved(tmp_path, "a.ann", "T1\tPER 0 3\tBob\n")
    saved(tmp_path, "a.txt", "Bob")
    assert registry.format_of(tmp_path).name == "brat"
    assert registry.format_of(saved(tmp_path, "x.json", SAMPLES["labelstudio"])).name == "labelstudio"
    for name in ("doccano", "prodigy", "spacy", "cas", "text"):
        assert registry.format_for(tmp_path / PATHS[name]).name == name


@pytest.mark.parametrize(("module", "extra"), [("cassis", "cas"), ("spacy.vocab", "text")])
def test_missing_extras_are_named(module: str, extra: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    entry, path = (cas.FORMAT, "x.zip") if extra == "cas" else (docbin.FORMAT, "x.spacy")
    with pytest.raises(MissingExtraError, match=rf"pip install 'nestag\[{extra}\]'"):
        entry.write([], tmp_path / path)
    with pytest.raises(MissingExtraError, match=rf"pip install 'nestag\[{extra}\]'"):
        read_all(entry, saved(tmp_path, path, b""))
