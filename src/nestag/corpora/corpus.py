"""Whole corpora: read into memory from a file of any format, with a report of what was changed; and written."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from nestag.corpora.format import DEFAULT, Boundaries, Options, TokenizerName
from nestag.corpora.formats.parquet import read_dataset
from nestag.corpora.registry import format_for, format_of
from nestag.corpora.report import Report
from nestag.corpora.table import is_dataset
from nestag.data import Sentence
from nestag.errors import InputError
from nestag.validation import from_mapping


class Corpus(list[Sentence]):
    """Sentences, how they were read (`options`), and in `report` what reading them could not keep as it was."""

    def __init__(
        self, sentences: Iterable[Sentence] = (), report: Report | None = None, options: Options = DEFAULT
    ) -> None:
        super().__init__(sentences)
        self.report = Report() if report is None else report
        self.options = options

    @classmethod
    def read(cls, path: str | Path, format: str | None = None, options: Options = DEFAULT) -> Corpus:
        """The sentences of a file or folder, with options that a command or a grid has checked already."""
        report = Report()
        return cls(format_of(path, format).read(path, options, report), report, options)


def corpus_of(given: Sequence[Sentence] | Any) -> Sequence[Sentence]:
    """Sentences as they are, or those of a dataset of Hugging Face `datasets`."""
    return read_corpus(given) if is_dataset(given) else given


def read_corpus(
    path: str | Path | Any,
    format: str | None = None,
    *,
    field: str | None = None,
    columns: Sequence[int] | None = None,
    tokenizer: TokenizerName = "spacy",
    language: str = "en",
    boundaries: Boundaries = "widen",
    skip_bad: bool = False,
) -> Corpus:
    """The sentences of a file or folder; suffix and content say what format it is, unless `format` does.

    A dataset of Hugging Face `datasets` is taken too: its columns of tags are levels, unless `field` names others.
    `field` names the layer to read, `columns` those of tokens and tags, where a file may hold several. Raw text is cut
    into words by `tokenizer` with the rules of `language`; entities that end inside a word are treated as `boundaries`
    says. `skip_bad` sets records aside that cannot be read. `report.summary()` says what was set aside, widened or
    merged.
    """
    given = {
        "field": field,
        "columns": columns,
        "tokenizer": tokenizer,
        "language": language,
        "boundaries": boundaries,
        "skip_bad": skip_bad,
    }
    options = from_mapping(Options, given, "read_corpus")
    if is_dataset(path):
        report = Report()
        return Corpus(read_dataset(path, options, report), report, options)
    return Corpus.read(path, format, options)


def write_corpus(sentences: Iterable[Sentence], path: str | Path, format: str | None = None) -> Report:
    """Write sentences in the format of the file's suffix, or the one named; the report says what it cannot hold."""
    chosen = format_for(path, format)
    if chosen.write is None:
        raise InputError(f"the format {chosen.name} can be read but not written; choose another", str(path))
    report = Report()
    chosen.write(sentences, path, report=report)
    return report
