"""Calibration: what is fitted on held-out sentences after training.

- The temperature. Networks are overconfident. Dividing their scores by one number before confidences are computed
  changes no entity and corrects most of that. The temperature minimizes the negative log-likelihood on dev.
- The verifier. A logistic model of the span head's logit and of the decodings that proposed an entity gives its
  probability; entities are kept from the threshold around which F1 is best.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nestag.data.arrays import Bools, Floats, Floats32
from nestag.data.document import document_of
from nestag.data.sentence import Sentence
from nestag.decoding import (
    EntityTable,
    Scores,
    Search,
    Verification,
    confidences,
    decode_scores,
    judged,
    propose_entities,
    verify_entities,
)
from nestag.decoding.verification import BIASES, Proposals
from nestag.model.recognizer import NestedNER

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
        table = decode_scores(recognizer.vocabulary, n, c, u, lengths, settings.decoding, settings.node_label_strategy)
        pairs = zip(chunk, table.to_lists(), strict=True)
        right = [entity in set(one.entities) for one, found in pairs for entity in found]
        yield _HeldOut(Scores.of(recognizer.vocabulary, n, c, u, lengths), table, np.array(right, dtype=bool))


def _negative_log_likelihood(recognizer: NestedNER, seen: _HeldOut, temperature: float) -> float:
    """The negative log-likelihood of what is right and wrong, by the confidences at a temperature."""
    rated = confidences(recognizer.vocabulary, seen.scores, seen.table, Search(temperature=temperature))
    sure = np.clip(rated, 1 - SUREST, SUREST)
    return -float(np.log(np.where(seen.right, sure, 1 - sure)).sum())


BELIEF = 1.0
"""How strongly what was believed before counts against what a held-out corpus says."""

THRESHOLDS = np.arange(0.1, 0.72, 0.02).round(2).tolist()
NEARBY = 4
"""Thresholds on each side whose F1 counts too: where dev is small, the best one alone is a matter of luck."""

ROUNDS, ENOUGH = 100, 1e-6
"""Steps of Newton's method at most, which needs about ten, and the change of a weight that no longer matters."""


class JudgedProposals(NamedTuple):
    """Proposals of some sentences, what the head says of them, and which are right."""

    proposals: Proposals
    logits: Floats32  # spans x types
    right: Bools  # spans x types


def believed(biases: tuple[float, ...] = BIASES) -> Verification:
    """How spans would be verified before anything was seen."""
    return Verification(0.5, bias=-1.0, logit=1.0, biases=biases, found=(1.0,) + (0.0,) * (len(biases) - 1))


def verification_for(
    recognizer: NestedNER, sentences: Sequence[Sentence], biases: tuple[float, ...] = BIASES
) -> Verification:
    """How spans are to be verified, by sentences with their true entities."""
    before = believed(biases)
    seen = list(judged_proposals(recognizer, evenly_sampled(sentences), biases))
    if not any(one.right.size for one in seen):
        return before
    logits = np.concatenate([one.logits.ravel() for one in seen]).astype(np.float64)
    found = np.concatenate([one.proposals.found.reshape(len(biases), -1) for one in seen], axis=1)
    features = np.concatenate([np.ones((1, len(logits))), logits[None], found]).T
    right = np.concatenate([one.right.ravel() for one in seen])
    bias, logit, *votes = _logistic(features, right, np.array([before.bias, before.logit, *before.found])).tolist()
    fitted = replace(before, bias=bias, logit=logit, found=tuple(votes))
    gold = sum(len(set(one.entities)) for one in evenly_sampled(sentences))
    f1 = [_f1(seen, gold, replace(fitted, threshold=threshold)) for threshold in THRESHOLDS]
    return replace(fitted, threshold=THRESHOLDS[int(np.argmax(smoothed(f1)))])


def smoothed(values: Sequence[float]) -> Floats:
    """The mean of each value and those nearby; beyond the ends they count as the last ones do.

    >>> smoothed([0.0, 9.0, 0.0, 0.0, 0.0, 0.0]).round(2).tolist()
    [1.0, 1.0, 1.0, 1.0, 1.0, 1.0]
    """
    width = 2 * NEARBY + 1
    found: Floats = np.convolve(np.pad(values, NEARBY, mode="edge"), np.full(width, 1 / width), "valid")
    return found


def judged_proposals(
    recognizer: NestedNER, sentences: Sequence[Sentence], biases: tuple[float, ...] = BIASES
) -> Iterator[JudgedProposals]:
    """What is proposed in sentences with their true entities, some sentences at a time."""
    settings = replace(recognizer.settings, verifier=True, verification=believed(biases), decoding="constrained")
    judging = NestedNER(recognizer.model, recognizer.tokenizer, recognizer.vocabulary, settings)
    for first in range(0, len(sentences), AT_ONCE):
        chunk = sentences[first : first + AT_ONCE]
        scores = judging.scores([one.tokens for one in chunk], [document_of(one) for one in chunk])
        checked = Scores.of(judging.vocabulary, scores.n, scores.c, scores.u, scores.lengths)
        proposals = propose_entities(judging.vocabulary, checked, Search(), biases)
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
    """The weights of a logistic model: the most likely ones, drawn to those that were believed before.

    Newton's method with a step that is halved until it helps, for a whole one may lead far away.
    """

    def loss(weights: Floats) -> float:
        value = features @ weights
        likelihood = np.where(right, value, 0.0) - np.logaddexp(0.0, value)
        return float(BELIEF / 2 * ((weights - before) ** 2).sum() - likelihood.sum())

    weights, lowest = before, loss(before)
    for _ in range(ROUNDS):
        probability = 1 / (1 + np.exp(-np.clip(features @ weights, -500, 500)))
        gradient = features.T @ (probability - right) + BELIEF * (weights - before)
        curvature = (features.T * (probability * (1 - probability))) @ features + BELIEF * np.eye(len(weights))
        step = np.linalg.solve(curvature, gradient)
        while loss(weights - step) > lowest and np.abs(step).max() > ENOUGH:
            step = step / 2
        if np.abs(step).max() <= ENOUGH:
            break
        weights = weights - step
        lowest = loss(weights)
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
