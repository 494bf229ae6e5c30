"""An export: a folder with a corpus as labels, and everything to read predictions for it.

    vocabulary.json   the labels of train, and the order of same-span types that every split is written in
    export.json       the target and its settings
    README.md         the commands to train, to predict and to convert predictions back
    ...               the splits, and the settings of the library

Labels are learned from train alone; labels that only other splits have are reported. To convert predictions back, the
corpus provides tokens, ids and offsets, and the predictions, in the same order, the labels.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Literal, NamedTuple, TypeVar

from nestag.data.report import Report
from nestag.data.sentence import Sentence
from nestag.encodings import Encoding, encoding
from nestag.encodings.base import Naming
from nestag.encodings.notation import write_chain, write_name
from nestag.encodings.vocabulary import UNSEEN, Vocabulary
from nestag.errors import CrossingError, InputError, LabelError, named
from nestag.formats.corpus import CorpusSource, corpus_of, path_of, report_of, reread
from nestag.formats.files import read_lines, writing, writing_folder
from nestag.formats.folders import Split
from nestag.formats.labels import (
    LabelBlock,
    Labelled,
    LabellingTally,
    LabelParsers,
    entities_of,
    labelled,
    nesting,
    parts,
    place_of,
    read_vocabulary,
)
from nestag.integrations.tagging.conll import Conll
from nestag.integrations.tagging.hf import HuggingFace
from nestag.integrations.tagging.machamp import MaChAmp
from nestag.integrations.tagging.target import Description, Target

ExportCrossing = Literal["error", "set-aside"]
"""Entities that overlap without nesting: stop at the first, or drop as few as possible."""

TARGETS: dict[str, type[Target]] = {target.name: target for target in (Conll, HuggingFace, MaChAmp)}

FORMAT = 1
"""The version of export.json; other versions are refused."""


@dataclass(frozen=True)
class Source:
    """A corpus to export."""

    corpus: Iterable[Sentence]
    name: str = "train"
    crossing: ExportCrossing = "error"

    @property
    def path(self) -> str:
        """Its name in messages."""
        return path_of(self.corpus, self.name)

    def sentences(self, report: Report) -> Iterator[Sentence]:
        """Read its sentences from the first."""
        return nesting(self.corpus, self.path, report) if self.crossing == "set-aside" else iter(self.corpus)


@dataclass(frozen=True)
class ExportOutcome:
    """The vocabulary of an export, the counts of each split, and a report."""

    vocabulary: Vocabulary
    tallies: dict[Split, LabellingTally]
    report: Report


class Export(NamedTuple):
    """An export in a folder."""

    target: Target
    vocabulary: Vocabulary


def write(
    target: Target,
    corpora: Mapping[Split, CorpusSource],
    by: Encoding,
    folder: str | Path,
    crossing: ExportCrossing = "error",
) -> ExportOutcome:
    """Export a corpus; the folder is written atomically."""
    report = Report()
    tallies: dict[Split, LabellingTally] = {}
    sources = {
        split: Source(reread(corpus) if split == "train" else corpus_of(corpus), split, crossing)
        for split, corpus in corpora.items()
    }
    with writing_folder(folder) as part:
        vocabulary = learn(sources["train"], by)
        target = target.learned(vocabulary, sources["train"].sentences(Report()))
        for split, source in sources.items():
            tallies[split] = LabellingTally()
            (part / target.files[split]).parent.mkdir(exist_ok=True)
            with writing(part / target.files[split]) as stream:
                target.write(_labelled(source, vocabulary, tallies[split], report), vocabulary, stream)
            report.include(report_of(source.corpus))
        paths = {split: source.path for split, source in sources.items()}
        texts = target.texts(Description(Path(folder).resolve().name, paths, vocabulary))
        texts["vocabulary.json"] = vocabulary.to_json()
        texts["export.json"] = _to_json({"format": FORMAT, "target": target.name, **asdict(target)})
        for name, text in texts.items():
            with writing(part / name) as stream:
                stream.write(text)
    return ExportOutcome(vocabulary, tallies, report)


def read(folder: str | Path) -> Export:
    """Read an export; an InputError says what is missing."""
    path = Path(folder) / "export.json"
    try:
        settings = json.loads("\n".join(line.text for line in read_lines(path)))
        if settings.pop("format") != FORMAT:
            raise InputError(f"this version reads exports of format {FORMAT}; export again", str(path))
        target = TARGETS[settings.pop("target")]
        chosen = {name: tuple(value) if isinstance(value, list) else value for name, value in settings.items()}
        return Export(target(**chosen), read_vocabulary(Path(folder) / "vocabulary.json"))
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise InputError(f"not an export ({type(error).__name__}: {error}); export again", str(path)) from None


def learn(source: Source, by: Encoding) -> Vocabulary:
    """Learn the vocabulary of train; an InputError names a sentence with crossing entities."""
    number, last = 0, Sentence([])

    def sentences() -> Iterator[Sentence]:
        nonlocal number, last
        for number, last in enumerate(source.sentences(Report()), 1):  # noqa: B007
            yield last

    try:
        vocabulary = Vocabulary.learn(sentences(), by)
    except CrossingError as error:
        raise InputError(
            f"{error} ({named('crossing', 'set-aside')} drops them)", place_of(source.path, last, number)
        ) from None
    if not vocabulary.n:
        raise InputError("train has no tokens, so there are no labels to learn; is this the right file?", source.path)
    return vocabulary


def _labelled(source: Source, vocabulary: Vocabulary, tally: LabellingTally, report: Report) -> Iterator[Labelled]:
    """Yield the sentences of a split as labels, and report labels that the vocabulary lacks."""
    by = encoding(vocabulary.encoding)
    reported = 0
    for sentence in labelled(source.sentences(report), source.path, by, tally, vocabulary):
        if tally.unseen > reported:
            reported = tally.unseen
            for what in unseen_parts(sentence, vocabulary):
                report.add("label part that train lacks", f"{source.path}: sentence {tally.sentences}", what)
        if sentence.tokens:
            yield sentence
        else:
            report.add("sentence without tokens skipped", source.path, f"sentence {tally.sentences}")


def unseen_parts(sentence: Labelled, vocabulary: Vocabulary) -> Iterator[str]:
    """Yield the parts of a sentence's labels that the vocabulary lacks, as text."""
    write_n = encoding(vocabulary.encoding).write_n
    for label, n, c, u in zip(sentence.labels, *vocabulary.ids(sentence.labels), strict=True):
        if n == UNSEEN:
            yield f"n {write_n(label.n)}"
        if c == UNSEEN:
            yield f"c {write_name(label.c)}"
        if u == UNSEEN:
            yield f"u {write_chain(label.u)}"


