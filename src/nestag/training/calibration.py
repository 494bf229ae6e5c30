"""Calibration: a temperature that makes confidences match accuracy, learned from held-out sentences.

Networks are overconfident. Dividing their scores by one number, the temperature, before entities are rated changes no
entity and corrects most of that. The temperature minimizes negative log-likelihood on dev.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nestag.corpora.document import document_of
from nestag.data import Sentence
from nestag.decoding import EntityTable, Scores, Search, confidences, decode_scores
from nestag.recognizer import NestedNER

TEMPERATURES = (0.75, 1.0, 1.25, 1.5, 1.75, 2.0, 2.25, 2.5, 3.0, 3.5, 4.0)
MOST = 2_000
"""Sentences that are looked at; more would tell little more."""

AT_ONCE = 250
"""Sentences whose scores are held together."""

SUREST = 1 - 1e-6
"""No entity counts as surer, for one mistake would outweigh everything."""


class _HeldOut(NamedTuple):
    """Held-out sentences as scores, the predicted entities, and which of them are correct."""

    scores: Scores
    table: EntityTable
    right: NDArray[np.bool_]


def temperature_for(recognizer: NestedNER, sentences: Sequence[Sentence]) -> float:
    """The temperature that suits sentences with their true entities; 1 if nothing is found in them."""
    seen = list(_seen(recognizer, evenly_sampled(sentences)))
    if not any(len(one.right) for one in seen):
        return 1.0
    return min(
        TEMPERATURES,
        key=lambda temperature: sum(_negative_log_likelihood(recognizer, one, temperature) for one in seen),
    )


def evenly_sampled(sentences: Sequence[Sentence]) -> Sequence[Sentence]:
    """A sample of the sentences at even intervals."""
    return sentences[:: max(1, -(-len(sentences) // MOST))]


def _seen(recognizer: NestedNER, sentences: Sequence[Sentence]) -> Iterator[_HeldOut]:
    for first in range(0, len(sentences), AT_ONCE):
        chunk = sentences[first : first + AT_ONCE]
        n, c, u, lengths, *_ = recognizer.scores([one.tokens for one in chunk], [document_of(one) for one in chunk])
        settings = recognizer.settings
        table = decode_scores(recognizer.vocabulary, n, c, u, lengths, settings.decoding, settings.naming)
        pairs = zip(chunk, table.to_lists(), strict=True)
        right = [entity in set(one.entities) for one, found in pairs for entity in found]
        yield _HeldOut(Scores.of(recognizer.vocabulary, n, c, u, lengths), table, np.array(right, dtype=bool))


def _negative_log_likelihood(recognizer: NestedNER, seen: _HeldOut, temperature: float) -> float:
    """The negative log-likelihood of what is right and wrong, by the confidences at a temperature."""
    rated = confidences(recognizer.vocabulary, seen.scores, seen.table, Search(temperature=temperature))
    sure = np.clip(rated, 1 - SUREST, SUREST)
    return -float(np.log(np.where(seen.right, sure, 1 - sure)).sum())
