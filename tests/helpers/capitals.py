"""A recognizer without training: every capitalized word is an entity, and so is every run of them.

Words in capitals alone do something else: POISON fails, and SLOW waits.
"""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import groupby
from typing import Any

import numpy as np

from nestag.decoding import EntityTable
from nestag.encodings.vocabulary import Vocabulary
from nestag.model.engine import Item, Scorer, TaggedChunk
from nestag.model.predictor import Predictor
from nestag.model.settings import Settings


class Capitals(Predictor):
    """What is served in the tests."""

    def __init__(self) -> None:
        self.vocabulary = Vocabulary("rel", (), (), (), ("RUN", "WORD"))
        self.settings = Settings()
        self.wait: Callable[[], object] = partial(time.sleep, 0.01)
        self.batches: list[int] = []

    def scorer(self) -> Scorer:
        raise NotImplementedError

    def engine(self, chunk_size: int = 0) -> Any:
        return self

    def run(self, items: Iterable[Item], confidence: bool = False) -> Iterator[TaggedChunk]:
        given = list(items)
        self.batches.append(len(given))
        words = {token for item in given for token in item.tokens}
        if "POISON" in words:
            raise ValueError(f"cannot be tagged: {sorted(words)}")
        if "SLOW" in words:
            self.wait()
        rows = [(number, *entity) for number, item in enumerate(given) for entity in capitals(item.tokens)]
        sentence, start, end, kind, sure = np.array(rows).reshape(-1, 5).T
        places = (column.astype(int) for column in (sentence, start, end, kind))
        yield TaggedChunk(given, EntityTable(*places, ("RUN", "WORD"), len(given), sure))


def capitals(tokens: Sequence[str]) -> Iterator[tuple[int, int, int, float]]:
    """Runs of two words or more, then the words in them; a word is the surer the longer it is."""
    for capital, run in groupby(range(len(tokens)), key=lambda i: tokens[i][:1].isupper()):
        places = list(run)
        if capital:
            if len(places) > 1:
                yield places[0], places[-1] + 1, 0, 0.95
            for i in places:
                yield i, i + 1, 1, min(1.0, len(tokens[i]) / 10)
