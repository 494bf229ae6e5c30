"""Recipes: every setting of a training run, as a file that people can read and copy.

A recipe is a TOML file of the fields below; what it leaves out keeps the default. Two come with the package: `default`,
the best found on development sets, and `paper`, the published configuration.
"""

from __future__ import annotations

import dataclasses
import math
import tomllib
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from nestag.decoding import Decoding
from nestag.errors import InputError, UnknownNameError

COUNTS = ("window", "epochs", "budget", "sentences", "accumulate")
"""Settings that must not be 0."""


@dataclass(frozen=True)
class Recipe:
    """The settings of a training run."""

    # what is trained
    encoder: str = "minilm"  # a short name, a folder, or a name on the hub
    encoding: str = "rel"  # abs, rel, dyn or 4tg
    pooling: str = "mean"  # of a word's subwords: first, last or mean
    shape_size: int = 0  # of the embedding of word shapes; 0 for none
    lstm_size: int = 0  # of each direction of a BiLSTM over words; 0 for none
    dropout: float = 0.2  # before the heads
    window: int = 512  # subwords that are read at once, at most
    context: int = 0  # subwords up to which neighbouring sentences are added; 0 for none
    decoding: Decoding = "legal"  # legal or greedy

    # how long and in what portions
    epochs: int = 12
    budget: int = 2048  # subwords in a batch
    sentences: int = 10_000  # sentences in a batch, at most
    accumulate: int = 1  # batches before each step
    patience: int = 0  # epochs without a better score on dev before it stops; 0 never stops early

    # how it learns
    learning_rate: float = 2e-4  # of the encoder
    head_learning_rate: float = 1e-3  # of everything else
    layer_decay: float = 1.0  # of the learning rate, for each layer further down
    schedule: str = "linear"  # linear, slanted (MaChAmp's, the encoder frozen for one epoch) or constant
    warmup: float = 0.1  # share of the steps in which the rate rises
    weight_decay: float = 0.01
    beta1: float = 0.9
    beta2: float = 0.999
    clip: float = 1.0  # the largest norm of a gradient
    ema: float = 0.0  # decay of the average of weights that is evaluated and saved; 0 for none

    def changed(self, changes: dict[str, str]) -> Recipe:
        """The recipe with fields set from text; unknown fields and wrong values are refused.

        >>> Recipe().changed({"epochs": "3", "encoding": "dyn"}).epochs
        3
        """
        values: dict[str, Any] = {name: _value(name, text) for name, text in changes.items()}
        return dataclasses.replace(self, **values)


def load_recipe(name: str) -> Recipe:
    """The recipe of that name, or in that file."""
    packaged = files("nestag") / "recipes" / f"{name}.toml"
    source = Path(name) if name.endswith(".toml") else None
    try:
        text = source.read_text(encoding="utf-8") if source else packaged.read_text(encoding="utf-8")
    except FileNotFoundError:
        names = ", ".join(sorted(entry.name[:-5] for entry in (files("nestag") / "recipes").iterdir()))
        raise UnknownNameError(f"no recipe is called {name!r}; there are {names}, or give a .toml file") from None
    try:
        values: dict[str, Any] = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"not TOML ({error})", name) from None
    try:
        return Recipe().changed({key: str(value) for key, value in values.items()})
    except UnknownNameError as error:
        raise InputError(str(error), name) from None


def _value(name: str, text: str) -> object:
    """A field's value, of the field's type."""
    defaults = dataclasses.asdict(Recipe())
    if name not in defaults:
        raise UnknownNameError(f"no setting is called {name!r}; there are {', '.join(defaults)}")
    kind = type(defaults[name])
    allowed = {
        "pooling": ("first", "last", "mean"),
        "decoding": ("legal", "greedy"),
        "schedule": ("linear", "slanted", "constant"),
    }.get(name)
    try:
        value = kind(text)
    except ValueError:
        raise UnknownNameError(f"{name} is {text!r}; it takes a value of the kind {kind.__name__}") from None
    if allowed and value not in allowed:
        raise UnknownNameError(f"{name} is {text!r}; it takes one of {', '.join(allowed)}")
    if isinstance(value, int | float) and not 0 <= value < math.inf:
        raise UnknownNameError(f"{name} is {text}; it takes nothing negative, and nothing without end")
    if name in COUNTS and not value:
        raise UnknownNameError(f"{name} is 0; it takes 1 or more")
    return value
