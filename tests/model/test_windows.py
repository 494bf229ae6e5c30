import random
from collections.abc import Callable
from dataclasses import FrozenInstanceError
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from nestag.model.recognizer import load_tokenizer
from nestag.model.subwords import Subwords, shape
from nestag.model.windows import (
    NOTHING,
    LayoutMaker,
    Windows,
    batches,
    join_windows,
    sentence_batches,
    windows_of,
    with_context,
)

word_sizes = st.lists(st.integers(1, 12), max_size=60)


def subwords(*sentences: list[int]) -> Subwords:
    """Sentences of words that have so many subwords."""
    counts = np.array([size for sizes in sentences for size in sizes], dtype=np.int64)
    lengths = np.array([len(sizes) for sizes in sentences], dtype=np.int64)
    return Subwords(np.arange(counts.sum()), counts, np.zeros_like(counts), lengths)


@given(st.lists(word_sizes, min_size=1, max_size=4), st.integers(12, 40))
@example([[1, 1, 1, 11]], 12)  # an overlap that leaves no room for the next word
@example([[3, 3], [12, 12, 12], []], 12)
def test_every_word_is_labelled_once_and_no_window_is_too_long(sentences: list[list[int]], room: int) -> None:
    pieces = subwords(*sentences)
    windows = windows_of(pieces, room)
    labelled = [word for a, b in zip(windows.label_first, windows.label_last, strict=True) for word in range(a, b)]
    assert labelled == list(range(len(pieces.counts)))
    assert (np.diff(windows.sentence) >= 0).all()
    assert (windows.first <= windows.label_first).all()
    assert (windows.label_first < windows.label_last).all()
    assert (windows.label_last <= windows.last).all()
    assert (windows.sizes <= room + 2).all()
    places = pieces.subword_offsets
    assert np.array_equal(windows.begin, places[windows.first])
    assert np.array_equal(windows.end, places[windows.last])


def test_neighbouring_windows_overlap() -> None:
    windows = windows_of(subwords([1] * 5_000), 510)
    assert len(windows) > 10
    for former, later in pairwise(range(len(windows))):
        assert windows.last[former] - windows.first[later] == 510 // 4
        assert windows.label_last[former] == windows.label_first[later]
        assert windows.last[former] - windows.label_last[former] >= 60  # no word is labelled at a window's edge
        assert windows.label_first[later] - windows.first[later] >= 60


def test_context_is_of_the_same_document_and_fits() -> None:
    pieces = subwords(*[[1] * 4] * 5)
    wide = with_context(windows_of(pieces, 50), pieces, ["a", "a", "a", "b", ""], 14)
    assert list(zip(wide.begin.tolist(), wide.end.tolist(), strict=True)) == [
        (0, 12), (0, 12), (3, 12), (12, 16), (16, 20)
    ]  # fmt: skip
    assert np.array_equal(wide.label_first, np.arange(5) * 4)
    assert (wide.sizes <= 16).all()


