"""Options that several commands share: how files are read, and which entities a model predicts."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any

import typer

from nestag.corpora.format import DEFAULT, Boundaries, Options, TokenizerName
from nestag.errors import InputError


class TokenizerChoice(StrEnum):
    """How raw text is tokenized."""

    SPACY = "spacy"
    WHITESPACE = "whitespace"


class OnBoundary(StrEnum):
    """What happens to spans that begin or end inside a word."""

    WIDEN = "widen"
    SPLIT = "split"
    REFUSE = "refuse"


def _for_reading(*names: str, help: str, metavar: str | None = None) -> Any:
    """An option in the part of the help page on how files are read."""
    return typer.Option(*names, metavar=metavar, help=help, rich_help_panel="How files are read")


From = Annotated[
    str | None, _for_reading("--from", metavar="FORMAT", help="The format (default: guessed from name and content).")
]
TokenizerOption = Annotated[
    TokenizerChoice | None, _for_reading(help="How to tokenize raw text (default: the model's tokenizer, or spacy).")
]
LanguageOption = Annotated[
    str | None,
    _for_reading(
        metavar="CODE", help="The language of raw text, as in spaCy, xx for any (default: the model's, or en)."
    ),
]


@dataclass(frozen=True)
class Reading:
    """Options for reading a corpus that its format leaves open."""

    tokenizer: TokenizerOption = None
    language: LanguageOption = None
    boundaries: Annotated[
        OnBoundary, _for_reading(help="Spans that end inside a word: widen them, split the word, or stop.")
    ] = OnBoundary.WIDEN
    field: Annotated[str | None, _for_reading(metavar="NAME", help="The layer to read, if a file holds several.")] = (
        None
    )
    columns: Annotated[
        str | None,
        _for_reading(metavar="1,4,...", help="The columns of tokens and of tags, counted from 1; -1 is the last."),
    ] = None
    skip_bad: Annotated[bool, _for_reading("--skip-bad", help="Skip records that cannot be read, and count them.")] = (
        False
    )

    @property
    def options(self) -> Options:
        """The options that formats take."""
        return self.options_for(DEFAULT)

    def options_for(self, model: Options) -> Options:
        """The options that formats take, with the model's tokenizer and language unless others were asked for."""
        tokenizer: TokenizerName = self.tokenizer.value if self.tokenizer else model.tokenizer
        boundaries: Boundaries = self.boundaries.value
        columns = None if self.columns is None else columns_from(self.columns)
        return Options(tokenizer, self.language or model.language, boundaries, self.field, columns, self.skip_bad)


def columns_from(text: str) -> tuple[int, ...]:
    """The numbers of columns, at least two.

    >>> columns_from("2,4,-1")
    (2, 4, -1)
    """
    try:
        columns = tuple(int(part) for part in text.split(","))
    except ValueError:
        columns = ()
    if len(columns) < 2 or 0 in columns or len(set(columns)) < len(columns):
        raise InputError(
            f"{text!r} does not name columns; write the token's and those of tags, from 1, like 1,4", "--columns"
        )
    return columns


@dataclass(frozen=True)
class Predicting:
    """Which entities a model predicts; what is not given stays as the model has it."""

    threshold: Annotated[
        float | None,
        typer.Option(min=0, max=1, help="Leave out entities below this confidence (default: the model's)."),
    ] = None
    type_threshold: Annotated[
        list[str] | None, typer.Option(metavar="TYPE=VALUE", help="A threshold for one type; may be repeated.")
    ] = None
    decoding: Annotated[str | None, typer.Option(metavar="D", help="legal or greedy (default: as trained).")] = None
    naming: Annotated[
        str | None, typer.Option(metavar="N", help="first or majority, for greedy decoding (default: as trained).")
    ] = None
    verifier: Annotated[
        bool | None,
        typer.Option("--verifier/--no-verifier", help="Verify legal entities, if the model can (default: as trained)."),
    ] = None

    @property
    def changes(self) -> dict[str, Any]:
        """The settings of the model that change."""
        given = {
            "threshold": self.threshold,
            "thresholds": dict(map(threshold_from, self.type_threshold)) if self.type_threshold else None,
            "decoding": self.decoding,
            "naming": self.naming,
            "verifier": self.verifier,
        }
        return {name: value for name, value in given.items() if value is not None}


def threshold_from(text: str) -> tuple[str, float]:
    """A type and its threshold.

    >>> threshold_from("PER=0.5")
    ('PER', 0.5)
    """
    kind, _, value = text.rpartition("=")
    try:
        number = float(value)
        if not 0 <= number <= 1:  # nan is neither
            raise ValueError
        return kind, number
    except ValueError:
        raise InputError(f"{text!r} is no threshold; write --type-threshold PER=0.5", "--type-threshold") from None
