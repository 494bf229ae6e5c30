"""A text with its nested entities, drawn for notebooks and pages."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from itertools import accumulate
from typing import Any

from nestag.data import Sentence
from nestag.errors import DataError
from nestag.rendering.boxes import Mark, boxes
from nestag.rendering.html import Html, harmless


@dataclass(frozen=True)
class Drawing:
    """Nested entities as HTML: shown by notebooks as it is, or saved as a page of its own."""

    html: Html

    def _repr_html_(self) -> str:
        return f'<div class="nestag"><style>{style()}</style>{self.html}</div>'

    def page(self, title: str = "nestag") -> str:
        """A whole page that loads nothing."""
        return (
            '<!doctype html>\n<html><head><meta charset="utf-8">'
            '<meta name="viewport" content="width=device-width, initial-scale=1">'
            f"<title>{harmless(title)}</title><style>{style()}</style></head>"
            f'<body class="nestag">{self.html}</body></html>\n'
        )

    def __str__(self) -> str:
        return self.html


def render(text: str | Sequence[str] | Sentence, entities: Iterable[Any] | None = None) -> Drawing:
    """Draw the nested entities of a text as HTML, for a notebook or a page.

    `entities` are what a recognizer found, or tuples of start, end and type: in characters of a text, or in tokens if
    a list of tokens is given. A `Sentence` brings its own.

    >>> drawing = render("the USA", [(4, 7, "GPE")])
    >>> drawing.page("USA").startswith("<!doctype html>")
    True
    """
    if isinstance(text, Sentence):
        return Drawing(sentence_html(text.tokens, map(mark_of, text.entities if entities is None else entities)))
    found = [mark_of(entity) for entity in entities or ()]
    if isinstance(text, str):
        return Drawing(boxes(text, found))
    return Drawing(sentence_html(text, found))


def sentence_html(tokens: Sequence[str], marks: Iterable[Mark], colours: Mapping[str, int] | None = None) -> Html:
    """Tokens with marks that count tokens, drawn with a space between two tokens."""
    starts = [0, *accumulate(len(token) + 1 for token in tokens)]
    moved: list[Mark] = []
    for mark in marks:
        if not 0 <= mark.start < mark.end <= len(tokens):
            raise DataError(f"entity {mark[:3]} is not inside the {len(tokens)} tokens; count tokens from 0")
        moved.append(mark._replace(start=starts[mark.start], end=starts[mark.end] - 1))
    return boxes(" ".join(tokens), moved, colours)


def mark_of(entity: Any) -> Mark:
    """An entity of any kind that has start, end and type, as a mark."""
    if isinstance(entity, Mark):
        return entity
    try:
        start, end, kind = (entity[0], entity[1], entity[2]) if isinstance(entity, tuple | list) else _fields(entity)
        if type(start) is int and type(end) is int and isinstance(kind, str):
            return Mark(start, end, kind, getattr(entity, "confidence", None))
    except (IndexError, KeyError, AttributeError):
        pass
    raise DataError(f"{entity!r:.80} is no entity; give (start, end, type), or what a recognizer found")


def _fields(entity: Any) -> tuple[Any, Any, Any]:
    if isinstance(entity, dict):
        return entity["start"], entity["end"], entity["type"]
    return entity.start, entity.end, entity.type


def style() -> Html:
    """The style sheet of drawings; all of it is under the class `nestag`."""
    return Html((files("nestag.rendering") / "style.css").read_text(encoding="utf-8"))
