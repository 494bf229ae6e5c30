"""Texts become sentences and back, with any characters and spans."""

from __future__ import annotations

import re
from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nestag.data import segment
from nestag.data.document import (
    Document,
    TextSpan,
    document_of,
    documents_of,
    follows,
    sentences_of,
)
from nestag.data.report import Report
from nestag.data.segment import (
    Boundaries,
    Options,
    TokenizerName,
    check_words,
    group_words,
    pieces_of,
    segments,
    split_before,
)
from nestag.data.sentence import Entity, Sentence
from nestag.errors import DataError, InputError, MissingExtraError, UnknownNameError
from nestag.formats.registry import skipping

pytest.importorskip("spacy")

ODD = "a bB.!?,-'\t\n\r\x0b\x1c\x85\x00\u00a0\u00e9e\u0301\u200b\u200d\u2028\u2029\ufeff😀👨北京。"
TEXTS = st.text(st.one_of(st.sampled_from(ODD), st.characters(exclude_categories=("Cs",))), max_size=60)
TYPES = st.sampled_from(["PER", "ORG", "a b", "x\ty", "+'-\u2028"])
TOKENIZERS: tuple[TokenizerName, ...] = ("spacy", "whitespace")


@st.composite
def documents(draw: st.DrawFn) -> Document:
    text = draw(TEXTS)
    places = st.integers(0, len(text))
    ends = draw(st.lists(st.tuples(places, places), max_size=8)) if text else []
    spans = [TextSpan(min(a, b), max(a, b), draw(TYPES)) for a, b in ends if a != b]
    return Document(draw(st.sampled_from(["d", "d-1", "7", ""])), text, tuple(spans))


def trimmed(span: TextSpan, text: str) -> TextSpan | None:
    """A span without the white space, and the byte order mark of the text, at its ends."""
    start = max(span.start, 1) if text.startswith("\ufeff") else span.start
    covered = text[start : span.end]
    bare = covered.strip()
    first = start + len(covered) - len(covered.lstrip())
    return TextSpan(first, first + len(bare), span.type) if bare else None


def back(document: Document, options: Options, report: Report | None = None) -> Document:
    (again,) = documents_of(sentences_of(document, options, report or Report()))
    return again


@given(documents(), st.sampled_from(TOKENIZERS), st.sampled_from(["en", "xx", "zh"]))
def test_documents_round_trip_if_tokens_may_be_split(
    document: Document, tokenizer: TokenizerName, language: str
) -> None:
    report = Report()
    again = back(document, Options(tokenizer, language, "split"), report)
    kept = {trimmed(span, document.text) for span in document.spans} - {None}
    assert (again.id, again.text) == (document.id, document.text)
    assert set(again.spans) == kept
    distinct = set(document.spans)
    changed = sum(trimmed(span, document.text) != span for span in distinct)
    kinds = ("white space trimmed from a span", "span of white space dropped", "span without a token dropped")
    assert sum(report.counts[kind] for kind in kinds) == changed
    assert (
        report.counts["duplicate entity merged"]
        == len(document.spans) - len(kept) - report.counts["span of white space dropped"]
    )
    assert not report.counts["span widened to token borders"]


@given(documents(), st.sampled_from(TOKENIZERS))
def test_widened_spans_contain_the_original(document: Document, tokenizer: TokenizerName) -> None:
    report = Report()
    again = back(document, Options(tokenizer, "xx"), report)
    assert again.text == document.text
    kept = [found for span in document.spans if (found := trimmed(span, document.text))]
    for span in kept:
        assert any(s.start <= span.start and span.end <= s.end and s.type == span.type for s in again.spans)
    if not report.counts["span widened to token borders"]:
        assert set(again.spans) == set(kept)
    assert len(again.spans) + report.counts["duplicate entity merged"] + report.counts[
        "span of white space dropped"
    ] == len(document.spans)


