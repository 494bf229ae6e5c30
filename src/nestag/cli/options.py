"""Options that several commands share: reading files, choosing entities, and the form of the output."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields
from typing import Annotated, Any

import typer

from nestag.cli.terminal import progress
from nestag.data.report import Report
from nestag.data.segment import DEFAULT, Boundaries, Options, TokenizerName
from nestag.data.sentence import Sentence
from nestag.decoding import Decoding
from nestag.encodings.base import Naming
from nestag.errors import InputError
from nestag.formats.corpus import CorpusFile, Watch, splits_of
from nestag.formats.registry import available as formats
from nestag.inspect.table_forms import TableForm

READING = "Reading files"
PRINTED = "Output form"
"""Parts of a help page, after the options of the command itself."""


def completion(names: Callable[[], Iterable[str]]) -> Callable[[str], list[str]]:
    """Return a function with which shells complete a name."""
    return lambda incomplete: sorted(name for name in names() if name.startswith(incomplete))


def named(names: Callable[[], Iterable[str]], metavar: str, help: str, *flags: str, panel: str | None = None) -> Any:
    """Return an option that takes a name; shells complete it."""
    return typer.Option(*flags, metavar=metavar, help=help, autocompletion=completion(names), rich_help_panel=panel)


def models() -> Iterable[str]:
    """Return the names of the models that come with nestag."""
    from nestag.model.model_folder import PACKAGED

    return PACKAGED


def file_option(help: str) -> Any:
    """Return an option that takes the name of a file."""
    return typer.Option(metavar="FILE", help=help)


def output_option(metavar: str, help: str) -> Any:
    """Return the option -o, which names what a command writes."""
    return typer.Option("-o", "--output", metavar=metavar, help=help)


def reading_option(*flags: str, help: str, metavar: str | None = None) -> Any:
    """Return an option in the part of the help page on reading files."""
    return typer.Option(*flags, metavar=metavar, help=help, rich_help_panel=READING)


def format_option(help: str, *flags: str) -> Any:
    """Return an option that takes the name of a format."""
    return named(formats, "FORMAT", help, *flags, panel=READING)


MODEL = "english, a model folder, or a name on the hub."
ModelArgument = Annotated[str, typer.Argument(metavar="MODEL", help=MODEL, autocompletion=completion(models))]
DeviceOption = Annotated[
    str | None, named(lambda: ("cpu", "cuda"), "D", "cpu, cuda or cuda:1 (default: a GPU if there is one).")
]
EncoderOption = Annotated[
    str | None, named(lambda: ("minilm", "light"), "E", "minilm, light, a folder, or a name on the hub.")
]
CpuOption = Annotated[bool, typer.Option("--cpu", help="Use the CPU even if there is a GPU.")]
SeedOption = Annotated[int, typer.Option(help="The random seed.")]
PlotOption = Annotated[str | None, file_option("Also draw a figure (.png or .svg).")]
From = Annotated[str | None, format_option("The format (default: detected from name and content).", "--from")]
To = Annotated[str | None, format_option("The output format (default: by the file name).", "--to")]
TokenizerOption = Annotated[
    TokenizerName | None, reading_option(help="The tokenizer of raw text (default: the model's, or spacy).")
]
LanguageOption = Annotated[
    str | None,
    reading_option(
        metavar="CODE", help="The language of raw text as in spaCy, xx for any (default: the model's, or en)."
    ),
]


@dataclass(frozen=True)
class Reading:
    """Options for reading a corpus."""

    tokenizer: TokenizerOption = None
    language: LanguageOption = None
    boundaries: Annotated[
        Boundaries, reading_option(help="Entities that end inside a token: widen them, split the token, or stop.")
    ] = "widen"
    field: Annotated[str | None, reading_option(metavar="NAME", help="The layer to read, if a file has several.")] = (
        None
    )
    columns: Annotated[
        str | None,
        reading_option(metavar="1,4,...", help="The columns of tokens and of tags, counted from 1; -1 is the last."),
    ] = None
    skip_bad: Annotated[bool, reading_option("--skip-bad", help="Skip and count records that cannot be read.")] = False

    @property
    def options(self) -> Options:
        """The options that formats take."""
        return self.options_for(DEFAULT)

    def options_for(self, model: Options) -> Options:
        """Return the options that formats take, by default with the model's tokenizer and language."""
        tokenizer, language = self.tokenizer or model.tokenizer, self.language or model.language
        columns = None if self.columns is None else columns_from(self.columns)
        return Options(tokenizer, language, self.boundaries, self.field, columns, self.skip_bad)

    def corpus(
        self, path: str, format: str | None = None, watch: Watch | None = progress, report: Report | None = None
    ) -> CorpusFile:
        """Return a file to be read with these options."""
        return CorpusFile(path, format, self.options_for, watch, report)


