"""A recognizer that needs no training: every word with a capital is an entity, and so is every run of them.

Words in capitals alone do something else: POISON fails, and SLOW takes a while.
"""

import time
from collections.abc import Iterable, Iterator
from itertools import groupby

from nestag.data import Sentence
from nestag.engine import Scorer
from nestag.predictor import Predictor, ScoredEntity, Settings
from nestag.vocabulary import Vocabulary


class Capitals(Predictor):
    """What is served in the tests."""

    def __init__(self, slow: float = 0.2) -> None:
        self.vocabulary = Vocabulary("rel", (), (), (), ("RUN", "WORD"))
        self.settings = Settings()
        self.slow = slow
        self.batches: list[int] = []

    def scorer(self) -> Scorer:
        raise NotImplementedError

    def annotate_scored(self, sentences: Iterable[Sentence]) -> Iterator[tuple[Sentence, tuple[ScoredEntity, ...]]]:
        given = list(sentences)
        self.batches.append(len(given))
        words = {token for sentence in given for token in sentence.tokens}
        if "POISON" in words:
            raise ValueError(f"cannot be tagged: {sorted(words)}")
        if "SLOW" in words:
            time.sleep(self.slow)
        for sentence in given:
            yield sentence, tuple(capitals(sentence.tokens))


def capitals(tokens: tuple[str, ...] | list[str]) -> Iterator[ScoredEntity]:
    """Runs of two words or more, then the words in them; a word is the surer the longer it is."""
    for capital, run in groupby(range(len(tokens)), key=lambda i: tokens[i][:1].isupper()):
        places = list(run)
        if capital:
            if len(places) > 1:
                yield ScoredEntity(places[0], places[-1] + 1, "RUN", 0.95)
            for i in places:
                yield ScoredEntity(i, i + 1, "WORD", min(1.0, len(tokens[i]) / 10))
