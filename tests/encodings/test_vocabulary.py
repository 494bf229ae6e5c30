import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nestag.data.sentence import Entity, Sentence
from nestag.encodings import encode
from nestag.encodings.vocabulary import UNSEEN, LabelIds, Vocabulary
from nestag.errors import LabelError
from strategies import ENCODINGS, sentences

corpora = st.lists(sentences(most=8), max_size=5)


@pytest.mark.parametrize("encoding", ENCODINGS)
@given(corpus=corpora)
def test_every_label_of_the_corpus_has_an_id(encoding: str, corpus: list[Sentence]) -> None:
    vocabulary = Vocabulary.learn(corpus, encoding)
    for sentence in corpus:
        labels = vocabulary.encode(sentence)
        ids = vocabulary.ids(labels)
        assert ids.unseen == 0
        assert vocabulary.labels(ids) == labels


@pytest.mark.parametrize("encoding", ENCODINGS)
@given(corpus=corpora)
def test_saved_vocabulary_is_equal(encoding: str, corpus: list[Sentence]) -> None:
    vocabulary = Vocabulary.learn(corpus, encoding)
    assert Vocabulary.from_json(vocabulary.to_json()) == vocabulary


@given(corpus=corpora)
def test_vocabulary_does_not_depend_on_order(corpus: list[Sentence]) -> None:
    turned = [Sentence(s.tokens, reversed(s.entities)) for s in reversed(corpus)]
    assert Vocabulary.learn(corpus, "dyn") == Vocabulary.learn(turned, "dyn")


def test_same_spans_are_ordered_by_nesting() -> None:
    # a full name holds first names, so over a single word the person stands outside as well
    corpus = [
        Sentence(["Ada", "Byron"], [Entity(0, 2, "PER"), Entity(0, 1, "FIRST")]),
        Sentence(["Ada"], [Entity(0, 1, "FIRST"), Entity(0, 1, "PER")]),
    ]
    vocabulary = Vocabulary.learn(corpus, "abs")
    assert vocabulary.order == ("PER", "FIRST")
    assert vocabulary.encode(corpus[1])[0].u == ("PER", "FIRST")
    assert vocabulary.types == ("FIRST", "PER")


def test_types_never_nested_are_ordered_in_the_middle() -> None:
    corpus = [Sentence(["a", "b", "c"], [Entity(0, 2, "Z"), Entity(0, 1, "A"), Entity(2, 3, "M")])]
    assert Vocabulary.learn(corpus, "abs").order == ("Z", "M", "A")


def test_unseen_labels_are_marked_and_counted() -> None:
    vocabulary = Vocabulary.learn([Sentence(["x", "y"])], "abs")
    ids = vocabulary.ids(encode(Sentence(["x", "y", "z"], [Entity(0, 2, "A"), Entity(2, 3, "B")]), "abs"))
    assert ids == LabelIds([UNSEEN, 0, 0], [UNSEEN, 0, 0], [0, 0, UNSEEN])
    assert ids.unseen == 3
    with pytest.raises(LabelError, match="label 0: n is number -100; the vocabulary has 0 to 0"):
        vocabulary.labels(ids)


def edited(**fields: object) -> str:
    tables = json.loads(Vocabulary.learn([Sentence(["x"])], "abs").to_json())
    return json.dumps(tables | fields)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "cannot be read"),
        ("[]", "cannot be read"),
        ("{}", "KeyError: 'format'"),
        ("[" * 100_000, "cannot be read"),
        (edited(format=2), "format 2; this version reads 1"),
        (edited(encoding="bio"), "no encoding is called 'bio'"),
        (edited(n=["x"]), "n is 'x'"),
        (edited(c=[1]), "cannot be read"),
    ],
)
def test_damaged_file_is_refused(text: str, told: str) -> None:
    with pytest.raises(LabelError, match=told):
        Vocabulary.from_json(text)
