"""Windows: the subwords that an encoder reads at once, batches of them, and their padded arrays, with NumPy alone.

A sentence longer than the encoder's maximum is read in overlapping windows that split no word. Each word is labelled in
the window where it is furthest from an edge. Disjoint windows are MaChAmp's: they end after a fixed number of subwords,
even within a word. Neighbouring sentences of the same document can be added as context, which is read and not labelled.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, Literal, NamedTuple

import numpy as np

from nestag.data.arrays import Ints
from nestag.model.subwords import Special, Subwords, WordTable, WordTokenizer, ranges

NOTHING = -1  # the word of special, context and padding subwords, and the shape of padding words
Cut = Literal["overlapping", "disjoint"]  # how long sentences are split into windows


@dataclass(frozen=True, slots=True)
class Windows:
    """Windows as columns; words and subwords are numbered through all sentences."""

    sentence: Ints
    first: Ints  # the first word read
    last: Ints  # the end of the words read
    label_first: Ints  # the first word labelled here
    label_last: Ints  # the end of the words labelled here
    begin: Ints  # the first subword, context included
    end: Ints  # the end of the subwords, context included

    @property
    def sizes(self) -> Ints:
        """Subwords in each window, including the two special ones."""
        return self.end - self.begin + 2

    def __len__(self) -> int:
        return len(self.sentence)

    def narrow(self, reach: int) -> Windows:
        """Keep all subwords, and of the words only those labelled here and `reach` words on each side."""
        first = np.maximum(self.first, self.label_first - reach)
        return replace(self, first=first, last=np.minimum(self.last, self.label_last + reach))

    def take(self, rows: Ints | Sequence[int]) -> Windows:
        """Return the windows in these rows."""
        return Windows(*(getattr(self, field.name)[rows] for field in fields(self)))


def windows_of(subwords: Subwords, room: int, cut: Cut = "overlapping") -> Windows:
    """Return windows of at most `room` subwords; overlapping ones share about a quarter of them."""
    words, places = subwords.word_offsets, subwords.subword_offsets
    size = places[words[1:]] - places[words[:-1]]  # subwords of each sentence
    whole = np.flatnonzero((size <= room) & (subwords.lengths > 0))
    first, last = words[whole], words[whole + 1]
    columns = [np.stack([whole, first, last, first, last, places[first], places[last]])]
    cut_sentence = _disjoint if cut == "disjoint" else _overlapping
    for sentence in np.flatnonzero(size > room):
        pieces = cut_sentence(places, int(words[sentence]), int(words[sentence + 1]), room)
        columns.append(np.concatenate([np.full((1, pieces.shape[1]), sentence), pieces]))
    table = np.concatenate(columns, axis=1)
    return Windows(*table[:, np.argsort(table[0], kind="stable")])


def _overlapping(places: Ints, first: int, end: int, room: int) -> Ints:
    """Return the columns of the windows of a long sentence, except the sentence."""

    def reach(start: int) -> int:  # the end of the words from here that fit
        return min(end, int(np.searchsorted(places, places[start] + room, side="right")) - 1)

    def spans() -> Iterator[tuple[int, int]]:
        start = first
        while (last := reach(start)) < end:
            yield start, last
            overlap = int(np.searchsorted(places, places[last] - room // 4, side="left"))
            advance = int(np.searchsorted(places, places[last + 1] - room, side="left"))  # the next word must fit
            start = min(last, max(overlap, advance))
        yield start, last

    starts, lasts = np.array(list(spans())).T
    borders = np.concatenate([[first], (starts[1:] + lasts[:-1]) // 2, [end]])
    return np.stack([starts, lasts, borders[:-1], borders[1:], places[starts], places[lasts]])


def _disjoint(places: Ints, first: int, end: int, room: int) -> Ints:
    """Return the same for disjoint windows; a word is labelled in the window of its last subword."""
    begin = np.arange(int(places[first]), int(places[end]), room)
    stop = np.minimum(begin + room, places[end])
    last = np.searchsorted(places, stop, side="right") - 1  # the end of the words that end in each window
    start = np.concatenate([[first], last[:-1]])
    return np.stack([start, last, start, last, begin, stop])[:, start < last]  # no word may end within a long one


def with_context(windows: Windows, subwords: Subwords, documents: Sequence[str], room: int) -> Windows:
    """Add as much of their document to windows of whole sentences as fits into `room` subwords."""
    words, places = subwords.word_offsets, subwords.subword_offsets
    same = np.fromiter((a == b for a, b in pairwise(documents)), dtype=bool, count=max(0, len(documents) - 1))
    begins = np.flatnonzero(np.concatenate([[True], ~same]))  # the first sentence of each document
    document = np.searchsorted(begins, windows.sentence, side="right") - 1
    ends = np.append(begins[1:], len(documents))
    lowest, highest = places[words[begins[document]]], places[words[ends[document]]]
    named = np.fromiter(map(bool, documents), dtype=bool, count=len(documents))[windows.sentence]
    whole = (windows.first == words[windows.sentence]) & (windows.last == words[windows.sentence + 1])
    free = np.where(named & whole, room - (windows.end - windows.begin), 0)
    free[free < 2] = 0
    left = np.minimum(free // 2, windows.begin - lowest)
    right = np.minimum(free - left, highest - windows.end)
    return replace(windows, begin=windows.begin - left, end=windows.end + right)


def join_windows(windows: Windows, documents: Sequence[object], room: int) -> Windows:
    """Join disjoint windows of the same document into windows of at most `room` subwords."""
    begins: list[int] = []
    begin, document = 0, object()
    for row, (sentence, start, end) in enumerate(zip(windows.sentence, windows.begin, windows.end, strict=True)):
        if documents[sentence] != document or end - begin > room:
            begins.append(row)
            begin, document = start, documents[sentence]
    first, end_row = np.array(begins, dtype=np.int64), np.array([*begins[1:], len(windows)], dtype=np.int64)
    last = end_row[: len(first)] - 1  # empty if there are no windows
    words = windows.first[first], windows.last[last]
    return Windows(windows.sentence[first], *words, *words, windows.begin[first], windows.end[last])


def batches(sizes: Ints, budget: int, most: int = 10_000, rng: random.Random | None = None) -> list[Ints]:
    """Group windows of similar size into batches of at most `budget` subwords, padded; with `rng`, in random order.

    >>> [batch.tolist() for batch in batches(np.array([9, 1, 8, 2]), budget=20)]
    [[1, 3], [2, 0]]
    """
    order = list(range(len(sizes)))
    if rng:
        rng.shuffle(order)
    shuffled = np.array(order, dtype=np.int64)
    ordered = shuffled[np.argsort(sizes[shuffled], kind="stable")]
    sorted_sizes = sizes[ordered]
    groups: list[Ints] = []
    at = 0
    while at < len(ordered):
        block = sorted_sizes[at : at + min(most, max(1, budget))]
        fits = block * np.arange(1, len(block) + 1) <= budget  # true, then false: sizes do not fall
        count = max(1, int(np.count_nonzero(fits)))
        groups.append(ordered[at : at + count])
        at += count
    if rng:
        rng.shuffle(groups)
    return groups


def sentence_batches(sizes: Ints, sentence: Ints, budget: int, most: int) -> list[Ints]:
    """Return MaChAmp's batches: whole sentences by size, at most `most` of `budget` subwords, without padding.

    The windows of a sentence stay together, and its special subwords count once. A sentence over the budget is alone.

    >>> [batch.tolist() for batch in sentence_batches(np.array([9, 5, 8, 5]), np.array([0, 1, 2, 2]), 16, 32)]
    [[1, 0], [2, 3]]
    """
    inner = np.bincount(sentence, sizes - 2).astype(np.int64)
    windows = np.bincount(sentence)
    first = np.cumsum(windows) - windows
    groups: list[list[int]] = [[]]
    filled = members = 0
    for number in np.argsort(inner, kind="stable").tolist():
        if not windows[number]:  # a sentence without words
            continue
        size = int(inner[number]) + 2
        if members and (members >= most or filled + size > budget):
            groups.append([])
            filled = members = 0
        groups[-1] += range(int(first[number]), int(first[number] + windows[number]))
        filled, members = filled + size, members + 1
    return [np.array(batch, dtype=np.int64) for batch in groups if batch]


class Arrays(NamedTuple):
    """The input of a tagger."""

    input_ids: Ints  # windows x subwords
    attention_mask: Ints  # windows x subwords
    word: Ints  # windows x subwords: the word in the window of each subword, or NOTHING
    shape: Ints  # windows x words


@dataclass(frozen=True)
class Layout:
    """Sentences as subwords and windows."""

    subwords: Subwords
    windows: Windows
    special: Special

    @cached_property
    def word_of(self) -> Ints:
        """The word of each subword, numbered through all sentences."""
        return np.repeat(np.arange(len(self.subwords.counts)), self.subwords.counts)

    @cached_property
    def places(self) -> Ints:
        """The first subword of each word, and the end of the last."""
        return self.subwords.subword_offsets

    @property
    def labelled_subwords(self) -> int:
        """The number of subwords without context, including the special ones."""
        windows = self.windows
        return int((self.places[windows.last] - self.places[windows.first] + 2).sum())

    def arrays(self, batch: Ints) -> Arrays:
        """Return the arrays of some windows, padded to the longest."""
        chosen = self.windows.take(batch)
        size = chosen.end - chosen.begin
        place = chosen.begin[:, None] + np.arange(int(size.max()))  # windows x subwords without the special ones
        inside = place < chosen.end[:, None]
        place = np.minimum(place, len(self.subwords.ids) - 1)
        rows, length = len(batch), int(size.max()) + 2
        input_ids = np.full((rows, length), self.special.pad, dtype=np.int64)
        input_ids[:, 0] = self.special.begin
        input_ids[:, 1:-1] = np.where(inside, self.subwords.ids[place], self.special.pad)
        input_ids[np.arange(rows), size + 1] = self.special.end
        attention = (np.arange(length) < (size + 2)[:, None]).astype(np.int64)
        labelled = inside & (place >= self.places[chosen.first][:, None]) & (place < self.places[chosen.last][:, None])
        word = np.full((rows, length), NOTHING, dtype=np.int64)
        word[:, 1:-1] = np.where(labelled, self.word_of[place] - chosen.first[:, None], NOTHING)
        at = chosen.first[:, None] + np.arange(int((chosen.last - chosen.first).max()))  # windows x words
        shapes = self.subwords.shapes
        shape = np.where(at < chosen.last[:, None], shapes[np.minimum(at, len(shapes) - 1)], NOTHING)
        return Arrays(input_ids, attention, word, shape)

    def labelled_words(self, batch: Ints) -> tuple[Ints, Ints, Ints]:
        """Return the row, the column and the number of each word that is labelled in a batch."""
        chosen = self.windows.take(batch)
        count = chosen.label_last - chosen.label_first
        row = np.repeat(np.arange(len(batch)), count)
        word = ranges(chosen.label_first, count)
        return row, word - chosen.first[row], word


class LayoutMaker:
    """Lays out sentences for an encoder."""

    def __init__(self, tokenizer: Any, max_length: int, context: int = 0, cut: Cut = "overlapping") -> None:
        """Make windows of `max_length` subwords with the two special ones; neighbours are added up to `context`."""
        self.max_length, self.context = max_length, context
        self.cut: Cut = cut
        words = WordTokenizer.of(tokenizer)
        self.table, self.special = WordTable(words, max_length - 2), Special.of(words)

    def lay_out(self, sentences: Sequence[Sequence[str]], documents: Sequence[str] | None = None) -> Layout:
        """Split sentences into windows; with the names of their documents, neighbours can be context."""
        subwords = self.table.subwords(sentences)
        windows = windows_of(subwords, self.max_length - 2, self.cut)
        if self.context and documents is not None and len(documents):
            windows = with_context(windows, subwords, documents, min(self.context, self.max_length) - 2)
        return Layout(subwords, windows, self.special)
