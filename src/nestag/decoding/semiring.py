"""Three ways to weigh legal sequences with one algorithm (semirings, as in parsing).

    MAX_PLUS     the score of the best sequence: max and +
    SUM_PRODUCT  the probability of all sequences together: + and *
    LOG_SUM_EXP  the same as logarithms, slower, where products would underflow

Arrays have the lanes of a block as their last axis.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nestag.arrays import Bools, Floats
from nestag.decoding.scores import FORBIDDEN, MISSING, comparable

UNDERFLOW = 1e-260
"""A sentence whose legal sequences have less probability in all is weighed with logarithms.

Products of probabilities only shrink along a sequence, so whatever is lost below 1e-308 is nothing against this."""


@dataclass(frozen=True)
class Semiring:
    """How weights combine: `times` along a sequence, `plus` over sequences."""

    plus: np.ufunc
    sum: Callable[[Floats, int], Floats]  # `plus` along an axis
    times: np.ufunc
    zero: float  # the weight of what is not allowed
    one: float  # the weight of the empty sequence
    missing: float  # the weight of a label that the vocabulary lacks
    labels: Callable[[NDArray[Any]], Floats]  # scores (words x labels) as weights: labels x words
    share: Callable[[Floats, Floats], Floats]  # the weight of a part and of the whole as a probability

    def where(self, allowed: Bools) -> Floats:
        """The weight of what is allowed and of what is not."""
        return np.where(allowed, self.one, self.zero)

    def advance(self, before: Floats, steps: Floats) -> Floats:
        """The weight of all ways to each state from the states before.

        `before` is ... x states x lanes, `steps` states before x states x lanes.
        """
        if self.times is np.multiply:  # a sum of products: einsum needs no array of all of them
            products: Floats = np.einsum("...bl,bal->...al", before, steps)
            return products
        return self.sum(self.times(before[..., :, None, :], steps), -3)


def _probabilities(scores: NDArray[Any]) -> Floats:
    weights = comparable(scores)
    np.exp(weights, out=weights)
    weights /= np.maximum(np.add.reduce(weights, axis=0), UNDERFLOW)  # 0 if every score is minus infinity
    return weights


def _log_sum(values: Floats, axis: int) -> Floats:
    top = np.maximum.reduce(values, axis=axis, keepdims=True)
    total: Floats = np.log(np.add.reduce(np.exp(values - top), axis=axis))
    return total + top.squeeze(axis)


def _share(part: Floats, whole: Floats) -> Floats:
    share: Floats = np.minimum(part / np.maximum(whole, UNDERFLOW), 1)
    return share


def _share_of_logs(part: Floats, whole: Floats) -> Floats:
    share: Floats = np.exp(np.minimum(part - whole, 0))
    return share


MAX_PLUS = Semiring(np.maximum, np.maximum.reduce, np.add, FORBIDDEN, 0.0, MISSING, comparable, _share_of_logs)
SUM_PRODUCT = Semiring(np.add, np.add.reduce, np.multiply, 0.0, 1.0, 0.0, _probabilities, _share)
LOG_SUM_EXP = Semiring(np.logaddexp, _log_sum, np.add, FORBIDDEN, 0.0, MISSING, comparable, _share_of_logs)
