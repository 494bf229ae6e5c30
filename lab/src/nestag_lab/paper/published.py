"""What the paper published, figure by figure, as typed values; the figures themselves are in published.toml.

Its corpora are called ace2004, ace2005, genia and nne. Scores and shares are in percent, as printed.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Generic, NamedTuple, TypeVar

from nestag_lab.corpora.coverage import Sizes

T = TypeVar("T")
SYSTEMS = "systems"
UNNAMED = "unnamed"


class Encoder(NamedTuple):
    """A pretrained encoder that the paper used."""

    name: str
    hub: str
    """What it is called where models are shared."""
    parameters: int


class Measured(NamedTuple):
    """A mean, with the deviation over runs if it was given."""

    mean: float
    deviation: float | None = None


class ScoreFigures(NamedTuple):
    """Precision, recall and F1."""

    precision: Measured
    recall: Measured
    f1: Measured


class PrecisionRecall(NamedTuple):
    """Precision and recall of a group of entities."""

    precision: float
    recall: float


class TypeSpread(NamedTuple):
    """How F1 differs between types."""

    best: str
    worst: str
    mean: float
    deviation: float


class LabelFigures(NamedTuple):
    """Labels of an encoding on a corpus; a share may be text such as >99.99."""

    labels: Sizes
    missing: Sizes
    dev: float | str
    test: float | str
    absolute_labels: float | None = None
    absolute_sentences: float | None = None


class Depth(NamedTuple):
    """How deep entities lie, counted from 1."""

    mean: float
    median: float
    largest: int


class Dataset(NamedTuple):
    """A corpus in numbers."""

    topic: str
    sentences: int
    length: Measured
    types: int
    entities: int
    depth: Depth
    depths: tuple[float, ...]
    """Percentage of entities at depth 0, 1, ..."""
    lengths: tuple[float, ...]
    """Percentage of entities of each group of `statistics.SPANS`."""


class Reported(NamedTuple, Generic[T]):
    """What is reported of one model, or of one system that the paper compares itself with, corpus by corpus."""

    source: str
    """Where it is from: the paper with encoder, size and decoding, or another system."""
    name: str
    """The encoding, or the system's authors, year and complexity."""
    figures: dict[str, T]


@dataclass(frozen=True)
class Published:
    """All figures of the paper."""

    title: str
    seeds: int
    encoders: dict[str, Encoder]
    leads: dict[str, float]  # of dyn over rel, as the text says
    scores: tuple[Reported[ScoreFigures], ...]  # tables 2 and 6
    depths: tuple[Reported[dict[str, PrecisionRecall]], ...]  # table 3, by the names of evaluation.result.DEPTHS
    lengths: tuple[Reported[dict[str, PrecisionRecall]], ...]  # table 4, by the names of evaluation.result.LENGTHS
    types: tuple[Reported[TypeSpread], ...]  # table 5
    best_runs: tuple[Reported[ScoreFigures], ...]  # table 7
    labels: dict[str, dict[str, LabelFigures]]  # table 1, by corpus and encoding
    datasets: dict[str, Dataset]  # table 8


@cache
def published() -> Published:
    """Return the paper's figures.

    >>> abs_on_genia = published().scores[0]
    >>> abs_on_genia.source, abs_on_genia.name, abs_on_genia.figures["genia"].f1.mean
    ('paper, BioBERT-large 340M, greedy-majority', 'abs', 76.6)
    """
    record = tomllib.loads((files("nestag_lab.paper") / "published.toml").read_text(encoding="utf-8"))
    return Published(
        title=record["title"],
        seeds=record["seeds"],
        encoders={key: Encoder(**fields) for key, fields in record["encoders"].items()},
        leads=record["leads"],
        scores=_reported(record, "scores", _scores),
        depths=_reported(record, "depths", _pairs),
        lengths=_reported(record, "lengths", _pairs),
        types=_reported(record, "types", lambda fields: TypeSpread(**fields)),
        best_runs=_reported(record, "best", _scores),
        labels={corpus: {by: _labels(**one) for by, one in rows.items()} for corpus, rows in record["labels"].items()},
        datasets={corpus: _dataset(**fields) for corpus, fields in record["datasets"].items()},
    )


def published_name(corpus: str, words: bool = True) -> str | None:
    """Return the paper's name for a corpus, or None; with `words=False`, a corpus without text counts too.

    >>> published_name("ACE-2004"), published_name("gum"), published_name("nne_notext"), published_name("NNE", False)
    ('ace2004', None, None, 'nne')
    """
    plain = re.sub(r"[-_ ]", "", corpus.lower())
    if not words:
        plain = plain.removesuffix("notext")
    return plain if plain in published().datasets else None


def _reported(record: Mapping[str, Any], name: str, read: Callable[[Any], T]) -> tuple[Reported[T], ...]:
    """Return one table, its rows in the order of the file."""
    return tuple(
        Reported(
            _source(record, key),
            _system(record["systems"][by]) if key == SYSTEMS else by,
            {corpus: read(value) for corpus, value in figures.items()},
        )
        for key, rows in record[name].items()
        for by, figures in rows.items()
    )


def _source(record: Mapping[str, Any], key: str) -> str:
    if key == SYSTEMS:
        return "other systems, as the paper cites them"
    if key == UNNAMED:
        return f"paper, encoder not named, {record['decoding']}"
    encoder = Encoder(**record["encoders"][key])
    return f"paper, {encoder.name} {encoder.parameters // 10**6}M, {record['decoding']}"


def _system(fields: Mapping[str, str]) -> str:
    return f"{fields['name']}, {fields['complexity']}"


def _measured(value: float | list[float]) -> Measured:
    return Measured(*value) if isinstance(value, list) else Measured(value)


def _scores(fields: Mapping[str, Any]) -> ScoreFigures:
    return ScoreFigures(**{name: _measured(value) for name, value in fields.items()})


def _pairs(fields: Mapping[str, list[float]]) -> dict[str, PrecisionRecall]:
    return {group: PrecisionRecall(*both) for group, both in fields.items()}


def _labels(
    labels: list[int], missing: list[int], dev: float | str, test: float | str, absolute: tuple[float, ...] = ()
) -> LabelFigures:
    return LabelFigures(Sizes(*labels), Sizes(*missing), dev, test, *absolute)


def _dataset(
    length: list[float], depth: dict[str, Any], depths: list[float], lengths: list[float], **plain: Any
) -> Dataset:
    return Dataset(
        length=_measured(length), depth=Depth(**depth), depths=tuple(depths), lengths=tuple(lengths), **plain
    )
