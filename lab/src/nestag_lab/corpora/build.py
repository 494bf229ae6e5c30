"""Sentences and their splits -> a folder of train, dev and test files, all or none, with a tally of each."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from nestag.data.crossing import crossing_pairs
from nestag.data.report import Report, describe
from nestag.data.sentence import Entity, Sentence, outermost_first
from nestag.formats.files import writing, writing_together
from nestag.formats.folders import SPLITS, Split
from nestag.formats.jsonl import to_line
from nestag_lab.corpora.split import SplitSentence


@dataclass
class SplitCounts:
    """What a split holds."""

    sentences: int = 0
    tokens: int = 0
    entities: int = 0
    deepest: int = 0

    def see(self, sentence: Sentence) -> None:
        """Count a sentence."""
        self.sentences += 1
        self.tokens += len(sentence)
        self.entities += len(sentence.entities)
        self.deepest = max(self.deepest, depth(sentence.entities))

    @property
    def mean_length(self) -> float:
        """Tokens a sentence."""
        return self.tokens / self.sentences if self.sentences else 0.0


def build(
    placed: Iterable[SplitSentence], folder: str | Path, *, packed: bool, report: Report
) -> dict[Split, SplitCounts]:
    """Write `train.jsonl`, `dev.jsonl` and `test.jsonl` (packed: `.jsonl.gz`) into the folder, made if missing."""
    tallies = {split: SplitCounts() for split in SPLITS}
    ending = ".jsonl.gz" if packed else ".jsonl"
    with writing_together(folder) as part, ExitStack() as stack:
        streams = {split: stack.enter_context(writing(part / f"{split}{ending}")) for split in SPLITS}
        for split, sentence in placed:
            _count_crossing(sentence, report)
            tallies[split].see(sentence)
            streams[split].write(to_line(sentence))
    return tallies


def whole(tallies: Iterable[SplitCounts]) -> SplitCounts:
    """Return several tallies as one."""
    columns = zip(*((one.sentences, one.tokens, one.entities, one.deepest) for one in tallies), strict=True)
    sentences, tokens, entities, deepest = columns
    return SplitCounts(sum(sentences), sum(tokens), sum(entities), max(deepest))


def depth(entities: Iterable[Entity]) -> int:
    """Return the depth of the deepest nesting; entities over the same tokens count as nested.

    >>> depth([Entity(0, 6, "PER"), Entity(4, 6, "GPE"), Entity(4, 6, "NAME"), Entity(5, 8, "ORG")])
    3
    """
    deepest = 0
    open_around: list[tuple[int, int]] = []  # ends of the entities begun so far, and the depth of each
    for start, end, _ in sorted(set(entities), key=outermost_first):
        open_around = [(other, level) for other, level in open_around if other > start]
        level = 1 + max((level for other, level in open_around if other >= end), default=0)
        open_around.append((end, level))
        deepest = max(deepest, level)
    return deepest


def _count_crossing(sentence: Sentence, report: Report) -> None:
    for first, second in crossing_pairs(sentence.entities):
        report.add(
            "crossing pair of entities kept as it is", str(sentence.id), f"{describe(first)} and {describe(second)}"
        )
