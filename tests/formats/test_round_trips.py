"""Every writable format round-trips, reports a loss, or raises an error."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nestag.data.crossing import crossing_pairs
from nestag.data.document import Document, documents_of
from nestag.data.report import Report
from nestag.data.segment import Options
from nestag.data.sentence import Entity, Sentence
from nestag.errors import DataError, InputError, NestagError
from nestag.formats import bioc, webanno
from nestag.formats.files.parts import HERE
from nestag.formats.registry import Format, available, format_of
from nestag.formats.shared.tags import MOST_LEVELS
from raw_texts import saved
from strategies import typed_places
from token_texts import there_and_back

pytest.importorskip("spacy")
pytest.importorskip("cassis")
pytest.importorskip("pyarrow")

FORMATS = list(available().values())
EXACT = Options("whitespace", boundaries="split")
AWKWARD = (
    " ", "a b", "\t", "\n", "\r", "\x0c", "\u2028", "\x85", "\ufeff", "\xa0", "\u3000", "\u200b", "\x00", "#",
    "# doc: x", "#x", "[", "]", "[PER", "\\", "\\s", "\\u0020", "\\u005c", "\\\\u0009", "|", ",", "-", "(", ")", "_",
    "*", "O", "B-PER", "B-52", "1", "0,0 PER", "0,1 X|1,1 Y", "Entity=(1", "-DOCSTART-", "NP", "x|t|y",
    "T1\tX 0 1\ty", "%", "%41", ".", "..", "/", "</text>", "&amp;", '"', "'", "{", "}", "x" * 70,
    "\U0001f468\u200d\U0001f469", "e\u0301", "NUL", "\U0001f3f3\ufe0f", "#FORMAT=WebAnno TSV 3", "PAR1", "@2",
    "a-1@2",
)  # fmt: skip
FOLDERS = ("brat", "webanno", "cas")
"""Formats of which a file holds one document, and a folder several."""
REFUSED = re.compile("XML cannot hold|cannot hold the type|cross, which brackets|holds one document|name an .ann file")
"""Why a sentence may not be written."""

texts = st.sampled_from(AWKWARD) | st.text(min_size=1, max_size=4)
ids = st.none() | texts | st.just("") | st.builds("{}-{}".format, st.sampled_from("ab"), st.integers(0, 3))
some_tokens = st.lists(texts, max_size=8)


REPEATING = {"columns", "parquet", "webanno", "w2ner"} | {
    "bioc",
    "bioc-json",
    "brat",
    "labelstudio",
    "oneie",
    "pubtator",
}
"""Formats that repeat each token for each entity, or the text, so a file would be as large as words times levels."""


@st.composite
def sentences(draw: st.DrawFn) -> Sentence:
    """A sentence with odd words, types and ids, entities that cross, or many levels."""
    tokens = draw(some_tokens)
    drawn = draw(typed_places(len(tokens), texts, 6))
    entities = [Entity(min(a, b), max(a, b), kind) for a, b, kind in drawn if a != b]
    if draw(st.integers(0, 9)) == 9:
        levels = draw(st.integers(1, 15))
        tokens += ["w"] * (2 * levels)
        entities += [Entity(level, len(tokens) - level, draw(texts)) for level in range(levels)]
    return Sentence(tokens, entities, draw(ids))


@pytest.mark.parametrize("entry", FORMATS, ids=lambda entry: entry.name)
def test_hundred_levels_can_be_written(entry: Format, tmp_path: Path) -> None:
    for levels in (MOST_LEVELS, MOST_LEVELS + 1):
        chain = [Entity(0, 2, f"T{level}") for level in range(levels)]
        tree = [Entity(level, 2 * levels - level, "T") for level in range(levels)]
        corpus = [Sentence(["w"] * 2, chain, "f-1"), Sentence(["w"] * (2 * levels), tree, "f-2")]
        path = tmp_path / f"f{entry.suffixes[0]}"
        if levels > MOST_LEVELS and entry.name in REPEATING:
            with pytest.raises(InputError, match="more than 100 entities lie over one token"):
                entry.write(corpus, path)
        elif entry.name != "text":
            entry.write(corpus, path)
            found = [sentence.entities for sentence in entry.read(path, Options("whitespace"))]
            assert found == [sentence.entities for sentence in corpus]


@pytest.mark.parametrize("entry", FORMATS, ids=lambda entry: entry.name)
def test_reading_changes_no_file(entry: Format, tmp_path: Path) -> None:
    entry.write([Sentence(["w"], id="f-1")], tmp_path / f"f{entry.suffixes[0]}")
    (tmp_path / f".nestag-{HERE}-00000000.part").write_text("of a killed process")
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}
    assert list(format_of(tmp_path / f"f{entry.suffixes[0]}").read(tmp_path / f"f{entry.suffixes[0]}"))
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")} == before


@pytest.mark.parametrize("entry", FORMATS, ids=lambda entry: entry.name)
def test_lone_surrogate_in_an_option_is_an_error(entry: Format, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="half of a character"):
        entry.write([Sentence(["w"], [Entity(0, 1, "X")])], tmp_path / "f", Options(field="x\ud800"))
    with pytest.raises(InputError, match="no file name can have"):
        entry.write([Sentence(["w"])], tmp_path / f"x\ud800{entry.suffixes[0]}")


@pytest.mark.parametrize(
    ("entry", "content"),
    [
        (bioc.FORMATS[1], '{"passages": [{"offset": 1000000000000, "text": "a"}]}'),
        (bioc.FORMATS[0], f"<collection><document>{'<passage>' * 5_000}{'</passage>' * 5_000}</document></collection>"),
        (webanno.FORMAT, "#T_SP=NamedEntity|value\n\n1-1\t1000000000000-1000000000001\ta\t_\n"),
        (webanno.FORMAT, "#T_SP=NamedEntity|value\n\n1-1\t0-1\ta\t_\n1-2\t999999999999-1000000000000\tb\t_\n"),
    ],
)
def test_impossible_offsets_and_depths_are_refused(entry: Format, content: str, tmp_path: Path) -> None:
    with pytest.raises(InputError):
        list(entry.read(saved(tmp_path, "f", content), Options("whitespace")))


@pytest.mark.parametrize("entry", [e for e in FORMATS if not e.raw_text], ids=lambda entry: entry.name)
def test_unusual_words_and_types_round_trip(entry: Format, tmp_path: Path) -> None:
    for text in AWKWARD:
        corpus = [Sentence([text, "x", text], [Entity(0, 2, text), Entity(0, 1, f"a{text}b")])]
        assert there_and_back(entry, corpus, tmp_path / f"f{entry.suffixes[0]}")[0] == corpus


corpora = st.lists(sentences(), max_size=4)


def write(entry: Format, corpus: list[Sentence], path: Path) -> Report | None:
    """The report; None if the format refuses the corpus for a reason that it may have."""
    report = Report()
    try:
        entry.write(corpus, path, report=report)
    except NestagError as error:
        if REFUSED.search(str(error)):
            return None
        raise
    return report


@pytest.mark.parametrize("entry", FORMATS, ids=lambda entry: entry.name)
@given(data=st.data())
@settings(deadline=None)
def test_losses_are_reported(entry: Format, data: st.DataObject) -> None:
    corpus = data.draw(corpora)
    if entry.name == "brackets" and data.draw(st.booleans()):
        corpus = [sentence for sentence in corpus if not any(crossing_pairs(sentence.entities))]
    name = data.draw(st.sampled_from([f"f{suffix}" for suffix in entry.suffixes + entry.shared if suffix != ".arrow"]))
    name = "folder" if entry.name in FOLDERS and data.draw(st.booleans()) else name
    packed = ".gz" if name != "folder" and entry.name not in FOLDERS and data.draw(st.booleans()) else ""
    with TemporaryDirectory() as folder:
        path = Path(folder) / (name + packed)
        if (writing := write(entry, corpus, path)) is None:
            return
        check_recognised(entry, path, any(sentence.tokens for sentence in corpus))
        reading = Report()
        if not corpus and entry.name in FOLDERS:  # an empty folder or zip is refused
            return
        found = list(entry.read(path, EXACT, reading))
    (compare_documents if entry.raw_text else compare_sentences)(entry, corpus, found, writing, reading)


def check_recognised(entry: Format, path: Path, has_words: bool) -> None:
    """An unshared suffix is enough; a shared one needs content, and is never taken for another format."""
    own = path.name.removesuffix(".gz").endswith(entry.suffixes) and ".tsv" not in path.suffixes
    try:
        assert format_of(path) == entry or not (own or has_words)
    except InputError:
        assert not own


def compare_sentences(
    entry: Format, corpus: list[Sentence], found: list[Sentence], writing: Report, reading: Report
) -> None:
    """Formats of tokens give back every sentence that has words, and its id unless the report says otherwise."""
    held = [sentence for sentence in corpus if sentence.tokens or entry.name == "jsonl"]
    assert [(s.tokens, s.entities) for s in found] == [(s.tokens, s.entities) for s in held]
    assert writing.counts["sentence without tokens dropped"] == len(corpus) - len(held)
    lost = [(a.id, b.id) for a, b in zip(held, found, strict=True) if a.id != b.id]
    assert all(after is None for _, after in lost)
    assert len(lost) == writing.counts["sentence id dropped"]
    assert not reading.counts


def compare_documents(
    entry: Format, corpus: list[Sentence], found: list[Sentence], writing: Report, reading: Report
) -> None:
    """Formats of texts give back every character and entity, but for white space, or the report counts it."""
    expected, documents = list(documents_of(corpus)), list(documents_of(found))
    if entry.name == "text":
        assert letters(documents, "") == letters(expected, "")
        assert writing.counts["entity dropped from plain text"] == sum(len(s.entities) for s in corpus)
        return
    assert texts_in(documents) == texts_in(expected)
    before, after = entities(expected), entities(documents)
    assert not after - before
    counts = writing.counts + reading.counts
    lost = sum(counts[f"{what} dropped"] for what in ("span of white space", "span without a token"))
    lost += counts["entity of white space dropped"]
    assert (before - after).total() <= lost + counts["duplicate entity merged"]
    renamed = counts["name of a document dropped"]
    renamed += sum(count for kind, count in writing.counts.items() if kind.startswith("document renamed"))
    assert len({d.id for d in expected} - {d.id for d in documents} - {""}) <= renamed


def texts_in(documents: list[Document]) -> list[str]:
    return sorted(filter(None, (plain(document.text) for document in documents)))


def letters(documents: list[Document], between: str) -> str:
    return plain(between.join(document.text for document in documents))


def entities(documents: list[Document]) -> Counter[tuple[str, str]]:
    return Counter((plain(document.text[a:b]), kind) for document in documents for a, b, kind in document.spans)


def plain(text: str) -> str:
    return "".join(text.split()).replace("\ufeff", "")


@pytest.mark.parametrize("entry", FORMATS, ids=lambda entry: entry.name)
@given(data=st.data())
@settings(deadline=None)
def test_mutated_files_give_sentences_or_errors(entry: Format, data: st.DataObject) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / f"f{data.draw(st.sampled_from(entry.suffixes))}"
        corpus = data.draw(corpora)
        if write(entry, corpus, path) is None:
            return
        files = sorted(file for file in Path(folder).rglob("*") if file.is_file())
        broken = data.draw(st.sampled_from(files)) if files else path
        if not path.is_dir():
            broken.write_bytes(data.draw(damaged(broken.read_bytes())))
        options = Options("whitespace", skip_bad=data.draw(st.booleans()))
        try:
            format_of(path)
            list(entry.read(path, options))
        except NestagError:
            pass


@st.composite
def damaged(draw: st.DrawFn, content: bytes) -> bytes:
    """Bytes with some cut out, put in, exchanged or repeated; or none of them."""
    for _ in range(draw(st.integers(1, 3))):
        a, b = sorted((draw(st.integers(0, len(content))), draw(st.integers(0, len(content)))))
        b = draw(st.sampled_from([a, min(a + 1, b), b]))
        put = draw(st.binary(max_size=4) | texts.map(str.encode) | st.just(content[a:b] * 2))
        content = content[:a] + put + content[b:]
    return draw(st.binary(max_size=40)) if draw(st.integers(0, 9)) == 9 else content
