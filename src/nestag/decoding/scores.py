"""The input of decoding: scores or label ids of three heads for a batch of sentences, and their order in a search.

The words of all sentences follow each other, and `lengths` has the number of words of each sentence.

Only differences between the scores of one head at one word count, so both log-probabilities and logits will do. Labels
that a valid sequence needs but the vocabulary lacks, and labels scored with minus infinity, count `MISSING`: a sequence
takes one only if there is no other way, and as few of them as possible.

A search takes all sequences one word further in each step. They are sorted by length, the longest first. The slots of
the first words come first, then those of the second words, and so on, as in a packed sequence of torch. A step works on
a slice of the slots, without padding:

    slots     A1 B1 C1 │ A2 B2 │ A3          for before, here in block.forward():
                                                 total[..., here] = best way from total[..., before]
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nestag.data.arrays import Floats, Ints
from nestag.encodings.vocabulary import Vocabulary
from nestag.errors import LabelError

MISSING = -1e9  # the score of a missing label, relative to the best label of its word; no score counts less
FORBIDDEN = -1e30  # the score of what is not allowed; finite, so that sums and differences stay numbers
PIECE = 2**22  # about how many scores are decoded at once
WIDTH = 256  # the most sequences in one block; more would not stay in the CPU's cache
CELLS = 2**23  # the most numbers in one block, unless a single sequence needs more

LEAST_WEIGHT = 1e-100
"""The weight of a missing label for confidences, if the best label of its word has 1; its square is still a number."""


@dataclass(frozen=True, slots=True)
class Search:
    """Settings of the constrained search and of confidences."""

    deepest: int | None = None  # the deepest level searched, or the highest stack of 4tg; None: from the vocabulary
    temperature: float = 1.0  # scores are divided by it for confidences; above 1 lowers them
    min_node_probability: float = 0.0  # spans of the grid are dropped that are nodes with a lower probability

    def __post_init__(self) -> None:
        """Refuse settings out of range."""
        if self.deepest is not None and self.deepest < 1:
            raise LabelError(f"deepest is {self.deepest}; give at least 1, or None")
        if not 0 < self.temperature < float("inf"):
            raise LabelError(f"temperature is {self.temperature}; give a number above 0")


class LabelBatch(NamedTuple):
    """The label ids of a batch, one array of words for each head."""

    n: Ints
    c: Ints
    u: Ints
    lengths: Ints

    @classmethod
    def of(cls, vocabulary: Vocabulary, n: ArrayLike, c: ArrayLike, u: ArrayLike, lengths: ArrayLike) -> LabelBatch:
        """Check arrays of ids; a LabelError says what is wrong with them."""
        return cls(*_check_heads(_check_ids, vocabulary, (n, c, u), lengths))


class Scores(NamedTuple):
    """The scores of a batch, one array of words x labels for each head."""

    n: NDArray[Any]
    c: NDArray[Any]
    u: NDArray[Any]
    lengths: Ints

    @classmethod
    def of(cls, vocabulary: Vocabulary, n: ArrayLike, c: ArrayLike, u: ArrayLike, lengths: ArrayLike) -> Scores:
        """Check arrays of scores; a LabelError says what is wrong with them."""
        return cls(*_check_heads(_check_scores, vocabulary, (n, c, u), lengths))

    @property
    def first(self) -> Ints:
        """Return the first word of each sentence."""
        return np.cumsum(self.lengths) - self.lengths

    @property
    def last(self) -> Ints:
        """Return the last word of each sentence that has any."""
        return last_words(self.lengths)

    @property
    def sentence(self) -> Ints:
        """Return the sentence of each word."""
        return np.repeat(np.arange(len(self.lengths)), self.lengths)

    def divide_by(self, temperature: float) -> Scores:
        """Divide the scores by a temperature."""
        if temperature == 1:
            return self
        return self._replace(n=self.n / temperature, c=self.c / temperature, u=self.u / temperature)

    def chosen(self) -> LabelBatch:
        """Return the best label of each head at each word, the first of equals."""
        return LabelBatch(best_labels(self.n), best_labels(self.c), best_labels(self.u), self.lengths)

    def pieces(self) -> Iterator[Scores]:
        """Yield the scores in pieces of whole sentences that take bounded memory; one at least."""
        words = max(1, PIECE // max(1, self.n.shape[1] + self.c.shape[1] + self.u.shape[1]))
        ends = np.cumsum(self.lengths)
        cuts = np.flatnonzero(np.diff(self.first // words)) + 1
        for a, b in pairwise([0, *cuts.tolist(), len(self.lengths)]):
            span = slice(int(ends[a - 1]) if a else 0, int(ends[b - 1]) if b else 0)
            yield Scores(self.n[span], self.c[span], self.u[span], self.lengths[a:b])


class SequenceBlock(NamedTuple):
    """Sequences that are searched together.

    >>> block = SequenceBlock.of(np.array([7, 8]), np.array([0, 3]), np.array([3, 1]))
    >>> block.word.tolist(), block.begin, block.end.tolist(), list(block.forward())[0]
    ([0, 3, 1, 2], slice(0, 2, None), [3, 1], (slice(0, 1, None), slice(2, 3, None)))
    """

    rows: Ints  # which sequences they are
    word: Ints  # the word of each slot
    offset: list[int]  # where the slots of each step begin, and the end of all
    end: Ints  # the last slot of each sequence
    own: slice  # the slots among those of all blocks, one block after the other

    @classmethod
    def of(cls, rows: Ints, first: Ints, sizes: Ints, start: int = 0) -> SequenceBlock:
        """Return sequences that begin with these words; no size is 0, and none is larger than the one before."""
        width = len(sizes) - np.searchsorted(sizes[::-1], np.arange(sizes[0]), side="right")
        offset = np.concatenate([[0], np.cumsum(width)])
        step = np.repeat(np.arange(sizes[0]), width)
        sequence = np.arange(offset[-1]) - offset[step]
        end = offset[sizes - 1] + np.arange(len(sizes))
        return cls(rows, first[sequence] + step, offset.tolist(), end, slice(start, start + len(step)))

    @property
    def begin(self) -> slice:
        """Return the slots of the first step."""
        return slice(0, self.offset[1])

    def forward(self) -> Iterator[tuple[slice, slice]]:
        """Yield, for each step but the first, the slots that its sequences had one word before, and its own slots."""
        for before, here, stop in zip(self.offset, self.offset[1:], self.offset[2:], strict=False):
            yield slice(before, before + stop - here), slice(here, stop)

    def backward(self) -> Iterator[tuple[slice, slice]]:
        """Yield the same, the last step first."""
        yield from list(self.forward())[::-1]


class TimeSteps(NamedTuple):
    """All sequences, in blocks of similar size."""

    blocks: list[SequenceBlock]
    word: Ints  # the word of each slot of all blocks

    @classmethod
    def of(cls, first: Ints, sizes: Ints, states: int) -> TimeSteps:
        """Lay out sequences with `states` numbers for each word; empty sequences are skipped."""
        order = np.argsort(-sizes, kind="stable")[: np.count_nonzero(sizes)]
        blocks: list[SequenceBlock] = []
        at = start = 0
        while at < len(order):
            room = CELLS // (states * int(sizes[order[at]]))
            rows = order[at : at + max(1, min(WIDTH, room))]
            blocks.append(SequenceBlock.of(rows, first[rows], sizes[rows], start))
            at, start = at + len(rows), blocks[-1].own.stop
        return cls(blocks, np.concatenate([order[:0], *(block.word for block in blocks)]))


def last_words(lengths: Ints) -> Ints:
    """Return the last word of each sentence that has any."""
    last: Ints = np.cumsum(lengths)[lengths > 0] - 1
    return last


def comparable(scores: NDArray[Any]) -> Floats:
    """Return scores as labels x words, the best of each word at 0 and none under `MISSING`.

    >>> comparable(np.array([[-1.0, -np.inf], [2.0, 5.0]])).tolist()
    [[0.0, -3.0], [-1000000000.0, 0.0]]
    """
    columns = np.array(scores.T, dtype=np.float64, order="C")
    top = np.maximum.reduce(columns, axis=0, initial=FORBIDDEN)
    columns -= top
    return np.maximum(columns, MISSING, out=columns)


def label_weights(scores: NDArray[Any]) -> Floats:
    """Return weights in proportion to the labels' probabilities: labels x words, from `LEAST_WEIGHT` to 1."""
    weights = comparable(scores)
    np.exp(weights, out=weights)
    return np.maximum(weights, LEAST_WEIGHT, out=weights)


