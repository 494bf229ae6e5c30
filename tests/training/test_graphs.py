"""Padding to few shapes does not change training, and CUDA graphs match plain steps."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from nestag.encodings.vocabulary import Vocabulary
from nestag.model.recognizer import load_tokenizer
from nestag.model.tagger import Tagger
from nestag.model.windows import LayoutMaker
from nestag.training.dataset import GoldSpans, TrainingSet, label_ids
from nestag.training.graphs import GraphedPass, Padding, round_up, smallest_rounded_to
from nestag.training.optimization import loss_of
from nestag.training.recipe import Recipe
from two_sentences import CORPUS

RECIPE = Recipe(span_loss=3.0, rdrop=1.0)
PADDING = Padding(batch_subwords=200, windows=10, longest=60, pad=0)


@pytest.fixture
def example(tiny_encoder: Callable[[str], str]) -> tuple[Tagger, dict[str, Tensor]]:
    """A tagger without dropout, and a batch."""
    encoder = tiny_encoder("bert")
    vocabulary = Vocabulary.learn(CORPUS, "rel")
    layout = LayoutMaker(load_tokenizer(encoder), 64).lay_out([sentence.tokens for sentence in CORPUS])
    batch = TrainingSet(layout, label_ids(vocabulary, CORPUS), GoldSpans.of(CORPUS), 4).tensors([0, 1])
    sizes = (len(vocabulary.n), len(vocabulary.c), len(vocabulary.u))
    model = Tagger.around(encoder, sizes=sizes, shape_size=4, conv_size=8, dropout=0.0, span_types=3, span_width=4)
    return model.train(False), batch


def gradient(model: Tagger) -> Tensor:
    return torch.cat([weight.grad.flatten() for weight in model.parameters() if weight.grad is not None])


def test_padding_changes_neither_loss_nor_gradient(example: tuple[Tagger, dict[str, Tensor]]) -> None:
    model, batch = example
    padded = PADDING(batch)
    assert padded["input_ids"].shape[0] > 2
    assert padded["input_ids"].shape[1] > batch["input_ids"].shape[1]
    assert padded["spans"].shape[:2] == padded["labels"].shape[:2]
    losses, gradients = [], []
    for inputs in (batch, padded):
        model.zero_grad()
        loss = loss_of(model, inputs, RECIPE)
        loss.backward()  # type: ignore[no-untyped-call]
        losses.append(loss.item())
        gradients.append(gradient(model))
    assert losses[1] == pytest.approx(losses[0], rel=1e-5)
    assert torch.allclose(gradients[1], gradients[0], rtol=1e-3, atol=1e-6)
    assert gradients[0].abs().max() > 1e-3


def test_batches_of_similar_size_have_the_same_shape() -> None:
    def batch(windows: int, subwords: int) -> dict[str, Tensor]:
        ids = torch.ones(windows, subwords, dtype=torch.int64)
        words = ids[:, 2:]
        return {
            "input_ids": ids,
            "attention_mask": ids,
            "word": ids,
            "shape": words,
            "labels": words[..., None].expand(-1, -1, 3),
        }

    shapes = {PADDING(batch(200 // size, size))["labels"].shape for size in range(33, 41)}
    assert shapes == {(6, 40, 3)}
    assert PADDING(batch(3, 58))["word"].shape == (
        3,
        60,
    )
    assert PADDING(batch(20, 33))["word"].shape == (20, 40)  # more than the budget, and nothing is lost


def test_sizes_are_rounded_up_to_few() -> None:
    sizes = {round_up(size) for size in range(1, 513)}
    assert len(sizes) < 22
    assert 512 in sizes
    for size in range(1, 513):
        assert size <= round_up(size) < size + max(8, size / 4 + 1)
        assert smallest_rounded_to(round_up(size)) <= size


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_recorded_pass_equals_plain_pass(example: tuple[Tagger, dict[str, Tensor]]) -> None:
    model, batch = example
    model.to("cuda")  # type: ignore[arg-type]
    inputs = {name: values.cuda() for name, values in PADDING(batch).items()}
    graphed = GraphedPass(lambda batch: loss_of(model, batch, RECIPE), list(model.parameters()))
    results = []
    for _ in range(4):  # plain, recorded, replayed twice
        model.zero_grad()
        results.append((graphed(inputs).item(), gradient(model).clone()))
    for loss, slope in results[1:]:
        assert loss == pytest.approx(results[0][0], rel=1e-4)
        assert torch.allclose(slope, results[0][1], rtol=1e-2, atol=1e-5)
