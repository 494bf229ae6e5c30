"""Corpora: read from files of any format, written, and converted, with a report of what changed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any, Literal

from nestag.data.crossing import count_crossing, crossing_pairs, drop_crossing
from nestag.data.document import document_of
from nestag.data.report import MOST_LISTED, Report, describe, place_of
from nestag.data.segment import DEFAULT, Boundaries, Options, TokenizerName
from nestag.data.sentence import Sentence
from nestag.data.validation import from_mapping
from nestag.errors import InputError, either, named
from nestag.formats import parquet
from nestag.formats.files import is_stream
from nestag.formats.folders import ROLES, role_of, splits_in
from nestag.formats.labels import LabellingTally
from nestag.formats.registry import Format, format_for, format_of
from nestag.formats.shared.table import is_dataset

Watch = Callable[[Iterable[Sentence], str], Iterator[Sentence]]
"""Shows the progress of reading: takes sentences and a description, and returns the same sentences."""
OptionsFor = Callable[[Options], Options]
"""Options of reading, with a model's tokenizer and language unless others were requested."""
CorpusSource = str | Path | Iterable[Sentence] | Any
"""A file or folder, sentences, or a dataset of Hugging Face `datasets`."""
NamedCorpus = tuple[str, Iterable[Sentence]]


class Corpus(list[Sentence]):
    """Sentences, the options they were read with, and a report of what reading changed."""

    def __init__(
        self, sentences: Iterable[Sentence] = (), report: Report | None = None, options: Options = DEFAULT
    ) -> None:
        super().__init__(sentences)
        self.report = Report() if report is None else report
        self.options = options

    def __repr__(self) -> str:
        from nestag.inspect.rendering import summary_table
        from nestag.inspect.table_forms import to_text

        return to_text(summary_table(self)).rstrip("\n")

    def _repr_html_(self) -> str:
        """Draw the first sentences and the size of the corpus in a notebook."""
        from nestag.inspect.rendering import draw_corpus

        return draw_corpus(self)._repr_html_()


class CorpusFile:
    """A corpus in a file, which is read from its beginning, sentence by sentence, whenever it is iterated.

    Commands use it to pass the options of reading to the functions of `nestag`, which accept it like any sentences.
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
        self.report = Report() if report is None else report  # of the first reading
        self.watch, self._format, self._options_for = watch, format, options
        self._is_read = False
        if not is_stream(path):
            _ = self.format  # raises an error here if the file is missing or unknown

    @cached_property
    def format(self) -> Format:
        """Return its format."""
        return format_of(self.path, self._format)

    def __iter__(self) -> Iterator[Sentence]:
        if self._is_read:
            self.refuse_pipe()
        report, self._is_read = Report() if self._is_read else self.report, True
        sentences = self.format.read(self.path, self.options, report)
        return self.watch(sentences, f"reading {self.name}") if self.watch else sentences

    @cached_property
    def in_memory(self) -> Corpus:
        """Return its sentences as a list."""
        return Corpus(self, self.report, self.options)

    def tokenized_as(self, model: Options) -> CorpusFile:
        """Return the same file, with raw text tokenized as a model does unless other options were requested."""
        options = self.options if isinstance(self._options_for, Options) else self._options_for(model)
        return CorpusFile(self.path, self._format, options, self.watch, self.report)

    def refuse_pipe(self) -> None:
        """Raise an InputError if it can be read only once."""
        if is_stream(self.path):
            raise InputError("it would be read more than once; save it to a file first", self.path)


def corpus_of(source: CorpusSource) -> Iterable[Sentence]:
    """Return the sentences of a source; a file is read when they are iterated."""
    if isinstance(source, str | Path):
        return CorpusFile(source)
    corpus: Iterable[Sentence] = read_corpus(source) if is_dataset(source) else source
    return corpus


def reread(source: CorpusSource) -> Iterable[Sentence]:
    """Return the sentences of a source, to be iterated more than once; a pipe is an InputError."""
    corpus = corpus_of(source)
    if isinstance(corpus, CorpusFile):
        corpus.refuse_pipe()
    return list(corpus) if isinstance(corpus, Iterator) else corpus


def in_memory(source: CorpusSource) -> Sequence[Sentence]:
    """Return the sentences of a source as a sequence."""
    corpus = corpus_of(source)
    if isinstance(corpus, CorpusFile):
        return corpus.in_memory
    return corpus if isinstance(corpus, Sequence) else list(corpus)


def report_of(corpus: Iterable[Sentence]) -> Report:
    """Return the report of a corpus, empty if it has none."""
    report = getattr(corpus, "report", None)
    return report if isinstance(report, Report) else Report()


def path_of(corpus: Iterable[Sentence], otherwise: str) -> str:
    """Return the path of a corpus that is a file, or else another name for messages."""
    return corpus.path if isinstance(corpus, CorpusFile) else otherwise


def splits_of(
    files: Sequence[CorpusSource],
    train: CorpusSource | None = None,
    dev: CorpusSource | None = None,
    test: CorpusSource | None = None,
    read: Callable[[Any], Iterable[Sentence]] = corpus_of,
) -> dict[str, Iterable[Sentence]]:
    """Return corpora by name, in the order train, dev, test, others.

    A folder among the files gives its train, dev and test. Another file is the split in its name, or is called by its
    path, as are files that would share a name.
    """
    roles = {"train": train, "dev": dev, "test": test}
    corpora = [(role, read(source)) for role, source in roles.items() if source is not None]
    corpora += [split for source in files for split in _splits(source, read)]
    if not corpora:
        raise InputError(
            f"nothing to read; give files, a folder, or {either('train, dev and test', '--train, --dev and --test')}",
            either("arguments", "command line"),
        )
    splits = dict(sorted(_unique_names(corpora), key=lambda split: [*ROLES, split[0]].index(split[0])))
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
        name = corpus.name if isinstance(corpus, CorpusFile) else "corpus"
        if isinstance(corpus, CorpusFile) and name == corpus.path and not is_stream(name):  # no command named it
            name = role_of(Path(name)) or name
        yield name, corpus


def _unique_names(corpora: Sequence[NamedCorpus]) -> Iterator[NamedCorpus]:
    """Yield the corpora; those that would share a name are called by their paths, or numbered."""
    counts = Counter(name for name, _ in corpora)
    names: set[str] = set()
    for number, (name, corpus) in enumerate(corpora, 1):
        if counts[name] > 1:
            name = path_of(corpus, f"{name} {number}")
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
    """Return the sentences of a file, a folder or a dataset of Hugging Face `datasets`.

    Suffix and content determine the format unless `format` does. `field` names the layer to read, `columns` those of
    tokens and tags, if a file holds several. Raw text is tokenized by `tokenizer` with the rules of `language`.
    `boundaries` says what happens to entities that end inside a word. `skip_bad` skips invalid records.
    `report.summary()` lists what was dropped, widened or merged.
    """
    values = {
        "field": field, "columns": columns, "tokenizer": tokenizer, "language": language, "boundaries": boundaries,
        "skip_bad": skip_bad,
    }  # fmt: skip
    options = from_mapping(Options, values, "read_corpus")
    if is_dataset(path):
        report = Report()
        return Corpus(parquet.read(path, options, report), report, options)
    return CorpusFile(path, format, options).in_memory


def write_corpus(sentences: Iterable[Sentence], path: str | Path, format: str | None = None) -> Report:
    """Write sentences in the format of the file's suffix, or the one named, and report what it cannot hold."""
    report = Report()
    format_for(path, format).write(sentences, path, report=report)
    return report


