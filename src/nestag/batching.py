"""Sentences -> what an encoder takes: subwords in windows, batched by their number.

No word is ever cut off. A sentence longer than the encoder takes is read in overlapping windows, and every word is
labelled once, in the window where it stands furthest from an edge. A word that becomes no subword at all (odd Unicode)
gets the unknown one. Neighbouring sentences can stand around a sentence as context; they are read and not labelled.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol

SHAPES = 10
"""How many word shapes there are."""


class Tokenizer(Protocol):
    """What is used of a tokenizer of transformers."""

    unk_token_id: int | None

    def __call__(self, text: list[str], *, is_split_into_words: bool, add_special_tokens: bool) -> object:
        """Subwords of words."""
        ...


@dataclass(frozen=True, slots=True)
class Subwords:
    """The subwords of a sentence, word by word."""

    words: tuple[tuple[int, ...], ...]
    shapes: tuple[int, ...]

    def __len__(self) -> int:
        return len(self.words)

    @property
    def size(self) -> int:
        """How many subwords there are."""
        return sum(map(len, self.words))


@dataclass(frozen=True, slots=True)
class Window:
    """Some words of a sentence that are read together, and which of them are labelled here."""

    sentence: int
    first: int
    last: int
    keep_first: int
    keep_last: int
    left: tuple[int, ...] = ()  # subwords of context
    right: tuple[int, ...] = ()
    size: int = 0  # subwords in all, special ones included


def shape(word: str) -> int:
    """What a word looks like, for encoders that do not see capitals: a number under `SHAPES`.

    >>> [shape(word) for word in ("of", "Paris", "USA", "IL-2", "mRNA", "1984", "3rd", ",", "A")]
    [0, 1, 2, 3, 4, 5, 6, 7, 8]
    """
    letters = [char for char in word if char.isalpha()]
    digits = any(char.isdigit() for char in word)
    if not letters:
        return 5 if digits else 7
    upper = sum(char.isupper() for char in letters)
    if len(word) == 1:
        return 8 if upper else 0
    if digits:
        return 3 if upper else 6
    if upper == 0:
        return 0
    if upper == len(letters):
        return 2
    return 1 if upper == 1 and letters[0].isupper() else 4 if upper < len(letters) else 9


def subwords(sentences: Sequence[Sequence[str]], tokenizer: Tokenizer, most: int) -> list[Subwords]:
    """The subwords of each word, at least one and at most `most`."""
    unknown = tokenizer.unk_token_id if tokenizer.unk_token_id is not None else 0
    found: list[Subwords] = []
    for tokens in sentences:
        words: list[list[int]] = [[] for _ in tokens]
        if tokens:
            encoded = tokenizer(list(tokens), is_split_into_words=True, add_special_tokens=False)
            for number, word in zip(encoded["input_ids"], encoded.word_ids(), strict=True):  # type: ignore[index, attr-defined]
                words[word].append(number)
        found.append(Subwords(tuple(tuple(word[:most]) or (unknown,) for word in words), tuple(map(shape, tokens))))
    return found


def windows(sentence: int, words: Subwords, room: int) -> Iterator[Window]:
    """Windows of at most `room` subwords that overlap by about a quarter; each word is kept in one of them."""
    if words.size <= room:
        if len(words):
            yield Window(sentence, 0, len(words), 0, len(words), size=words.size)
        return
    sizes = [len(word) for word in words.words]
    spans = [(0, _reach(sizes, 0, room))]
    while spans[-1][1] < len(words):
        first, last = spans[-1]
        back, start = 0, last
        while start > first + 1 and back + sizes[start - 1] <= room // 4:
            start -= 1
            back += sizes[start]
        while start < last and _reach(sizes, start, room) == last:  # before a long word, less overlap
            start += 1
        spans.append((start, _reach(sizes, start, room)))
    cuts = [0, *((later[0] + former[1]) // 2 for former, later in pairwise(spans)), len(words)]
    for (first, last), (keep_first, keep_last) in zip(spans, pairwise(cuts), strict=True):
        yield Window(sentence, first, last, keep_first, keep_last, size=sum(sizes[first:last]))


def _reach(sizes: Sequence[int], first: int, room: int) -> int:
    """The end of the longest stretch of words from `first` that fits."""
    last, used = first, 0
    while last < len(sizes) and used + sizes[last] <= room:
        used += sizes[last]
        last += 1
    return last


def with_context(
    found: Sequence[Window], texts: Sequence[Subwords], documents: Sequence[str], room: int
) -> Iterator[Window]:
    """The windows of whole sentences with as much of their neighbours in the same document as there is room for."""
    for window in found:
        free = room - window.size
        if free < 2 or window.first or window.last < len(texts[window.sentence]) or not documents[window.sentence]:
            yield window
            continue
        left = _neighbours(texts, documents, window.sentence, -1, free // 2)
        right = _neighbours(texts, documents, window.sentence, 1, free - len(left))
        yield Window(
            window.sentence, window.first, window.last, window.keep_first, window.keep_last,
            tuple(left), tuple(right), window.size + len(left) + len(right),
        )  # fmt: skip


def _neighbours(texts: Sequence[Subwords], documents: Sequence[str], sentence: int, step: int, room: int) -> list[int]:
    """Up to `room` subwords before or after a sentence, the nearest ones."""
    taken: list[int] = []
    at = sentence + step
    while 0 <= at < len(texts) and documents[at] == documents[sentence] and len(taken) < room:
        piece = [number for word in texts[at].words for number in word]
        taken = piece + taken if step < 0 else taken + piece
        at += step
    return taken[-room:] if step < 0 and room else taken[:room]


def batches(
    found: Sequence[Window], budget: int, most: int = 10_000, rng: random.Random | None = None
) -> list[list[int]]:
    """Windows of similar size together, padded size within `budget` subwords; in random order if told how.

    >>> batches([Window(i, 0, 1, 0, 1, size=size) for i, size in enumerate((9, 1, 8, 2))], budget=20)
    [[1, 3], [2, 0]]
    """
    order = list(range(len(found)))
    if rng:
        rng.shuffle(order)
    order.sort(key=lambda index: found[index].size)
    grouped: list[list[int]] = []
    current: list[int] = []
    for index in order:
        if current and (found[index].size * (len(current) + 1) > budget or len(current) >= most):
            grouped.append(current)
            current = []
        current.append(index)
    grouped += [current] if current else []
    if rng:
        rng.shuffle(grouped)
    return grouped