def _to_json(settings: dict[str, object]) -> str:
    return json.dumps(settings, ensure_ascii=False, indent=1) + "\n"


Unseen = Literal["refuse", "allow"]
"""Predicted labels that train lacks: an error, or accepted and counted."""

T = TypeVar("T")


def recovered(
    export: Export,
    corpus: Iterable[Sentence],
    predictions: str | Path,
    tally: LabellingTally,
    naming: Naming = "first",
    unseen: Unseen = "refuse",
) -> Iterator[Sentence]:
    """Yield the sentences of a corpus with their predicted entities; invalid labels are repaired."""
    target, vocabulary = export
    by = encoding(vocabulary.encoding)
    readers = parts(by) if unseen == "allow" else known_parts(parts(by), vocabulary)
    blocks = (block for block in target.read(predictions, readers, vocabulary) if block.labels)
    for number, sentence in enumerate(corpus, 1):
        labels = aligned(next(blocks, None), sentence, number, predictions).labels if len(sentence) else []
        tally.unseen += vocabulary.ids(labels).unseen
        predicted = sentence.with_entities(entities_of(labels, by, naming, tally))
        tally.see(predicted)
        yield predicted
    if (more := next(blocks, None)) is not None:
        raise InputError(
            "there are more sentences here than in the corpus; give its corpus", str(predictions), more.line
        )


def aligned(block: LabelBlock | None, sentence: Sentence, number: int, source: str | Path) -> LabelBlock:
    """Return the block, or raise an InputError if it is not that of the sentence."""
    if block is None:
        raise InputError(f"ends before sentence {number} of the corpus; predict all of it, in its order", str(source))
    if len(block.labels) != len(sentence):
        counts = f"{len(block.labels)} labels for sentence {number}, which has {len(sentence)} tokens"
        raise InputError(f"{counts}; predict one a token", str(source), block.line)
    for position, (word, token) in enumerate(zip(block.tokens, sentence.tokens, strict=False)):
        if word != token:
            reason = f"token {position} of sentence {number} is {word!r}, in the corpus {token!r}"
            raise InputError(f"{reason}; give the corpus that was predicted, in its order", str(source), block.line)
    return block


def known_parts(parts: LabelParsers, vocabulary: Vocabulary) -> LabelParsers:
    """Return the same parts, with an error for those that the vocabulary lacks."""
    return LabelParsers(
        _among(parts.n, vocabulary.n, "n"), _among(parts.c, vocabulary.c, "c"), _among(parts.u, vocabulary.u, "u")
    )


def _among(read: Callable[[str], T], table: Iterable[T], head: str) -> Callable[[str], T]:
    allowed = frozenset(table)

    @cache
    def read_known(text: str) -> T:
        part = read(text)
        if part not in allowed:
            raise LabelError(
                f"{head} is {text!r}, which no label of train has; check the column, or allow it with"
                f" {named('unseen', 'allow')}"
            )
        return part

    return read_known
