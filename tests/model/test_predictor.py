"""Inputs of a recognizer, and errors for other input."""

from pathlib import Path

import pytest

from nestag.model.recognizer import NestedNER
from two_sentences import CORPUS

TEXT = "lincoln was president of the usa."


@pytest.fixture(scope="module")
def ner(trained_model: Path) -> NestedNER:
    return NestedNER.from_pretrained(trained_model, "cpu")


def test_call_takes_texts_tokens_and_sentences(ner: NestedNER) -> None:
    (one,) = ner([TEXT])
    assert one == ner(TEXT) == ner(iter([TEXT]))[0]
    assert [entity.text for entity in one] == ["lincoln", "president of the usa", "the usa"]
    words = ner(CORPUS[0])
    assert [entity.entity for entity in words] == list(CORPUS[0].entities)
    for others in (ner(CORPUS)[0], ner([list(CORPUS[0].tokens)])[0], ner(iter(CORPUS))[0]):
        assert [entity.entity for entity in others] == list(CORPUS[0].entities)
        assert [entity.confidence for entity in others] == pytest.approx([entity.confidence for entity in words])
    assert ner([]) == []


def test_many_results_print_the_first_ones(ner: NestedNER) -> None:
    few, many = ner([TEXT] * 2), ner([TEXT] * 1_000)
    assert repr(few) == repr(list(few))
    assert repr(many).endswith(", ... 980 more]")
    assert len(repr(many)) < 20_000


@pytest.mark.parametrize("wrong", [None, 3, b"bytes", {"a": 1}, [1, 2], [[1]], Path("a.txt")])
def test_error_for_other_input_shows_the_call(ner: NestedNER, wrong: object) -> None:
    with pytest.raises(TypeError, match=r'call ner\("A text\."\)') as raised:
        ner(wrong)
    assert "\n" not in str(raised.value)


def test_string_is_never_a_list_of_tokens(ner: NestedNER) -> None:
    with pytest.raises(TypeError, match="'a text' is not a list of tokens"):
        ner.predict(["a text"])
