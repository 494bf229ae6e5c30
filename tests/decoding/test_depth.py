"""The best depths: search depth, and sentences with valid labels."""

import numpy as np
import pytest

from nestag.data.sentence import Entity, Sentence
from nestag.data.tree import Name
from nestag.decoding import Scores, Search, decode_scores
from nestag.decoding import depth as module
from nestag.decoding.depth import best_depths, depth_rules
from nestag.decoding.repair import depth_steps
from nestag.encodings import encode
from nestag.encodings import encoding as named
from nestag.encodings.vocabulary import Vocabulary
from random_scores import gold_scores, learned


def searched_depth(vocabulary: Vocabulary) -> int:
    return module.searched_depth(depth_steps(named(vocabulary.encoding), vocabulary), vocabulary)


def test_search_depth_follows_the_vocabulary() -> None:
    names = (Name((), root=True), Name(("X", "Y", "Z")))
    assert searched_depth(Vocabulary("abs", (1, 3, 2), names, ())) == 3
    assert searched_depth(Vocabulary("rel", (1, 0, -1), names, ())) == 8
    assert searched_depth(Vocabulary("dyn", (1, 5, -1), names, ())) == 5 + 3 + 2
    assert searched_depth(Vocabulary("abs", (1, 1_000_000), names, ())) == 64
    assert searched_depth(Vocabulary("abs", (), names, ())) == 1
    sentence = Sentence(["w"] * 14, [(i, 14, "X") for i in range(1, 13)])
    vocabulary = learned([sentence], "rel")
    batch, lengths = gold_scores(vocabulary, [sentence], 7)
    assert decode_scores(vocabulary, *batch, lengths, search=Search(deepest=13)).to_lists() == [sentence.entities]
    shallow = decode_scores(vocabulary, *batch, lengths, search=Search(deepest=3)).to_lists()[0]
    assert max(label.n for label in encode(sentence.with_entities(shallow), "abs")) == 3


def noisy_scores(vocabulary: Vocabulary, corpus: list[Sentence], margin: float, seed: int) -> Scores:
    """Noise in which gold labels stand out, but for some."""
    heads, lengths = gold_scores(vocabulary, corpus, seed)
    return Scores.of(vocabulary, *(np.where(head > 500, head - 1_000 + margin, head) for head in heads), lengths)


@pytest.mark.parametrize("by", ["abs", "rel", "dyn"])
@pytest.mark.parametrize("margin", [3.0, 6.0, 9.0, 15.0])
def test_skipping_valid_sentences_gives_the_same_result(
    by: str, margin: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    entities = [(3, 6, "X"), (4, 6, "Y"), (10, 14, "Y"), (10, 12, "X"), (13, 14, "Y"), (20, 24, "X")]
    long = Sentence(["w"] * 25, [Entity(*one) for one in entities])
    short = Sentence(["w"] * 4, [Entity(0, 4, "Y"), Entity(1, 3, "X")])
    corpus = [long, short, Sentence([], []), Sentence(["w"], []), long, Sentence(["w"] * 7, [])]
    vocabulary = Vocabulary.learn(corpus, by)
    rules = depth_rules(named(by), vocabulary)
    guess = module._depths_of_best_labels
    skipped = 0
    for seed in range(8):
        scores = noisy_scores(vocabulary, corpus, margin, seed)
        skipped += np.count_nonzero(~guess(scores, rules)[1])
        some = best_depths(scores, rules)
        with monkeypatch.context() as patch:
            patch.setattr(module, "_depths_of_best_labels", lambda *given: (guess(*given)[0], given[0].lengths > 0))
            everywhere = best_depths(scores, rules)
        assert [column.tolist() for column in some] == [column.tolist() for column in everywhere]
    assert margin < 15 or skipped > 16  # the sentences without words are never searched


def test_valid_labels_are_not_searched(monkeypatch: pytest.MonkeyPatch) -> None:
    corpus = [Sentence(["w"] * 9, [Entity(1, 5, "X"), Entity(2, 4, "Y")]), Sentence(["w"] * 3, [])]
    vocabulary = Vocabulary.learn(corpus, "rel")
    heads, lengths = gold_scores(vocabulary, corpus, 0)
    scores = Scores.of(vocabulary, *heads, lengths)
    rules = depth_rules(named("rel"), vocabulary)
    monkeypatch.delattr(module, "_forward")
    assert best_depths(scores, rules).depth.tolist() == [1, 2, 3, 2, 1, 1, 1, 1, 1, 1, 1, 1]
    scores.n[8, vocabulary.n.index(1)] = 2_000  # the last word would open a node
    with pytest.raises(NameError, match="_forward"):
        best_depths(scores, rules)


def test_last_word_ends_at_the_root() -> None:
    vocabulary = Vocabulary.learn([Sentence(["w"] * 3, [Entity(1, 3, "X")])], "rel")
    heads = [np.zeros((2, len(table))) for table in (vocabulary.n, vocabulary.c, vocabulary.u)]
    heads[0][[0, 1], vocabulary.n.index(1)] = 9
    heads[1][[0, 1], [vocabulary.c.index(Name((), root=True)), vocabulary.c.index(Name(("X",)))]] = 9
    scores = Scores.of(vocabulary, *heads, [2])
    assert best_depths(scores, depth_rules(named("rel"), vocabulary)).depth.tolist()[-1] == 1
