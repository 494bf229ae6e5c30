"""Verification: what a head's verdict on a span is worth, and from which probability on entities stay.

Both are found on held-out sentences. A logistic model of the head's logit and of the decodings that proposed an entity
says how probable it is, so its probabilities are calibrated; the threshold is the one with the best F1.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from nestag.arrays import Bools, Floats, Floats32
from nestag.corpora.document import document_of
from nestag.data import Sentence
from nestag.decoding import EntityTable, Scores, Search, Verification, judged, propose_entities, verify_entities
from nestag.decoding.verification import BIASES, Proposals
from nestag.recognizer import NestedNER
from nestag.training.calibration import AT_ONCE, every_so_often

BEFORE = Verification(0.5, bias=-1.0, logit=1.0, biases=BIASES, found=(1.0,) + (0.0,) * (len(BIASES) - 1))
"""What is believed before anything was seen."""

BELIEF = 1.0
"""How strongly, against what a held-out corpus says."""

THRESHOLDS = np.arange(0.05, 0.95, 0.01).round(2).tolist()
ROUNDS = 30
"""Steps of Newton's method, which needs about eight."""


class JudgedProposals(NamedTuple):
    """Proposals of some sentences, what the head says of them, and which are right."""

    proposals: Proposals
    logits: Floats32  # spans x types
    right: Bools  # spans x types


def verification_for(recognizer: NestedNER, sentences: Sequence[Sentence]) -> Verification:
    """How spans are to be verified, by sentences with their true entities."""
    seen = list(judged_proposals(recognizer, every_so_often(sentences)))
    if not any(one.right.size for one in seen):
        return BEFORE
    logits = np.concatenate([one.logits.ravel() for one in seen]).astype(np.float64)
    found = np.concatenate([one.proposals.found.reshape(len(BIASES), -1) for one in seen], axis=1)
    features = np.concatenate([np.ones((1, len(logits))), logits[None], found]).T
    right = np.concatenate([one.right.ravel() for one in seen])
    bias, logit, *votes = _logistic(features, right, np.array([BEFORE.bias, BEFORE.logit, *BEFORE.found])).tolist()
    fitted = replace(BEFORE, bias=bias, logit=logit, found=tuple(votes))
    gold = sum(len(set(one.entities)) for one in every_so_often(sentences))
    return max((replace(fitted, threshold=threshold) for threshold in THRESHOLDS), key=lambda by: _f1(seen, gold, by))


def judged_proposals(recognizer: NestedNER, sentences: Sequence[Sentence]) -> Iterator[JudgedProposals]:
    """What is proposed in sentences with their true entities, some sentences at a time."""
    settings = replace(recognizer.settings, verifier=True, verification=BEFORE, decoding="legal")
    judging = NestedNER(recognizer.model, recognizer.tokenizer, recognizer.vocabulary, settings)
    for first in range(0, len(sentences), AT_ONCE):
        chunk = sentences[first : first + AT_ONCE]
        scores = judging.scores([one.tokens for one in chunk], [document_of(one) for one in chunk])
        checked = Scores.of(judging.vocabulary, scores.n, scores.c, scores.u, scores.lengths)
        proposals = propose_entities(judging.vocabulary, checked, Search(), BIASES)
        assert scores.judge is not None
        yield JudgedProposals(proposals, judged(proposals, scores.judge), _right(proposals, chunk))


def _right(proposals: Proposals, sentences: Sequence[Sentence]) -> Bools:
    """Which of the proposed entities are true: spans x types."""
    kinds = {kind: number for number, kind in enumerate(proposals.types)}
    spans = {span: row for row, span in enumerate(zip(proposals.start.tolist(), proposals.end.tolist(), strict=True))}
    right = np.zeros(proposals.found.shape[1:], dtype=bool)
    begins = np.cumsum(proposals.lengths) - proposals.lengths
    for begin, sentence in zip(begins.tolist(), sentences, strict=True):
        for start, end, kind in sentence.entities:
            row = spans.get((begin + start, begin + end))
            if row is not None and kind in kinds:
                right[row, kinds[kind]] = True
    return right


def _logistic(features: Floats, right: Bools, before: Floats) -> Floats:
    """The weights of a logistic model: the most likely ones, drawn to those that were believed before."""
    weights = before.copy()
    for _ in range(ROUNDS):
        probability = 1 / (1 + np.exp(-np.clip(features @ weights, -30, 30)))
        gradient = features.T @ (probability - right) + BELIEF * (weights - before)
        curvature = (features.T * (probability * (1 - probability))) @ features + BELIEF * np.eye(len(weights))
        step = np.linalg.solve(curvature, gradient)
        weights -= step
        if np.abs(step).max() < 1e-6:
            break
    return weights


def _f1(seen: Sequence[JudgedProposals], gold: int, by: Verification) -> float:
    found = [(one, verify_entities(one.proposals, one.logits, by)) for one in seen]
    right = sum(_count_right(one, table) for one, table in found)
    return 2 * right / max(1, gold + sum(len(table.start) for _, table in found))


def _count_right(one: JudgedProposals, table: EntityTable) -> int:
    proposals = one.proposals
    first = (np.cumsum(proposals.lengths) - proposals.lengths)[table.sentence]
    longest = int(proposals.lengths.max(initial=0)) + 1
    spans = proposals.start * longest + proposals.end - proposals.start  # rising
    row = np.searchsorted(spans, (table.start + first) * longest + table.end - table.start)
    return int(one.right[row, table.type].sum())
