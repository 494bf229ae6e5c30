"""ACE 2004 and ACE 2005 as the LDC hands them out: SGM sources and APF annotation -> sentences.

    <DOC> <DOCID> d </DOCID> ... <TEXT>          d.sgm: offsets count all characters but those of tags
    Ada &amp; co. slept.                         d.apf.xml: see read_mentions
    </TEXT> </DOC>

The text in `<TEXT>` is split into sentences and words (words.py), close to what Shibuya and Hovy (2020) had from
CoreNLP: a hyphen before a capital letter is a word, so Anglo-American is three. Sentences that a mention joins become
one. The documents and their splits are those of a list (split.py).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from nestag.data.document import Document, TextSpan, sentences_of
from nestag.data.report import Report
from nestag.data.segment import Offsets, Options
from nestag.data.sentence import Sentence
from nestag.errors import InputError
from nestag.formats.files import reading
from nestag.formats.folders import Split
from nestag_lab.corpora.markup import ENTITIES, CharacterData, EndTag, StartTag, events
from nestag_lab.corpora.split import SplitSentence
from nestag_lab.corpora.words import sentences, words

SUFFIX = ".apf.xml"
LARGEST = 16 * 2**20
"""Bytes of one source file beyond which it is taken for something else."""

_PREFERRED = ("English", "adj")
"""Folders to take a document from, if it is in several: the language, and the adjudicated version."""
_TAG = re.compile(r"<[^>]+>")
_ENTITY = re.compile(f"&({'|'.join(ENTITIES)});", re.IGNORECASE)
_HYPHENATED = re.compile(r"[^-]-[A-Z]|[A-Z][^-]*-[^-]+-")
"""A word to split at its first hyphen: a capital letter follows one, or precedes two."""
_OPTIONS = Options(tokenizer="whitespace", boundaries="widen")


TYPES = ("PER", "ORG", "GPE", "LOC", "FAC", "VEH", "WEA")
MentionPart = Literal["extent", "head"]
"""The whole mention, or the word it is about."""

_DROPPED = {"timex2_mention": "time dropped", "value_mention": "value dropped"}


class SpacedText(NamedTuple):
    """A text with a space between words and a line for each sentence."""

    text: str
    places: list[int]
    """The new position of each character; white space has that of the next word's space."""


def read(
    source: str | Path, splits: Mapping[str, Split], part: MentionPart = "extent", report: Report | None = None
) -> Iterator[SplitSentence]:
    """Return the sentences of the listed documents of a release, in the order of the list."""
    report = Report() if report is None else report
    found = find(Path(source))
    if not found.keys() & splits.keys():
        raise InputError(
            f"none of its {len(found)} documents, such as {next(iter(found))}, is in the list of splits; is this the"
            " right release? (--split FILE takes a list of your own)",
            str(source),
        )
    for document, path in found.items():
        if document not in splits:
            report.add("document that no split lists dropped", str(path), document)
    for document, split in splits.items():
        if document not in found:
            report.add("document of the split not found", str(source), f"{document} of {split}")
            continue
        for sentence in read_document(found[document], part, report):
            yield SplitSentence(split, sentence)


def find(source: Path) -> dict[str, Path]:
    """Return the annotation files of a release by document, the adjudicated English one if there are several."""
    paths = sorted(source.rglob(f"*{SUFFIX}")) if source.is_dir() else [source]
    for folder in _PREFERRED:
        paths = [path for path in paths if folder in path.parts[:-1]] or paths
    found: dict[str, Path] = {}
    for path in paths:
        document = path.name.removesuffix(SUFFIX)
        if document in found:
            raise InputError(f"{document} is there twice, also as {found[document]}; name the folder of one", str(path))
        found[document] = path
    if not found:
        raise InputError(f"the folder has no {SUFFIX} file; name the folder of the LDC's release", str(source))
    return found


def read_document(path: Path, part: MentionPart, report: Report) -> Iterator[Sentence]:
    """Return the sentences of one document, from its annotation file and the source in the same folder."""
    name = path.name.removesuffix(SUFFIX)
    text, begin, end = _source(path.with_name(f"{name}.sgm"))
    mentions = list(_standing(list(read_mentions(path, part, report)), text, range(begin, end), path, report))
    layout = laid_out(text[begin:end])
    spans = tuple(
        TextSpan(layout.places[start - begin], layout.places[last - begin - 1] + 1, kind)
        for start, last, kind, _, _ in mentions
    )
    for sentence in sentences_of(Document(name, layout.text, spans), _OPTIONS, report):
        if sentence.tokens:
            yield Sentence(sentence.tokens, sentence.entities, sentence.id)


def laid_out(text: str) -> SpacedText:
    r"""Return the text with a space between words and a line for each sentence.

    >>> laid_out("Mr. Li left.\nHe &amp; I slept.").text
    'Mr. Li left .\nHe & I slept .'
    """
    plain, shrunk = _unescaped(text)
    pieces: list[str] = []
    length = 0
    places = [0] * (len(plain) + 1)
    before = 0
    for first, last in sentences(plain):
        for number, (start, end) in enumerate(_hyphens_apart(plain[first:last])):
            places[before : first + start] = [length] * (first + start - before)
            gap = "" if not pieces else " " if number else "\n"
            length += len(gap)
            places[first + start : first + end] = range(length, length + end - start)
            pieces += gap, plain[first + start : first + end]
            length += end - start
            before = first + end
    places[before:] = [length] * (len(plain) + 1 - before)
    return SpacedText("".join(pieces), [places[place] for place in shrunk])


