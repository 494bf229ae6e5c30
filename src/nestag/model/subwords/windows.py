"""Windows: the stretches of subwords that an encoder reads at once, and batches of them.

A sentence longer than the encoder takes is read in overlapping windows that cut no word, and every word is labelled
once, in the window where it stands furthest from an edge. Disjoint windows are MaChAmp's: they end after so many
subwords, in the middle of a word if need be. Neighbouring sentences of the same document can stand around a sentence as
context; they are read and not labelled.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from itertools import pairwise
from typing import Literal

import numpy as np

from nestag.data.arrays import Ints
from nestag.model.subwords.words import Subwords

Cut = Literal["overlapping", "disjoint"]
"""How the windows of a long sentence follow each other."""


@dataclass(frozen=True, slots=True)
class Windows:
    """Windows as columns; words and subwords are numbered through all sentences."""

    sentence: Ints
    first: Ints  # the first word read
    last: Ints  # the end of the words read
    keep_first: Ints  # the first word labelled here
    keep_last: Ints  # the end of the words labelled here
    begin: Ints  # the first subword, context included
    end: Ints  # the end of the subwords, context included

    @property
    def sizes(self) -> Ints:
        """Subwords in each window, the two special ones included."""
        return self.end - self.begin + 2

    def __len__(self) -> int:
        return len(self.sentence)

    def narrowed(self, reach: int) -> Windows:
        """The same subwords, but of their words only those labelled here and so many on each side of them."""
        first = np.maximum(self.first, self.keep_first - reach)
        return replace(self, first=first, last=np.minimum(self.last, self.keep_last + reach))

    def take(self, rows: Ints | Sequence[int]) -> Windows:
        """Some of the windows."""
        return Windows(*(getattr(self, field.name)[rows] for field in fields(self)))


def windows_of(subwords: Subwords, room: int, cut: Cut = "overlapping") -> Windows:
    """Windows of at most `room` subwords; those of one sentence overlap by about a quarter, or not at all."""
    words, places = subwords.word_offsets, subwords.subword_offsets
    size = places[words[1:]] - places[words[:-1]]  # subwords of each sentence
    whole = np.flatnonzero((size <= room) & (subwords.lengths > 0))
    first, last = words[whole], words[whole + 1]
    rows = [np.stack([whole, first, last, first, last, places[first], places[last]])]
    for sentence in np.flatnonzero(size > room):
        first_word, end_word = int(words[sentence]), int(words[sentence + 1])
        if cut == "disjoint":
            rows.append(_pieces(places, int(sentence), first_word, end_word, room))
            continue
        found = list(_cut(places, first_word, end_word, room))
        rows.append(
            np.array([(sentence, a, b, keep_a, keep_b, places[a], places[b]) for a, b, keep_a, keep_b in found]).T
        )
    columns = np.concatenate(rows, axis=1)
    return Windows(*columns[:, np.argsort(columns[0], kind="stable")])


def _cut(places: Ints, first: int, end: int, room: int) -> Iterator[tuple[int, int, int, int]]:
    """The windows of one long sentence: the words read, and the words labelled."""

    def reach(start: int) -> int:  # the end of the longest stretch of words that fits
        return min(end, int(np.searchsorted(places, places[start] + room, side="right")) - 1)

    spans = [(first, reach(first))]
    while spans[-1][1] < end:
        last = spans[-1][1]
        overlapping = int(np.searchsorted(places, places[last] - room // 4, side="left"))
        advancing = int(np.searchsorted(places, places[last + 1] - room, side="left"))  # the next word must fit
        start = min(last, max(overlapping, advancing))
        spans.append((start, reach(start)))
    borders = [first, *((later[0] + former[1]) // 2 for former, later in pairwise(spans)), end]
    for (start, last), (keep_first, keep_last) in zip(spans, pairwise(borders), strict=True):
        yield start, last, keep_first, keep_last


def _pieces(places: Ints, sentence: int, first: int, end: int, room: int) -> Ints:
    """The disjoint windows of one long sentence; a word is labelled in the one that holds its last subword."""
    begin = np.arange(int(places[first]), int(places[end]), room)
    stop = np.minimum(begin + room, places[end])
    last = np.searchsorted(places, stop, side="right") - 1  # the end of the words that end in each window
    start = np.concatenate([[first], last[:-1]])
    rows = np.stack([np.full_like(begin, sentence), start, last, start, last, begin, stop])
    return rows[:, start < last]  # no word may end in the middle of a very long one


def with_context(windows: Windows, subwords: Subwords, documents: Sequence[str], room: int) -> Windows:
    """The windows of whole sentences widened by as much of their document as there is room for."""
    words, places = subwords.word_offsets, subwords.subword_offsets
    same = np.fromiter((a == b for a, b in pairwise(documents)), dtype=bool, count=max(0, len(documents) - 1))
    begins = np.flatnonzero(np.concatenate([[True], ~same]))  # the sentences that begin a document
    document = np.searchsorted(begins, windows.sentence, side="right") - 1
    ends = np.append(begins[1:], len(documents))
    least, most = places[words[begins[document]]], places[words[ends[document]]]
    named = np.fromiter(map(bool, documents), dtype=bool, count=len(documents))[windows.sentence]
    whole = (windows.first == words[windows.sentence]) & (windows.last == words[windows.sentence + 1])
    free = np.where(named & whole, room - (windows.end - windows.begin), 0)
    free[free < 2] = 0
    left = np.minimum(free // 2, windows.begin - least)
    right = np.minimum(free - left, most - windows.end)
    return replace(windows, begin=windows.begin - left, end=windows.end + right)


def joined(windows: Windows, documents: Sequence[object], room: int) -> Windows:
    """Disjoint windows put together while they are of one document and at most `room` subwords."""
    begins: list[int] = []
    begin, document = 0, object()
    for row, (sentence, start, end) in enumerate(zip(windows.sentence, windows.begin, windows.end, strict=True)):
        if documents[sentence] != document or end - begin > room:
            begins.append(row)
            begin, document = start, documents[sentence]
    first, last = np.array(begins, dtype=np.int64), np.array([*begins[1:], len(windows)], dtype=np.int64) - 1
    last = last[: len(first)]  # no windows, none joined
    words = windows.first[first], windows.last[last]
    return Windows(windows.sentence[first], *words, *words, windows.begin[first], windows.end[last])


def batches(sizes: Ints, budget: int, most: int = 10_000, rng: random.Random | None = None) -> list[Ints]:
    """Windows of similar size together, padded size within `budget` subwords; in random order if `rng` is given.

    >>> [batch.tolist() for batch in batches(np.array([9, 1, 8, 2]), budget=20)]
    [[1, 3], [2, 0]]
    """
    order = list(range(len(sizes)))
    if rng:
        rng.shuffle(order)
    shuffled = np.array(order, dtype=np.int64)
    ordered = shuffled[np.argsort(sizes[shuffled], kind="stable")]
    sorted_sizes = sizes[ordered]
    found: list[Ints] = []
    at = 0
    while at < len(ordered):
        block = sorted_sizes[at : at + min(most, max(1, budget))]
        fits = block * np.arange(1, len(block) + 1) <= budget  # true, then false: sizes do not fall
        count = max(1, int(np.count_nonzero(fits)))
        found.append(ordered[at : at + count])
        at += count
    if rng:
        rng.shuffle(found)
    return found


def sentence_batches(sizes: Ints, sentence: Ints, budget: int, most: int) -> list[Ints]:
    """The batches of MaChAmp: whole sentences by size, at most `most` of `budget` subwords, padding not counted.

    The windows of a sentence stay together; its special subwords count once. A sentence over the budget is alone.

    >>> [batch.tolist() for batch in sentence_batches(np.array([9, 5, 8, 5]), np.array([0, 1, 2, 2]), 16, 32)]
    [[1, 0], [2, 3]]
    """
    inner = np.bincount(sentence, sizes - 2).astype(np.int64)
    windows = np.bincount(sentence)
    first = np.cumsum(windows) - windows
    found: list[list[int]] = [[]]
    filled = members = 0
    for number in np.argsort(inner, kind="stable").tolist():
        if not windows[number]:  # a sentence without words
            continue
        size = int(inner[number]) + 2
        if members and (members >= most or filled + size > budget):
            found.append([])
            filled = members = 0
        found[-1] += range(int(first[number]), int(first[number] + windows[number]))
        filled, members = filled + size, members + 1
    return [np.array(batch, dtype=np.int64) for batch in found if batch]
