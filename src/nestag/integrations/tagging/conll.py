r"""conll: a token and its label a line, for Flair, spaCy, CRF toolkits and whatever else reads columns.

    Lincoln	1|S|PER        one joint label (target.py), or       Lincoln	1	S	PER        three separate columns
    was	0|S|-                                                 was	0	S	-

No column holds white space, so that splitting at tabs, spaces or both is the same. Predictions are read from the last
column, or the last three; what stands between them and the token (the gold labels, in many outputs) is passed over.
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
from nestag.integrations.tagging.target import Description, Target, fit, joint_writer, read_joint, write_word

Labels = Literal["joint", "separate"]


@dataclass(frozen=True)
class Conll(Target):
    """Columns."""

    name: ClassVar[str] = "conll"
    files: ClassVar[Mapping[Split, str]] = {"train": "train.tsv", "dev": "dev.tsv", "test": "test.tsv"}

    labels: Labels = "joint"  # one column, or one for each of n, c and u

    def write(self, sentences: Iterable[Labelled], vocabulary: Vocabulary, stream: TextIO) -> None:
        """A line for each token and a blank one after each sentence."""
        by = encoding(vocabulary.encoding)
        text = joint_writer(by) if self.labels == "joint" else separate_writer(by)
        for tokens, labels in sentences:
            stream.writelines(
                f"{write_word(token)}\t{text(label)}\n" for token, label in zip(tokens, labels, strict=True)
            )
            stream.write("\n")

    def read(self, path: str | Path, parts: LabelParsers, vocabulary: Vocabulary) -> Iterator[LabelBlock]:
        """Tokens from the first column, labels from the last one or three."""
        return blocks(path, last_columns(parts, 1 if self.labels == "joint" else len(Label._fields)))

    def texts(self, about: Description) -> dict[str, str]:
        """The README."""
        body = _JOINT if self.labels == "joint" else _SEPARATE
        backs = "\n".join(f"    {about.back(split, f'{split}.out')}" for split in about.predicted)
        test = f', test_file="{self.files["test"]}"' if "test" in about.corpora else ""
        intro = _INTRO.format(title=about.title, encoding=about.vocabulary.encoding)
        return {"README.md": intro + body.replace("TEST", test) + _BACK + backs + "\n"}


def separate_writer(by: Encoding) -> Callable[[Label], str]:
    """How labels of an encoding are written as three columns."""

    @cache
    def write(label: Label) -> str:
        return f"{by.write_n(label.n)}\t{fit(write_name(label.c))}\t{fit(write_chain(label.u))}"

    return write


def last_columns(parts: LabelParsers, count: int) -> Callable[[str], tuple[str, Label]]:
    """How a line is read whose last columns are the label."""

    def parse(line: str) -> tuple[str, Label]:
        found = line.split()
        if len(found) <= count:
            raise LabelError(f"{len(found)} columns; write the token first and the predicted label last, {count} wide")
        label = read_joint(found[-1], parts) if count == 1 else parts.label(*found[-count:])
        return read_field(found[0]), label

    return parse


_INTRO = """\
# {title}: nested entities as columns

Labels of the {encoding} encoding, a token a line, a blank line after each sentence. No column holds white space.
"""

_JOINT = """\
The second column is the label to predict, a single word such as `1|S|PER`.

Flair, as labels of tokens:

    from flair.datasets import ColumnCorpus
    corpus = ColumnCorpus(".", column_format={0: "text", 1: "nested"}, column_delimiter="\\t",
                          train_file="train.tsv", dev_file="dev.tsv"TEST)

    # train a SequenceTagger for the label type "nested", then
    with open("dev.out", "w", encoding="utf-8") as out:
        for sentence in corpus.dev:
            tagger.predict(sentence, label_name="predicted")
            out.writelines(f"{token.text}\\t{token.get_label('predicted').value}\\n" for token in sentence)
            out.write("\\n")

spaCy, as the tags of its tagger:

    import spacy
    from spacy.tokens import Doc, DocBin

    for split in ("train", "dev"):
        docs = DocBin()
        for block in open(f"{split}.tsv", encoding="utf-8").read().split("\\n\\n"):
            if rows := [line.split("\\t") for line in block.splitlines()]:
                words, tags = zip(*rows)
                docs.add(Doc(spacy.blank("xx").vocab, words=list(words), tags=list(tags)))
        docs.to_disk(f"{split}.spacy")

    # spacy init config config.cfg --lang xx --pipeline tagger
    # spacy train config.cfg --paths.train train.spacy --paths.dev dev.spacy --output model

    nlp = spacy.load("model/model-best")
    with open("dev.out", "w", encoding="utf-8") as out:
        for gold in DocBin().from_disk("dev.spacy").get_docs(nlp.vocab):
            doc = nlp(Doc(nlp.vocab, words=[token.text for token in gold]))
            out.writelines(f"{token.text}\\t{token.tag_}\\n" for token in doc)
            out.write("\\n")
"""

_SEPARATE = """\
The columns 2, 3 and 4 are n, c and u: train one tagger for each, or one with three outputs, and write the three
predictions side by side after the token.

Flair, one tagger for each of "n", "c" and "u":

    from flair.datasets import ColumnCorpus
    corpus = ColumnCorpus(".", column_format={0: "text", 1: "n", 2: "c", 3: "u"}, column_delimiter="\\t",
                          train_file="train.tsv", dev_file="dev.tsv"TEST)

Flair takes a column for BIO labels if it holds a label that begins with `B-`, `I-`, `E-` or `S-`. If one of your types
does, export with `nestag export conll --labels joint`.
"""

_BACK = """
Predictions go back to entities from a file of the same form: the token first, the predicted label last, whatever else
between them. In this folder:

"""

TARGET = Conll
