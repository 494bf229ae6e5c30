from collections.abc import Callable

import numpy as np
import torch

from nestag.model.recognizer import load_tokenizer
from nestag.model.subwords import Subwords
from nestag.model.tagger import IGNORED
from nestag.model.windows import LayoutMaker, windows_of
from nestag.training.dataset import BatchSampler, TrainingSet


def subwords(*sentences: list[int]) -> Subwords:
    """Sentences of words that have so many subwords."""
    counts = np.array([size for sizes in sentences for size in sizes], dtype=np.int64)
    lengths = np.array([len(sizes) for sizes in sentences], dtype=np.int64)
    return Subwords(np.arange(counts.sum()), counts, np.zeros_like(counts), lengths)


def test_every_word_is_labelled_in_exactly_one_window(tiny_encoder: Callable[[str], str]) -> None:
    sentences = [["abc"] * 50, [], ["x", "yz"]]
    layout = LayoutMaker(load_tokenizer(tiny_encoder("bert")), 20).lay_out(sentences)
    ids = np.array([[*range(50), *last] for last in ([7, 8], [5, 6], [3, 4])]).T
    tensors = TrainingSet(layout, ids).tensors(range(len(layout.windows)))
    assert len(layout.windows) > 6
    for head, last in enumerate(([7, 8], [5, 6], [3, 4])):
        learned = [value for value in tensors["labels"][..., head].flatten().tolist() if value != IGNORED]
        assert learned == [*range(50), *last]
    assert torch.equal(tensors["labels"][..., 0] != IGNORED, tensors["labels"][..., 2] != IGNORED)


def test_every_window_is_in_one_batch_and_order_depends_on_the_epoch() -> None:
    windows = windows_of(subwords(*([1 + number % 5] for number in range(40))), 10)
    sampler = BatchSampler(windows, 26, 100, seed=1)
    first = list(sampler)
    assert list(sampler) == first
    assert len(sampler) == len(first)
    assert sorted(index for batch in first for index in batch) == list(range(40))
    sampler.set_epoch(1)
    assert list(sampler) != first
    assert list(BatchSampler(windows, 26, 100, seed=2)) != first


def test_fixed_batches_have_the_same_sentences_in_every_epoch() -> None:
    windows = windows_of(subwords(*([1] * (1 + 3 * number % 25) for number in range(40))), 10, "disjoint")
    assert len(windows) > 40
    sampler = BatchSampler(windows, 60, 4, seed=1, fixed=True)
    epochs = []
    for epoch in range(2):
        sampler.set_epoch(epoch)
        epochs.append(list(sampler))
    assert epochs[0] != epochs[1]
    assert sorted(epochs[0]) == sorted(epochs[1])
    assert len(sampler) == len(epochs[0])
