"""Scores to decode: random ones, and confident ones for given labels."""

from __future__ import annotations

import numpy as np

from nestag.data.sentence import Entity, Sentence
from nestag.encodings.vocabulary import Vocabulary


def random_scores(vocabulary: Vocabulary, lengths: list[int], seed: int, impossible: float = 0.0) -> list[np.ndarray]:
    """Scores of the three heads, words x labels, minus infinity here and there if asked."""
    rng = np.random.default_rng(seed)
    heads = []
    for table in (vocabulary.n, vocabulary.c, vocabulary.u):
        scores = rng.normal(0, 3, (sum(lengths), len(table)))
        scores[rng.random(scores.shape) < impossible] = -np.inf
        heads.append(scores)
    return heads


def by_sentence(batch: list[np.ndarray], lengths: list[int]) -> list[list[np.ndarray]]:
    """The heads of each sentence."""
    ends = np.cumsum(lengths)
    return [[head[end - length : end] for head in batch] for end, length in zip(ends, lengths, strict=True)]


def gold_scores(vocabulary: Vocabulary, corpus: list[Sentence], seed: int) -> tuple[list[np.ndarray], list[int]]:
    """Scores in which every gold label stands out from noise, and the lengths."""
    lengths = [len(sentence) for sentence in corpus]
    heads = random_scores(vocabulary, lengths, seed)
    for sentence, parts in zip(corpus, by_sentence(heads, lengths), strict=True):
        for scores, ids in zip(parts, vocabulary.ids(vocabulary.encode(sentence)), strict=True):
            scores[np.arange(len(ids)), ids] += 1_000
    return heads, lengths


def learned(corpus: list[Sentence], encoding: str) -> Vocabulary:
    """A vocabulary of the corpus, and of a sentence without entities so that no table is empty."""
    return Vocabulary.learn([*corpus, Sentence(["x"])], encoding)


RICH = [
    Sentence(["w"] * 5, [Entity(0, 5, "A"), Entity(1, 3, "A"), Entity(1, 3, "B"), Entity(4, 5, "B")]),
    Sentence(["w"] * 5, [Entity(0, 5, "B"), Entity(0, 3, "B"), Entity(0, 2, "A"), Entity(3, 5, "A")]),
    Sentence(["w"] * 4, [Entity(0, 3, "A"), Entity(0, 2, "B"), Entity(0, 1, "A"), Entity(0, 1, "B")]),
    Sentence(["w"] * 5, [Entity(1, 5, "B"), Entity(2, 5, "A")]),
    Sentence(["w"] * 3, [Entity(0, 3, "A"), Entity(0, 3, "B")]),
    Sentence(["w"] * 5, [Entity(0, 4, "A"), Entity(1, 4, "B"), Entity(2, 4, "A")]),
]
"""Sentences whose vocabulary has names of every kind: chains, and roots of three depths."""
