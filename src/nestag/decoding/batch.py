"""Label ids or scores of a batch -> entities.

`greedy` is the paper: the best label of each head at each word, then the repair rules. `legal` is the best sequence of
depths (4tg: marks) over all legal ones, every gap with the best name for it, and then the best name for each node; with
`Search.joint`, it is the best of the label sequences that the encoding can write. Both are the work of the encoding's
decoder.
"""

from __future__ import annotations

from typing import Literal
from warnings import warn

import numpy as np
from numpy.typing import ArrayLike

from nestag.arrays import Floats
from nestag.decoding.decoder import decoder_of
from nestag.decoding.entities import EntityTable, join_entities
from nestag.decoding.scores import LabelBatch, Scores, Search
from nestag.encodings.base import Naming
from nestag.errors import LabelError, UnknownNameError
from nestag.vocabulary import Vocabulary

Decoding = Literal["legal", "greedy"]
"""The best labels that make sense together, or the paper's best label of each head."""

DEFAULT = Search()


def decode_batch(
    vocabulary: Vocabulary, n: ArrayLike, c: ArrayLike, u: ArrayLike, lengths: ArrayLike, naming: Naming = "first"
) -> EntityTable:
    """The entities that label ids describe: one id a word for each head, the sentences one after the other.

    >>> from nestag.data import Entity, Sentence
    >>> sentence = Sentence(["Lincoln", "slept"], [Entity(0, 1, "PER")])
    >>> vocabulary = Vocabulary.learn([sentence], "dyn")
    >>> decode_batch(vocabulary, *vocabulary.ids(vocabulary.encode(sentence)), [2]).to_lists()
    [(Entity(start=0, end=1, type='PER'),)]
    """
    return decoder_of(vocabulary).repair(LabelBatch.of(vocabulary, n, c, u, lengths), naming)


def decode_scores(
    vocabulary: Vocabulary,
    n: ArrayLike,
    c: ArrayLike,
    u: ArrayLike,
    lengths: ArrayLike,
    decoding: Decoding = "legal",
    naming: Naming = "first",
    confidence: bool = False,
    search: Search = DEFAULT,
) -> EntityTable:
    """The entities that scores speak for: words x labels for each head, the sentences one after the other.

    `naming` is for greedy decoding alone; a legal node has the name with the highest sum over its gaps. An encoding
    without a search is decoded greedily, with a warning.

    >>> from nestag.data import Entity, Sentence
    >>> sentence = Sentence(["the", "USA", "slept"], [Entity(0, 2, "GPE")])
    >>> vocabulary = Vocabulary.learn([sentence], "rel")
    >>> n, c, u = (np.eye(len(table))[ids] for table, ids in zip(
    ...     (vocabulary.n, vocabulary.c, vocabulary.u), vocabulary.ids(vocabulary.encode(sentence))))
    >>> decode_scores(vocabulary, n, c, u, [3]).to_lists()
    [(Entity(start=0, end=2, type='GPE'),)]
    """
    if decoding not in ("legal", "greedy"):
        raise UnknownNameError(f"no decoding is called {decoding!r}; there are legal and greedy")
    pieces = Scores.of(vocabulary, n, c, u, lengths).pieces()
    return join_entities([_decoded(vocabulary, piece, decoding, naming, confidence, search) for piece in pieces])


def _decoded(
    vocabulary: Vocabulary, scores: Scores, decoding: Decoding, naming: Naming, confidence: bool, search: Search
) -> EntityTable:
    table = _legal(vocabulary, scores, search) if decoding == "legal" else None
    if table is None:
        table = decoder_of(vocabulary).repair(scores.chosen(), naming)
    return table._replace(confidence=confidences(vocabulary, scores, table, search)) if confidence else table


def candidate_entities(
    vocabulary: Vocabulary,
    n: ArrayLike,
    c: ArrayLike,
    u: ArrayLike,
    lengths: ArrayLike,
    *,
    floor: float = 0.01,
    search: Search = DEFAULT,
) -> EntityTable:
    """Every entity that is at least as probable as the floor, whether the best labels have it or not.

    Takes scores as `decode_scores` does. Entities below one half may cross each other, since they need not come from
    one tree. `search.temperature` divides the scores first.

    >>> from nestag.data import Entity, Sentence
    >>> vocabulary = Vocabulary.learn([Sentence(["the", "USA", "slept"], [Entity(0, 2, "GPE")])], "abs")
    >>> n = np.log([[0.4, 0.6], [0.9, 0.1], [0.9, 0.1]])
    >>> c = np.log([[0.4, 0.6], [0.9, 0.1], [0.9, 0.1]])
    >>> table = candidate_entities(vocabulary, n, c, np.zeros((3, 1)), [3])
    >>> table.to_lists(), table.confidence.round(2).tolist()
    ([(Entity(start=0, end=2, type='GPE'),)], [0.69])
    """
    if not 0 <= floor <= 1:
        raise LabelError(f"floor is {floor}; give a probability from 0 to 1")
    pieces = Scores.of(vocabulary, n, c, u, lengths).pieces()
    decoder = decoder_of(vocabulary)
    return join_entities([decoder.candidates(piece.divided(search.temperature), search, floor) for piece in pieces])


def _legal(vocabulary: Vocabulary, scores: Scores, search: Search) -> EntityTable | None:
    """The entities of the best legal labels; None if the encoding has no search."""
    table = decoder_of(vocabulary).search(scores, search)
    if table is None:  # Python shows a warning of one text and place once
        warn(f"encoding {vocabulary.encoding!r} has no search for the best legal labels; decoding is greedy")  # noqa: B028
    return table


def confidences(vocabulary: Vocabulary, scores: Scores, table: EntityTable, search: Search) -> Floats:
    """How probable each entity of a table is, from 0 to 1, given the scores it was decoded from.

    This looks at the table and the scores alone, so greedy and legal entities are rated alike. The scores are divided
    by the temperature first, which leaves the best labels the best.
    """
    rated = decoder_of(vocabulary).probabilities(scores.divided(search.temperature), table, search)
    return np.clip(rated, 0, 1)