def with_missing(rows: Floats, value: float) -> Floats:
    """Add the row of a missing label."""
    return np.concatenate([rows, np.full((1, rows.shape[1]), value)])


def softmax(values: Floats) -> Floats:
    """Return scores as probabilities, those of each row summing to 1."""
    weights = np.exp(values - values.max(axis=-1, keepdims=True, initial=FORBIDDEN))
    probability: Floats = weights / weights.sum(axis=-1, keepdims=True)
    return probability


def best_labels(scores: NDArray[Any]) -> Ints:
    """Return the best label of each word, the first of equals."""
    return scores.argmax(axis=1) if scores.size else np.zeros(0, dtype=np.int64)


def _check_heads(
    check: Callable[..., NDArray[Any]], vocabulary: Vocabulary, heads: Iterable[ArrayLike], lengths: ArrayLike
) -> list[NDArray[Any]]:
    """Return the checked arrays of the heads, and the lengths."""
    array = np.asarray(lengths)
    if array.ndim != 1 or (array.size and (array.dtype.kind not in "iu" or array.min() < 0)):
        raise LabelError(f"lengths are {array.tolist()!r:.80}; give the number of words of each sentence")
    checked = array.astype(np.int64)
    named = zip("ncu", heads, vocabulary.sizes, strict=True)
    return [*(check(head, values, size, checked) for head, values, size in named), checked]


