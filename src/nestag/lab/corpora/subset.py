"""Random subsets of a corpus for learning curves: the smaller ones are part of the larger ones."""

from __future__ import annotations

import random
from collections.abc import Sequence

from nestag.data import Sentence


def subset(sentences: Sequence[Sentence], size: int, seed: int = 0) -> list[Sentence]:
    """The first `size` of a random order that depends on the seed alone, in corpus order; 0 takes all.

    >>> corpus = [Sentence([word]) for word in "abcdef"]
    >>> [sentence.tokens[0] for sentence in subset(corpus, 3)], len(subset(corpus, 0))
    (['b', 'c', 'e'], 6)
    """
    order = list(range(len(sentences)))
    random.Random(seed).shuffle(order)  # noqa: S311 - not for secrets
    return [sentences[number] for number in sorted(order[: size or None])]
