"""What there is to learn, and the batches it is learned in, which are made by subwords."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from torch import Tensor
from torch.utils.data import Dataset, Sampler

from nestag.batching import Window, batches
from nestag.data import Sentence
from nestag.inputs import Reader, Reading
from nestag.recipe import Recipe
from nestag.vocabulary import LabelIds


@dataclass(frozen=True)
class Lesson:
    """What there is to learn: sentences as subwords in windows, their labels, and what it is judged by."""

    reader: Reader
    reading: Reading
    labels: Sequence[LabelIds]
    dev: Sequence[Sentence]

    def tensors(self, batch: Sequence[Window]) -> dict[str, Tensor]:
        """The inputs of the tagger for some windows, with what is to be learned from them."""
        return self.reader.tensors(self.reading, batch, self.labels)


class Windows(Dataset[Window]):
    """The windows of a corpus, as torch wants them."""

    def __init__(self, windows: Sequence[Window]) -> None:
        self.windows = windows

    def __len__(self) -> int:
        return len(self.windows)

    def __getitem__(self, index: int) -> Window:
        return self.windows[index]


class ByBudget(Sampler[list[int]]):
    """Batches by subwords, in an order that seed and epoch decide."""

    def __init__(self, windows: Sequence[Window], recipe: Recipe, seed: int) -> None:
        self.windows, self.recipe, self.seed, self.epoch = windows, recipe, seed, 0

    def set_epoch(self, epoch: int) -> None:
        """Called before each epoch, and when a run is resumed."""
        self.epoch = epoch

    def _batches(self) -> list[list[int]]:
        rng = random.Random(f"{self.seed} {self.epoch}")  # noqa: S311 - an order, not a secret
        return batches(self.windows, self.recipe.budget, self.recipe.sentences, rng)

    def __iter__(self) -> Iterator[list[int]]:
        yield from self._batches()

    def __len__(self) -> int:
        return len(self._batches())
