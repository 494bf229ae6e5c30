from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from nestag.data.sentence import Entity, Sentence
from nestag.encodings.vocabulary import Vocabulary
from nestag.model.engine import ChunkScores
from nestag.model.settings import Settings
from nestag.training.calibration import SAMPLE, TEMPERATURES, calibrate

A = Entity(0, 1, "A")
VOCABULARY = Vocabulary.learn([Sentence(["a"], [A]), Sentence(["b"])], "rel")


class Fake:
    """A recognizer of one-word sentences: the word is its log-odds of being an entity, in thousandths."""

    def __init__(self, factor: float) -> None:
        self.vocabulary, self.settings, self.factor = VOCABULARY, Settings(), factor
        self.count = 0
        self.chunks: list[int] = []

    def scores(self, sentences: list[tuple[str, ...]], documents: list[str]) -> ChunkScores:
        self.count += len(sentences)
        self.chunks.append(len(sentences))
        n, c, u = (np.zeros((len(sentences), len(table))) for table in (VOCABULARY.n, VOCABULARY.c, VOCABULARY.u))
        u[:, VOCABULARY.u.index(("A",))] = [self.factor * int(words[0]) / 1_000 for words in sentences]
        return ChunkScores(n, c, u, np.ones(len(sentences), dtype=np.int64), [])


def drawn(size: int) -> list[Sentence]:
    """Sentences that have an entity as often as their words say."""
    rng = random.Random(1)
    odds = [rng.uniform(-3, 3) for _ in range(size)]
    return [Sentence([f"{1_000 * x:.0f}"], [A] if rng.random() < 1 / (1 + np.exp(-x)) else []) for x in odds]


def temperature_for(fake: Any, sentences: list[Sentence]) -> float:
    return calibrate(fake, sentences).temperature


@pytest.mark.parametrize("factor", [1.0, 2.0, 3.0])
def test_temperature_corrects_overconfidence(factor: float) -> None:
    fake: Any = Fake(factor)
    assert temperature_for(fake, drawn(SAMPLE)) == pytest.approx(factor, abs=0.5)


def expected_temperature(sentences: list[Sentence]) -> float:
    """Apply the definition: every predicted entity, with a probability of at most 1 - 1e-6."""

    def negative_log_likelihood(temperature: float) -> float:
        predicted = [(int(s.tokens[0]) / 1_000, bool(s.entities)) for s in sentences if s.tokens[0][0] != "-"]
        clipped = [(min(1 / (1 + np.exp(-odds / temperature)), 1 - 1e-6), correct) for odds, correct in predicted]
        return -sum(np.log(share if correct else 1 - share) for share, correct in clipped)

    return min(TEMPERATURES, key=negative_log_likelihood)


@pytest.mark.parametrize("odds", [9_000, 12_000, 15_000, 20_000, 60_000])
@pytest.mark.parametrize("right", [20, 60, 200, 600])
def test_probabilities_are_clipped(odds: int, right: int) -> None:
    """A mistake at odds of e**60 weighs as much as one at a million; otherwise it would decide alone."""
    rng = random.Random(right)
    sentences = [Sentence([str(rng.randint(500, 12_000))], [A]) for _ in range(right)]
    sentences += [Sentence([str(odds)]), Sentence(["2000"]), Sentence(["-4000"], [A])]
    assert temperature_for(Fake(1.0), sentences) == expected_temperature(sentences)


def test_temperature_is_1_without_entities() -> None:
    fake: Any = Fake(1.0)
    assert temperature_for(fake, [Sentence(["-5000"])] * 3) == 1.0
    assert temperature_for(fake, []) == 1.0


def test_sample_is_limited() -> None:
    fake: Any = Fake(1.0)
    temperature_for(fake, drawn(2 * SAMPLE + 1))
    assert SAMPLE / 2 < fake.count <= SAMPLE


@pytest.mark.parametrize(("size", "chunks"), [(2_000, [250] * 8), (2_001, [250] * 4 + [1]), (4_000, [250] * 8)])
def test_sample_is_even_and_scored_in_chunks(size: int, chunks: list[int]) -> None:
    fake: Any = Fake(1.0)
    temperature_for(fake, drawn(size))
    assert fake.chunks == chunks


def test_temperatures() -> None:
    assert TEMPERATURES == (0.75, 1.0, 1.25, 1.5, 1.75, 2.0, 2.25, 2.5, 3.0, 3.5, 4.0)