def _hyphens_apart(sentence: str) -> Iterator[Offsets]:
    """Return the words; names such as Anglo-American are split at their hyphens."""
    for start, end in words(sentence):
        while _HYPHENATED.search(sentence, start, end):
            hyphen = sentence.index("-", start)
            yield from (piece for piece in ((start, hyphen), (hyphen, hyphen + 1)) if piece[0] < piece[1])
            start = hyphen + 1
        yield start, end


def _unescaped(text: str) -> tuple[str, list[int]]:
    """Return the text with entities replaced, and the new position of each character."""
    plain = ""
    shrunk: list[int] = []
    done = 0
    for match in (*_ENTITY.finditer(text), None):
        piece = text[done : match.start() if match else len(text)]
        shrunk += range(len(plain), len(plain) + len(piece))
        plain += piece
        if match:
            shrunk += [len(plain)] * len(match[0])
            plain += ENTITIES[match[1].lower()]
            done = match.end()
    return plain, [*shrunk, len(plain)]


def _source(path: Path) -> tuple[str, int, int]:
    """Return the SGM file without tags, and where its `<TEXT>` begins and ends."""
    try:
        with path.open("rb") as stream:
            raw = stream.read(LARGEST + 1)
        if len(raw) > LARGEST:
            raise InputError(f"it has more than {LARGEST} bytes; is this an ACE source?", str(path))
        text = raw.decode("utf-8")
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror or error}); it belongs to its .apf.xml", str(path)) from None
    except UnicodeDecodeError as error:
        raise InputError(f"byte {error.start} is not UTF-8; take the files as the LDC made them", str(path)) from None
    before, found, after = text.partition("<TEXT>")
    body, closed, _ = after.partition("</TEXT>")
    if not found or not closed:
        raise InputError("there is no <TEXT>...</TEXT>; is this an ACE source?", str(path))
    begin = len(_TAG.sub("", before))
    return _TAG.sub("", text), begin, begin + len(_TAG.sub("", body))


def _standing(
    mentions: Sequence[AceMention], text: str, body: range, path: Path, report: Report
) -> Iterator[AceMention]:
    """Return the mentions in the body whose offsets and text agree; if none does, raise an InputError."""
    there = [text[mention.start : mention.end] for mention in mentions]
    right = [_squeezed(found) == _squeezed(mention.text) for found, mention in zip(there, mentions, strict=True)]
    if mentions and not any(right):
        raise InputError(
            f"no mention is at its offsets ({mentions[0].text!r} is {there[0]!r}); were line ends or tags changed?",
            str(path),
            mentions[0].line,
        )
    for mention, found, is_right in zip(mentions, there, right, strict=True):
        place = f"{path}:{mention.line}"
        if not is_right:
            report.add(
                "mention dropped whose text is not at its offsets", place, f"{mention.text!r}, there is {found!r}"
            )
        elif mention.start < body.start or mention.end > body.stop:
            report.add("mention outside <TEXT> dropped", place, repr(mention.text))
        elif not found.strip():
            report.add("mention without a word dropped", place, mention.type)
        else:
            start = mention.start + len(found) - len(found.lstrip())
            yield mention._replace(start=start, end=start + len(found.strip()))


def _squeezed(text: str) -> str:
    return " ".join(_unescaped(text)[0].split())


class AceMention(NamedTuple):
    """A typed span of characters, half-open, with the text that the annotators saw there."""

    start: int
    end: int
    type: str
    text: str
    line: int


def read_mentions(path: Path, part: MentionPart, report: Report) -> Iterator[AceMention]:
    """Return the mentions of an annotation file, each as its extent or its head.

        <entity ID="d-E1" TYPE="PER" ...><entity_mention ID="d-E1-1" TYPE="NOM" ...>
          <extent><charseq START="10" END="25">the president of</charseq></extent>
          <head><charseq START="14" END="22">president</charseq></head></entity_mention></entity>

    `START` and `END` count the characters of the SGM file without its tags, the end inclusive. Times and values are
    dropped and counted; relations and events are not entities and are ignored.
    """
    with reading(path) as stream:
        inside: list[StartTag] = []
        span: StartTag | None = None
        text = ""
        for event in events(stream, str(path)):
            match event:
                case StartTag(name, attributes, line):
                    inside.append(event)
                    if [tag.name for tag in inside[-4:]] == ["entity", "entity_mention", part, "charseq"]:
                        span, text = event, ""
                    elif name in _DROPPED:
                        report.add(_DROPPED[name], f"{path}:{line}", attributes.get("ID", ""))
                case CharacterData(piece) if span:
                    text += piece
                case EndTag():
                    if inside.pop() is span and span:
                        yield from _mention(span, inside[-3].attributes.get("TYPE", ""), text, path, report)
                        span = None


def _mention(span: StartTag, kind: str, text: str, path: Path, report: Report) -> Iterator[AceMention]:
    place = f"{path}:{span.line}"
    try:
        start, end = int(span.attributes["START"]), int(span.attributes["END"]) + 1
    except (KeyError, ValueError):
        raise InputError("a charseq lacks the number START or END; get the file again", str(path), span.line) from None
    if kind not in TYPES:
        report.add("mention of an unknown type dropped", place, f"{kind or 'no TYPE'} {text!r}")
    elif end <= start:
        report.add("mention with inverted boundaries dropped", place, f"{start} to {end - 1} {kind} {text!r}")
    else:
        yield AceMention(start, end, kind, text, span.line)
