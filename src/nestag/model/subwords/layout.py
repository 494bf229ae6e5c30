"""Sentences laid out for an encoder: tokenized, split into windows, and turned into padded arrays batch by batch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from nestag.data.arrays import Ints
from nestag.model.subwords.windows import Cut, Windows, windows_of, with_context
from nestag.model.subwords.words import Subwords, WordTable

NOTHING = -1
"""The word of a subword that belongs to none, and the shape of a word that is padding."""


class Arrays(NamedTuple):
    """The input of a tagger."""

    input_ids: Ints  # windows x subwords
    attention_mask: Ints  # windows x subwords
    word: Ints  # windows x subwords: which word of the window each is part of, or NOTHING
    shape: Ints  # windows x words, NOTHING beyond the last one


class Special(NamedTuple):
    """The special subwords of a tokenizer."""

    begin: int
    end: int
    pad: int

    @classmethod
    def of(cls, tokenizer: Any) -> Special:
        """Return those before and after a text, whatever the tokenizer calls them."""
        pad = tokenizer.pad_token_id or 0
        begin = tokenizer.cls_token_id if tokenizer.cls_token_id is not None else tokenizer.bos_token_id
        end = tokenizer.sep_token_id if tokenizer.sep_token_id is not None else tokenizer.eos_token_id
        return cls(pad if begin is None else begin, pad if end is None else end, pad)


@dataclass(frozen=True)
class Layout:
    """Sentences as subwords, and the windows in which they are read."""

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

    def kept(self, batch: Ints) -> tuple[Ints, Ints, Ints]:
        """Return the row and the column in a batch, and the number, of each word that is labelled there."""
        chosen = self.windows.take(batch)
        count = chosen.keep_last - chosen.keep_first
        row = np.repeat(np.arange(len(batch)), count)
        word = np.repeat(chosen.keep_first - (np.cumsum(count) - count), count) + np.arange(int(count.sum()))
        return row, word - chosen.first[row], word


class LayoutMaker:
    """Lays sentences out for one encoder."""

    def __init__(self, tokenizer: Any, max_length: int, context: int = 0, cut: Cut = "overlapping") -> None:
        """`max_length` counts subwords, including the two special ones; with `context`, neighbours fill up to it."""
        self.max_length, self.context = max_length, context
        self.cut: Cut = cut
        self.table = WordTable(tokenizer, max_length - 2)
        self.special = Special.of(tokenizer)

    def lay_out(self, sentences: Sequence[Sequence[str]], documents: Sequence[str] | None = None) -> Layout:
        """Split sentences into windows; if the names of their documents are known, neighbours can be context."""
        subwords = self.table.subwords(sentences)
        windows = windows_of(subwords, self.max_length - 2, self.cut)
        if self.context and documents is not None and len(documents):
            windows = with_context(windows, subwords, documents, min(self.context, self.max_length) - 2)
        return Layout(subwords, windows, self.special)
