"""Words -> subword ids, as flat arrays, with a tokenizer of the library `tokenizers`.

Each distinct word is tokenized once and then looked up. That is only correct for tokenizers that split a word the same
way in every context. `splits_words_alone` checks this when a tokenizer is loaded. With any other tokenizer, every
sentence is tokenized as a whole.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, repeat
from typing import Any, NamedTuple, Self

import numpy as np

from nestag.data.arrays import Ints
from nestag.errors import as_input_error

SHAPES = 10  # the number of word shapes
MOST_WORDS, MOST_CHARACTERS = 2**18, 2**24  # in the cache, which is emptied above these limits

PROBES = (  # sentences that show whether a tokenizer splits each word independently
    ("of", "Paris", "unbelievable", "IL-2", "x", ",", "(", "naïve", "1984", "漢字", "don't", "U.S.", "...", "of"),
    ("word", ".", "\u200b", "word", "A", "word"),
)
SPECIAL_TOKENS = {  # with their names in transformers; the first name wins
    "cls_token": ("cls_token", "bos_token"),
    "sep_token": ("sep_token", "eos_token"),
    "pad_token": ("pad_token",),
    "unk_token": ("unk_token",),
    "mask_token": ("mask_token",),
}


class WordTokenizer:
    """A tokenizer of the library `tokenizers` for sentences that are split into words."""

    def __init__(
        self, inner: Any, cls: int | None, sep: int | None, pad: int | None, unk: int | None, mask: int | None = None
    ) -> None:
        """Wrap a `tokenizers.Tokenizer` with the ids of its special tokens, without padding and truncation."""
        inner.no_padding()
        inner.no_truncation()
        self.inner = inner
        self.cls_token_id, self.sep_token_id, self.pad_token_id = cls, sep, pad
        self.unk_token_id, self.mask_token_id = unk, mask

    @classmethod
    def of(cls, tokenizer: Any) -> WordTokenizer:
        """Wrap a fast tokenizer of transformers; a `WordTokenizer` is returned as it is."""
        if isinstance(tokenizer, WordTokenizer):
            return tokenizer
        return cls.with_tokens(tokenizer.backend_tokenizer, tokenizer.special_tokens_map)

    @classmethod
    def with_tokens(cls, inner: Any, names: Mapping[str, Any]) -> WordTokenizer:
        """Wrap a tokenizer and look up the special tokens that a `tokenizer_config.json` names."""
        return cls(inner, *(_id(inner, [names.get(alias) for alias in aliases]) for aliases in SPECIAL_TOKENS.values()))

    def tokenizer_config(self) -> str:
        """Return a `tokenizer_config.json`, so that transformers can load the tokenizer."""
        tokens = {name: getattr(self, f"{name}_id") for name in SPECIAL_TOKENS}
        names = {name: self.inner.id_to_token(number) for name, number in tokens.items() if number is not None}
        return json.dumps({"tokenizer_class": "PreTrainedTokenizerFast", **names}, indent=1) + "\n"

    def encode(self, sentences: Iterable[Sequence[str]], add_special_tokens: bool = False) -> list[Any]:
        """Return the encodings of sentences, which have `ids` and `word_ids`."""
        words = [list(sentence) for sentence in sentences]
        with as_input_error("a sentence cannot be tokenized", "tokenizer.json"):
            encodings: list[Any] = self.inner.encode_batch(
                words, is_pretokenized=True, add_special_tokens=add_special_tokens
            )
        return encodings


def _id(inner: Any, names: Sequence[Any]) -> int | None:
    """Return the id of the first name that is not None; transformers 4 writes some names as tables."""
    texts = (name.get("content") if isinstance(name, Mapping) else name for name in names if name)
    return next((inner.token_to_id(str(text)) for text in texts), None)


class Special(NamedTuple):
    """The special subwords of a tokenizer."""

    begin: int
    end: int
    pad: int

    @classmethod
    def of(cls, tokenizer: WordTokenizer) -> Special:
        """Return the subwords before and after a text, and of padding."""
        pad = tokenizer.pad_token_id or 0
        begin, end = tokenizer.cls_token_id, tokenizer.sep_token_id
        return cls(pad if begin is None else begin, pad if end is None else end, pad)


class Subwords(NamedTuple):
    """The subwords of sentences, concatenated."""

    ids: Ints  # of every subword
    counts: Ints  # subwords of each word, at least 1
    shapes: Ints  # of each word
    lengths: Ints  # words of each sentence

    @classmethod
    def of(cls, pieces: Sequence[Sequence[int]], words: Sequence[str], lengths: Ints) -> Self:
        """Flatten the subwords of each word."""
        ids = np.fromiter(chain.from_iterable(pieces), dtype=np.int64)
        return cls(ids, _lengths(pieces), np.fromiter(map(shape, words), np.int64, len(words)), lengths)

    @property
    def word_offsets(self) -> Ints:
        """The first word of each sentence, and the end of the last."""
        return offsets(self.lengths)

    @property
    def subword_offsets(self) -> Ints:
        """The first subword of each word, and the end of the last."""
        return offsets(self.counts)


class WordTable:
    """A tokenizer with a cache of words."""

    def __init__(self, tokenizer: WordTokenizer, longest: int) -> None:
        """Truncate words to `longest` subwords."""
        self.tokenizer, self.longest = tokenizer, longest
        self.unknown = tokenizer.unk_token_id if tokenizer.unk_token_id is not None else 0
        self.cached = splits_words_alone(tokenizer)
        self._clear()

    def _clear(self) -> None:
        self._rows: dict[str, int] = {}
        self._characters = 0
        self._table = Subwords.of([], [], _lengths([]))
        self._starts = self._table.subword_offsets

    def subwords(self, sentences: Sequence[Sequence[str]]) -> Subwords:
        """Return the subwords of every word of every sentence."""
        lengths, words = _lengths(sentences), list(chain.from_iterable(sentences))
        if not self.cached:
            pieces = list(chain.from_iterable(map(self._tokenize_sentence, sentences)))
            return Subwords.of(pieces, words, lengths)
        rows = self._look_up(words)
        counts = self._table.counts[rows]
        at = ranges(self._starts[rows], counts)  # subword j of word w is at start(w) + j
        return Subwords(self._table.ids[at], counts, self._table.shapes[rows], lengths)

    def _look_up(self, words: list[str]) -> Ints:
        """Return the row of each word in the table, after adding the new words."""
        if len(self._rows) > MOST_WORDS or self._characters > MOST_CHARACTERS:
            self._clear()
        rows = self._known_rows(words)
        if len(new := np.flatnonzero(rows < 0)):
            self._add(list(dict.fromkeys(words[at] for at in new)))
            rows = self._known_rows(words)
        return rows

    def _known_rows(self, words: list[str]) -> Ints:
        return np.fromiter(map(self._rows.get, words, repeat(-1)), dtype=np.int64, count=len(words))

    def _add(self, words: list[str]) -> None:
        """Tokenize new words, in one call."""
        pieces = [self._truncate(encoding.ids) for encoding in self.tokenizer.encode([word] for word in words)]
        new = Subwords.of(pieces, words, _lengths([]))
        self._characters += sum(map(len, words))
        self._rows.update(zip(words, range(len(self._rows), len(self._rows) + len(words)), strict=True))
        self._table = Subwords(*map(np.concatenate, zip(self._table, new, strict=True)))
        self._starts = self._table.subword_offsets

    def _tokenize_sentence(self, sentence: Sequence[str]) -> list[list[int]]:
        """Return the subwords of each word of a sentence that is tokenized as a whole."""
        pieces: list[list[int]] = [[] for _ in sentence]
        if sentence:
            (encoding,) = self.tokenizer.encode([sentence])
            for number, word in zip(encoding.ids, encoding.word_ids, strict=True):
                pieces[word].append(number)
        return [self._truncate(ids) for ids in pieces]

    def _truncate(self, ids: list[int]) -> list[int]:
        """Truncate a very long word; a word without subwords (odd Unicode) becomes the unknown subword."""
        return ids[: self.longest] or [self.unknown]


def splits_words_alone(tokenizer: WordTokenizer) -> bool:
    """Return whether a tokenizer splits a word the same way in every context."""
    for probe in PROBES:
        (together,) = tokenizer.encode([probe])
        alone = tokenizer.encode([word] for word in probe)
        if together.ids != list(chain.from_iterable(encoding.ids for encoding in alone)):
            return False
    return True


def offsets(sizes: Ints) -> Ints:
    """Return the start of each of some consecutive pieces, and the end of the last.

    >>> offsets(np.array([2, 0, 3])).tolist()
    [0, 2, 2, 5]
    """
    return np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(sizes)])


def ranges(starts: Ints, sizes: Ints) -> Ints:
    """Return ranges of whole numbers, one after the other.

    >>> ranges(np.array([7, 3]), np.array([2, 3])).tolist()
    [7, 8, 3, 4, 5]
    """
    places = offsets(sizes)
    return np.repeat(starts - places[:-1], sizes) + np.arange(places[-1])


def shape(word: str) -> int:
    """Return the shape of a word, a number below `SHAPES`, for encoders that do not see capitals.

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


def _lengths(pieces: Sequence[Sequence[Any]]) -> Ints:
    return np.fromiter(map(len, pieces), dtype=np.int64, count=len(pieces))
