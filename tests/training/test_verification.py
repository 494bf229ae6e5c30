"""What a verifier learns from held-out sentences is what the definitions say."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from nestag.data.sentence import Entity, Sentence
from nestag.encodings.vocabulary import Vocabulary
from nestag.evaluation import score
from nestag.model.recognizer import NestedNER
from nestag.training import calibration as verification
from nestag.training.calibration import NEARBY, THRESHOLDS, believed, judged_proposals, verification_for
from nestag.training.dataset import GoldSpans
from nestag.training.run import train
from two_sentences import CORPUS, MANY, quick


@pytest.fixture(scope="module")
def recognizer(tiny_encoder: Callable[[str], str], tmp_path_factory: pytest.TempPathFactory) -> NestedNER:
    folder: Path = tmp_path_factory.mktemp("judging") / "model"
    recipe = quick(tiny_encoder("bert"), span_loss=1.0, epochs=6)
    return train(MANY, CORPUS, folder, recipe, use_cpu=True).recognizer


def held_out(ner: NestedNER) -> list[Sentence]:
    """Sentences in which about half of what is found is right, and something else too."""
    rng = np.random.default_rng(3)
    words = sorted({word for sentence in CORPUS for word in sentence.tokens})
    tokens = [list(rng.choice(words, size)) for size in rng.integers(1, 15, 60)]
    found = ner.predict(tokens)
    kept = [[one for one in entities if rng.random() < 0.5] for entities in found]
    return [Sentence(one, {*some, Entity(0, 1, "GPE")}) for one, some in zip(tokens, kept, strict=True)]


def test_the_threshold_is_where_f1_is_best_all_around(recognizer: NestedNER) -> None:
    dev = held_out(recognizer)
    by = verification_for(recognizer, dev)
    gold = [sentence.entities for sentence in dev]

    def f1(threshold: float) -> float:
        settings = replace(recognizer.settings, verifier=True, verification=replace(by, threshold=threshold))
        ner = NestedNER(recognizer.model, recognizer.tokenizer, recognizer.vocabulary, settings)
        return score(gold, ner.predict(dev)).f1

    values = [f1(threshold) for threshold in THRESHOLDS]
    assert len(set(values)) > 1
    padded = [values[0]] * NEARBY + values + [values[-1]] * NEARBY
    around = [sum(padded[place : place + 2 * NEARBY + 1]) for place in range(len(values))]
    assert around[THRESHOLDS.index(by.threshold)] == pytest.approx(max(around))


def test_the_weights_are_the_most_likely_ones(recognizer: NestedNER) -> None:
    dev = held_out(recognizer)
    by = verification_for(recognizer, dev)
    seen = list(judged_proposals(recognizer, dev))
    before = np.array([believed().bias, believed().logit, *believed().found])

    def loss(weights: np.ndarray) -> float:
        rated = replace(by, bias=weights[0], logit=weights[1], found=tuple(weights[2:]))
        total = 0.0
        for one in seen:
            probability = rated.probabilities(one.logits, one.proposals.found)
            total -= np.log(np.where(one.right, probability, 1 - probability)).sum()
        return total + verification.BELIEF / 2 * ((weights - before) ** 2).sum()

    weights = np.array([by.bias, by.logit, *by.found])
    for move in np.eye(len(weights)):
        assert loss(weights) <= min(loss(weights + 0.01 * move), loss(weights - 0.01 * move))


def test_right_is_what_the_sentences_have(recognizer: NestedNER) -> None:
    dev = held_out(recognizer)
    (one,) = judged_proposals(recognizer, dev)
    first = np.cumsum(one.proposals.lengths) - one.proposals.lengths
    wanted = {
        (int(a) + start, int(a) + end, kind) for a, s in zip(first, dev, strict=True) for start, end, kind in s.entities
    }
    for span, (start, end) in enumerate(zip(one.proposals.start.tolist(), one.proposals.end.tolist(), strict=True)):
        for number, kind in enumerate(one.proposals.types):
            assert one.right[span, number] == ((start, end, kind) in wanted)
    assert 0 < one.right.sum() < len(wanted)  # a type may be true where it was not proposed


def test_where_nothing_is_proposed_nothing_is_learned(recognizer: NestedNER) -> None:
    assert verification_for(recognizer, [Sentence([])]) == believed()


def test_the_head_knows_the_types_of_the_vocabulary_in_its_order() -> None:
    sentences = [Sentence(["a", "b"], [Entity(0, 2, "Z"), Entity(0, 1, "A")]), Sentence(["c"], [Entity(0, 1, "M")])]
    gold = GoldSpans.of(sentences)
    for encoding in ("abs", "rel", "dyn", "4tg"):
        types = Vocabulary.learn(sentences, encoding).types
        assert gold.types == len(types)
        assert [types[kind] for kind in gold.type.tolist()] == ["Z", "A", "M"]


def test_features_that_lead_newtons_method_astray_are_fitted_all_the_same() -> None:
    """Many sure mistakes: a whole step from the beginning would lead to weights in the thousands."""
    rng = np.random.default_rng(1)
    logits = np.concatenate([rng.normal(-12, 2, 5_000), rng.normal(4, 3, 700)])
    right = rng.random(len(logits)) < 1 / (1 + np.exp(-(0.5 * logits - 1)))
    features = np.stack([np.ones(len(logits)), logits, logits > 0], axis=1)
    bias, slope, plain = verification._logistic(features, right, np.array([-1.0, 1.0, 1.0]))
    assert slope == pytest.approx(0.5, abs=0.1)
    assert bias == pytest.approx(-1, abs=0.7)
    assert plain == pytest.approx(0, abs=0.7)
