import random
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from nestag.batching import SHAPES, Subwords, Window, batches, shape, windows, with_context

word_sizes = st.lists(st.integers(1, 12), max_size=60)


def text(sizes: list[int], first: int = 0) -> Subwords:
    return Subwords(tuple(tuple(range(first, first + size)) for size in sizes), (0,) * len(sizes))


@given(word_sizes, st.integers(12, 40))
@example([1, 1, 1, 11], 12)  # an overlap that leaves no room for the next word
def test_every_word_is_labelled_once_and_no_window_is_too_long(sizes: list[int], room: int) -> None:
    found = list(windows(7, text(sizes), room))
    labelled = [word for window in found for word in range(window.keep_first, window.keep_last)]
    assert labelled == list(range(len(sizes)))
    for window in found:
        assert window.sentence == 7
        assert window.first <= window.keep_first < window.keep_last <= window.last
        assert sum(sizes[window.first : window.last]) == window.size <= room


def test_neighbouring_windows_overlap() -> None:
    found = list(windows(0, text([1] * 5_000), 510))
    assert len(found) > 10
    for former, later in pairwise(found):
        assert former.last - later.first == 510 // 4
        assert former.keep_last == later.keep_first
        assert former.last - former.keep_last >= 60  # no word is labelled at the edge of its window
        assert later.keep_first - later.first >= 60


def test_context_is_of_the_same_document_and_within_the_room() -> None:
    texts = [text([1] * 4, 10 * i) for i in range(5)]
    documents = ["a", "a", "a", "b", ""]
    found = [window for i in range(5) for window in windows(i, texts[i], 50)]
    wide = list(with_context(found, texts, documents, 14))
    assert wide[1].left == (0,) * 4  # each word of the test is one subword, numbered by its sentence
    assert wide[1].right == (20,) * 4
    assert (wide[3].left, wide[3].right) == ((), ())
    assert (wide[4].left, wide[4].right) == ((), ())
    assert all(window.size <= 14 for window in wide)
    assert wide[0].right == (10,) * 4 + (20,) * 4


@given(st.lists(st.integers(1, 40), max_size=50), st.integers(40, 200), st.integers(1, 8), st.booleans())
def test_batches_hold_every_window_within_the_budget(sizes: list[int], budget: int, most: int, mixed: bool) -> None:
    found = [Window(i, 0, 1, 0, 1, size=size) for i, size in enumerate(sizes)]
    grouped = batches(found, budget, most, random.Random(1) if mixed else None)
    assert sorted(index for group in grouped for index in group) == list(range(len(sizes)))
    for group in grouped:
        assert 1 <= len(group) <= most
        assert max(sizes[index] for index in group) * len(group) <= budget


def test_the_same_seed_gives_the_same_batches() -> None:
    found = [Window(i, 0, 1, 0, 1, size=i % 7 + 1) for i in range(100)]
    assert batches(found, 20, rng=random.Random("1 0")) == batches(found, 20, rng=random.Random("1 0"))
    assert batches(found, 20, rng=random.Random("1 0")) != batches(found, 20, rng=random.Random("1 1"))


@given(st.text(min_size=1))
def test_every_word_has_a_shape(word: str) -> None:
    assert 0 <= shape(word) < SHAPES


@pytest.mark.parametrize(("one", "other"), [("Paris", "paris"), ("USA", "Usa"), ("IL-2", "il-2"), ("1984", "word")])
def test_shapes_tell_what_lower_case_hides(one: str, other: str) -> None:
    assert shape(one) != shape(other)
