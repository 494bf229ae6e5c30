"""Padding: where the tokens of a batch stand in arrays of sentences x tokens, and how to take them out."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nestag.decoding.tables import Ints
from nestag.errors import LabelError


class Padding(NamedTuple):
    """Where the tokens stand in arrays of this shape; taken out, the sentences stand one after the other."""

    shape: tuple[int, int]
    cells: Ints

    @classmethod
    def of(cls, columns: int, sizes: Ints) -> Padding:
        """The padding of sentences of these sizes, or a LabelError naming the sizes that do not fit."""
        if sizes.size and not 0 <= sizes.min() <= sizes.max() <= columns:
            raise LabelError(f"lengths go from {sizes.min()} to {sizes.max()}; the arrays have {columns} columns")
        return cls((len(sizes), columns), np.flatnonzero(np.arange(columns) < sizes[:, None]))

    def numbers(self, ids: ArrayLike, table: int, head: str) -> Ints:
        """Label numbers without their padding, or a LabelError naming the first bad one."""
        padded = np.asarray(ids)
        if padded.shape != self.shape or (padded.dtype.kind not in "iu" and padded.size):
            raise LabelError(f"{head} holds {padded.dtype} shaped {padded.shape}; give integers shaped {self.shape}")
        flat: Ints = padded.ravel()[self.cells].astype(np.int64, copy=False)
        if flat.size and not 0 <= flat.min() <= flat.max() < table:
            bad = np.flatnonzero((flat < 0) | (flat >= table))[0]
            raise LabelError(
                f"{self._place(bad, 'label')}: {head} is number {flat[bad]}; the vocabulary has 0 to {table - 1}"
            )
        return flat

    def scores(self, scores: ArrayLike, table: int, head: str) -> NDArray[Any]:
        """Scores without their padding, tokens x table, or a LabelError naming the first bad one."""
        padded = np.asarray(scores)
        shape = (*self.shape, table)
        if padded.shape != shape or padded.dtype.kind not in "fiu":
            raise LabelError(f"{head} holds {padded.dtype} shaped {padded.shape}; give scores shaped {shape}")
        if self.cells.size and not table:
            raise LabelError(f"{head} has no labels to choose from; learn the vocabulary from sentences")
        flat = padded.reshape(-1, table).take(self.cells, axis=0)
        if flat.dtype not in (np.float32, np.float64):
            flat = flat.astype(np.float64)
        if not (flat < np.inf).all():
            bad, label = np.argwhere(~(flat < np.inf))[0]
            raise LabelError(
                f"{self._place(bad, 'token')}: {head} scores label {label} with {flat[bad, label]};"
                " a score is a number or minus infinity"
            )
        return flat

    def _place(self, cell: int, what: str) -> str:
        row, column = divmod(int(self.cells[cell]), self.shape[1])
        return f"sentence {row}, {what} {column}"
