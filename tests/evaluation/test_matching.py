"""Sentences are matched in any order, and every difference is an error."""

import random
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nestag.data.sentence import Entity, Sentence
from nestag.errors import InputError
from nestag.evaluation.matching import By, Pair, match_sentences

WAYS: tuple[By, ...] = ("auto", "id", "order")
NAMES = ("gold.jsonl", "pred.jsonl")


def sentence(words: str, id: str | None = None) -> Sentence:
    return Sentence(words.split(), id=id)


@st.composite
def corpora(draw: st.DrawFn) -> list[Sentence]:
    """Sentences with ids that differ; words repeat, and so do whole sentences."""
    words = draw(st.lists(st.lists(st.sampled_from("abc"), min_size=1, max_size=4), min_size=1, max_size=12))
    return [Sentence(tokens, [Entity(0, 1, "A")], f"s{number}") for number, tokens in enumerate(words)]


def predicted_for(gold: Iterable[Sentence]) -> list[Sentence]:
    return [one.with_entities([Entity(0, len(one), "B")]) for one in gold]


@given(corpora(), st.sampled_from(["auto", "id"]), st.randoms(use_true_random=False))
def test_shuffled_files_give_the_same_pairs(gold: list[Sentence], by: By, rng: random.Random) -> None:
    expected = list(map(Pair, gold, predicted_for(gold)))
    assert list(match_sentences(gold, predicted_for(gold), by)) == expected
    sides = gold.copy(), predicted_for(gold)
    for side in sides:
        rng.shuffle(side)
    assert Counter(match_sentences(*sides, by)) == Counter(expected)


@given(corpora(), st.sampled_from(WAYS), st.booleans(), st.data())
def test_changed_token_is_an_error(gold: list[Sentence], by: By, longer: bool, data: st.DataObject) -> None:
    number = data.draw(st.integers(0, len(gold) - 1))
    tokens = list(gold[number].tokens)
    at = data.draw(st.integers(0, len(tokens) - 1))
    tokens[at : at + 1] = [tokens[at], "x"] if longer else ["x"]
    changed = gold.copy()
    changed[number] = Sentence(tokens, id=gold[number].id)
    with pytest.raises(InputError) as caught:
        list(match_sentences(gold, changed, by, NAMES))
    place = f"pred.jsonl: sentence {number + 1} (s{number}): token {at + longer} is 'x' and in gold.jsonl "
    assert str(caught.value).startswith(place)


def test_sentences_without_ids_are_matched_in_order() -> None:
    gold = [sentence("a b", "1"), sentence("c"), sentence("d", "3")]
    predicted = [sentence("a b"), sentence("c", "2"), sentence("d", "3")]
    assert list(match_sentences(gold, predicted)) == list(map(Pair, gold, predicted))


def test_ids_that_name_documents_may_repeat_in_files_of_the_same_order() -> None:
    gold = [sentence("a", "doc"), sentence("b", "doc")]
    assert list(match_sentences(gold, gold)) == list(map(Pair, gold, gold))
    assert list(match_sentences(gold, gold, "order")) == list(map(Pair, gold, gold))


def refusal(gold: list[Sentence], predicted: list[Sentence], by: By = "auto") -> str:
    with pytest.raises(InputError) as caught:
        list(match_sentences(gold, predicted, by, NAMES))
    return str(caught.value)


@pytest.mark.parametrize("by", ["auto", "order"])
def test_longer_file_is_refused(by: By) -> None:
    gold = [sentence("a", "1"), sentence("b", "2"), sentence("c")]
    assert refusal(gold, gold[:1], by) == (
        "gold.jsonl: sentence 2 (2): it has no partner: pred.jsonl ends after sentence 1; give both the same sentences"
    )
    assert refusal(gold[:2], gold, by).startswith(
        "pred.jsonl: sentence 3: it has no partner: gold.jsonl ends after sentence 2;"
    )
    assert refusal([], gold, by).startswith(
        "pred.jsonl: sentence 1 (1): it has no partner: gold.jsonl has no sentences;"
    )


def test_missing_sentence_is_named() -> None:
    gold = [sentence(word, word) for word in "abcd"]
    assert refusal(gold, [gold[0], *gold[2:]]) == (
        "gold.jsonl: sentence 2 (b): its id has no partner in pred.jsonl; give both the same sentences"
    )


def test_unrelated_ids_are_matched_by_order() -> None:
    gold = [sentence("a b", "doc-1"), sentence("c", "doc-2")]
    predicted = [sentence("a b", "1"), sentence("c", "2")]
    assert refusal(gold, predicted) == (
        "gold.jsonl: sentence 1 (doc-1): its id has no partner in pred.jsonl (and 3 more);"
        ' the tokens agree in order, so use by="order"'
    )
    assert "has no partner in pred.jsonl (and 1 more); " in refusal(gold[:1], predicted[:1])
    assert len(list(match_sentences(gold, predicted, "order"))) == 2
    assert 'by="order"' not in refusal(gold, [sentence("a b", "1"), sentence("x", "2")])


def test_duplicate_id_is_refused() -> None:
    gold = [sentence("a", "1"), sentence("b", "2"), sentence("b", "2")]
    twice = 'its id occurs twice, but sentences are matched by id; make ids differ, or use by="order"'
    assert refusal(gold, gold, "id") == f"gold.jsonl: sentence 3 (2): {twice}"
    assert refusal(gold[:2], [gold[1], gold[1]], "id") == f"pred.jsonl: sentence 2 (2): {twice}"
    assert refusal(gold[1:2] * 2, [gold[0]] * 2) == f"gold.jsonl: sentence 2 (2): {twice}"


def test_missing_id_is_refused() -> None:
    gold = [sentence("a", "1"), sentence("b", "2"), sentence("c")]
    reason = "it has no id, but sentences are matched by id"
    assert refusal(gold, gold, "id").startswith(f"gold.jsonl: sentence 3: {reason}")
    assert refusal(gold, [gold[1], gold[0], gold[2]]).startswith(f"gold.jsonl: sentence 3: {reason}")


def test_mismatch_error_shows_both_tokens_and_places() -> None:
    gold = [sentence("a b", "1"), sentence("c", "2")]
    assert refusal(gold, [sentence("c", "2"), sentence("a x", "1")]) == (
        "pred.jsonl: sentence 2 (1): token 1 is 'x' and in gold.jsonl, sentence 1, 'b';"
        " predict on the tokens of gold (raw text is tokenized as tokenizer=... says)"
    )
    assert refusal(gold, [gold[1], gold[0]], "order").endswith(
        "token 0 is 'c' and in gold.jsonl 'a'; match sentences with by=\"id\""
    )
    assert "token 1 is missing (the sentence ends) and in gold.jsonl 'b'" in refusal(gold, [sentence("a", "1")])
    long = sentence("a " * 300 + "b", "1")
    assert "token 300 is missing (the sentence ends)" in refusal([long], [sentence("a " * 300, "1")])
    long = refusal([sentence("x" * 500)], [sentence("y" * 500)])
    assert len(long) < 220


def test_matching_reads_lazily() -> None:
    read: Counter[str] = Counter()

    def endless(name: str, swapped: bool) -> Iterator[Sentence]:
        number = 0
        while True:
            read[name] += 1
            yield sentence("a", str(number ^ 1 if swapped else number))
            number += 1

    list(islice(match_sentences(endless("gold", False), endless("pred", False)), 5))
    assert read == {"gold": 5, "pred": 5}
    read.clear()
    list(islice(match_sentences(endless("gold", False), endless("pred", True)), 6))
    assert read == {"gold": 6, "pred": 6}
