"""The paper's table of labels: how many a training split teaches and how far they reach, in each encoding."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from nestag.diagnosis.coverage import Covered
from nestag.diagnosis.display import coverage_columns, coverage_sections
from nestag.lab.paper.published import LabelFigures, published, published_name
from nestag.tables import Cell, Percent, Row, Section, Table


def labels_table(corpora: Mapping[str, Covered]) -> Table:
    """The table of several corpora, each followed by what the paper says of it."""
    others = tuple(dict.fromkeys(split for found in corpora.values() for row in found.rows for split in row.reach))
    sections: list[Section] = []
    for corpus, found in corpora.items():
        sections += [Section(f"{corpus}: {title}", rows) for title, rows in coverage_sections(found, others)]
        name = published_name(corpus, words=False)
        if name is not None:
            rows = tuple(_reported_row(by, labels, others) for by, labels in published().labels[name].items())
            sections.append(Section(f"{corpus}: paper", rows))
    return Table("Label coverage (table 1 of the paper)", coverage_columns(others), tuple(sections), NOTE)


NOTE = (
    "n, c and u: distinct values in the training split, the empty u counted; new: those that the other splits have and"
    " the training split lacks; %: labels of a split that the training split covers; recall %: entities that decoding"
    " can still find; absolute: how often dyn writes n absolutely, of labels and of sentences. n of abs, rel and dyn"
    " agrees with the paper. Its c and u are more, and so is c of 4tg: its files keep duplicates of entities (33 in"
    " GENIA), which ours drop, and where entities have the same tokens (14 of 100 in NNE) it joins their types as"
    " annotated, ours from the outside in. n of 4tg has at most six values, the marks of a word and of its gap, and"
    " those of a last word; why the paper has 8 and 13 on ACE and NNE is not known."
)


def _reported_row(encoding: str, labels: LabelFigures, others: Sequence[str]) -> Row:
    covered: dict[str, Cell] = {"dev": _printed(labels.dev), "test": _printed(labels.test)}
    shares: list[Cell] = [covered.get(name) for name in others]
    absolute = labels.absolute_labels, labels.absolute_sentences
    return (encoding, *labels.labels, *labels.missing, *shares, *[None] * len(others), *absolute)


def _printed(share: float | str) -> Percent:
    """A share as the paper prints it; its `>99.99` is a number for programs, in the middle of what it may be."""
    return Percent(99.995 if share == ">99.99" else share)
