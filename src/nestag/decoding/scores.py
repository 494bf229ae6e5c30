"""Scores of a batch: checked, made comparable, and laid out so that a search can take all sentences a step further.

Three heads score the labels of each token. What is added to all scores of one head at one token changes no choice, so
log-probabilities and plain outputs of a linear layer serve alike. Labels that no legal sequence may do without but the
vocabulary lacks, and labels scored with minus infinity, count `MISSING`: a sequence takes one only if there is no
other way, and always takes as few as possible.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nestag.decoding.padding import Padding
from nestag.decoding.tables import Ints
from nestag.errors import LabelError, UnknownNameError
from nestag.vocabulary import Vocabulary

Floats = NDArray[np.float64]
Combine = Callable[[Floats, int], Floats]
"""How several ways to one state become one score, along an axis: the best of them, or all of them."""

Advance = Callable[[Floats, Floats, Ints], Floats]
"""How scores of states become those of the states after them, likewise."""

MISSING = -1e9
"""The score of a label that is not there, against the best label of its token; no score counts less."""

FORBIDDEN = -1e30
"""The score of what cannot be; finite, so that sums and differences stay numbers."""

TINY = 1e-280
"""What is less than this lost some of its digits."""

LANES = 512
"""Sentences searched side by side; more would not stay in the processor's cache."""

CELLS = 2**23
"""The most scores of states kept at once, unless one sentence alone needs more."""


@dataclass(frozen=True, slots=True)
class Search:
    """How the best legal labels are searched and entities are rated."""

    consistent: bool = True  # a node that opens k levels has a name of k types, if there are such names
    deepest: int | None = None  # the deepest level searched, or the highest stack of 4tg; None: see the vocabulary
    pooling: Literal["sum", "mean"] = "mean"  # what a name's probability is taken from, over the gaps of its node
    temperature: float = 1.0  # what scores are divided by to rate entities; above 1, they are rated less sure

    def __post_init__(self) -> None:
        """Refuse what cannot be searched."""
        if self.deepest is not None and self.deepest < 1:
            raise LabelError(f"deepest is {self.deepest}; search 1 deep at least, or give None")
        if self.pooling not in ("sum", "mean"):
            raise UnknownNameError(f"no pooling is called {self.pooling!r}; there are sum and mean")
        if not 0 < self.temperature < float("inf"):
            raise LabelError(f"temperature is {self.temperature}; give a number above 0")


class Scores(NamedTuple):
    """The scores of each head, tokens x table; the sentences stand one after the other."""

    n: NDArray[Any]
    c: NDArray[Any]
    u: NDArray[Any]
    sizes: Ints

    @classmethod
    def of(cls, vocabulary: Vocabulary, n: ArrayLike, c: ArrayLike, u: ArrayLike, lengths: ArrayLike) -> Scores:
        """Padded arrays without their padding, or a LabelError that says what is wrong with them."""
        sizes = np.asarray(lengths, dtype=np.int64)
        padding = Padding.of(np.shape(n)[1] if np.ndim(n) == 3 else 0, sizes)
        return cls(
            padding.scores(n, len(vocabulary.n), "n"),
            padding.scores(c, len(vocabulary.c), "c"),
            padding.scores(u, len(vocabulary.u), "u"),
            sizes,
        )

    def at(self, temperature: float) -> Scores:
        """The scores divided by a temperature."""
        if temperature == 1:
            return self
        return self._replace(n=self.n / temperature, c=self.c / temperature, u=self.u / temperature)

    @property
    def first(self) -> Ints:
        """The first token of each sentence."""
        return np.cumsum(self.sizes) - self.sizes

    @property
    def last(self) -> Ints:
        """The last token of each sentence that has any."""
        return np.cumsum(self.sizes)[self.sizes > 0] - 1


