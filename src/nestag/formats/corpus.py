"""Corpora: read from a file of any format, whole or by the sentence, with a report of what was changed; written."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from nestag.data.document import document_of
from nestag.data.report import Report
from nestag.data.segment import DEFAULT, Boundaries, Options, TokenizerName
from nestag.data.sentence import Origin, Sentence
from nestag.data.validation import from_mapping
from nestag.errors import InputError, either
from nestag.formats.files import is_stream
from nestag.formats.folders import ROLES, role_of, splits_in
from nestag.formats.format import Format
from nestag.formats.parquet import read_dataset
from nestag.formats.registry import format_of, writer_for
from nestag.formats.shared.table import is_dataset


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

    def __repr__(self) -> str:
        from nestag.inspect.display import summary_table
        from nestag.inspect.tables import to_text

        return to_text(summary_table(self)).rstrip("\n")

    def _repr_html_(self) -> str:
        """Draw the first sentences and the size of the corpus in a notebook."""
        from nestag.inspect.display import draw_corpus

        return draw_corpus(self)._repr_html_()


Watch = Callable[[Iterable[Sentence], str], Iterator[Sentence]]
"""Shows how far a file has been read: takes its sentences and what is done with them, returns the same sentences."""


OptionsFor = Callable[[Options], Options]
"""Options of reading, with the tokenizer and language of a model's options where none were asked for."""


class CorpusFile:
    """A corpus in a file: iterating reads it from its beginning, with one sentence in memory at a time.

    Commands use it to pass the options of reading to the functions of `nestag`, which take it like any sentences.
    """

    def __init__(
        self,
        path: str | Path,
        format: str | None = None,
        options: Options | OptionsFor = DEFAULT,
        watch: Watch | None = None,
        report: Report | None = None,
    ) -> None:
        self.path = self.name = str(path)  # the name is for tables and messages
        self.options = options if isinstance(options, Options) else options(DEFAULT)
        self.watch, self._format, self._options_for = watch, format, options
        self.report = Report() if report is None else report
        """What the first reading could not keep as it was."""
        self._is_read = False
        if not is_stream(path):
            _ = self.format  # a file that is missing or unknown is an error here

    @cached_property
    def format(self) -> Format:
        """Its format."""
        return format_of(self.path, self._format)

    def __iter__(self) -> Iterator[Sentence]:
        if self._is_read:
            self.refuse_pipe()
        report, self._is_read = Report() if self._is_read else self.report, True
        sentences = self.format.read(self.path, self.options, report)
        return self.watch(sentences, f"reading {self.name}") if self.watch else sentences

    @cached_property
    def in_memory(self) -> Corpus:
        """Its sentences as a list."""
        return Corpus(self, self.report, self.options)

    def tokenized_as(self, model: Options) -> CorpusFile:
        """The same file, with raw text tokenized as a model does unless other options were asked for."""
        options = self.options if isinstance(self._options_for, Options) else self._options_for(model)
        return CorpusFile(self.path, self._format, options, self.watch, self.report)

    def refuse_pipe(self) -> None:
        """Raise an InputError if it can be read only once."""
        if is_stream(self.path):
            raise InputError("it would be read more than once; save it to a file first", self.path)


CorpusSource = str | Path | Iterable[Sentence] | Any
"""A file or folder, sentences, or a dataset of Hugging Face `datasets`."""


def corpus_of(given: CorpusSource) -> Iterable[Sentence]:
    """The sentences of a source; a file is read when they are iterated."""
    if isinstance(given, str | Path):
        return CorpusFile(given)
    corpus: Iterable[Sentence] = read_corpus(given) if is_dataset(given) else given
    return corpus


def reread(given: CorpusSource) -> Iterable[Sentence]:
    """The sentences of a source, to be iterated more than once; a pipe is an InputError."""
    corpus = corpus_of(given)
    if isinstance(corpus, CorpusFile):
        corpus.refuse_pipe()
    return list(corpus) if isinstance(corpus, Iterator) else corpus


def in_memory(given: CorpusSource) -> Sequence[Sentence]:
    """The sentences of a source as a sequence."""
    corpus = corpus_of(given)
    if isinstance(corpus, CorpusFile):
        return corpus.in_memory
    return corpus if isinstance(corpus, Sequence) else list(corpus)


