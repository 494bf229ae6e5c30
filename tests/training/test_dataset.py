from collections.abc import Callable

import numpy as np
import torch

from nestag.recognizer import load_tokenizer
from nestag.subwords import LayoutMaker
from nestag.tagger import IGNORED
from nestag.training.dataset import BySize, TrainingSet
from nestag.vocabulary import LabelIds


def test_every_label_is_learned_in_exactly_one_window(tiny_encoder: Callable[[str], str]) -> None:
    sentences = [["abc"] * 50, [], ["x", "yz"]]
    layout = LayoutMaker(load_tokenizer(tiny_encoder("bert")), 20).lay_out(sentences)
    ids = [
        LabelIds(list(range(50)), list(range(50)), list(range(50))),
        LabelIds([], [], []),
        LabelIds([7, 8], [5, 6], [3, 4]),
    ]
    tensors = TrainingSet.of(layout, ids).tensors(range(len(layout.windows)))
    assert len(layout.windows) > 6
    for head, last in enumerate(([7, 8], [5, 6], [3, 4])):
        learned = [value for value in tensors["labels"][..., head].flatten().tolist() if value != IGNORED]
        assert learned == [*range(50), *last]
    assert torch.equal(tensors["labels"][..., 0] != IGNORED, tensors["labels"][..., 2] != IGNORED)


def test_every_window_is_in_one_batch_and_the_epoch_decides_the_order() -> None:
    sizes = 1 + np.arange(40) % 5
    sampler = BySize(sizes, 12, 100, seed=1)
    first = list(sampler)
    assert list(sampler) == first
    assert len(sampler) == len(first)
    assert sorted(index for batch in first for index in batch) == list(range(40))
    sampler.set_epoch(1)
    assert list(sampler) != first
    assert list(BySize(sizes, 12, 100, seed=2)) != first