@given(st.lists(st.tuples(st.sampled_from(["", "a", "b"]), word_sizes), min_size=1, max_size=8), st.integers(14, 60))
def test_context_follows_its_definition(sentences: list[tuple[str, list[int]]], room: int) -> None:
    documents, pieces = [name for name, _ in sentences], subwords(*(sizes for _, sizes in sentences))
    plain = windows_of(pieces, room)
    wide = with_context(plain, pieces, documents, room)
    words, places = pieces.word_offsets, pieces.subword_offsets
    for row, sentence in enumerate(plain.sentence.tolist()):
        begin = end = sentence
        while begin and documents[begin - 1] == documents[sentence]:
            begin -= 1
        while end + 1 < len(documents) and documents[end + 1] == documents[sentence]:
            end += 1
        free = room - int(plain.end[row] - plain.begin[row])
        whole = plain.last[row] - plain.first[row] == pieces.lengths[sentence]
        free = free if whole and documents[sentence] and free >= 2 else 0
        left = min(free // 2, int(plain.begin[row] - places[words[begin]]))
        right = min(free - left, int(places[words[end + 1]] - plain.end[row]))
        assert (wide.begin[row], wide.end[row]) == (plain.begin[row] - left, plain.end[row] + right)


@given(st.lists(st.integers(1, 40), max_size=50), st.integers(40, 200), st.integers(1, 8), st.booleans())
def test_batches_hold_every_window_within_the_budget(sizes: list[int], budget: int, most: int, mixed: bool) -> None:
    grouped = batches(np.array(sizes, dtype=np.int64), budget, most, random.Random(1) if mixed else None)
    assert sorted(index for group in grouped for index in group) == list(range(len(sizes)))
    for group in grouped:
        assert 1 <= len(group) <= most
        assert max(sizes[index] for index in group) * len(group) <= budget


@given(st.lists(st.integers(1, 40), min_size=1, max_size=50), st.integers(1, 200), st.integers(1, 8))
def test_batches_are_full(sizes: list[int], budget: int, most: int) -> None:
    grouped = batches(np.array(sizes, dtype=np.int64), budget, most)
    for group, following in pairwise(grouped):
        assert len(group) == most or sizes[following[0]] * (len(group) + 1) > budget


def test_batch_has_at_most_ten_thousand_windows() -> None:
    assert [len(batch) for batch in batches(np.ones(10_001, dtype=np.int64), budget=20_000)] == [10_000, 1]


def test_the_same_seed_gives_the_same_batches() -> None:
    sizes = np.arange(100) % 7 + 1
    drawn = [
        [batch.tolist() for batch in batches(sizes, 20, rng=random.Random(seed))] for seed in ("1 0", "1 0", "1 1")
    ]
    assert drawn[0] == drawn[1] != drawn[2]


def test_take_returns_windows_in_order() -> None:
    windows = windows_of(subwords([1], [2], [3]), 10)
    assert isinstance(windows.take([2, 0]), Windows)
    assert windows.take([2, 0]).sizes.tolist() == [5, 3]


def test_narrow_windows_have_the_labelled_words_and_some_neighbours() -> None:
    windows = windows_of(subwords([1] * 100), 40)
    for reach in (0, 1, 3, 100):
        narrow = windows.narrow(reach)
        for row, (first, last) in enumerate(zip(narrow.first, narrow.last, strict=True)):
            assert first == max(windows.first[row], windows.label_first[row] - reach)
            assert last == min(windows.last[row], windows.label_last[row] + reach)
        assert np.array_equal(narrow.begin, windows.begin)
        assert np.array_equal(narrow.end, windows.end)


def test_windows_are_compared_by_value() -> None:
    windows = windows_of(subwords([1]), 40)
    with pytest.raises(FrozenInstanceError):
        windows.first = windows.last  # type: ignore[misc]


@given(st.lists(word_sizes, min_size=1, max_size=4), st.integers(12, 40))
@example([[1, 5, 12]], 12)  # a word that begins in one window and ends in the next
@example([[11, 12, 12]], 12)
def test_disjoint_windows_end_after_room_subwords(sentences: list[list[int]], room: int) -> None:
    pieces = subwords(*sentences)
    windows = windows_of(pieces, room, "disjoint")
    labelled = [word for a, b in zip(windows.label_first, windows.label_last, strict=True) for word in range(a, b)]
    assert labelled == list(range(len(pieces.counts)))
    last = pieces.subword_offsets[1:] - 1
    begins = pieces.subword_offsets[pieces.word_offsets]
    for row in range(len(windows)):
        sentence, begin, end = windows.sentence[row], windows.begin[row], windows.end[row]
        assert (begin - begins[sentence]) % room == 0
        assert end == min(begin + room, begins[sentence + 1])
        words = range(windows.label_first[row], windows.label_last[row])
        assert all(begin <= last[word] < end for word in words)


def test_sentence_batches_worked_out_by_hand() -> None:
    """Sizes with the special subwords 5, 3, 4, 12 and 3, by size: 3, 3, 4 | 5 | 12, within 10 and at most 3."""
    windows = windows_of(subwords([3], [1], [2], [1] * 10, [], [1]), 6, "disjoint")
    assert windows.sentence.tolist() == [0, 1, 2, 3, 3, 5]
    groups = sentence_batches(windows.sizes, windows.sentence, 10, 3)
    assert [batch.tolist() for batch in groups] == [[1, 5, 2], [0], [3, 4]]
    two = sentence_batches(windows.sizes, windows.sentence, 100, 2)
    assert [batch.tolist() for batch in two] == [[1, 5], [2, 0], [3, 4]]
    padded = sentence_batches(np.array([2, 3, 9]), np.arange(3), 14, 9)  # 14 without padding, 27 with it
    assert [batch.tolist() for batch in padded] == [[0, 1, 2]]


@given(st.lists(st.tuples(st.integers(0, 2), st.lists(st.integers(1, 9), max_size=6)), max_size=12), st.integers(3, 12))
def test_joined_windows_are_as_full_as_possible(sentences: list[tuple[int, list[int]]], room: int) -> None:
    sizes = [[min(size, room) for size in words] for _, words in sentences]
    pieces = subwords(*sizes)
    documents = [str(document) for document, _ in sentences]
    apart = windows_of(pieces, room, "disjoint")
    if not len(apart):
        return
    together = join_windows(apart, documents, room)
    assert together.begin[0] == 0
    assert together.end[-1] == pieces.counts.sum()
    assert (together.begin[1:] == together.end[:-1]).all()
    assert (together.end - together.begin <= room).all()
    of_subword = [name for name, words in zip(documents, sizes, strict=True) for _ in range(sum(words))]
    for begin, end in zip(together.begin, together.end, strict=True):
        assert len(set(of_subword[begin:end])) == 1
    for row in range(len(together) - 1):  # the next window would not have fitted, or is of another document
        following = apart.end[np.flatnonzero(apart.begin == together.begin[row + 1])[0]]
        other = of_subword[together.begin[row]] != of_subword[together.begin[row + 1]]
        assert other or following - together.begin[row] > room


SENTENCES = [["ab", "cde", "f"], [], ["\u200b", "漢", "x"], ["a", "bcd"] * 30, ["usa"]]
DOCUMENTS = ["d", "d", "d", "d", "e"]


@pytest.mark.parametrize("context", [0, 16])
def test_arrays_of_every_window(context: int, tiny_encoder: Callable[[str], str]) -> None:
    tokenizer = load_tokenizer(tiny_encoder("bert"))
    layout = LayoutMaker(tokenizer, 20, context).lay_out(SENTENCES, DOCUMENTS)
    words = [word for sentence in SENTENCES for word in sentence]
    pieces = [tokenizer(word, add_special_tokens=False)["input_ids"] or [tokenizer.unk_token_id] for word in words]
    owners = [number for number, ids in enumerate(pieces) for _ in ids]
    flat = [number for ids in pieces for number in ids]
    windows = layout.windows
    batch = np.arange(len(windows))[::-1]
    arrays = layout.arrays(batch)
    for row, window in enumerate(batch.tolist()):
        begin, end = int(windows.begin[window]), int(windows.end[window])
        first, last = int(windows.first[window]), int(windows.last[window])
        ids = [tokenizer.cls_token_id, *flat[begin:end], tokenizer.sep_token_id]
        of = [NOTHING, *(owner - first if first <= owner < last else NOTHING for owner in owners[begin:end]), NOTHING]
        padding = arrays.input_ids.shape[1] - len(ids)
        assert arrays.input_ids[row].tolist() == ids + [tokenizer.pad_token_id] * padding
        assert arrays.attention_mask[row].tolist() == [1] * len(ids) + [0] * padding
        assert arrays.word[row].tolist() == of + [NOTHING] * padding
        beyond = arrays.shape.shape[1] - (last - first)
        assert arrays.shape[row].tolist() == [*map(shape, words[first:last]), *[NOTHING] * beyond]
    assert layout.labelled_subwords == np.sum(arrays.word != NOTHING) + 2 * len(windows)


def test_labelled_words_match_their_windows(tiny_encoder: Callable[[str], str]) -> None:
    layout = LayoutMaker(load_tokenizer(tiny_encoder("bert")), 20).lay_out(SENTENCES)
    row, column, word = layout.labelled_words(np.arange(len(layout.windows)))
    assert word.tolist() == list(range(sum(map(len, SENTENCES))))
    assert np.array_equal(layout.windows.first[row] + column, word)