def columns_from(text: str) -> tuple[int, ...]:
    """Return the numbers of columns, at least two.

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
class Splits:
    """The corpora to read: files, or splits by name."""

    files: Annotated[
        list[str] | None, typer.Argument(metavar="IN", help="Files, or a folder that holds train, dev and test.")
    ] = None
    train: Annotated[str | None, file_option("The training split.")] = None
    dev: Annotated[str | None, file_option("The development split.")] = None
    test: Annotated[str | None, file_option("The test split.")] = None

    def corpora(self, format: str | None, reading: Reading) -> list[Iterable[Sentence]]:
        """Return the splits."""
        splits = splits_of(self.files or (), self.train, self.dev, self.test, lambda path: reading.corpus(path, format))
        return list(splits.values())


@dataclass(frozen=True)
class Predicting:
    """Settings of a model that a command can change."""

    threshold: Annotated[
        float | None, typer.Option(min=0, max=1, help="Drop entities below this confidence (default: the model's).")
    ] = None
    type_threshold: Annotated[
        list[str] | None, typer.Option(metavar="TYPE=VALUE", help="A threshold for one type; may be repeated.")
    ] = None
    decoding: Annotated[Decoding | None, typer.Option(help="The search for labels (default: as trained).")] = None
    node_label_strategy: Annotated[Naming | None, typer.Option(help="For greedy decoding (default: as trained).")] = (
        None
    )

    @property
    def changes(self) -> dict[str, Any]:
        """The settings to change."""
        values = {
            "threshold": self.threshold,
            "thresholds": dict(map(threshold_from, self.type_threshold)) if self.type_threshold else None,
            "decoding": self.decoding,
            "node_label_strategy": self.node_label_strategy,
        }
        return {name: value for name, value in values.items() if value is not None}


def threshold_from(text: str) -> tuple[str, float]:
    """Return a type and its threshold.

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
        raise InputError(f"{text!r} is not a threshold; write --type-threshold PER=0.5", "--type-threshold") from None


Json = Annotated[bool, typer.Option("--json", help="JSON.", rich_help_panel=PRINTED)]


@dataclass(frozen=True)
class Forms:
    """The forms of a table."""

    json: Json = False
    markdown: Annotated[bool, typer.Option("--markdown", help="A Markdown table.", rich_help_panel=PRINTED)] = False
    latex: Annotated[bool, typer.Option("--latex", help="A LaTeX table (booktabs).", rich_help_panel=PRINTED)] = False
    csv: Annotated[bool, typer.Option("--csv", help="Comma-separated values.", rich_help_panel=PRINTED)] = False

    @property
    def chosen(self) -> TableForm:
        """The form to write, by default text."""
        chosen = [TableForm(field.name) for field in fields(self) if getattr(self, field.name)]
        if len(chosen) > 1:
            raise InputError(f"{' and '.join(f'--{form}' for form in chosen)}; ask for one of them", "command line")
        return chosen[0] if chosen else TableForm.text
