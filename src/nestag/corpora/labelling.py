"""Whole files: sentences -> labels and labels -> sentences, streaming, with a tally of what happened."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from nestag.arguments import either
from nestag.corpora import labels
from nestag.corpora.formats import jsonl
from nestag.corpora.labels import Labelled
from nestag.corpora.report import Report, describe
from nestag.crossing import set_aside_crossing
from nestag.data import Entity, Sentence
from nestag.encodings import decode, encode, repairs
from nestag.encodings.base import Encoding, Label, Naming
from nestag.errors import CrossingError, InputError, LabelError
from nestag.files import read_lines, writing
from nestag.vocabulary import Vocabulary


@dataclass
class LabellingTally:
    """What a run over a file met."""

    sentences: int = 0
    tokens: int = 0
    entities: int = 0
    repaired: int = 0
    """Labels that had to change to be legal."""
    repaired_sentences: int = 0
    unseen: int = 0
    """Parts of labels that a vocabulary lacks."""

    def see(self, sentence: Sentence) -> None:
        """Count a sentence."""
        self.sentences += 1
        self.tokens += len(sentence)
        self.entities += len(sentence.entities)


def nesting(sentences: Iterable[Sentence], source: str, report: Report) -> Iterator[Sentence]:
    """The sentences with the fewest of their crossing entities set aside, which the report lists."""
    for number, sentence in enumerate(sentences, 1):
        kept, aside = set_aside_crossing(sentence.annotated)
        for entity in aside:
            report.add("crossing entity set aside", place_of(source, sentence, number), describe(entity))
        yield sentence.with_entities(kept) if aside else sentence


def labelled(
    sentences: Iterable[Sentence],
    source: str,
    encoding: Encoding,
    tally: LabellingTally,
    vocabulary: Vocabulary | None = None,
) -> Iterator[Labelled]:
    """Sentences as labels, in the order of a vocabulary if there is one; crossing entities are an InputError."""
    order = vocabulary.order if vocabulary else ()
    for sentence in sentences:
        tally.see(sentence)
        try:
            found = encode(sentence, encoding, order)
        except CrossingError as error:
            place = place_of(source, sentence, tally.sentences)
            raise InputError(
                f"{error} ({either('nesting() sets them aside', '--crossing set-aside')})", place
            ) from None
        tally.unseen += vocabulary.ids(found).unseen if vocabulary else 0
        yield Labelled(sentence.tokens, found)


def entities_of(
    found: Sequence[Label], encoding: Encoding, naming: Naming, tally: LabellingTally
) -> tuple[Entity, ...]:
    """The entities of a sentence's labels, repaired where they are not legal."""
    repaired = repairs(found, encoding, naming)
    tally.repaired += repaired
    tally.repaired_sentences += repaired > 0
    return decode(found, encoding, naming)


def encode_file(
    sentences: Iterable[Sentence],
    source: str,
    output: str | Path,
    encoding: Encoding,
    vocabulary: Vocabulary | None = None,
) -> LabellingTally:
    """Write sentences as a label file; crossing entities are an InputError that names the sentence."""
    tally = LabellingTally()
    with writing(output) as stream:
        labels.write(labelled(sentences, source, encoding, tally, vocabulary), encoding, stream)
    return tally


def decode_file(source: str | Path, output: str | Path, encoding: Encoding, naming: Naming = "first") -> LabellingTally:
    """Write a label file as sentences, repairing what is not legal."""
    tally = LabellingTally()

    def sentences() -> Iterator[Sentence]:
        for tokens, found in labels.read(source, encoding):
            sentence = Sentence(tokens, entities_of(found, encoding, naming, tally))
            tally.see(sentence)
            yield sentence

    with writing(output) as stream:
        jsonl.write_to(sentences(), stream)
    return tally


def read_vocabulary(path: str | Path) -> Vocabulary:
    """A saved vocabulary."""
    try:
        return Vocabulary.from_json("\n".join(line.text for line in read_lines(path)))
    except LabelError as error:
        raise InputError(str(error), str(path)) from None


def write_vocabulary(vocabulary: Vocabulary, path: str | Path) -> None:
    """The inverse of `read_vocabulary`."""
    with writing(path) as stream:
        stream.write(vocabulary.to_json())


def place_of(source: str, sentence: Sentence, number: int) -> str:
    """Where a sentence stands, for messages."""
    return f"{source}: sentence {number}" if sentence.id is None else f"{source}: sentence {number} ({sentence.id})"
