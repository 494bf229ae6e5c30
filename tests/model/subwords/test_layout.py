"""Arrays of batches against the same thing done word by word."""

from collections.abc import Callable

import numpy as np
import pytest

from nestag.model.recognizer import load_tokenizer
from nestag.model.subwords import LayoutMaker
from nestag.model.subwords.layout import NOTHING
from nestag.model.subwords.words import shape

SENTENCES = [["ab", "cde", "f"], [], ["\u200b", "漢", "x"], ["a", "bcd"] * 30, ["usa"]]
DOCUMENTS = ["d", "d", "d", "d", "e"]


@pytest.mark.parametrize("context", [0, 16])
def test_arrays_hold_every_window_as_it_is(context: int, tiny_encoder: Callable[[str], str]) -> None:
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


def test_kept_words_are_those_of_their_windows(tiny_encoder: Callable[[str], str]) -> None:
    layout = LayoutMaker(load_tokenizer(tiny_encoder("bert")), 20).lay_out(SENTENCES)
    row, column, word = layout.kept(np.arange(len(layout.windows)))
    assert word.tolist() == list(range(sum(map(len, SENTENCES))))
    assert np.array_equal(layout.windows.first[row] + column, word)
