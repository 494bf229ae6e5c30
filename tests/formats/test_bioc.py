"""BioC as XML and JSON: passages, sentences, annotations, and errors."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from nestag.data.segment import Options
from nestag.errors import InputError
from nestag.formats.registry import format_named, format_of
from raw_texts import read_all, read_documents, saved, spans_of

XML = """<?xml version='1.0' encoding='UTF-8'?><!DOCTYPE collection SYSTEM 'BioC.dtd'>
<collection><source>PubTator</source><date></date><key>BioC.key</key><document><id>7</id>
<passage><infon key="type">title</infon><offset>0</offset><text>Angina &amp; pills</text>
<annotation id="1"><infon key="type">Drug</infon><infon key="MESH">D1</infon><location offset="9" length="5"/>
<text>pills</text></annotation></passage>
<passage><infon key="type">abstract</infon><offset>16</offset>
<sentence><offset>16</offset><text>Two got worse.</text>
<annotation id="2"><infon key="type">Count</infon><location offset="16" length="3"/><text>two</text></annotation>
<annotation id="3"><infon key="type">X</infon><location offset="16" length="3"/><location offset="24" length="5"/>
<text>Two worse</text></annotation>
<annotation id="4"><infon key="kind">Y</infon><location offset="20" length="3"/><text>got</text></annotation>
</sentence><sentence><offset>31</offset><text>They left.</text></sentence></passage>
<relation id="R1"><infon key="relation">CID</infon></relation></document></collection>"""


def as_json(**fields: Any) -> dict[str, Any]:
    annotation = {"id": "1", "infons": {"type": "Drug"}, "text": "pills", "locations": [{"offset": 9, "length": 5}]}
    title = {"offset": 0, "infons": {"type": "title"}, "text": "Angina & pills", "annotations": [annotation]}
    body = {"offset": 16, "infons": {}, "text": "Two got worse.", "sentences": [], "annotations": []}
    return {"_id": "7|None", "id": "7", "infons": {}, "passages": [title, body], "relations": [{"id": "R1"}]} | fields


def test_xml_with_passages_sentences_and_a_doctype(tmp_path: Path) -> None:
    path = saved(tmp_path, "x.xml", XML)
    assert format_of(path).name == "bioc"
    (document,), report = read_documents(format_named("bioc"), path)
    assert (document.id, document.text) == ("7", "Angina & pills\n Two got worse.\nThey left.")
    assert spans_of(document) == [(9, 14, "Drug"), (16, 19, "Count")]
    sentences, _ = read_all(format_named("bioc"), path)
    assert [sentence.tokens[0] for sentence in sentences] == ["Angina", "Two", "They"]
    assert report.counts == {
        "relation dropped": 1,
        "text that differs from what the offsets cover": 1,
        "discontinuous entity dropped": 1,
        "annotation without the infon 'type' dropped": 1,
    }
    (other,), _ = read_documents(format_named("bioc"), path, Options("whitespace", field="kind"))
    assert spans_of(other) == [(20, 23, "Y")]


@pytest.mark.parametrize(
    "content",
    [
        {"source": "", "date": "", "key": "", "infons": {}, "documents": [as_json()]},
        {"PubTator3": [as_json()]},
        as_json(),
        [as_json()],
    ],
)
def test_json_collections_and_single_documents(content: Any, tmp_path: Path) -> None:
    path = saved(tmp_path, "x.json", json.dumps(content))
    assert format_of(path).name == "bioc-json"
    (document,), report = read_documents(format_named("bioc-json"), path)
    assert (document.id, document.text) == ("7", "Angina & pills\n Two got worse.")
    assert spans_of(document) == [(9, 14, "Drug")]
    assert report.counts == {"relation dropped": 1}


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"passages": 1}, "'passages' is 1"),
        ({"passages": [{"text": "a"}]}, "'offset' is missing"),
        ({"passages": [{"offset": 0, "text": "ab"}, {"offset": 1, "text": "c"}]}, "where the one before ends"),
        ({"passages": [{"offset": 0, "text": 7}]}, "'text' is 7"),
        (
            {"passages": [{"offset": 0, "text": "a", "annotations": [{"infons": {"type": "X"}, "locations": [{}]}]}]},
            "'offset' is missing",
        ),
    ],
)
def test_document_errors_name_the_place(fields: Any, message: str, tmp_path: Path) -> None:
    path = saved(tmp_path, "x.json", json.dumps([as_json(**fields), as_json()], indent=1))
    with pytest.raises(InputError, match=rf"x\.json:2: .*{message}"):
        read_all(format_named("bioc-json"), path)
    found, report = read_documents(format_named("bioc-json"), path, Options("whitespace", skip_bad=True))
    assert len(found) == 1
    assert report.counts["bad record skipped"] == 1


def test_invalid_xml_is_refused_with_a_reason(tmp_path: Path) -> None:
    for content, message in (
        ('<!DOCTYPE collection [<!ENTITY a "b">]><collection>&a;</collection>', "EntitiesForbidden"),
        ("<collection><document>", "not XML that can be read"),
        ("<a/>", "begins with <a>; a file of BioC has a <collection>"),
        (XML.replace("<offset>0</offset>", ""), "document 1: 'offset' is missing"),
    ):
        with pytest.raises(InputError, match=message):
            read_all(format_named("bioc"), saved(tmp_path, "x.xml", content))


def test_folder_of_xml_is_read(tmp_path: Path) -> None:
    saved(tmp_path, "README", "Two files.")
    for name in ("a.xml", "b.xml"):
        saved(tmp_path, name, XML.replace("<id>7</id>", f"<id>{name}</id>"))
    assert format_of(tmp_path).name == "bioc"
    assert [document.id for document in read_documents(format_named("bioc"), tmp_path)[0]] == ["a.xml", "b.xml"]