@given(documents(), st.sampled_from(TOKENIZERS))
def test_sentences_partition_the_text(document: Document, tokenizer: TokenizerName) -> None:
    sentences = list(sentences_of(document, Options(tokenizer, "xx"), Report()))
    assert "".join(sentence.origin.text for sentence in sentences if sentence.origin) == document.text
    for sentence in sentences:
        assert sentence.origin
        assert [document.text[a:b] for a, b in sentence.origin.offsets] == list(sentence.tokens)
        assert not any(token.isspace() for token in sentence.tokens)
    words = "".join(token for sentence in sentences for token in sentence.tokens)
    assert words == "".join(document.text.removeprefix("\ufeff").split())


@given(documents(), st.data())
def test_given_tokens_are_kept(document: Document, data: st.DataObject) -> None:
    places = st.integers(-1, len(document.text) + 1)
    offsets = data.draw(st.lists(st.tuples(places, places), max_size=12))
    report = Report()
    words = check_words(document.text, offsets, "here", report)
    assert words == sorted(words)
    assert all(a[1] <= b[0] for a, b in pairwise(words))
    covered = {place for start, end in words for place in range(start, end)}
    left = {place for place, sign in enumerate(document.text) if not sign.isspace() and sign != "\ufeff"}
    assert left <= covered
    invented = report.counts["text without a token made a token"]
    dropped = report.counts["token dropped because it is empty, overlaps another or is outside"]
    assert len(set(words) & set(offsets)) >= len(words) - invented
    assert len(words) - invented + dropped <= len(offsets)  # the rest is white space
    for options in (Options(), Options("whitespace")):
        assert [word for sentence in group_words(words, document.text, options) for word in sentence] == words


@given(documents())
def test_layout_equals_the_text(document: Document) -> None:
    words = [word for sentence in segments(document.text, Options("whitespace")) for word in sentence]
    pieces = pieces_of(document.text, words)
    text = "".join(document.text[piece.start : piece.end] + " " * piece.space for piece in pieces)
    assert text == document.text
    assert [place for piece in pieces if (place := (piece.start, piece.end)) in words] == words


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("He slept. She woke.", ["He slept .", "She woke ."]),
        ("Mr. Smith of the U.S. Army came.", ["Mr. Smith of the U.S. Army came ."]),
        ("A title\n\nThe text", ["A title", "The text"]),
        ("A title\r\n\r\nThe text", ["A title", "The text"]),
        ("one\nline", ["one line"]),
        ("\ufeffBob came.", ["Bob came ."]),
        ("cafe\u0301s are 😀👍🏽 nice", ["cafe\u0301s are 😀 👍 🏽 nice"]),
        ("", [""]),
        (" \n\t ", [""]),
    ],
)
def test_sentences_follow_spacy(text: str, sentences: list[str]) -> None:
    found = list(sentences_of(Document("d", text), Options(), Report()))
    assert [" ".join(sentence.tokens) for sentence in found] == sentences


def test_chinese_tokens_are_characters() -> None:
    document = Document("d", "他在北京大学。她也在。", (TextSpan(2, 6, "ORG"), TextSpan(2, 4, "GPE")))
    report = Report()
    chinese = list(sentences_of(document, Options(language="zh"), report))
    assert [sentence.tokens for sentence in chinese] == [tuple("他在北京大学。"), tuple("她也在。")]
    assert chinese[0].entities == (Entity(2, 6, "ORG"), Entity(2, 4, "GPE"))
    assert not report.counts
    (widened,) = sentences_of(document, Options(language="xx"), report)
    assert widened.entities == (Entity(0, 1, "GPE"), Entity(0, 1, "ORG"))
    assert report.counts["span widened to token borders"] == 2
    assert back(document, Options(language="xx", boundaries="split")) == document