def _check_ids(head: str, ids: ArrayLike, table: int, lengths: Ints) -> Ints:
    array, shape = np.asarray(ids), (int(lengths.sum()),)
    if array.shape != shape or (array.dtype.kind not in "iu" and array.size):
        raise LabelError(f"{head} holds {array.dtype} shaped {array.shape}; give integers shaped {shape}")
    checked: Ints = array.astype(np.int64, copy=False)
    if (unknown := (checked < 0) | (checked >= table)).any():
        bad = int(unknown.argmax())
        raise LabelError(
            f"{_place(bad, lengths)}: {head} is number {checked[bad]}; the vocabulary has 0 to {table - 1}"
        )
    return checked


def _check_scores(head: str, scores: ArrayLike, table: int, lengths: Ints) -> NDArray[Any]:
    array, shape = np.asarray(scores), (int(lengths.sum()), table)
    if array.shape != shape or array.dtype.kind not in "fiu":
        raise LabelError(f"{head} holds {array.dtype} shaped {array.shape}; give scores shaped {shape}")
    if shape[0] and not table:
        raise LabelError(f"{head} has no labels to choose from; learn the vocabulary from sentences")
    if array.dtype not in (np.float32, np.float64):
        array = array.astype(np.float64)
    if array.size and not array.max() < np.inf:  # the maximum is NaN if any score is
        bad, label = np.argwhere(~(array < np.inf))[0].tolist()
        raise LabelError(
            f"{_place(bad, lengths)}: {head} scores label {label} with {array[bad, label]};"
            " a score is a number or minus infinity"
        )
    return array


def _place(word: int, lengths: Ints) -> str:
    sentence = int(np.searchsorted(np.cumsum(lengths), word, side="right"))
    return f"sentence {sentence}, word {word - int(lengths[:sentence].sum())}"
