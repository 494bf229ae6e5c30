"""hf: a folder that `datasets.load_dataset` opens for token classification."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Self, TextIO

from nestag.data.sentence import Sentence
from nestag.encodings import encoding
from nestag.encodings.base import Label
from nestag.encodings.notation import write_chain, write_name
from nestag.encodings.vocabulary import UNSEEN, Vocabulary
from nestag.errors import InputError, LabelError
from nestag.formats.files import read_lines
from nestag.formats.folders import Split
from nestag.formats.labels import LabelBlock, Labelled, LabelParsers
from nestag.integrations.taggers import HEADS, SEPARATOR, Target, fill, label_writer, read_joint, to_json

TAGS = "ner_tags"


@dataclass(frozen=True)
class HuggingFace(Target):
    """A folder that `datasets.load_dataset` opens: JSON Lines of numbers, and a dataset card that names them.

        {"id": "0", "tokens": ["the", "USA"], "n": [1, 4], "c": [2, 0], "u": [0, 0], "ner_tags": [2, 9]}

    `n`, `c` and `u` are for a model with three outputs, `ner_tags` are joint labels for one with a single output. A
    label that train lacks has the number -100, which losses ignore. Predictions are JSON Lines with `n`, `c` and `u`,
    or with `ner_tags`: a list of numbers or of label texts. If there are `tokens`, they are compared.
    """

    name: ClassVar[str] = "hf"
    files: ClassVar[Mapping[Split, str]] = {
        "train": "data/train.jsonl",
        "dev": "data/validation.jsonl",
        "test": "data/test.jsonl",
    }

    ner_tags: tuple[str, ...] = ()  # the joint labels of train, the frequent first

    def learn(self, vocabulary: Vocabulary, sentences: Iterable[Sentence]) -> Self:
        """Count the joint labels of train."""
        write = label_writer(encoding(vocabulary.encoding), SEPARATOR)
        counts = Counter(write(label) for sentence in sentences for label in vocabulary.encode(sentence))
        return replace(self, ner_tags=tuple(sorted(counts, key=lambda tag: (-counts[tag], tag))))

    def write(self, sentences: Iterable[Labelled], vocabulary: Vocabulary, stream: TextIO) -> None:
        """Write an object per line."""
        write = label_writer(encoding(vocabulary.encoding), SEPARATOR)
        numbers = {tag: number for number, tag in enumerate(self.ner_tags)}
        for position, (tokens, labels) in enumerate(sentences):
            record = {"id": str(position), "tokens": tokens, **vocabulary.ids(labels)._asdict()}
            record[TAGS] = [numbers.get(write(label), UNSEEN) for label in labels]
            stream.write(json.dumps(record, ensure_ascii=False) + "\n")

    def read(self, path: str | Path, parts: LabelParsers, vocabulary: Vocabulary) -> Iterator[LabelBlock]:
        """Read an object per line, with numbers or texts."""
        read_tag = partial(read_joint, parts)
        tables = {head: getattr(vocabulary, head) for head in HEADS} | {TAGS: list(map(read_tag, self.ner_tags))}
        readers = {**parts._asdict(), TAGS: read_tag}
        for line in read_lines(path):
            if not line.text.strip():
                continue
            try:
                yield _block(json.loads(line.text), line.number, readers, tables)
            except (LabelError, json.JSONDecodeError, RecursionError) as error:
                raise InputError(f"not a line of predictions ({error})", str(path), line.number) from None

    def texts(self, title: str, splits: Collection[Split], vocabulary: Vocabulary, commands: str) -> dict[str, str]:
        """Return the dataset card; its head names the files of the splits and the labels behind the numbers."""
        names = {
            "n": list(map(encoding(vocabulary.encoding).write_n, vocabulary.n)),
            "c": list(map(write_name, vocabulary.c)),
            "u": list(map(write_chain, vocabulary.u)),
            TAGS: self.ner_tags,
        }
        features: list[dict[str, object]] = [
            {"name": "id", "dtype": "string"},
            {"name": "tokens", "sequence": "string"},
        ]
        for name, labels in names.items():
            features.append({"name": name, "sequence": {"class_label": {"names": dict(enumerate(labels))}}})
        paths = [{"split": "validation" if s == "dev" else s, "path": self.files[s]} for s in splits]
        head = {
            "pretty_name": title,
            "task_categories": ["token-classification"],
            "configs": [{"config_name": "default", "data_files": paths}],
            "dataset_info": {"features": features},
        }
        text = fill("hf.md", title=title, encoding=vocabulary.encoding, commands=commands)
        return {"README.md": f"---\n{to_yaml(head)}---\n{text}"}


def _block(
    record: object, line: int, readers: Mapping[str, Callable[[str], Any]], tables: Mapping[str, Any]
) -> LabelBlock:
    """Return a parsed line of predictions; a LabelError says what is missing."""
    if not isinstance(record, dict):
        raise LabelError(f"it holds {type(record).__name__}, not an object")
    if (TAGS in record) == any(head in record for head in HEADS):
        raise LabelError(f"it takes either n, c and u or {TAGS}, whichever were predicted, and not both")
    tokens = _list(record, "tokens") if "tokens" in record else []
    names = (TAGS,) if TAGS in record else HEADS
    parts = [[_part(name, value, readers[name], tables[name]) for value in _list(record, name)] for name in names]
    if len({len(values) for values in parts}) > 1:
        raise LabelError(f"n, c and u have {', '.join(str(len(values)) for values in parts)} values; give one a token")
    return LabelBlock(line, tokens, parts[0] if TAGS in record else list(map(Label, *parts)))


def _list(record: dict[str, Any], name: str) -> list[Any]:
    values = record.get(name)
    if not isinstance(values, list):
        raise LabelError(f"{name} is {str(values)[:40]!r}; make it a list, one value a token")
    return values


def _part(name: str, value: object, read: Callable[[str], Any], table: Any) -> Any:
    """Return the label, or the part of one, of a number or a text."""
    if isinstance(value, str):
        return read(value)
    if type(value) is not int or not 0 <= value < len(table):
        raise LabelError(f"{name} is {value!r}; it takes a label, or its number from 0 to {len(table) - 1}")
    return table[value]


def to_yaml(settings: Mapping[str, object]) -> str:
    r"""Return settings as YAML: JSON with characters escaped that YAML does not take, such as a line separator.

    >>> print(to_yaml({"name": "a\x7f"}), end="")
    {
     "name": "a\U0000007f"
    }
    """
    return "".join(c if c.isprintable() or c == "\n" else f"\\U{ord(c):08x}" for c in to_json(settings))
