r"""conll: a token and its label per line, for Flair, spaCy, CRF toolkits and other libraries that read columns.

    Lincoln	1|S|PER        one joint label (target.py), or       Lincoln	1	S	PER        three separate columns
    was	0|S|-                                                 was	0	S	-

No column contains white space, so it does not matter how lines are split. Predictions are read from the last column,
or the last three; columns before them, often gold labels, are ignored.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import ClassVar, Literal, TextIO

from nestag.encodings import Encoding, encoding
from nestag.encodings.base import Label
from nestag.encodings.notation import read_field, write_chain, write_name
from nestag.encodings.vocabulary import Vocabulary
from nestag.errors import LabelError
from nestag.formats.folders import Split
from nestag.formats.labels import LabelBlock, Labelled, LabelParsers, blocks
from nestag.integrations.tagging.target import Description, Target, fill, fit, joint_writer, read_joint, write_word

Labels = Literal["joint", "separate"]


@dataclass(frozen=True)
class Conll(Target):
    """Columns."""

    name: ClassVar[str] = "conll"
    files: ClassVar[Mapping[Split, str]] = {"train": "train.tsv", "dev": "dev.tsv", "test": "test.tsv"}

    labels: Labels = "joint"  # one column, or one for each of n, c and u

    def write(self, sentences: Iterable[Labelled], vocabulary: Vocabulary, stream: TextIO) -> None:
        """Write a line for each token and a blank one after each sentence."""
        by = encoding(vocabulary.encoding)
        text = joint_writer(by) if self.labels == "joint" else separate_writer(by)
        for tokens, labels in sentences:
            stream.writelines(
                f"{write_word(token)}\t{text(label)}\n" for token, label in zip(tokens, labels, strict=True)
            )
            stream.write("\n")

    def read(self, path: str | Path, parts: LabelParsers, vocabulary: Vocabulary) -> Iterator[LabelBlock]:
        """Read tokens from the first column, labels from the last one or three."""
        return blocks(path, last_columns(parts, 1 if self.labels == "joint" else len(Label._fields)))

    def texts(self, about: Description) -> dict[str, str]:
        """Return the README."""
        commands = "\n".join(f"    {about.back(split, f'{split}.out')}" for split in about.predicted)
        test = f', test_file="{self.files["test"]}"' if "test" in about.corpora else ""
        encoding = about.vocabulary.encoding
        readme = fill(f"conll-{self.labels}.md", title=about.title, encoding=encoding, test=test, commands=commands)
        return {"README.md": readme}


def separate_writer(by: Encoding) -> Callable[[Label], str]:
    """Return a function that writes labels of an encoding as three columns."""

    @cache
    def write(label: Label) -> str:
        return f"{by.write_n(label.n)}\t{fit(write_name(label.c))}\t{fit(write_chain(label.u))}"

    return write


def last_columns(parts: LabelParsers, count: int) -> Callable[[str], tuple[str, Label]]:
    """Return a function that reads lines whose last columns are the label."""

    def parse(line: str) -> tuple[str, Label]:
        fields = line.split()
        if len(fields) <= count:
            raise LabelError(f"{len(fields)} columns; write the token first and the predicted label last, {count} wide")
        label = read_joint(fields[-1], parts) if count == 1 else parts.label(*fields[-count:])
        return read_field(fields[0]), label

    return parse
