"""Label files: a token and its label per line, tab-separated, and a blank line after each sentence.

    Lincoln	1	S	PER
    was	0	S	-

The columns are token, n, c and u, in the notation of encodings/notation.py. Files are encoded and decoded sentence by
sentence, and a tally counts what happened.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NamedTuple, TextIO

from nestag.data.sentence import Entity, Sentence
from nestag.data.tree import Name
from nestag.encodings import decode, encode, repairs
from nestag.encodings.base import Encoding, Label, N, Naming
from nestag.encodings.notation import read_chain, read_field, read_name, write_chain, write_field, write_name
from nestag.encodings.vocabulary import Vocabulary
from nestag.errors import InputError, LabelError
from nestag.formats import jsonl
from nestag.formats.files import read_lines, writing

COLUMNS = ("token", "n", "c", "u")


class Labelled(NamedTuple):
    """The tokens of a sentence and their labels."""

    tokens: Sequence[str]
    labels: Sequence[Label]


class LabelBlock(NamedTuple):
    """The lines of a file that hold one sentence, and the number of the first."""

    line: int
    tokens: list[str]
    labels: list[Label]


class LabelParsers(NamedTuple):
    """How to read the three parts of a label."""

    n: Callable[[str], N]
    c: Callable[[str], Name]
    u: Callable[[str], tuple[str, ...]]

    def label(self, n: str, c: str, u: str) -> Label:
        """Return the label of three texts, or raise a LabelError that names the invalid one."""
        return Label(self.n(n), self.c(c), self.u(u))


@dataclass
class LabellingTally:
    """Counts of a run over a file."""

    sentences: int = 0
    tokens: int = 0
    entities: int = 0
    repaired: int = 0  # labels that had to change to be valid
    repaired_sentences: int = 0
    unseen: int = 0  # parts of labels that a vocabulary lacks

    def see(self, sentence: Sentence) -> None:
        """Count a sentence."""
        self.sentences += 1
        self.tokens += len(sentence)
        self.entities += len(sentence.entities)

    def __str__(self) -> str:
        return f"{self.sentences:,} sentences, {self.tokens:,} tokens, {self.entities:,} entities"


def parts(encoding: Encoding) -> LabelParsers:
    """Return the parsers of an encoding, which read each text once."""
    return LabelParsers(cache(encoding.read_n), cache(read_name), cache(read_chain))


def write(sentences: Iterable[Labelled], encoding: Encoding, stream: TextIO) -> None:
    """Write labelled sentences."""
    write_n, write_c, write_u = cache(encoding.write_n), cache(write_name), cache(write_chain)
    for tokens, labels in sentences:
        for token, (n, c, u) in zip(tokens, labels, strict=True):
            stream.write(f"{write_field(token)}\t{write_n(n)}\t{write_c(c)}\t{write_u(u)}\n")
        stream.write("\n")


def blocks(path: str | Path, parse: Callable[[str], tuple[str, Label]]) -> Iterator[LabelBlock]:
    """Yield the sentences of a file whose lines are tokens that `parse` reads; an InputError names an invalid line."""
    block = LabelBlock(1, [], [])
    for line in read_lines(path):
        if not line.text:
            yield block
            block = LabelBlock(line.number + 1, [], [])
            continue
        try:
            token, label = parse(line.text)
        except LabelError as error:
            raise InputError(str(error), str(path), line.number) from None
        block.tokens.append(token)
        block.labels.append(label)
    if block.tokens:
        yield block


def columns(parts: LabelParsers) -> Callable[[str], tuple[str, Label]]:
    """Return how to read a line of a label file."""

    def parse(line: str) -> tuple[str, Label]:
        token, *texts = line.split("\t")
        if len(texts) != len(COLUMNS) - 1:
            raise LabelError(
                f"{len(texts) + 1} columns; write the {len(COLUMNS)} columns {', '.join(COLUMNS)} with tabs between"
            )
        if not token:
            raise LabelError("the token is empty; every token must have a character")
        return read_field(token), parts.label(*texts)

    return parse


def labelled(
    sentences: Iterable[Sentence], encoding: Encoding, tally: LabellingTally, vocabulary: Vocabulary | None = None
) -> Iterator[Labelled]:
    """Encode sentences whose entities nest, in the order of a vocabulary if there is one."""
    order = vocabulary.order if vocabulary else ()
    for sentence in sentences:
        tally.see(sentence)
        labels = encode(sentence, encoding, order)
        tally.unseen += vocabulary.ids(labels).unseen if vocabulary else 0
        yield Labelled(sentence.tokens, labels)


def entities_of(
    labels: Sequence[Label], encoding: Encoding, naming: Naming, tally: LabellingTally
) -> tuple[Entity, ...]:
    """Return the entities of a sentence's labels, which are repaired if they are invalid."""
    repaired = repairs(labels, encoding, naming)
    tally.repaired += repaired
    tally.repaired_sentences += repaired > 0
    return decode(labels, encoding, naming)


def encode_file(
    sentences: Iterable[Sentence], output: str | Path, encoding: Encoding, vocabulary: Vocabulary | None = None
) -> LabellingTally:
    """Write sentences whose entities nest as a label file."""
    tally = LabellingTally()
    with writing(output) as stream:
        write(labelled(sentences, encoding, tally, vocabulary), encoding, stream)
    return tally


def decode_file(source: str | Path, output: str | Path, encoding: Encoding, naming: Naming = "first") -> LabellingTally:
    """Write a label file as sentences, with invalid labels repaired."""
    tally = LabellingTally()

    def sentences() -> Iterator[Sentence]:
        for _, tokens, labels in blocks(source, columns(parts(encoding))):
            sentence = Sentence(tokens, entities_of(labels, encoding, naming, tally))
            tally.see(sentence)
            yield sentence

    jsonl.write(sentences(), output)
    return tally


def read_vocabulary(path: str | Path) -> Vocabulary:
    """Return a saved vocabulary."""
    try:
        return Vocabulary.from_json("\n".join(line.text for line in read_lines(path)))
    except LabelError as error:
        raise InputError(str(error), str(path)) from None


def write_vocabulary(vocabulary: Vocabulary, path: str | Path) -> None:
    """Save a vocabulary."""
    with writing(path) as stream:
        stream.write(vocabulary.to_json())
