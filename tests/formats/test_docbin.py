"""spaCy's DocBin: span groups, entities, sentences, and broken bytes."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nestag.data.segment import Options
from nestag.data.sentence import Entity, Sentence
from nestag.errors import InputError
from nestag.formats import docbin
from raw_texts import read_all, saved

pytest.importorskip("spacy")


def docs(folder: Path, build: Callable[[Any], None], name: str = "x.spacy", **options: Any) -> Path:
    """A DocBin of one document, 'Bob saw New York', that `build` annotates."""
    import spacy
    from spacy.tokens import Doc, DocBin

    doc = Doc(spacy.blank("en").vocab, words=["Bob", "saw", "New", "York", ".", "\n", "He"], spaces=[True] * 7)
    build(doc)
    DocBin(docs=[doc], **options).to_disk(folder / name)
    return folder / name


def group(name: str, *spans: tuple[int, int, str]) -> Callable[[Any], None]:
    def build(doc: Any) -> None:
        from spacy.tokens import Span

        doc.spans[name] = [Span(doc, start, end, label=label) for start, end, label in spans]

    return build


def test_spacy_reads_span_groups(tmp_path: Path) -> None:
    def two(doc: Any) -> None:
        group("a", (0, 1, "X"))(doc)
        group("b", (2, 4, "Y"))(doc)

    nested = docs(tmp_path, group("sc", (2, 4, "GPE"), (2, 3, "X y"), (3, 5, "Z"), (1, 1, "E")))
    (first, second), report = read_all(docbin.FORMAT, nested, Options())
    assert first.tokens == ("Bob", "saw", "New", "York", ".")
    assert first.entities == (Entity(2, 4, "GPE"), Entity(2, 3, "X y"), Entity(3, 5, "Z"))
    assert second.tokens == ("He",)
    assert report.counts == {"empty span dropped": 1}
    assert read_all(docbin.FORMAT, docs(tmp_path, group("own", (0, 1, "X"))))[0][0].entities == (Entity(0, 1, "X"),)
    both = docs(tmp_path, two)
    with pytest.raises(
        InputError, match=r"several groups have spans: a \(1 spans\), b \(1 spans\); say with field=\.\.\."
    ):
        read_all(docbin.FORMAT, both)
    assert read_all(docbin.FORMAT, both, Options(field="b"))[0][0].entities == (Entity(2, 4, "Y"),)
    with pytest.raises(InputError, match="no group of spans is called 'c'"):
        read_all(docbin.FORMAT, both, Options(field="c"))


def test_spacy_reads_ents_without_span_groups(tmp_path: Path) -> None:
    def ents(doc: Any) -> None:
        from spacy.tokens import Span

        doc.ents = [Span(doc, 2, 4, label="GPE")]

    path = docs(tmp_path, ents)
    assert read_all(docbin.FORMAT, path)[0][0].entities == (Entity(2, 4, "GPE"),)
    assert read_all(docbin.FORMAT, path, Options(field="ents"))[0][0].entities == (Entity(2, 4, "GPE"),)
    assert not read_all(docbin.FORMAT, docs(tmp_path, lambda doc: None))[0][0].entities


def test_spacy_reports_the_chosen_group(tmp_path: Path) -> None:
    def both(name: str, *spans: tuple[int, int, str]) -> Callable[[Any], None]:
        def build(doc: Any) -> None:
            from spacy.tokens import Span

            doc.ents = [Span(doc, 2, 4, label="GPE"), Span(doc, 0, 1, label="PER")]
            group(name, *spans)(doc)

        return build

    empty = docs(tmp_path, both("sc"))
    sentences, report = read_all(docbin.FORMAT, empty)
    assert sum(len(sentence.entities) for sentence in sentences) == 2
    assert not report.notes
    filled = docs(tmp_path, both("own", (0, 2, "X")))
    sentences, report = read_all(docbin.FORMAT, filled)
    assert sentences[0].entities == (Entity(0, 2, "X"),)
    assert report.notes[0] == (f"{filled}: read from own (1 spans); ignored: ents (2 spans), which field=... reads")


def test_spacy_sentences_are_kept(tmp_path: Path) -> None:
    def starts(doc: Any) -> None:
        for token in doc:
            token.is_sent_start = token.i in (0, 2)

    sentences, _ = read_all(docbin.FORMAT, docs(tmp_path, starts), Options())
    assert [sentence.tokens for sentence in sentences] == [("Bob", "saw"), ("New", "York", ".", "He")]


def test_spacy_user_data_is_never_decoded(tmp_path: Path) -> None:
    def surprise(doc: Any) -> None:
        doc.user_data["x"] = "y"

    path = docs(tmp_path, surprise, store_user_data=True)
    import srsly

    content = srsly.msgpack_loads(zlib.decompress(path.read_bytes()))
    assert isinstance(content, dict)
    content["user_data"] = [b"\xc1 this is not msgpack"]
    path.write_bytes(zlib.compress(srsly.msgpack_dumps(content)))
    assert read_all(docbin.FORMAT, path)[0][0].tokens[0] == "Bob"


def test_spacy_refuses_large_and_broken_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import gc

    bomb = saved(tmp_path, "b.spacy", zlib.compress(bytes(10**7)))
    monkeypatch.setattr(docbin, "LARGEST", 10**6)
    with pytest.raises(InputError, match=r"b.spacy: more than 1000000 bytes when unpacked"):
        read_all(docbin.FORMAT, bomb)
    for content in (b"", b"x", zlib.compress(b""), zlib.compress(b"\xc1"), zlib.compress(b"\x93\x01")):
        with pytest.raises(InputError, match=r"c.spacy: not a whole DocBin"):
            read_all(docbin.FORMAT, saved(tmp_path, "c.spacy", content))
    assert gc.isenabled()


@given(data=st.data())
def test_spacy_survives_broken_bytes(data: st.DataObject, tmp_path: Path) -> None:
    path = tmp_path / "x.spacy"
    docbin.FORMAT.write([Sentence(["a", "b"], [Entity(0, 2, "X"), Entity(1, 2, "Y")], "d-1")], path)
    content = bytearray(zlib.decompress(path.read_bytes()))
    for _ in range(data.draw(st.integers(1, 3))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    path.write_bytes(zlib.compress(bytes(content)))
    with suppress(InputError):
        read_all(docbin.FORMAT, path)
