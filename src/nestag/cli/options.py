"""Options that several commands share: what is read and how, which entities a model predicts, what is printed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Annotated, Any

import typer

from nestag.cli.terminal import progress
from nestag.data.report import Report
from nestag.data.segment import DEFAULT, Boundaries, Options, TokenizerName
from nestag.data.sentence import Sentence
from nestag.errors import InputError
from nestag.formats.corpus import CorpusFile, Watch, splits_of
from nestag.inspect.table_forms import TableForm

ModelArgument = Annotated[str, typer.Argument(metavar="MODEL", help="A model folder, or a name on the hub.")]
DeviceOption = Annotated[
    str | None, typer.Option(metavar="D", help="cpu, cuda or cuda:1 (default: a GPU if there is one).")
]
To = Annotated[str | None, typer.Option("--to", metavar="FORMAT", help="The output format, if it cannot be guessed.")]
CpuOption = Annotated[bool, typer.Option("--cpu", help="Use the CPU even if there is a GPU.")]
SeedOption = Annotated[int, typer.Option(help="The random seed.")]
PlotOption = Annotated[str | None, typer.Option(metavar="FILE", help="Also draw a figure (.png or .svg).")]


def _for_reading(*names: str, help: str, metavar: str | None = None) -> Any:
    """An option in the part of the help page on how files are read."""
    return typer.Option(*names, metavar=metavar, help=help, rich_help_panel="How files are read")


From = Annotated[
    str | None, _for_reading("--from", metavar="FORMAT", help="The format (default: guessed from name and content).")
]
TokenizerOption = Annotated[
    TokenizerName | None, _for_reading(help="How to tokenize raw text (default: the model's tokenizer, or spacy).")
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
        Boundaries, _for_reading(help="Spans that end inside a word: widen them, split the word, or stop.")
    ] = "widen"
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
        tokenizer, language = self.tokenizer or model.tokenizer, self.language or model.language
        columns = None if self.columns is None else columns_from(self.columns)
        return Options(tokenizer, language, self.boundaries, self.field, columns, self.skip_bad)

    def corpus(
        self, path: str, format: str | None = None, watch: Watch | None = progress, report: Report | None = None
    ) -> CorpusFile:
        """A file to be read with these options."""
        return CorpusFile(path, format, self.options_for, watch, report)


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
class Given:
    """The corpora that a command is given."""

    files: Annotated[
        list[str] | None, typer.Argument(metavar="IN", help="Files, or a folder that holds train, dev and test.")
    ] = None
    train: Annotated[str | None, typer.Option(metavar="FILE", help="The training split.")] = None
    dev: Annotated[str | None, typer.Option(metavar="FILE", help="The split to choose settings by.")] = None
    test: Annotated[str | None, typer.Option(metavar="FILE", help="The split to report scores on.")] = None

    def corpora(self, format: str | None, reading: Reading) -> list[Iterable[Sentence]]:
        """The splits to read, each with its name."""
        splits = splits_of(self.files or (), self.train, self.dev, self.test, lambda path: reading.corpus(path, format))
        return list(splits.values())


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
    decoding: Annotated[
        str | None, typer.Option(metavar="D", help="spans, constrained or greedy (default: as trained).")
    ] = None
    node_label_strategy: Annotated[
        str | None, typer.Option(metavar="N", help="first or majority, for greedy decoding (default: as trained).")
    ] = None

    @property
    def changes(self) -> dict[str, Any]:
        """The settings of the model that change."""
        given = {
            "threshold": self.threshold,
            "thresholds": dict(map(threshold_from, self.type_threshold)) if self.type_threshold else None,
            "decoding": self.decoding,
            "node_label_strategy": self.node_label_strategy,
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


PRINTED = "What is printed"
"""The part of a help page with the forms of tables."""

Json = Annotated[bool, typer.Option("--json", help="JSON.", rich_help_panel=PRINTED)]


@dataclass(frozen=True)
class Forms:
    """The forms in which tables can be had."""

    json: Json = False
    markdown: Annotated[bool, typer.Option("--markdown", help="A Markdown table.", rich_help_panel=PRINTED)] = False
    latex: Annotated[bool, typer.Option("--latex", help="A LaTeX table (booktabs).", rich_help_panel=PRINTED)] = False
    csv: Annotated[bool, typer.Option("--csv", help="Comma-separated values.", rich_help_panel=PRINTED)] = False

    @property
    def chosen(self) -> TableForm:
        """The one form asked for, else text."""
        chosen = [TableForm(field.name) for field in fields(self) if getattr(self, field.name)]
        if len(chosen) > 1:
            raise InputError(f"{' and '.join(f'--{form}' for form in chosen)}; ask for one of them", "command line")
        return chosen[0] if chosen else TableForm.text
