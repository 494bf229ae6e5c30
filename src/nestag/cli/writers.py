"""Which writer a command uses: that of the format named, or that of the suffix of the file."""

from __future__ import annotations

from nestag.corpora.format import Format, Writer
from nestag.corpora.formats import jsonl
from nestag.corpora.registry import available, format_for
from nestag.errors import InputError
from nestag.files import PIPE


def writer_for(output: str, name: str | None) -> Writer:
    """How to write a file; a pipe gets JSON Lines unless another format is named."""
    return writer_of(jsonl.FORMAT if output == PIPE and name is None else format_for(output, name))


def writer_of(format: Format) -> Writer:
    """How a format is written, or an InputError that says which formats are."""
    if format.write is None:
        names = ", ".join(sorted(name for name, entry in available().items() if entry.write))
        raise InputError("it can be read but not written; choose with --to, one of " + names, format.name)
    return format.write