def report_of(corpus: Iterable[Sentence]) -> Report:
    """What reading a corpus could not keep as it was."""
    report = getattr(corpus, "report", None)
    return report if isinstance(report, Report) else Report()


def path_of(corpus: Iterable[Sentence], otherwise: str) -> str:
    """The path of a corpus that is a file, or else what to call it in messages."""
    return corpus.path if isinstance(corpus, CorpusFile) else otherwise


NamedCorpus = tuple[str, Iterable[Sentence]]


def splits_of(
    files: Sequence[CorpusSource],
    train: CorpusSource | None = None,
    dev: CorpusSource | None = None,
    test: CorpusSource | None = None,
    read: Callable[[Any], Iterable[Sentence]] = corpus_of,
) -> dict[str, Iterable[Sentence]]:
    """Corpora by name, in the order train, dev, test, others.

    A folder among the files gives its train, dev and test. Another file is the split that its name says, or is called
    by its path, as are files that would share a name.
    """
    roles = {"train": train, "dev": dev, "test": test}
    found = [(role, read(source)) for role, source in roles.items() if source is not None]
    found += [split for source in files for split in _splits(source, read)]
    if not found:
        raise InputError(
            f"nothing to read; give files, a folder, or {either('train, dev and test', '--train, --dev and --test')}",
            either("arguments", "command line"),
        )
    splits = dict(sorted(_named_apart(found), key=lambda split: [*ROLES, split[0]].index(split[0])))
    for name, corpus in splits.items():
        if isinstance(corpus, CorpusFile):
            corpus.name = name
    return splits


def _splits(source: CorpusSource, read: Callable[[Any], Iterable[Sentence]]) -> Iterator[NamedCorpus]:
    inside = splits_in(str(source)) if isinstance(source, str | Path) else {}
    for role, path in inside.items():
        yield role, read(path)
    if not inside:
        corpus = read(source)
        yield _name(corpus) if isinstance(corpus, CorpusFile) else "corpus", corpus


def _name(corpus: CorpusFile) -> str:
    """The name that a command gave it, or the split that its file is, or its path."""
    if corpus.name != corpus.path or is_stream(corpus.path):
        return corpus.name
    return role_of(Path(corpus.path)) or corpus.path


def _named_apart(found: Sequence[NamedCorpus]) -> Iterator[NamedCorpus]:
    """The corpora with those called by their paths, or by numbers, that would share a name."""
    counts = Counter(name for name, _ in found)
    names: set[str] = set()
    for number, (name, corpus) in enumerate(found, 1):
        if counts[name] > 1:
            name = corpus.path if isinstance(corpus, CorpusFile) else f"{name} {number}"
        if name in names:
            raise InputError("it is given more than once; name every file once", name)
        names.add(name)
        yield name, corpus


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
    report = Report()
    writer_for(path, format)(sentences, path, report=report)
    return report


class Apart:
    """Documents of several inputs, told apart where they have the same name."""

    def __init__(self, report: Report) -> None:
        """What is renamed goes into the report."""
        self.report = report
        self.taken: dict[str, int] = {}  # documents of the inputs before, and how often there was one of that name

    def read(self, sentences: Iterator[Sentence]) -> Iterator[Sentence]:
        """The sentences of one more input."""
        own: set[str] = set()
        for sentence in sentences:
            name = document_of(sentence)
            if name and name not in own:
                own.add(name)
                if name in self.taken:
                    self.report.add(
                        "document renamed because another has its name", name, f"{name}@{self.taken[name] + 1}"
                    )
            yield _numbered(sentence, self.taken[name] + 1) if name in self.taken else sentence
        for name in own:
            self.taken[name] = self.taken.get(name, 0) + 1


def _numbered(sentence: Sentence, number: int) -> Sentence:
    """The sentence of the `number`th document of that name."""
    origin = sentence.origin
    moved = Origin(f"{origin.document}@{number}", *origin[1:]) if origin else None
    return Sentence(sentence.tokens, sentence.annotated, sentence.id and f"{sentence.id}@{number}", moved)
