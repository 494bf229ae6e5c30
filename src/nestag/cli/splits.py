"""Corpora that a command is given: single files, a folder with train, dev and test in it, or each by its option."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated, NamedTuple

import typer

from nestag.cli.terminal import progress
from nestag.corpora.format import DEFAULT, Boundaries, Options, TokenizerName
from nestag.corpora.registry import format_of
from nestag.corpora.report import Report
from nestag.corpora.splits import ROLES, role_of, splits_in
from nestag.data import Sentence
from nestag.errors import InputError
from nestag.files import PIPE, is_stream


class TokenizerChoice(StrEnum):
    """How raw text is tokenized."""

    SPACY = "spacy"
    WHITESPACE = "whitespace"


class OnBoundary(StrEnum):
    """What happens to spans that begin or end inside a word."""

    WIDEN = "widen"
    SPLIT = "split"
    REFUSE = "refuse"


HOW_FILES_ARE_READ = "How files are read"
"""The part of a help page with the options that most commands share."""

FilesArgument = Annotated[
    list[str] | None, typer.Argument(metavar="IN", help="Files, or a folder that holds train, dev and test.")
]
Train = Annotated[str | None, typer.Option(metavar="FILE", help="The training split.")]
Dev = Annotated[str | None, typer.Option(metavar="FILE", help="The split to choose settings by.")]
Test = Annotated[str | None, typer.Option(metavar="FILE", help="The split to report scores on.")]
From = Annotated[
    str | None,
    typer.Option(
        "--from",
        metavar="FORMAT",
        help="The format, if it must be said.",
        rich_help_panel=HOW_FILES_ARE_READ,
    ),
]
Threshold = Annotated[
    float | None, typer.Option(min=0, max=1, help="Leave out entities of less confidence; else as the model says.")
]
TypeThreshold = Annotated[
    list[str] | None, typer.Option(metavar="TYPE=VALUE", help="The same for one type; may be given again.")
]
Decoded = Annotated[str | None, typer.Option(metavar="D", help="legal or greedy, if not as trained.")]
Verifier = Annotated[
    bool | None,
    typer.Option("--verifier/--no-verifier", help="Judge legal entities once more, if the model can; else as trained."),
]
Cutter = Annotated[
    TokenizerChoice | None,
    typer.Option(
        help="How raw text becomes words; else as the model was trained, or spacy.", rich_help_panel=HOW_FILES_ARE_READ
    ),
]
Language = Annotated[
    str | None,
    typer.Option(
        metavar="CODE",
        help="Of raw text, as spaCy calls it, xx for any; else the model's, or en.",
        rich_help_panel=HOW_FILES_ARE_READ,
    ),
]
Borders = Annotated[
    OnBoundary,
    typer.Option(
        help="Spans that end inside a word: widen them, split the word, or stop.", rich_help_panel=HOW_FILES_ARE_READ
    ),
]
Field = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="The layer to read, where a file may hold several.",
        rich_help_panel=HOW_FILES_ARE_READ,
    ),
]
ColumnsOption = Annotated[
    str | None,
    typer.Option(
        metavar="1,4,...",
        help="The columns of tokens and of tags, counted from 1; -1 is the last.",
        rich_help_panel=HOW_FILES_ARE_READ,
    ),
]
SkipBad = Annotated[
    bool,
    typer.Option(
        "--skip-bad", help="Skip records that cannot be read, and count them.", rich_help_panel=HOW_FILES_ARE_READ
    ),
]


class SplitFile(NamedTuple):
    """A corpus to read, and what to call it."""

    name: str
    path: str
    format: str | None = None
    options: Options = Options()

    def read(self, report: Report | None = None) -> Iterator[Sentence]:
        """Its sentences, with a progress count."""
        chosen = format_of(self.path, self.format)
        return progress(chosen.read(self.path, self.options, report), f"reading {self.name}")

    def opener(self, report: Report) -> Callable[[], Iterator[Sentence]]:
        """A way to read it more than once; only the first reading is reported."""
        reports = [report]
        return lambda: self.read(reports.pop() if reports else None)


def columns_from(text: str) -> tuple[int, ...]:
    """The numbers of columns, of which there are at least two.

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
class Reading:
    """Options for reading a corpus that its format leaves open."""

    tokenizer: Cutter = None
    language: Language = None
    boundaries: Borders = OnBoundary.WIDEN
    field: Field = None
    columns: ColumnsOption = None
    skip_bad: SkipBad = False

    @property
    def options(self) -> Options:
        """The same, as formats take it."""
        return self.options_for(DEFAULT)

    def options_for(self, usual: Options) -> Options:
        """The same, with words and language as usual where nothing else was asked for."""
        cutter: TokenizerName = self.tokenizer.value if self.tokenizer else usual.tokenizer
        edges: Boundaries = self.boundaries.value
        columns = None if self.columns is None else columns_from(self.columns)
        return Options(cutter, self.language or usual.language, edges, self.field, columns, self.skip_bad)


@dataclass(frozen=True)
class Given:
    """The corpora that a command is given."""

    files: FilesArgument = None
    train: Train = None
    dev: Dev = None
    test: Test = None

    def splits(self, format: str | None, reading: Reading, twice: bool = False) -> list[SplitFile]:
        """What is to be read; `twice` refuses pipes, which can be read only once."""
        options = reading.options
        roles = {"train": self.train, "dev": self.dev, "test": self.test}
        found = [SplitFile(role, path, format, options) for role, path in roles.items() if path is not None]
        for path in self.files or ():
            inside = splits_in(path)
            found += [
                SplitFile(name, file, format, options) for name, file in (inside or {name_of(path): path}).items()
            ]
        if not found:
            raise InputError("nothing to read; give files, a folder, or --train, --dev and --test", "command line")
        once = next((split.path for split in found if is_stream(split.path)), None)
        if twice and once:
            raise InputError("this command reads its input more than once; save it to a file first", once)
        return named_apart(found)


def name_of(path: str) -> str:
    """What to call a single file: the split it is by its name, or its path."""
    return (None if path == PIPE else role_of(Path(path))) or path


def named_apart(splits: Sequence[SplitFile]) -> list[SplitFile]:
    """The splits in the order train, dev, test, others; those that would share a name are called by their paths."""
    names = [split.name for split in splits]
    apart = [split if names.count(split.name) == 1 else split._replace(name=split.path) for split in splits]
    paths = [split.path for split in apart if split.name == split.path]
    if len(set(paths)) < len(paths):
        raise InputError(
            "it is given more than once; name every file once", next(p for p in paths if paths.count(p) > 1)
        )
    order = list(ROLES)
    return sorted(apart, key=lambda split: order.index(split.name) if split.name in order else len(order))
