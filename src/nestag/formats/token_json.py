"""JSON of tokens and entities, as research code shares it: GLiNER, SpERT, OneIE, W2NER and DyGIE.

    gliner   [{"tokenized_text": ["the", "USA"], "ner": [[0, 1, "GPE"]]}]                       inclusive ends
    spert    [{"tokens": ["the", "USA"], "entities": [{"type": "GPE", "start": 0, "end": 2}], "orig_id": 7}]
    oneie    {"sent_id": "d-1", "tokens": ["the", "USA"],
              "entity_mentions": [{"start": 0, "end": 2, "entity_type": "GPE"}]}                one sentence per line
    w2ner    [{"sentence": ["the", "USA"], "ner": [{"index": [0, 1], "type": "GPE"}]}]          positions of all tokens
    dygie    {"doc_key": "d", "sentences": [["It", "rains"], ["in", "Rome"]], "ner": [[], [[3, 3, "GPE"]]]}

All are read as a list or one object per line, and written as usual for the format, or as lines if the file is called
.jsonl. SpERT's objects one per line are nestag's own format (jsonl). DyGIE, which PURE and SciERC share, has one
document per object: entities count its tokens, ends are inclusive, and sentences are called d-1, d-2 and so on. Other
ids are kept in `_ids`, because other readers ignore fields that begin with an underscore.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any

from nestag.data.document import document_of
from nestag.data.report import Report, describe
from nestag.data.segment import Options
from nestag.data.sentence import Entity, Sentence
from nestag.errors import DataError
from nestag.formats.folders import has_suffix
from nestag.formats.registry import JSON, Format, Write
from nestag.formats.shared.records import Fields, Record, any_object, is_list, record_reader, short, write_json
from nestag.formats.shared.tags import refuse_deep, writable


@dataclass(frozen=True)
class _Variant:
    """A format with one sentence per object: the names of its fields, and how entities are read and written."""

    tokens: str
    entities: str
    ids: tuple[str, ...]  # fields that may hold the id
    read_entity: Callable[[Any, str, Report], Entity | None]
    to_fields: Callable[[Sentence], dict[str, Any]]
    dropped: dict[str, str] = field(default_factory=dict)  # lists that are only counted, and their members

    def read(self, record: Record, options: Options, report: Report) -> Iterator[Sentence]:
        fields = record.fields
        members = [] if fields.get(self.entities) is None else fields[self.entities]
        if not isinstance(members, list):
            raise DataError(f"{self.entities!r} is {short(members)}; make it a list of entities")
        entities = [entity for member in members if (entity := self.read_entity(member, record.place, report))]
        name = fields.id(next((key for key in self.ids if key in fields), self.ids[0]))
        yield report.sentence(fields.words(self.tokens), entities, name, record.place)
        _count_dropped(record, self.dropped, report)

    def matches(self, fields: dict[str, Any]) -> bool:
        return _is_tokens(fields.get(self.tokens, 0)) and self.entities in fields

    def format(
        self, name: str, summary: str, suffixes: tuple[str, ...], lines: bool = False, in_list: bool = False
    ) -> Format:
        return Format(
            name, summary, suffixes, record_reader(self.read), _writer(lambda group: self.to_fields(group[0]), lines),
            lambda head: (is_list(head) or not in_list) and any_object(head, self.matches),
            shared=(".json",) if in_list else JSON,
        )  # fmt: skip


def _writer(to_fields: Callable[[list[Sentence]], dict[str, Any]], lines: bool, by_document: bool = False) -> Write:
    """Return how sentences are written, one per object or those of a document together."""

    def write(sentences: Iterable[Sentence], path: str | Path, options: Options, report: Report) -> None:
        numbered = enumerate(sentence for _, sentence in writable(sentences, path, report, ids=True))
        groups = groupby(numbered, lambda pair: (by_document and document_of(pair[1])) or pair[0])
        in_lines = lines or has_suffix(path, ".jsonl")
        write_json((to_fields([sentence for _, sentence in group]) for _, group in groups), path, in_lines)

    return write


def _is_tokens(value: object) -> bool:
    """Say whether a field may be the tokens of a sentence; None is one that was cut off."""
    return value is None or (isinstance(value, list) and all(isinstance(token, str) for token in value))


def _count_dropped(record: Record, lists: dict[str, str], report: Report) -> None:
    """Count the members of lists that are not read, or of lists in them."""
    for key, what in lists.items():
        for member in record.fields.get(key) or ():
            is_nested = isinstance(member, list) and all(isinstance(inner, list) for inner in member)
            for inner in member if is_nested else [member]:
                report.add(f"{what} dropped", record.place, repr(inner)[:60])


def _inclusive(member: object, *_: object) -> Entity:
    """Read a list of first token, last token and type; more, such as scores, is ignored."""
    fields = Fields.of(member, "first", "last", "type")
    return Entity(fields.number("first"), fields.number("last") + 1, fields.text("type"))


def _exclusive(member: object, *_: object, key: str) -> Entity:
    """Read an object with `start`, `end` and a type."""
    fields = Fields.of(member)
    return Entity(fields.number("start"), fields.number("end"), fields.label(key))


def _indexed(member: Any, place: str, report: Report) -> Entity | None:
    """Read a list of positions, or return None if they skip tokens."""
    fields = Fields.of(member)
    kind = fields.label("type")
    index = fields.get("index")
    if not isinstance(index, list) or not index or not all(type(position) is int for position in index):
        raise DataError(f"'index' is {short(index)}; make it a list of the positions of an entity's tokens")
    index = sorted(set(index))
    if index[-1] - index[0] >= len(index):
        report.lose("discontinuous entity dropped", place, f"{index} {kind}"[:80])
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
    refuse_deep(sentence.entities, f"sentence {sentence.id!r}")
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


def _read_dygie(record: Record, options: Options, report: Report) -> Iterator[Sentence]:
    """Yield the sentences of a document."""
    sentences, spans = record.fields.get("sentences"), record.fields.get("ner")
    if not isinstance(sentences, list):
        raise DataError(f"'sentences' is {short(sentences)}; make it a list of lists of words")
    spans = [[] for _ in sentences] if spans is None else spans
    if not isinstance(spans, list) or len(spans) != len(sentences):
        raise DataError(f"'ner' is {short(spans)}; make it a list with one list of entities for each sentence")
    first = 0
    for words, members, name in zip(sentences, spans, _dygie_ids(record.fields, len(sentences)), strict=True):
        tokens = Fields({"sentences": words}).words("sentences")
        entities = list(_dygie_entities(members, first, len(tokens), record.place, report))
        yield report.sentence(tokens, entities, name, record.place)
        first += len(tokens)
    _count_dropped(record, {"relations": "relation", "events": "event", "clusters": "cluster"}, report)


def _dygie_ids(fields: Fields, count: int) -> list[str | None]:
    names = fields.get("_ids")
    if isinstance(names, list) and len(names) == count:
        return [Fields({"_ids": name}).id("_ids") for name in names]
    key = fields.id("doc_key" if "doc_key" in fields else "doc_id")
    return [None if key is None else f"{key}-{number}" for number in range(1, count + 1)]


def _dygie_entities(members: object, first: int, length: int, place: str, report: Report) -> Iterator[Entity]:
    """Yield the entities of a sentence that begins with the token `first` of its document."""
    if not isinstance(members, list):
        raise DataError(f"{members!r:.60} in 'ner' is not a list of entities; write one for each sentence")
    for start, end, kind in map(_inclusive, members):
        if start < first or end > first + length:
            report.lose("entity outside its sentence dropped", place, describe(Entity(start, end, kind)))
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
    extra = {} if ids == [f"{name}-{number}" for number, _ in enumerate(ids, 1)] else {"_ids": ids}
    return {"doc_key": name, "sentences": [sentence.tokens for sentence in sentences], "ner": spans, **extra}


def _is_dygie(fields: dict[str, Any]) -> bool:
    sentences = fields.get("sentences", 0)
    listed = sentences is None or (isinstance(sentences, list) and all(map(_is_tokens, sentences)))
    return listed and not fields.keys().isdisjoint({"ner", "doc_key"})


_RELATIONS = {"relations": "relation"}
_EVENTS = {"relation_mentions": "relation", "event_mentions": "event"}
_GLINER = _Variant("tokenized_text", "ner", ("id",), _inclusive, _to_gliner, _RELATIONS)
_SPERT = _Variant("tokens", "entities", ("orig_id", "id"), partial(_exclusive, key="type"), _to_spert, _RELATIONS)
_ONEIE = _Variant("tokens", "entity_mentions", ("sent_id",), partial(_exclusive, key="entity_type"), _to_oneie, _EVENTS)
_W2NER = _Variant("sentence", "ner", ("id",), _indexed, _to_w2ner)

FORMATS = (
    _GLINER.format("gliner", "GLiNER's JSON of tokens and inclusive spans", (".gliner.json", ".gliner.jsonl")),
    _ONEIE.format("oneie", "OneIE's JSON Lines of tokens and mentions", (".oneie.json", ".oneie.jsonl"), lines=True),
    _W2NER.format("w2ner", "W2NER's JSON of tokens and their positions", (".w2ner.json",)),
    _SPERT.format("spert", "SpERT's JSON list of tokens and spans", (".spert.json",), in_list=True),
    Format(
        "dygie", "DyGIE's and PURE's JSON of documents", (".dygie.jsonl", ".dygie.json"), record_reader(_read_dygie),
        _writer(_to_dygie, lines=True, by_document=True), lambda head: any_object(head, _is_dygie), shared=JSON,
    ),
)  # fmt: skip
