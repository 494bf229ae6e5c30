"""Words -> subword ids, as flat arrays: each distinct word is tokenized once and looked up afterwards.

That is right only for tokenizers that split a word the same way wherever it stands. `splits_words_alone` finds out
when a tokenizer is loaded; for others every sentence is tokenized as a whole.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, repeat
from typing import Any, NamedTuple, Protocol

import numpy as np

from nestag.data.arrays import Ints

SHAPES = 10
"""How many word shapes there are."""

MOST_WORDS = 2**18
"""Distinct words that are remembered; beyond that the table is emptied, so that memory stays bounded."""

MOST_CHARACTERS = 2**24
"""The same for their characters, so that words of absurd length do not fill the memory either."""

PROBES = (
    ("of", "Paris", "unbelievable", "IL-2", "x", ",", "(", "naïve", "1984", "漢字", "don't", "U.S.", "...", "of"),
    ("word", ".", "\u200b", "word", "A", "word"),
)
"""Sentences on which a tokenizer shows whether it splits each word by itself."""


class Tokenizer(Protocol):
    """What is used of a fast tokenizer of transformers."""

    unk_token_id: int | None

    def __call__(self, text: Any, *, is_split_into_words: bool, add_special_tokens: bool) -> Any:
        """Subwords of sentences of words."""
        ...


class Subwords(NamedTuple):
    """The subwords of some sentences, one after the other."""

    ids: Ints  # of every subword
    counts: Ints  # subwords of each word, at least 1
    shapes: Ints  # of each word
    lengths: Ints  # words of each sentence

    @property
    def word_offsets(self) -> Ints:
        """The first word of each sentence, and the end of the last."""
        return offsets(self.lengths)

    @property
    def subword_offsets(self) -> Ints:
        """The first subword of each word, and the end of the last."""
        return offsets(self.counts)


class WordTable:
    """A tokenizer that remembers the words it has seen."""

    def __init__(self, tokenizer: Tokenizer, longest: int) -> None:
        """Keep at most the first `longest` subwords of a word."""
        self.tokenizer = tokenizer
        self.longest = longest
        self.unknown = tokenizer.unk_token_id if tokenizer.unk_token_id is not None else 0
        self.cached = splits_words_alone(tokenizer)
        self._forget()

    def _forget(self) -> None:
        self._rows: dict[str, int] = {}
        self._characters = 0
        self._ids: Ints = np.zeros(0, dtype=np.int64)
        self._starts: Ints = np.zeros(0, dtype=np.int64)
        self._counts: Ints = np.zeros(0, dtype=np.int64)
        self._shapes: Ints = np.zeros(0, dtype=np.int64)

    def subwords(self, sentences: Sequence[Sequence[str]]) -> Subwords:
        """The subwords of every word of every sentence."""
        lengths = np.fromiter(map(len, sentences), dtype=np.int64, count=len(sentences))
        words = list(chain.from_iterable(sentences))
        if not self.cached:
            pieces = [self._whole(sentence) for sentence in sentences]
            found = list(chain.from_iterable(pieces))
            return Subwords(_flat(found), _sizes(found), _shapes(words), lengths)
        rows = self._look_up(words)
        counts = self._counts[rows]
        ends = np.cumsum(counts)
        # subword j of word w stands at start(w) + j; all of them at once
        at = np.repeat(self._starts[rows] - (ends - counts), counts) + np.arange(ends[-1] if len(ends) else 0)
        return Subwords(self._ids[at], counts, self._shapes[rows], lengths)

    def _look_up(self, words: list[str]) -> Ints:
        if len(self._rows) > MOST_WORDS or self._characters > MOST_CHARACTERS:
            self._forget()
        rows = self._known(words)
        if len(new := np.flatnonzero(rows < 0)):
            self._learn(list(dict.fromkeys(words[at] for at in new)))
            rows = self._known(words)
        return rows

    def _known(self, words: list[str]) -> Ints:
        """The row of each word, -1 for one that was not seen before."""
        return np.fromiter(map(self._rows.get, words, repeat(-1)), dtype=np.int64, count=len(words))

    def _learn(self, words: list[str]) -> None:
        """Tokenize words that were not seen before, in one call."""
        encoded = self.tokenizer([[word] for word in words], is_split_into_words=True, add_special_tokens=False)
        pieces = [self._kept(ids) for ids in encoded["input_ids"]]
        counts = _sizes(pieces)
        self._characters += sum(map(len, words))
        self._rows.update(zip(words, range(len(self._rows), len(self._rows) + len(words)), strict=True))
        self._starts = np.concatenate([self._starts, len(self._ids) + np.cumsum(counts) - counts])
        self._ids = np.concatenate([self._ids, _flat(pieces)])
        self._counts = np.concatenate([self._counts, counts])
        self._shapes = np.concatenate([self._shapes, _shapes(words)])

    def _whole(self, sentence: Sequence[str]) -> list[list[int]]:
        """The subwords of each word of a sentence that is tokenized as a whole."""
        pieces: list[list[int]] = [[] for _ in sentence]
        if sentence:
            encoded = self.tokenizer(list(sentence), is_split_into_words=True, add_special_tokens=False)
            for number, word in zip(encoded["input_ids"], encoded.word_ids(), strict=True):
                pieces[word].append(number)
        return [self._kept(ids) for ids in pieces]

    def _kept(self, ids: list[int]) -> list[int]:
        """A word that becomes no subword at all (odd Unicode) gets the unknown one."""
        return ids[: self.longest] or [self.unknown]


def splits_words_alone(tokenizer: Tokenizer) -> bool:
    """Whether a tokenizer splits a word the same way whatever stands around it."""
    for probe in PROBES:
        together = tokenizer(list(probe), is_split_into_words=True, add_special_tokens=False)["input_ids"]
        alone = tokenizer([[word] for word in probe], is_split_into_words=True, add_special_tokens=False)["input_ids"]
        if list(together) != list(chain.from_iterable(alone)):
            return False
    return True


def offsets(sizes: Ints) -> Ints:
    """Where each of some consecutive pieces begins, and the end of the last.

    >>> offsets(np.array([2, 0, 3])).tolist()
    [0, 2, 2, 5]
    """
    return np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(sizes)])


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


def _shapes(words: Sequence[str]) -> Ints:
    return np.fromiter(map(shape, words), dtype=np.int64, count=len(words))


def _sizes(pieces: Sequence[Sequence[int]]) -> Ints:
    return np.fromiter(map(len, pieces), dtype=np.int64, count=len(pieces))


def _flat(pieces: Sequence[Sequence[int]]) -> Ints:
    return np.fromiter(chain.from_iterable(pieces), dtype=np.int64)
