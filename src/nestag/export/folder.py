"""An export: a folder that holds a corpus as labels, and all that is needed to read predictions for it.

    vocabulary.json   the labels of train, and the order of same-span types that every split is written in
    export.json       the target and what was chosen for it
    README.md         the commands to train, to predict and to come back
    ...               the splits, and the settings that the library wants

What is learned is learned from train alone; labels that only the other splits have are counted and told.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import NamedTuple

from nestag.arguments import either
from nestag.corpora.labelling import LabellingTally, labelled, nesting, place_of, read_vocabulary
from nestag.corpora.labels import Labelled
from nestag.corpora.registry import format_of
from nestag.corpora.report import Report
from nestag.corpora.splits import Split
from nestag.data import Sentence
from nestag.encodings import Encoding, encoding
from nestag.encodings.notation import write_chain, write_name
from nestag.errors import CrossingError, InputError
from nestag.export import available
from nestag.export.target import Description, Target
from nestag.files import is_stream, read_lines, writing, writing_folder
from nestag.vocabulary import UNSEEN, Vocabulary

FORMAT = 1
"""The layout of export.json; a folder of another layout is refused."""


@dataclass(frozen=True)
class Source:
    """A corpus that can be read repeatedly."""

    path: str
    format: str | None = None  # by suffix and content if not said
    set_aside: bool = False  # the fewest of its crossing entities, which are an error otherwise
    watch: Callable[[Iterable[Sentence], str], Iterator[Sentence]] | None = None  # shows a person how far it is

    def sentences(self, report: Report) -> Iterator[Sentence]:
        """Read it from its beginning."""
        sentences = format_of(self.path, self.format).read(self.path, report=report)
        if self.watch:
            sentences = self.watch(sentences, f"reading {self.path}")
        return nesting(sentences, self.path, report) if self.set_aside else sentences


class ExportOutcome(NamedTuple):
    """What was exported."""

    vocabulary: Vocabulary
    tallies: dict[Split, LabellingTally]
    report: Report


class Export(NamedTuple):
    """An export that was written before."""

    target: Target
    vocabulary: Vocabulary


def write(target: Target, sources: dict[Split, Source], by: Encoding, folder: str | Path) -> ExportOutcome:
    """Export a corpus; the folder appears whole or not at all."""
    report = Report()
    tallies: dict[Split, LabellingTally] = {}
    with writing_folder(folder) as part:
        train = sources["train"]
        vocabulary = learn(train, by)
        target = target.learned(vocabulary, train.sentences(Report()))
        for split, source in sources.items():
            tallies[split] = LabellingTally()
            (part / target.files[split]).parent.mkdir(exist_ok=True)
            with writing(part / target.files[split]) as stream:
                target.write(_labelled(source, vocabulary, tallies[split], report), vocabulary, stream)
        corpora = {split: source.path for split, source in sources.items()}
        texts = target.texts(Description(Path(folder).resolve().name, corpora, vocabulary))
        texts["vocabulary.json"] = vocabulary.to_json()
        texts["export.json"] = _to_json({"format": FORMAT, "target": target.name, **asdict(target)})
        for name, text in texts.items():
            with writing(part / name) as stream:
                stream.write(text)
    return ExportOutcome(vocabulary, tallies, report)


def read(folder: str | Path) -> Export:
    """An export that was written before; an InputError says what it lacks."""
    path = Path(folder) / "export.json"
    try:
        settings = json.loads("\n".join(line.text for line in read_lines(path)))
        if settings.pop("format") != FORMAT:
            raise InputError(f"this version reads exports of format {FORMAT}; export again", str(path))
        target = available()[settings.pop("target")]
        chosen = {name: tuple(value) if isinstance(value, list) else value for name, value in settings.items()}
        return Export(target(**chosen), read_vocabulary(Path(folder) / "vocabulary.json"))
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise InputError(f"not an export ({type(error).__name__}: {error}); export again", str(path)) from None


def learn(source: Source, by: Encoding) -> Vocabulary:
    """The vocabulary of train; an InputError names the sentence whose entities cross."""
    if is_stream(source.path):
        raise InputError("train is read more than once, which a pipe cannot be; give a file", source.path)
    number, last = 0, Sentence([])

    def sentences() -> Iterator[Sentence]:
        nonlocal number, last
        for number, last in enumerate(source.sentences(Report()), 1):  # noqa: B007
            yield last

    try:
        vocabulary = Vocabulary.learn(sentences(), by)
    except CrossingError as error:
        raise InputError(
            f"{error} ({either('set_aside=True', '--crossing set-aside')})", place_of(source.path, last, number)
        ) from None
    if not vocabulary.n:
        raise InputError("train has no tokens, so there are no labels to learn; is this the right file?", source.path)
    return vocabulary


def _labelled(source: Source, vocabulary: Vocabulary, tally: LabellingTally, report: Report) -> Iterator[Labelled]:
    """The sentences of a split as labels; what the vocabulary lacks goes into the report."""
    by = encoding(vocabulary.encoding)
    told = 0
    for sentence in labelled(source.sentences(report), source.path, by, tally, vocabulary):
        if tally.unseen > told:
            told = tally.unseen
            for what in unseen_parts(sentence, vocabulary):
                report.add("label part that train lacks", f"{source.path}: sentence {tally.sentences}", what)
        if sentence.tokens:
            yield sentence
        else:
            report.add("sentence without tokens left out", source.path, f"sentence {tally.sentences}")


def unseen_parts(sentence: Labelled, vocabulary: Vocabulary) -> Iterator[str]:
    """The parts of a sentence's labels that the vocabulary lacks, as text."""
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
