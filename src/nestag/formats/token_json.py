"""JSON of tokens and entities, as research code shares it: GLiNER, SpERT, OneIE, W2NER and DyGIE.

    gliner   [{"tokenized_text": ["the", "USA"], "ner": [[0, 1, "GPE"]]}]                       ends inclusive
    spert    [{"tokens": ["the", "USA"], "entities": [{"type": "GPE", "start": 0, "end": 2}], "orig_id": 7}]
    oneie    {"sent_id": "d-1", "tokens": ["the", "USA"],
              "entity_mentions": [{"start": 0, "end": 2, "entity_type": "GPE"}]}                one sentence per line
    w2ner    [{"sentence": ["the", "USA"], "ner": [{"index": [0, 1], "type": "GPE"}]}]          positions of all tokens
    dygie    {"doc_key": "d", "sentences": [["It", "rains"], ["in", "Rome"]], "ner": [[], [[3, 3, "GPE"]]]}

All are read as a list or one object per line, and written as usual for the format, or as lines if the file is called
.jsonl. Ids are kept. Relations and events are counted and dropped, and so are W2NER's discontinuous entities; other
fields are ignored. SpERT's objects one per line are nestag's own format (jsonl).

DyGIE, which PURE and SciERT share, has one document per object. Its entities count the tokens of the whole document,
and their ends are inclusive; one that no sentence contains is counted and dropped. Sentences are called d-1, d-2 and so
on; other ids are kept in `_ids`, because readers ignore fields that begin with an underscore.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any

from nestag.data.document import document_of
from nestag.data.report import Report, describe
from nestag.data.segment import Options
from nestag.data.sentence import Entity, Sentence
from nestag.errors import DataError
from nestag.formats.format import JSON, Format, Read, Write, skipping, write_json
from nestag.formats.shared.records import (
    any_object,
    id_or_none,
    is_list,
    label_field,
    list_field,
    number_field,
    read_records,
    short,
    text_field,
    words_field,
)
from nestag.formats.shared.tags import holdable, refuse_deep

Parse = Callable[[dict[str, Any], str, Report], Iterable[Sentence]]
"""The sentences of an object; the place and the report are for what is dropped."""


def _reader(parse: Parse) -> Read:
    def read(path: str | Path, options: Options, report: Report) -> Iterator[Sentence]:
        for record in read_records(path, options, report):
            sentences: list[Sentence] = []
            with skipping(options, report, path, record.line):
                sentences = list(parse(record.fields, f"{path}:{record.line}", report))
            yield from sentences

    return read


def _writer(record: Callable[[list[Sentence]], dict[str, Any]], lines: bool, by_document: bool = False) -> Write:
    """How sentences are written, one per object or those of a document together."""

    def write(sentences: Iterable[Sentence], path: str | Path, options: Options, report: Report) -> None:
        held = enumerate(sentence for _, sentence in holdable(sentences, path, report, ids=True))
        groups = groupby(held, lambda pair: (by_document and document_of(pair[1])) or pair[0])
        in_lines = lines or str(path).lower().removesuffix(".gz").endswith(".jsonl")
        write_json((record([sentence for _, sentence in group]) for _, group in groups), path, in_lines)

    return write


def _is_tokens(value: object) -> bool:
    """Whether a field of an object may be the tokens of a sentence; None is one that was cut off."""
    return value is None or (isinstance(value, list) and all(isinstance(token, str) for token in value))


def _count_dropped(fields: dict[str, Any], key: str, what: str, place: str, report: Report) -> None:
    """Count members of a list, or of lists in it, that are not read."""
    for member in fields.get(key) or ():
        is_nested = isinstance(member, list) and all(isinstance(part, list) for part in member)
        for inner in member if is_nested else [member]:
            report.add(f"{what} left out", place, repr(inner)[:60])


@dataclass(frozen=True)
class _Variant:
    """A format with one sentence per object: the names of its fields, and how entities are read and written."""

    tokens: str
    entities: str
    ids: tuple[str, ...]  # fields that may hold the id
    read_entity: Callable[[Any, str, Report], Entity | None]
    write: Callable[[Sentence], dict[str, Any]]
    dropped: dict[str, str] = field(default_factory=dict)  # lists that are counted, and what a member is

    def read(self, fields: dict[str, Any], place: str, report: Report) -> Iterator[Sentence]:
        members = fields.get(self.entities)
        members = [] if members is None else members
        if not isinstance(members, list):
            raise DataError(f"{self.entities!r} is {short(members)}; make it a list of entities")
        entities = [entity for member in members if (entity := self.read_entity(member, place, report))]
        name = id_or_none(fields, next((key for key in self.ids if key in fields), self.ids[0]))
        sentence = Sentence(words_field(fields, self.tokens), entities, name)
        report.duplicates(entities, sentence, place)
        for key, what in self.dropped.items():
            _count_dropped(fields, key, what, place, report)
        yield sentence

    def matches(self, fields: dict[str, Any]) -> bool:
        return _is_tokens(fields.get(self.tokens, 0)) and self.entities in fields

    def format(self, name: str, summary: str, suffixes: tuple[str, ...], lines: bool = False) -> Format:
        return Format(
            name, summary, suffixes, _reader(self.read), _writer(lambda group: self.write(group[0]), lines),
            lambda head: any_object(head, self.matches), shared=JSON,
        )  # fmt: skip


def _inclusive(member: object, *_: object) -> Entity:
    """The entity of a list of first token, last token and type; more, such as scores, is ignored."""
    if not isinstance(member, list) or len(member) < 3:
        raise DataError(f'{member!r:.60} is no entity; write [first, last, "TYPE"]')
    fields = dict(zip(("first", "last", "type"), member, strict=False))
    return Entity(number_field(fields, "first"), number_field(fields, "last") + 1, text_field(fields, "type"))


def _exclusive(key: str) -> Callable[[Any, str, Report], Entity]:
    """How an object with `start`, `end` and a type is read."""

    def read(member: Any, *_: object) -> Entity:
        (fields,) = list_field({"entities": [member]}, "entities")
        return Entity(number_field(fields, "start"), number_field(fields, "end"), label_field(fields, key))

    return read


def _indexed(member: Any, place: str, report: Report) -> Entity | None:
    """The entity of a list of positions; None if they skip tokens."""
    (fields,) = list_field({"ner": [member]}, "ner")
    kind = label_field(fields, "type")
    index = fields.get("index")
    if not isinstance(index, list) or not index or not all(type(position) is int for position in index):
        raise DataError(f"'index' is {short(index)}; make it a list of the positions of an entity's tokens")
    index = sorted(set(index))
    if index[-1] - index[0] >= len(index):
        report.lose("discontinuous entity set aside", place, f"{index} {kind}"[:80])
        return None
    return Entity(index[0], index[-1] + 1, kind)


def _id(sentence: Sentence, key: str) -> dict[str, Any]:
    return {} if sentence.id is None else {key: sentence.id}


def _to_gliner(sentence: Sentence) -> dict[str, Any]:
    spans = [[start, end - 1, kind] for start, end, kind in sentence.entities]
    return {"tokenized_text": sentence.tokens, "ner": spans, **_id(sentence, "id")}


def _to_spert(sentence: Sentence) -> dict[str, Any]:
    entities = [{"type": kind, "start": start, "end": end} for start, end, kind in sentence.entities]
    return {"tokens": sentence.tokens, "entities": entities, "relations": [], **_id(sentence, "orig_id")}


def _to_oneie(sentence: Sentence) -> dict[str, Any]:
    mentions = [
        {"id": f"{sentence.id}-E{number}", "text": " ".join(sentence.tokens[start:end]), "entity_type": kind}
        | {"start": start, "end": end}
        for number, (start, end, kind) in enumerate(sentence.entities)
    ]
    names = {"doc_id": document_of(sentence), "sent_id": sentence.id} if sentence.id is not None else {}
    empty: dict[str, Any] = {"relation_mentions": [], "event_mentions": []}
    return {**names, "tokens": sentence.tokens, "entity_mentions": mentions, **empty}


def _to_w2ner(sentence: Sentence) -> dict[str, Any]:
    refuse_deep(sentence.entities, f"sentence {sentence.id!r}")
    entities = [{"index": list(range(start, end)), "type": kind} for start, end, kind in sentence.entities]
    return {"sentence": sentence.tokens, "ner": entities, **_id(sentence, "id")}


def _read_dygie(fields: dict[str, Any], place: str, report: Report) -> Iterator[Sentence]:
    """The sentences of a document."""
    sentences, spans = fields.get("sentences"), fields.get("ner")
    if not isinstance(sentences, list):
        raise DataError(f"'sentences' is {short(sentences)}; make it a list of lists of words")
    spans = [[] for _ in sentences] if spans is None else spans
    if not isinstance(spans, list) or len(spans) != len(sentences):
        raise DataError(f"'ner' is {short(spans)}; make it a list with one list of entities for each sentence")
    first = 0
    for words, members, name in zip(sentences, spans, _dygie_ids(fields, len(sentences)), strict=True):
        tokens = words_field({"sentences": words}, "sentences")
        entities = list(_dygie_entities(members, first, len(tokens), place, report))
        sentence = Sentence(tokens, entities, name)
        report.duplicates(entities, sentence, place)
        yield sentence
        first += len(tokens)
    for key in ("relations", "events", "clusters"):
        _count_dropped(fields, key, key.removesuffix("s"), place, report)


def _dygie_ids(fields: dict[str, Any], count: int) -> list[str | None]:
    names = fields.get("_ids")
    if isinstance(names, list) and len(names) == count:
        return [id_or_none({"_ids": name}, "_ids") for name in names]
    key = id_or_none(fields, "doc_key" if "doc_key" in fields else "doc_id")
    return [None if key is None else f"{key}-{number}" for number in range(1, count + 1)]


def _dygie_entities(members: object, first: int, length: int, place: str, report: Report) -> Iterator[Entity]:
    """The entities of a sentence that begins with the token `first` of its document."""
    if not isinstance(members, list):
        raise DataError(f"{members!r:.60} in 'ner' is no list of entities; write one for each sentence")
    for start, end, kind in map(_inclusive, members):
        if start < first or end > first + length:
            report.lose("entity outside its sentence left out", place, describe(Entity(start, end, kind)))
        else:
            yield Entity(start - first, end - first, kind)


def _to_dygie(sentences: list[Sentence]) -> dict[str, Any]:
    name = document_of(sentences[0]) or sentences[0].id or ""
    spans: list[list[Any]] = []
    first = 0
    for sentence in sentences:
        spans.append([[first + start, first + end - 1, kind] for start, end, kind in sentence.entities])
        first += len(sentence)
    ids = [sentence.id for sentence in sentences]
    own = {} if ids == [f"{name}-{number}" for number, _ in enumerate(ids, 1)] else {"_ids": ids}
    return {"doc_key": name, "sentences": [sentence.tokens for sentence in sentences], "ner": spans, **own}


def _is_dygie(fields: dict[str, Any]) -> bool:
    sentences = fields.get("sentences", 0)
    listed = sentences is None or (isinstance(sentences, list) and all(map(_is_tokens, sentences)))
    return listed and not fields.keys().isdisjoint({"ner", "doc_key"})


_GLINER = _Variant("tokenized_text", "ner", ("id",), _inclusive, _to_gliner, {"relations": "relation"})
_SPERT = _Variant("tokens", "entities", ("orig_id", "id"), _exclusive("type"), _to_spert, {"relations": "relation"})
_EVENTS = {"relation_mentions": "relation", "event_mentions": "event"}
_ONEIE = _Variant("tokens", "entity_mentions", ("sent_id",), _exclusive("entity_type"), _to_oneie, _EVENTS)
_W2NER = _Variant("sentence", "ner", ("id",), _indexed, _to_w2ner)

FORMATS = (
    _GLINER.format("gliner", "GLiNER's JSON of tokens and inclusive spans", (".gliner.json", ".gliner.jsonl")),
    _ONEIE.format("oneie", "OneIE's JSON Lines of tokens and mentions", (".oneie.json", ".oneie.jsonl"), lines=True),
    _W2NER.format("w2ner", "W2NER's JSON of tokens and their positions", (".w2ner.json",)),
    Format(
        "spert", "SpERT's JSON list of tokens and spans", (".spert.json",), _reader(_SPERT.read),
        _writer(lambda group: _to_spert(group[0]), lines=False),
        lambda head: is_list(head) and any_object(head, _SPERT.matches), shared=(".json",),
    ),
    Format(
        "dygie", "DyGIE's and PURE's JSON of documents", (".dygie.jsonl", ".dygie.json"), _reader(_read_dygie),
        _writer(_to_dygie, lines=True, by_document=True), lambda head: any_object(head, _is_dygie), shared=JSON,
    ),
)  # fmt: skip
