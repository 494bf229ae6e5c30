"""nestag: nested named entity recognition at the price of a tagger.

The names below are the contract. Each is loaded when it is first used, so that `import nestag` costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nestag.crossing import set_aside_crossing
    from nestag.data import Entity, Sentence
    from nestag.decoding import EntityTable, Search, decode_batch, decode_scores, filter_entities
    from nestag.encodings import Absolute, Encoding, Label, decode, encode, encoding, repairs
    from nestag.errors import CrossingError, DataError, InputError, LabelError, NestagError, UnknownNameError
    from nestag.recognizer import NestedNER
    from nestag.tree import Name, Tree
    from nestag.vocabulary import LabelIds, Vocabulary

__version__ = "0.1.0"

__all__ = [
    "Absolute",
    "CrossingError",
    "DataError",
    "Encoding",
    "Entity",
    "EntityTable",
    "InputError",
    "Label",
    "LabelError",
    "LabelIds",
    "Name",
    "NestagError",
    "NestedNER",
    "Search",
    "Sentence",
    "Tree",
    "UnknownNameError",
    "Vocabulary",
    "decode",
    "decode_batch",
    "decode_scores",
    "encode",
    "encoding",
    "filter_entities",
    "repairs",
    "set_aside_crossing",
]

_HOMES = {
    "nestag.crossing": ("set_aside_crossing",),
    "nestag.data": ("Entity", "Sentence"),
    "nestag.decoding": ("EntityTable", "Search", "decode_batch", "decode_scores", "filter_entities"),
    "nestag.encodings": ("Absolute", "Encoding", "Label", "decode", "encode", "encoding", "repairs"),
    "nestag.errors": ("CrossingError", "DataError", "InputError", "LabelError", "NestagError", "UnknownNameError"),
    "nestag.recognizer": ("NestedNER",),
    "nestag.tree": ("Name", "Tree"),
    "nestag.vocabulary": ("LabelIds", "Vocabulary"),
}


def __getattr__(name: str) -> Any:
    for home, names in _HOMES.items():
        if name in names:
            return getattr(import_module(home), name)
    raise AttributeError(f"module 'nestag' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
