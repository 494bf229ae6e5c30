"""Scores of a batch -> entities: the labels that each head likes best, or the best labels that make sense together.

`greedy` is the paper: the best label of each head at each word, then the repair rules of batch.py. `legal` searches
the best among the labels that an encoding could have written: legal.py for depths, legal_tetra.py and spines.py for
`4tg`. How probable each entity is, confidence.py says.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nestag.decoding.batch import Numbers, decode_numbers
from nestag.decoding.confidence import confidences
from nestag.decoding.entities import EntityTable, table_of
from nestag.decoding.legal import legal_nodes
from nestag.decoding.scores import Scores, Search
from nestag.decoding.spines import legal_tetra_nodes
from nestag.decoding.tables import Ints, tables_of
from nestag.encodings import encoding
from nestag.encodings.base import Naming
from nestag.encodings.depth import DepthEncoding
from nestag.encodings.tetra import TetraTagging
from nestag.errors import UnknownNameError
from nestag.vocabulary import Vocabulary

Decoding = Literal["legal", "greedy"]
"""The best labels that make sense together, or the paper's best label of each head."""

DEFAULT = Search()


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
    """The entities that a batch of scores speaks for, as three heads emit them: sentences x tokens x table.

    `naming` is for greedy decoding alone; a legal node has the name with the highest sum over its gaps.

    >>> from nestag.data import Entity, Sentence
    >>> sentence = Sentence(["the", "USA", "slept"], [Entity(0, 2, "GPE")])
    >>> vocabulary = Vocabulary.learn([sentence], "rel")
    >>> n, c, u = (np.eye(len(table))[[ids]] for table, ids in zip(
    ...     (vocabulary.n, vocabulary.c, vocabulary.u), vocabulary.ids(vocabulary.encode(sentence))))
    >>> decode_scores(vocabulary, n, c, u, [3]).to_lists()
    [(Entity(start=0, end=2, type='GPE'),)]
    """
    scores = Scores.of(vocabulary, n, c, u, lengths)
    if decoding == "greedy":
        table = _greedy(vocabulary, scores, naming)
    elif decoding == "legal":
        table = _legal(vocabulary, scores, search)
    else:
        raise UnknownNameError(f"no decoding is called {decoding!r}; there are legal and greedy")
    return table._replace(confidence=confidences(vocabulary, scores, table, search)) if confidence else table


def _greedy(vocabulary: Vocabulary, scores: Scores, naming: Naming) -> EntityTable:
    numbers = Numbers(_best_label(scores.n), _best_label(scores.c), _best_label(scores.u))
    return decode_numbers(vocabulary, numbers, scores.sizes, naming)


def _legal(vocabulary: Vocabulary, scores: Scores, search: Search) -> EntityTable:
    chosen = encoding(vocabulary.encoding)
    if isinstance(chosen, DepthEncoding):
        nodes = legal_nodes(scores, vocabulary, search)
    elif isinstance(chosen, TetraTagging):
        nodes = legal_tetra_nodes(scores, vocabulary, search)
    else:
        raise UnknownNameError(f"encoding {chosen.name!r} has no legal decoding; ask for decoding='greedy'")
    return table_of(tables_of(vocabulary), nodes, _best_label(scores.u), scores.sizes)


def _best_label(scores: NDArray[Any]) -> Ints:
    """The best label of each token, the first of equals."""
    return scores.argmax(axis=1) if scores.size else np.zeros(0, dtype=np.int64)
