"""UIMA CAS XMI: offsets, layers, zips, and characters that XML does not allow."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import pytest

from nestag.data.segment import Options
from nestag.data.sentence import Entity, Sentence
from nestag.errors import InputError
from nestag.formats import cas, registry
from raw_texts import read_all, read_documents, saved, spans_of

pytest.importorskip("cassis")
pytest.importorskip("spacy")


def xmi_files(folder: Path, annotations: str, content: str = "😀 Bob saw Al.", layers: str = "") -> Path:
    """An .xmi file and its type system, with one layer `custom.Span` of the given features."""
    features = "".join(
        f"<featureDescription><name>{name}</name><rangeTypeName>uima.cas.String</rangeTypeName></featureDescription>"
        for name in layers.split()
    )
    kinds = [cas.NAMED_ENTITY, cas.TOKEN, cas.SENTENCE, "custom.Span"]
    saved(
        folder,
        "TypeSystem.xml",
        '<typeSystemDescription xmlns="http://uima.apache.org/resourceSpecifier"><types>'
        + "".join(
            f"<typeDescription><name>{kind}</name><supertypeName>uima.tcas.Annotation</supertypeName><features>"
            + (features if kind == "custom.Span" else "")
            + "<featureDescription><name>value</name><rangeTypeName>uima.cas.String</rangeTypeName>"
            "</featureDescription>" * (kind == cas.NAMED_ENTITY) + "</features></typeDescription>"
            for kind in kinds
        )
        + "</types></typeSystemDescription>",
    )
    count = annotations.count("xmi:id")
    return saved(
        folder,
        "a.xmi",
        '<xmi:XMI xmlns:xmi="http://www.omg.org/XMI" xmlns:cas="http:///uima/cas.ecore"'
        ' xmlns:ner="http:///de/tudarmstadt/ukp/dkpro/core/api/ner/type.ecore"'
        ' xmlns:seg="http:///de/tudarmstadt/ukp/dkpro/core/api/segmentation/type.ecore"'
        ' xmlns:custom="http:///custom.ecore" xmi:version="2.0">'
        f'<cas:Sofa xmi:id="1" sofaNum="1" sofaID="_InitialView" mimeType="text" sofaString="{content}"/>'
        f'{annotations}<cas:View sofa="1" members="{" ".join(str(n + 2) for n in range(count))}"/></xmi:XMI>',
    )


def annotation(number: int, kind: str, begin: int, end: int, **features: str) -> str:
    more = "".join(f' {name}="{value}"' for name, value in features.items())
    return f'<{kind} xmi:id="{number}" sofa="1" begin="{begin}" end="{end}"{more}/>'


def test_cas_offsets_are_utf16_units(tmp_path: Path) -> None:
    marks = [
        annotation(2, "ner:NamedEntity", 3, 6, value="PER"),
        annotation(3, "ner:NamedEntity", 0, 14, value="S &#10;x"),
        annotation(4, "ner:NamedEntity", 11, 13),
        annotation(5, "ner:NamedEntity", 11, 11, value="Z"),
        annotation(6, "custom:Span", 11, 13),
    ]
    (document,), report = read_documents(cas.FORMAT, xmi_files(tmp_path, "".join(marks)))
    assert [(document.text[a:b], kind) for a, b, kind in spans_of(document)] == [
        ("😀 Bob saw Al.", "S \nx"),
        ("Bob", "PER"),
    ]
    assert report.counts == {
        "annotation without a value dropped": 1,
        "empty span dropped": 1,
        "annotation of another layer dropped": 1,
    }


def test_cas_tokens_and_sentences_are_kept(tmp_path: Path) -> None:
    tokens = [(0, 2), (3, 6), (7, 8), (8, 10), (11, 13), (13, 14)]
    marks = [annotation(n, "seg:Token", a, b) for n, (a, b) in enumerate(tokens, 2)]
    path = xmi_files(
        tmp_path, "".join(marks) + annotation(8, "seg:Sentence", 0, 6) + annotation(9, "seg:Sentence", 7, 14)
    )
    sentences, report = read_all(cas.FORMAT, path, Options())
    assert [sentence.tokens for sentence in sentences] == [("😀", "Bob"), ("s", "aw", "Al", ".")]
    assert not report.counts
    path = xmi_files(tmp_path, annotation(2, "seg:Sentence", 0, 6) + annotation(3, "seg:Sentence", 7, 14))
    sentences, report = read_all(cas.FORMAT, path, Options())
    assert [sentence.tokens for sentence in sentences] == [("😀", "Bob"), ("saw", "Al", ".")]


def test_cas_layer_can_be_chosen(tmp_path: Path) -> None:
    def kinds(layers: str, field: str | None = "custom.Span", **features: str) -> list[str]:
        path = xmi_files(tmp_path, annotation(2, "custom:Span", 3, 6, **features), layers=layers)
        return [kind for _, _, kind in read_documents(cas.FORMAT, path, Options("whitespace", field=field))[0][0].spans]

    assert kinds("") == ["Span"]
    assert kinds("label", label="PER") == ["PER"]
    assert kinds("value label", value="A", label="B") == ["A"]
    assert kinds("a b", "custom.Span:b", a="A", b="B") == ["B"]
    with pytest.raises(InputError, match=r"custom.Span:a, custom.Span:b"):
        kinds("a b", a="A")
    with pytest.raises(InputError, match=r"there is no layer no.Such.*custom.Span"):
        kinds("", "no.Such")


@pytest.mark.parametrize("begin", ["1", "99", "x", ""])
def test_cas_refuses_invalid_offsets(begin: str, tmp_path: Path) -> None:
    path = xmi_files(tmp_path, annotation(2, "ner:NamedEntity", 77, 14, value="X").replace("77", begin))
    with pytest.raises(InputError, match=r"a.xmi: not a CAS that can be read"):
        read_all(cas.FORMAT, path)


ENTITIES = '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;">]>'


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
@pytest.mark.parametrize("file", ["a.xmi", "TypeSystem.xml"])
def test_cas_refuses_document_type_definitions(encoding: str, file: str, tmp_path: Path) -> None:
    path = xmi_files(tmp_path, "")
    content = (tmp_path / file).read_text("utf-8")
    saved(tmp_path, file, f'<?xml version="1.0" encoding="{encoding}"?>{ENTITIES}{content}'.encode(encoding))
    with pytest.raises(InputError, match="document type definition; remove <!DOCTYPE"):
        read_all(cas.FORMAT, path)


def test_cas_reads_zips_and_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given = [Sentence(["a"], [Entity(0, 1, "X")], "d-1"), Sentence(["b"], [], "e/f-1")]
    cas.FORMAT.write(given, tmp_path / "x.zip")
    cas.FORMAT.write(given, tmp_path / "folder")
    assert read_all(cas.FORMAT, tmp_path / "x.zip")[0] == given
    assert read_all(cas.FORMAT, tmp_path / "folder")[0] == given
    assert registry.format_of(tmp_path / "folder").name == "cas"
    (tmp_path / "folder" / "deep").mkdir()
    (tmp_path / "x.zip").rename(tmp_path / "folder" / "deep" / "x.zip")
    found, _ = read_all(cas.FORMAT, tmp_path / "folder")
    assert [sentence.id for sentence in found] == ["d-1", "deep/x/d-1", "deep/x/e/f-1", "e/f-1"]
    monkeypatch.setattr(cas, "LARGEST", 100)
    with pytest.raises(InputError, match="more than 100 bytes; split the document"):
        read_all(cas.FORMAT, tmp_path / "folder")


def test_cas_refuses_invalid_zips(tmp_path: Path) -> None:
    def packed(**files: str) -> Path:
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w") as archive:
            for name, content in files.items():
                archive.writestr(name.replace("_", "."), content)
        return saved(tmp_path, "y.zip", buffer.getvalue())

    with pytest.raises(InputError, match=r"y.zip: the zip has no \.xmi file"):
        read_all(cas.FORMAT, packed(a_txt="a"))
    with pytest.raises(InputError, match=r"y.zip/a.xmi: there is no TypeSystem.xml"):
        read_all(cas.FORMAT, packed(a_xmi="<a/>"))
    with pytest.raises(InputError, match=r"y.zip: not a zip"):
        read_all(cas.FORMAT, saved(tmp_path, "y.zip", packed(a_xmi="<a/>", TypeSystem_xml="<a/>").read_bytes()[:-9]))


def test_cas_writes_one_file(tmp_path: Path) -> None:
    given = [Sentence(["a😀", "b"], [Entity(1, 2, "X")], "d-1"), Sentence(["c"], [], "d-2")]
    options = Options("whitespace", field="custom.Span:label")
    cas.FORMAT.write(given, tmp_path / "d.xmi", options)
    assert read_all(cas.FORMAT, tmp_path / "d.xmi", options)[0] == given
    cas.FORMAT.write(given, tmp_path / "e.xmi.gz", options)
    assert [sentence.tokens for sentence in read_all(cas.FORMAT, tmp_path / "e.xmi.gz", options)[0]] == [
        sentence.tokens for sentence in given
    ]
    with pytest.raises(InputError, match=r"another TypeSystem.xml"):
        cas.FORMAT.write(given, tmp_path / "f.xmi")
    with pytest.raises(InputError, match=r"one .xmi file holds one document"):
        cas.FORMAT.write([*given, Sentence(["x"], [], "e-1")], tmp_path / "f.xmi", options)
    with pytest.raises(InputError, match=r"XML cannot hold the character U\+0000 of document 'd'"):
        cas.FORMAT.write([Sentence(["\x00"], [], "d-1")], tmp_path / "f.xmi", options)
    (tmp_path / "TypeSystem.xml").unlink()
    with pytest.raises(InputError, match=r"there is no TypeSystem.xml"):
        read_all(cas.FORMAT, tmp_path / "d.xmi")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["d.xmi", "e.xmi.gz"]


def test_cas_reads_texts_over_ten_megabytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import cassis

    seen: dict[str, object] = {}  # reading one takes half a minute, so only the parser's limit is looked at

    def load(*given: object, **options: object) -> object:
        seen.update(options)
        return real(*given, **options)  # type: ignore[arg-type]

    real = cassis.load_cas_from_xmi
    monkeypatch.setattr(cassis, "load_cas_from_xmi", load)
    cas.FORMAT.write([Sentence(["x"], [Entity(0, 1, "X")], "d-1")], tmp_path / "d.xmi")
    assert len(read_all(cas.FORMAT, tmp_path / "d.xmi")[0]) == 1
    assert seen["trusted"] is True
