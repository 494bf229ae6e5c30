"""nestag: nested named entity recognition at the price of a tagger.

The names below are the contract. Each is loaded when it is first used, so that `import nestag` costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nestag.corpora.corpus import read_corpus, write_corpus
    from nestag.data import Entity, Sentence
    from nestag.encodings import decode, encode
    from nestag.errors import (
        CrossingError,
        DataError,
        InputError,
        LabelError,
        MissingExtraError,
        NestagError,
        SettingError,
        UnknownNameError,
    )
    from nestag.evaluation import evaluate
    from nestag.recognizer import NestedNER
    from nestag.rendering import render
    from nestag.training.adaptation import adapt
    from nestag.training.recipe import Recipe
    from nestag.training.run import train

__version__ = "0.1.0"

__all__ = [
    "CrossingError",
    "DataError",
    "Entity",
    "InputError",
    "LabelError",
    "MissingExtraError",
    "NestagError",
    "NestedNER",
    "Recipe",
    "Sentence",
    "SettingError",
    "UnknownNameError",
    "adapt",
    "decode",
    "encode",
    "evaluate",
    "read_corpus",
    "render",
    "train",
    "write_corpus",
]

_HOMES = {
    "nestag.corpora.corpus": ("read_corpus", "write_corpus"),
    "nestag.data": ("Entity", "Sentence"),
    "nestag.encodings": ("decode", "encode"),
    "nestag.errors": (
        "CrossingError",
        "DataError",
        "InputError",
        "LabelError",
        "MissingExtraError",
        "NestagError",
        "SettingError",
        "UnknownNameError",
    ),
    "nestag.evaluation": ("evaluate",),
    "nestag.recognizer": ("NestedNER",),
    "nestag.rendering": ("render",),
    "nestag.training.adaptation": ("adapt",),
    "nestag.training.recipe": ("Recipe",),
    "nestag.training.run": ("train",),
}
_NEEDS_MODEL = ("NestedNER", "adapt", "train")


def __getattr__(name: str) -> Any:
    for home, names in _HOMES.items():
        if name in names:
            return getattr(_loaded(home, name), name)
    raise AttributeError(f"module 'nestag' has no attribute {name!r}")


def _loaded(home: str, name: str) -> Any:
    try:
        return import_module(home)
    except ModuleNotFoundError as error:
        if name not in _NEEDS_MODEL or (error.name or "").partition(".")[0] == "nestag":
            raise
        from nestag.errors import MissingExtraError

        raise MissingExtraError(f"{name} needs {error.name}", "model") from None


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