class Lanes(NamedTuple):
    """Stretches of tokens side by side, the longest first: a slot for each token, step after step.

    >>> lanes = Lanes.of(np.array([0, 3]), np.array([3, 1]))
    >>> lanes.token.tolist(), lanes.offset
    ([0, 3, 1, 2], [0, 2, 3, 4])
    """

    token: Ints
    """The token of each slot."""
    offset: list[int]
    """Where the slots of each step begin, and the end of all."""
    end: Ints
    """The last slot of each lane."""

    @classmethod
    def of(cls, first: Ints, sizes: Ints) -> Lanes:
        """Lanes that begin with these tokens and have these sizes, none of them 0 and none rising."""
        width = len(sizes) - np.searchsorted(sizes[::-1], np.arange(sizes[0]), side="right")
        offset = np.concatenate([[0], np.cumsum(width)])
        step = np.repeat(np.arange(sizes[0]), width)
        lane = np.arange(offset[-1]) - offset[step]
        return cls(first[lane] + step, offset.tolist(), offset[sizes - 1] + np.arange(len(sizes)))


def blocks(first: Ints, sizes: Ints, states: int) -> Iterator[tuple[Ints, Lanes]]:
    """Stretches of tokens, those of like size together: the rows of each block, and its lanes."""
    order = np.argsort(-sizes, kind="stable")[: np.count_nonzero(sizes)]
    at = 0
    while at < len(order):
        room = CELLS // (states * int(sizes[order[at]]))
        rows = order[at : at + max(1, min(LANES, room))]
        yield rows, Lanes.of(first[rows], sizes[rows])
        at += len(rows)


def best(values: Floats, axis: int) -> Floats:
    """The best of several ways."""
    top: Floats = np.maximum.reduce(values, axis=axis)
    return top


def log_sum(values: Floats, axis: int) -> Floats:
    """All of several ways together: the logarithm of the sum of what the values are logarithms of."""
    top = np.maximum.reduce(values, axis=axis, keepdims=True)
    total: Floats = np.log(np.add.reduce(np.exp(values - top), axis=axis))
    return total + top.squeeze(axis)


def best_advance(before: Floats, n: Floats, rows: Ints) -> Floats:
    """The best way from the states before to those after them, in each lane.

    `before` is ... x states x lanes, `n` labels x lanes, and `rows` names the label that leads from state to state.
    """
    return best(before[..., :, None, :] + n.take(rows, axis=0), -3)


def log_advance(before: Floats, n: Floats, rows: Ints) -> Floats:
    """All ways together, as `log_sum` over what `best_advance` takes the best of.

    Products are many times faster than exponentials; only what is too small for them is done the slow way.
    """
    top = np.maximum.reduce(before, axis=-2, keepdims=True)
    shares = np.einsum("...bl,bal->...al", np.exp(before - top), np.exp(n).take(rows, axis=0))
    tiny = np.nonzero(shares < TINY)
    shares[tiny] = 1
    total: Floats = np.log(shares) + top
    if tiny[0].size:
        *outer, after, lane = tiny
        ways = np.moveaxis(before, -2, -1)[(*outer, lane)] + n[rows.T[after], lane[:, None]]
        total[tiny] = log_sum(ways, 1)
    return total


def softmax(values: Floats) -> Floats:
    """Scores of rows as probabilities that sum to 1."""
    top = values.max(axis=-1, keepdims=True, initial=FORBIDDEN)
    shares = np.exp(values - top)
    share: Floats = shares / shares.sum(axis=-1, keepdims=True)
    return share


def comparable(scores: NDArray[Any]) -> Floats:
    """Scores as table x tokens, each token's best at 0 and nothing under `MISSING`.

    >>> comparable(np.array([[-1.0, -np.inf], [2.0, 5.0]])).tolist()
    [[0.0, -3.0], [-1000000000.0, 0.0]]
    """
    columns = np.array(scores.T, dtype=np.float64, order="C")
    top = np.maximum.reduce(columns, axis=0, initial=FORBIDDEN)
    columns -= top
    return np.maximum(columns, MISSING, out=columns)
