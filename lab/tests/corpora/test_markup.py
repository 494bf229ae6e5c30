"""Untrusted XML is parsed as a stream; broken and unsafe XML is refused."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from nestag.data.report import Report
from nestag.errors import InputError
from nestag_lab.corpora import ace, genia, nne
from nestag_lab.corpora.markup import events
from source_files import ace_document, article, genia_file, nne_file

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
        ("<a>" * 1_001, "1000 nested elements"),
        ("", "no element"),
    ],
)
def test_unsafe_and_broken_xml_is_refused(text: str, problem: str) -> None:
    with pytest.raises(InputError, match=r"f\.xml:") as error:
        list(events(io.BytesIO(text.encode()), "f.xml"))
    assert problem in str(error.value)


def test_endless_tag_is_refused_in_bounded_memory() -> None:
    class Endless(io.BytesIO):
        def read(self, size: int | None = -1) -> bytes:
            return super().read(size) or b"a" * 2**20

    with pytest.raises(InputError, match="one tag is longer than"):
        list(events(Endless(b"<a b='"), "f.xml"))


def test_doctype_is_not_loaded_and_xml_entities_are_known() -> None:
    text = '<!DOCTYPE a SYSTEM "http://nowhere.invalid/x.dtd"><a b="1">x &AMP; &lt;</a>'
    opened, *texts, closed = events(io.BytesIO(text.encode()), "f.xml")
    assert (opened, closed) == (("a", {"b": "1"}, 1), ("a",))
    assert "".join(text for (text,) in texts) == "x & <"


def test_overlong_text_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module, limit in ((genia, "LONGEST"), (nne, "MOST_LEAVES"), (ace, "LARGEST")):
        monkeypatch.setattr(module, limit, 3)
    with pytest.raises(InputError, match="M:1-0 is longer than 3"):
        list(genia.read(genia_file(tmp_path, article("M:1", "a b c d <cons/>"))))
    with pytest.raises(InputError, match=":2: a tree has more than 3"):
        list(nne.read_trees(nne_file(tmp_path, "((A a) (B b)\n(A a)\n)")))
    with pytest.raises(InputError, match="more than 3 bytes"):
        list(ace.read_document(ace_document(tmp_path), "extent", Report()))