@pytest.mark.parametrize("boundaries", ["widen", "split", "refuse"])
def test_spans_inside_tokens_are_widened(boundaries: Boundaries) -> None:
    document = Document("d", "Londoners came", (TextSpan(0, 6, "GPE"), TextSpan(0, 9, "PER")))
    options, report = Options(boundaries=boundaries), Report()
    if boundaries == "refuse":
        message = r"a.txt:3: document 'd': span 0 to 6 GPE 'London' begins or ends inside"
        with pytest.raises(InputError, match=message), skipping(options, report, "a.txt", 3):
            list(sentences_of(document, options, report))
        return
    (sentence,) = sentences_of(document, options, report)
    if boundaries == "widen":
        assert sentence.tokens == ("Londoners", "came")
        assert report.counts == {"span widened to token borders": 1}
    else:
        assert sentence.tokens == ("London", "ers", "came")
        assert sentence.entities == (Entity(0, 2, "PER"), Entity(0, 1, "GPE"))
        assert report.counts == {"token cut at a span's border": 1}


def test_merged_spans_are_counted() -> None:
    report = Report()
    document = Document("d", "Londoners", (TextSpan(0, 6, "X"), TextSpan(0, 9, "X"), TextSpan(0, 9, "X")))
    (sentence,) = sentences_of(document, Options(), report)
    assert sentence.entities == (Entity(0, 1, "X"),)
    assert report.counts == {"duplicate entity merged": 2, "span widened to token borders": 1}


def test_nested_equal_and_crossing_spans_are_kept() -> None:
    spans = (TextSpan(0, 7, "A"), TextSpan(0, 7, "B"), TextSpan(2, 9, "C"), TextSpan(4, 7, "D"))
    report = Report()
    assert set(back(Document("d", "a b c d e", spans), Options("whitespace"), report).spans) == set(spans)
    assert not report.counts


@pytest.mark.parametrize("end", [10, 12])
def test_span_over_a_sentence_end_joins_the_sentences(end: int) -> None:
    text = "He left. She came. They ate."
    report = Report()
    found = list(sentences_of(Document("d", text, (TextSpan(3, end, "X"),)), Options(), report))
    assert [sentence.tokens[-1] for sentence in found] == [".", "."]
    assert found[0].entities == (Entity(1, 4, "X"),)
    assert report.counts["sentences joined because a span covers both"] == 1
    assert report.counts["span widened to token borders"] == (end == 10)


def test_span_up_to_the_next_sentence_joins_nothing() -> None:
    report = Report()
    found = list(sentences_of(Document("d", "He left. She came.", (TextSpan(3, 9, "X"),)), Options(), report))
    assert len(found) == 2
    assert report.counts == {"white space trimmed from a span": 1}


@pytest.mark.parametrize("span", [(0, 0), (2, 1), (-1, 2), (0, 99)])
def test_spans_outside_the_text_are_refused(span: tuple[int, int]) -> None:
    with pytest.raises(DataError, match="is not inside the text of 3 characters"):
        list(sentences_of(Document("d", "abc", (TextSpan(*span, "X"),)), Options(), Report()))


def test_text_outside_given_tokens_becomes_tokens() -> None:
    report = Report()
    document = Document("d", "ab  cd", (TextSpan(4, 6, "X"), TextSpan(2, 4, "Y")), ([(0, 2)],))
    (sentence,) = sentences_of(document, Options(), report)
    assert not sentence.entities
    assert report.counts == {"span without a token dropped": 1, "span of white space dropped": 1}


def test_tokens_are_split_at_inner_whitespace() -> None:
    document = Document("d", "New York", (TextSpan(0, 3, "X"), TextSpan(4, 8, "Y")), ([(0, 8)],))
    (sentence,) = sentences_of(document, Options(boundaries="split"), Report())
    assert sentence.tokens == ("New", "York")


def test_tokens_without_a_text_are_joined() -> None:
    sentences = [
        Sentence(["New York", "is"], [Entity(0, 1, "GPE")], "d-1"),
        Sentence(["big"], [Entity(0, 1, "X")], "d-2"),
        Sentence(["other"], [], "e-1"),
    ]
    first, second = documents_of(sentences)
    assert first == Document("d", "New York is\nbig\n", (TextSpan(0, 8, "GPE"), TextSpan(12, 15, "X")))
    assert first.words == ([(0, 8), (9, 11)], [(12, 15)])
    assert second == Document("e", "other\n")
    again = list(sentences_of(first, Options("whitespace"), Report()))
    assert [sentence.tokens for sentence in again] == [("New York", "is"), ("big",)]


