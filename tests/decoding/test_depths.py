"""The best depths: how deep they are searched, and that searching in parts or only where needed finds the same."""

import numpy as np
import pytest

from nestag.data import Entity, Sentence
from nestag.decoding import Scores, Search, decode_scores
from nestag.decoding.depth import depths as depths_module
from nestag.decoding.depth import machine as machine_module
from nestag.decoding.depth import parts as parts_module
from nestag.decoding.depth.depths import best_depths
from nestag.decoding.depth.guess import GuessedDepths, guess_depths
from nestag.decoding.depth.machine import depth_machine
from nestag.encodings import encode
from nestag.encodings import encoding as named
from nestag.tree import Name
from nestag.vocabulary import Vocabulary
from random_scores import gold_scores, learned


def searched_depth(vocabulary: Vocabulary) -> int:
    return machine_module.searched_depth(named(vocabulary.encoding), vocabulary)


def test_how_deep_is_searched() -> None:
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


@pytest.mark.parametrize("by", ["abs", "rel", "dyn"])
@pytest.mark.parametrize("part", [1, 2, 7])
def test_long_sentences_searched_in_parts_have_the_same_best_depths(
    by: str, part: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    deep = Sentence(list("abcdef"), [Entity(0, 6, "X"), Entity(0, 5, "Y"), Entity(1, 4, "X"), Entity(1, 3, "Z")])
    vocabulary = Vocabulary.learn([deep, Sentence(["a", "b"], [Entity(0, 2, "Y")])], by)
    machine = depth_machine(named(by), vocabulary)
    rng = np.random.default_rng(part)
    for _ in range(5):
        lengths = rng.integers(0, 30, size=6)
        tables = vocabulary.n, vocabulary.c, vocabulary.u
        heads = [3 * rng.normal(size=(int(lengths.sum()), len(table))) for table in tables]
        scores = Scores.of(vocabulary, *heads, lengths)
        whole = best_depths(scores, machine)
        monkeypatch.setattr(parts_module, "LONG", 5)
        monkeypatch.setattr(parts_module, "PART", part)
        parts = best_depths(scores, machine)
        monkeypatch.undo()
        np.testing.assert_allclose(whole.score, parts.score)
        assert whole.depth.tolist() == parts.depth.tolist()
        assert whole.root.tolist() == parts.root.tolist()


def searched_everywhere(scores: Scores, machine: machine_module.DepthMachine) -> depths_module.BestDepths:
    """What a search from word to word finds, wherever the best labels agree."""

    def all_wrong(scores: Scores, machine: machine_module.DepthMachine) -> GuessedDepths:
        guess = guess_depths(scores, machine)
        return guess._replace(wrong=np.ones_like(guess.wrong))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(depths_module, "guess_depths", all_wrong)
        patch.setattr(parts_module, "LONG", 10**6)
        return best_depths(scores, machine)


def noisy_scores(vocabulary: Vocabulary, corpus: list[Sentence], margin: float, seed: int) -> Scores:
    """Noise in which gold labels stand out, but for some."""
    heads, lengths = gold_scores(vocabulary, corpus, seed)
    return Scores.of(vocabulary, *(np.where(head > 500, head - 1_000 + margin, head) for head in heads), lengths)


@pytest.mark.parametrize("by", ["abs", "rel", "dyn"])
@pytest.mark.parametrize("margin", [3.0, 6.0, 9.0, 15.0])
@pytest.mark.parametrize("part", [1, 3, 16])
def test_searching_only_where_the_best_labels_disagree_finds_the_same(
    by: str, margin: float, part: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    entities = [(3, 6, "X"), (4, 6, "Y"), (20, 23, "X"), (40, 44, "Y"), (40, 42, "X"), (43, 44, "Y"), (50, 54, "X")]
    long = Sentence(["w"] * 60, [Entity(*one) for one in entities])
    short = Sentence(["w"] * 4, [Entity(0, 4, "Y"), Entity(1, 3, "X")])
    corpus = [long, short, Sentence([], []), Sentence(["w"], []), long, Sentence(["w"] * 7, [])]
    vocabulary = Vocabulary.learn(corpus, by)
    machine = depth_machine(named(by), vocabulary)
    monkeypatch.setattr(parts_module, "LONG", 10)
    monkeypatch.setattr(depths_module, "PART", part)
    for seed in range(8):
        scores = noisy_scores(vocabulary, corpus, margin, seed)
        scores.c[...] *= 0.05 if seed % 2 else 1  # where names say little, an entity may reach over many parts
        found, whole = best_depths(scores, machine), searched_everywhere(scores, machine)
        np.testing.assert_allclose(found.score, whole.score, atol=1e-9)
        assert found.depth.tolist() == whole.depth.tolist()
        assert found.root.tolist() == whole.root.tolist()


def test_labels_that_agree_are_not_searched(monkeypatch: pytest.MonkeyPatch) -> None:
    corpus = [Sentence(["w"] * 9, [Entity(1, 5, "X"), Entity(2, 4, "Y")]), Sentence(["w"] * 3, [])]
    vocabulary = Vocabulary.learn(corpus, "rel")
    heads, lengths = gold_scores(vocabulary, corpus, 0)
    scores = Scores.of(vocabulary, *heads, lengths)
    machine = depth_machine(named("rel"), vocabulary)
    monkeypatch.delattr(depths_module, "forward")
    assert best_depths(scores, machine).depth.tolist() == [1, 2, 3, 2, 1, 1, 1, 1, 1, 1, 1, 1]
    scores.n[8] = -np.inf  # no label is known for the last word
    with pytest.raises(NameError, match="forward"):
        best_depths(scores, machine)


def test_no_depth_but_the_root_s_stands_after_the_last_word() -> None:
    vocabulary = Vocabulary.learn([Sentence(["w"] * 3, [Entity(1, 3, "X")])], "rel")
    heads = [np.zeros((2, len(table))) for table in (vocabulary.n, vocabulary.c, vocabulary.u)]
    heads[0][[0, 1], vocabulary.n.index(1)] = 9
    heads[1][[0, 1], [vocabulary.c.index(Name((), root=True)), vocabulary.c.index(Name(("X",)))]] = 9
    scores = Scores.of(vocabulary, *heads, [2])
    assert best_depths(scores, depth_machine(named("rel"), vocabulary)).depth.tolist()[-1] == 1


def test_an_entity_may_end_far_behind_the_part_in_which_it_begins(monkeypatch: pytest.MonkeyPatch) -> None:
    vocabulary = Vocabulary.learn([Sentence(["w"] * 5, [Entity(1, 4, "X")])], "rel")
    n, c, u = (np.full((60, len(table)), -10.0) for table in (vocabulary.n, vocabulary.c, vocabulary.u))
    n[:, vocabulary.n.index(0)] = 0
    n[[0, 5], vocabulary.n.index(1)] = 20
    n[30, vocabulary.n.index(-1)] = -0.5  # no best label, but the cheapest end
    c[:, vocabulary.c.index(Name((), root=True))] = 0
    c[:, vocabulary.c.index(Name(("X",)))] = -0.01
    scores = Scores.of(vocabulary, n, c, u, [60])
    monkeypatch.setattr(parts_module, "LONG", 10)
    monkeypatch.setattr(depths_module, "PART", 3)
    found = best_depths(scores, depth_machine(named("rel"), vocabulary))
    assert found.depth.tolist() == [1] * 5 + [2] * 25 + [1] * 30


def test_a_part_that_is_better_entered_deeper_is_searched_with_its_neighbour() -> None:
    vocabulary = Vocabulary.learn([Sentence(["w"] * 9, [Entity(1, 4, "X")])], "rel")
    first, up, down = 0, vocabulary.n.index(1), vocabulary.n.index(-1)
    n, c = np.zeros((160, 3)), np.zeros((160, 2))
    n[:, vocabulary.n.index(0)] = 10
    n[first, up] = n[33, down] = 30  # word 33 closes what the words before do not open
    n[31, up], n[32, up] = 9, 7  # they had better do so in the part before, which ends with word 31
    scores = Scores.of(vocabulary, n, c, np.zeros((160, 1)), [160])
    depth = best_depths(scores, depth_machine(named("rel"), vocabulary, deepest=2)).depth
    assert np.flatnonzero(depth == 2).tolist() == [31, 32]