OnCrossing = Literal["error", "keep", "drop"]
"""Entities that overlap without nesting: stop at the first, keep them, or drop as few as possible."""


@dataclass(frozen=True)
class Conversion:
    """The outcome of a conversion."""

    counts: LabellingTally
    format: str  # of the target
    report: Report  # of what changed in reading and writing


def convert(
    source: CorpusSource, target: str | Path, *, to: str | None = None, crossing: OnCrossing = "keep"
) -> Conversion:
    """Write a corpus in another format: that of the target's suffix, or the one named by `to`.

    The source is a file, or sentences, e.g. `read_corpus("a.tsv", columns=(1, 4))`.
    """
    goal = format_for(target, to)
    corpus = corpus_of(source)
    report, counts = report_of(corpus), LabellingTally()

    def sentences() -> Iterator[Sentence]:
        for sentence in handle_crossing(corpus, path_of(corpus, "source"), crossing, report):
            counts.see(sentence)
            yield sentence

    goal.write(sentences(), target, getattr(corpus, "options", DEFAULT), report)
    return Conversion(counts, goal.name, report)


def handle_crossing(
    sentences: Iterable[Sentence], source: str, crossing: OnCrossing, report: Report
) -> Iterator[Sentence]:
    """Yield the sentences with their crossing entities kept and counted, dropped, or refused by an InputError."""
    kept = "pair of crossing entities kept"
    for number, sentence in enumerate(sentences, 1):
        place = place_of(source, sentence, number)
        if crossing == "drop":
            nested, dropped = drop_crossing(sentence.annotated)
            for entity in dropped:
                report.add("crossing entity dropped", place, describe(entity))
            yield sentence.with_entities(nested) if dropped else sentence
            continue
        for first, second in islice(crossing_pairs(sentence.entities), MOST_LISTED):
            pair = f"{describe(first)} and {describe(second)}"
            if crossing == "error":
                remedy = f"{named('crossing', 'drop')} drops as few as possible"
                raise InputError(f"entities {pair} cross; {remedy}", place)
            report.add(kept, place, pair)
        if (unlisted := count_crossing(sentence.entities) - MOST_LISTED) > 0:
            report.counts[kept] += unlisted
        yield sentence


def join_corpora(corpora: Iterable[Iterable[Sentence]], report: Report) -> Iterator[Sentence]:
    """Yield the sentences of several corpora, with documents renamed if they have the same name."""
    taken: Counter[str] = Counter()  # the documents of the corpora before
    for corpus in corpora:
        documents: set[str] = set()
        for sentence in corpus:
            name = document_of(sentence)
            if number := taken[name]:
                mark = f"@{number + 1}"
                if name not in documents:
                    report.add("document renamed because another has its name", name, name + mark)
                origin = sentence.origin and sentence.origin._replace(document=sentence.origin.document + mark)
                sentence = Sentence(sentence.tokens, sentence.annotated, sentence.id and sentence.id + mark, origin)
            if name:
                documents.add(name)
            yield sentence
        taken.update(documents)