def test_separate_pieces_are_separate_documents() -> None:
    one, two, three = sentences_of(Document("d", "a\nb\nc"), Options("whitespace"), Report())
    assert [document.id for document in documents_of([one, three])] == ["d", "d@4"]
    assert [document.text for document in documents_of([one, two, one])] == ["a\nb\n", "a\n"]
    (empty,) = sentences_of(Document("d", ""), Options("whitespace"), Report())
    assert not follows(empty, one)
    assert [document.text for document in documents_of([empty, one])] == ["", "a\n"]


@pytest.mark.parametrize(
    ("id", "document"),
    [("wsj_0001-0", "wsj_0001"), ("a.b.12", "a.b"), ("12", ""), ("7", ""), ("plain", "plain"), (None, ""), ("x9", "x")],
)
def test_documents_are_named_after_ids(id: str | None, document: str) -> None:
    assert document_of(Sentence(["a"], id=id)) == document


def test_split_before_moves_tokens_to_the_next_sentence() -> None:
    words = [(0, 2), (3, 5), (6, 8)]
    assert split_before(words, []) == [words]
    assert split_before(words, [4, 5, 99]) == [[(0, 2), (3, 5)], [(6, 8)]]
    assert split_before([], [0]) == []


@pytest.mark.parametrize("language", ["nonsense", "ko"])
def test_unsupported_languages_are_refused(language: str) -> None:
    if language == "ko" and _has_korean():
        pytest.skip("the Korean tokenizer is installed")
    with pytest.raises(UnknownNameError, match=f"spaCy cannot tokenize '{language}'"):
        segments("a", Options(language=language))


def _has_korean() -> bool:
    try:
        import natto  # type: ignore[import-not-found]  # noqa: F401
    except ImportError:
        return False
    return True


@pytest.mark.parametrize("tokenizer", TOKENIZERS)
def test_lone_surrogate_in_a_text_is_refused(tokenizer: TokenizerName) -> None:
    with pytest.raises(DataError, match="half of a character"):
        list(sentences_of(Document("d", "a\ud800 b"), Options(tokenizer), Report()))


def test_missing_spacy_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    segment._pipeline.cache_clear()
    monkeypatch.setitem(sys.modules, "spacy", None)
    with pytest.raises(MissingExtraError, match=re.escape("pip install 'nestag[text]'")):
        segments("a", Options())
    assert segments("a b", Options("whitespace")) == [[(0, 1), (2, 3)]]


def test_million_characters_round_trip() -> None:
    text = "The mayor of Springfield, who was born in Kent, met them. " * 17_500
    spans = tuple(TextSpan(at + 4, at + 24, "PER") for at in range(0, len(text), 58))
    again = back(Document("d", text, spans), Options())
    assert again.text == text
    assert Counter(again.spans) == Counter(spans)


def test_memory_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    segments("a", Options())
    before = segment._pipeline("en")
    monkeypatch.setattr(segment, "MOST_REMEMBERED", len(before.vocab.strings) + 2)
    assert segments("a b", Options()) == [[(0, 1), (2, 3)]]
    assert segment._pipeline("en") is before
    assert segments("q1 q2 q3 q4", Options()) == [[(0, 2), (3, 5), (6, 8), (9, 11)]]
    assert segment._pipeline("en") is not before


@settings(max_examples=settings.default.max_examples // 2)
@given(st.lists(TEXTS, max_size=4))
def test_documents_are_kept_apart(texts: list[str]) -> None:
    given = [Document("same", text) for text in texts]
    sentences = (sentence for document in given for sentence in sentences_of(document, Options("whitespace"), Report()))
    assert list(documents_of(sentences)) == given
