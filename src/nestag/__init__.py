"""nestag: find entities inside entities.

The names below are the public API. Each is loaded when it is first used, so `import nestag` is fast.
"""

from __future__ import annotations

import os
from importlib import import_module
from typing import TYPE_CHECKING, Any

from nestag.data.cores import usable_cores

if TYPE_CHECKING:
    from nestag.data.sentence import Entity, Sentence
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
    from nestag.formats.conversion import convert
    from nestag.formats.corpus import read_corpus, write_corpus
    from nestag.inspect.coverage import coverage
    from nestag.inspect.rendering import render
    from nestag.inspect.splitting import split
    from nestag.inspect.statistics import stats
    from nestag.integrations import export
    from nestag.model.assessment import report, thresholds
    from nestag.model.benchmark import benchmark
    from nestag.model.model_folder import load
    from nestag.model.recognizer import NestedNER
    from nestag.training.adaptation import adapt
    from nestag.training.advice import doctor
    from nestag.training.distillation import distill
    from nestag.training.recipe import Recipe
    from nestag.training.run import train

__version__ = "0.1.0"

# OpenMP threads that wait by spinning slow each other down on a busy machine. OpenMP reads this when torch is imported.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
if (_cores := usable_cores()) < (os.cpu_count() or 1):  # OpenMP does not know the CPU limit of a container
    os.environ.setdefault("OMP_NUM_THREADS", str(_cores))

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
    "benchmark",
    "convert",
    "coverage",
    "decode",
    "distill",
    "doctor",
    "encode",
    "evaluate",
    "export",
    "load",
    "read_corpus",
    "render",
    "report",
    "split",
    "stats",
    "thresholds",
    "train",
    "write_corpus",
]

_HOMES = {
    "nestag.formats.corpus": ("read_corpus", "write_corpus"),
    "nestag.data.sentence": ("Entity", "Sentence"),
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
    "nestag.model.assessment": ("report", "thresholds"),
    "nestag.model.benchmark": ("benchmark",),
    "nestag.model.model_folder": ("load",),
    "nestag.model.recognizer": ("NestedNER",),
    "nestag.formats.conversion": ("convert",),
    "nestag.inspect.coverage": ("coverage",),
    "nestag.inspect.rendering": ("render",),
    "nestag.inspect.splitting": ("split",),
    "nestag.inspect.statistics": ("stats",),
    "nestag.training.advice": ("doctor",),
    "nestag.training.adaptation": ("adapt",),
    "nestag.training.distillation": ("distill",),
    "nestag.training.recipe": ("Recipe",),
    "nestag.training.run": ("train",),
}
_NEEDS_MODEL = ("NestedNER", "adapt", "benchmark", "distill", "train")


def __getattr__(name: str) -> Any:
    for home, names in _HOMES.items():
        if name in names:
            return getattr(_load(home, name), name)
    if name == "export":
        return import_module("nestag.integrations.export")
    raise AttributeError(f"module 'nestag' has no attribute {name!r}")


def _load(home: str, name: str) -> Any:
    try:
        return import_module(home)
    except ModuleNotFoundError as error:
        if name not in _NEEDS_MODEL or (error.name or "").partition(".")[0] == "nestag":
            raise
        from nestag.errors import MissingExtraError

        raise MissingExtraError(f"{name} needs {error.name}", "model") from None


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
