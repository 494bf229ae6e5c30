"""Corpora that a command is given: single files, a folder with train, dev and test in it, or each by its option."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, NamedTuple

import typer

from nestag.cli.options import Reading
from nestag.cli.terminal import progress
from nestag.corpora.format import Options
from nestag.corpora.registry import format_of
from nestag.corpora.report import Report
from nestag.corpora.splits import ROLES, role_of, splits_in
from nestag.data import Sentence
from nestag.errors import InputError
from nestag.files import PIPE, is_stream

FilesArgument = Annotated[
    list[str] | None, typer.Argument(metavar="IN", help="Files, or a folder that holds train, dev and test.")
]
Train = Annotated[str | None, typer.Option(metavar="FILE", help="The training split.")]
Dev = Annotated[str | None, typer.Option(metavar="FILE", help="The split to choose settings by.")]
Test = Annotated[str | None, typer.Option(metavar="FILE", help="The split to report scores on.")]


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
