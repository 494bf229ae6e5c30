r"""hf: a folder that `datasets.load_dataset` opens for token classification.

    data/train.jsonl  {"id": "0", "tokens": ["the", "USA"], "n": [1, 4], "c": [2, 0], "u": [0, 0], "ner_tags": [2, 9]}
    README.md         the dataset card; its head tells `datasets` the names behind the numbers

`n`, `c` and `u` are for a model with three outputs, `ner_tags` are joint labels (target.py) for one with a single
output. A label that train lacks has the number -100, which losses leave out. Predictions are JSON Lines with `n`, `c`
and `u`, or with `ner_tags`, one list of numbers or of label texts a sentence; `tokens` are compared if they are there.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Self, TextIO, TypeVar

from nestag.data.sentence import Sentence
from nestag.encodings import encoding
from nestag.encodings.base import Label
from nestag.encodings.notation import write_chain, write_name
from nestag.encodings.vocabulary import UNSEEN, Vocabulary
from nestag.errors import InputError, LabelError
from nestag.formats.files import read_lines
from nestag.formats.folders import Split
from nestag.formats.labels import LabelBlock, Labelled, LabelParsers
from nestag.integrations.tagging.target import Description, Target, fill, joint_writer, read_joint

TAGS = "ner_tags"
HEADS = Label._fields
T = TypeVar("T")


@dataclass(frozen=True)
class HuggingFace(Target):
    """JSON Lines of numbers and a dataset card that names them."""

    name: ClassVar[str] = "hf"
    files: ClassVar[Mapping[Split, str]] = {
        "train": "data/train.jsonl",
        "dev": "data/validation.jsonl",
        "test": "data/test.jsonl",
    }

    ner_tags: tuple[str, ...] = ()  # the joint labels of train, the frequent first

    def learned(self, vocabulary: Vocabulary, sentences: Iterable[Sentence]) -> Self:
        """Count the joint labels of train."""
        text = joint_writer(encoding(vocabulary.encoding))
        counts = Counter(text(label) for sentence in sentences for label in vocabulary.encode(sentence))
        return replace(self, ner_tags=tuple(sorted(counts, key=lambda tag: (-counts[tag], tag))))

    def write(self, sentences: Iterable[Labelled], vocabulary: Vocabulary, stream: TextIO) -> None:
        """Write an object per line."""
        text = joint_writer(encoding(vocabulary.encoding))
        numbers = {tag: number for number, tag in enumerate(self.ner_tags)}
        for position, (tokens, labels) in enumerate(sentences):
            record = {"id": str(position), "tokens": tokens, **vocabulary.ids(labels)._asdict()}
            record[TAGS] = [numbers.get(text(label), UNSEEN) for label in labels]
            stream.write(json.dumps(record, ensure_ascii=False) + "\n")

    def read(self, path: str | Path, parts: LabelParsers, vocabulary: Vocabulary) -> Iterator[LabelBlock]:
        """Read an object per line, with numbers or texts."""
        heads: list[Callable[[object], Any]] = [
            _reader("n", parts.n, vocabulary.n),
            _reader("c", parts.c, vocabulary.c),
            _reader("u", parts.u, vocabulary.u),
        ]
        tags = [read_joint(tag, parts) for tag in self.ner_tags]
        tag = _reader(TAGS, lambda text: read_joint(text, parts), tags)
        for line in read_lines(path):
            if not line.text.strip():
                continue
            try:
                yield _block(json.loads(line.text), line.number, heads, tag)
            except (LabelError, json.JSONDecodeError, RecursionError) as error:
                raise InputError(f"not a line of predictions ({error})", str(path), line.number) from None

    def texts(self, about: Description) -> dict[str, str]:
        """Return the dataset card."""
        commands = "\n".join(f"    {about.back(split, f'{split}.out.jsonl')}" for split in about.predicted)
        card = fill("hf.md", title=about.title, encoding=about.vocabulary.encoding, commands=commands)
        return {"README.md": card_head(self, about) + card}


def _block(
    record: object, line: int, heads: Sequence[Callable[[object], Any]], tag: Callable[[object], Label]
) -> LabelBlock:
    """Return a parsed line of predictions; a LabelError says what is missing."""
    if not isinstance(record, dict):
        raise LabelError(f"it holds {type(record).__name__}, not an object")
    if (TAGS in record) == any(head in record for head in HEADS):
        raise LabelError(f"it takes either n, c and u or {TAGS}, whichever were predicted, and not both")
    tokens = _list(record, "tokens") if "tokens" in record else []
    if TAGS in record:
        return LabelBlock(line, tokens, [tag(value) for value in _list(record, TAGS)])
    lists = [[read(value) for value in _list(record, head)] for head, read in zip(HEADS, heads, strict=True)]
    if len({len(values) for values in lists}) > 1:
        raise LabelError(f"n, c and u have {', '.join(str(len(values)) for values in lists)} values; give one a token")
    return LabelBlock(line, tokens, list(map(Label, *lists)))


def _list(record: dict[str, Any], name: str) -> list[Any]:
    values = record.get(name)
    if not isinstance(values, list):
        raise LabelError(f"{name} is {str(values)[:40]!r}; make it a list, one value a token")
    return values


def _reader(name: str, read: Callable[[str], T], table: Sequence[T]) -> Callable[[object], T]:
    """Return a function that reads a value: a number by the table, a text by the notation."""

    def read_value(value: object) -> T:
        if isinstance(value, str):
            return read(value)
        if type(value) is not int or not 0 <= value < len(table):
            raise LabelError(f"{name} is {value!r}; it takes a label, or its number from 0 to {len(table) - 1}")
        return table[value]

    return read_value


def card_head(chosen: HuggingFace, about: Description) -> str:
    """Return the head of the card in YAML: the files of the splits, and the names of the numbers."""
    vocabulary = about.vocabulary
    names = {
        "n": map(encoding(vocabulary.encoding).write_n, vocabulary.n),
        "c": map(write_name, vocabulary.c),
        "u": map(write_chain, vocabulary.u),
        TAGS: chosen.ner_tags,
    }
    lines = ["---", f"pretty_name: {yaml_text(about.title)}", "task_categories:", "- token-classification"]
    lines += ["configs:", "- config_name: default", "  data_files:"]
    for split in about.corpora:
        lines += [f"  - split: {'validation' if split == 'dev' else split}", f"    path: {chosen.files[split]}"]
    lines += ["dataset_info:", "  features:", "  - name: id", "    dtype: string"]
    lines += ["  - name: tokens", "    sequence: string"]
    for feature, labels in names.items():
        lines += [f"  - name: {feature}", "    sequence:", "      class_label:", "        names:"]
        lines += [f"          '{number}': {yaml_text(label)}" for number, label in enumerate(labels)]
    return "\n".join([*lines, "---", ""])


def yaml_text(text: str) -> str:
    r"""Return any text as YAML.

    >>> print(yaml_text('a "b"'))
    "a \U00000022b\U00000022"
    """
    return '"' + "".join(c if c.isprintable() and c not in '"\\' else f"\\U{ord(c):08x}" for c in text) + '"'
