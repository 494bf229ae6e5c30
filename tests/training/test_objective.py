import math
from collections.abc import Callable
from itertools import product
from pathlib import Path

import numpy as np
import pytest
import torch

from nestag.data.sentence import Entity, Sentence
from nestag.model.layers import SpanGrid, remaining_words
from nestag.model.pretrained import WHOLE_MASKS
from nestag.model.recognizer import load_tokenizer
from nestag.model.tagger import Tagger
from nestag.model.windows import LayoutMaker
from nestag.training.dataset import GoldSpans
from nestag.training.optimization import divergence, grid_loss, loss_of, mask_subwords
from nestag.training.recipe import Recipe
from nestag.training.run import train
from two_sentences import CORPUS, GOLD, MANY, quick

SENTENCES = [
    Sentence(["a"] * 9, [Entity(0, 1, "X"), Entity(2, 6, "X"), Entity(2, 6, "Y"), Entity(4, 6, "Y")]),
    Sentence([]),
    Sentence(["b"] * 40, [Entity(0, 40, "Y"), Entity(17, 18, "X")]),
]


def test_targets_are_the_entities_inside_each_window(tiny_encoder: Callable[[str], str]) -> None:
    layout = LayoutMaker(load_tokenizer(tiny_encoder("bert")), 20).lay_out([s.tokens for s in SENTENCES])
    gold, width = GoldSpans.of(SENTENCES), 4
    seen: set[tuple[int, int, int, str]] = set()
    for number in range(len(layout.windows)):
        windows = layout.windows.take(np.array([number]))
        offset = int(windows.first[0]) - int(layout.subwords.word_offsets[windows.sentence[0]])
        size = int(windows.last[0] - windows.first[0])
        targets = gold.targets(windows, size, width)
        assert targets.shape == (1, size, width, 2)
        expected = {
            (entity.start - offset, entity.end - entity.start, entity.type)
            for entity in SENTENCES[windows.sentence[0]].entities
            if entity.start >= offset and entity.end <= offset + size and entity.end - entity.start <= width
        }
        cells = {(int(i), int(j) + 1, "XY"[kind]) for _, i, j, kind in zip(*targets.nonzero(), strict=True)}
        assert cells == expected
        seen |= {(int(windows.sentence[0]), *cell) for cell in cells}
    assert (0, 2, 4, "Y") in seen
    assert not any(sentence == 2 and kind == "Y" for sentence, _, _, kind in seen)  # longer than the grid


def test_grid_width_covers_nearly_all_entities() -> None:
    sentence = Sentence(["a"] * 90, [Entity(i, i + 5, "X") for i in range(0, 90, 5)])
    assert GoldSpans.of([sentence]).width() == 8
    assert GoldSpans.of([sentence.with_entities([Entity(0, 80, "X")])]).width() == 32


def test_cell_depends_on_its_ends_and_neighbouring_spans() -> None:
    torch.manual_seed(0)
    grid = SpanGrid(6, 3, width=4, channels=8, layers=1, dropout=0.0).train(False)
    vectors, remaining = torch.randn(2, 12, 6), remaining_words(torch.ones(2, 12, dtype=torch.bool))
    logits = grid(vectors, remaining)
    assert logits.shape == (2, 12, 4, 3)
    for word in range(12):
        other = vectors.clone()
        other[1, word] += 1
        changed = (grid(other, remaining) - logits).abs().sum(-1) > 1e-6
        assert not changed[0].any()
        # the neighbours of words 5 to 6 begin at 4 to 6 and have 1 to 3 words
        assert changed[1, 5, 1].item() == (4 <= word <= 8)


def test_cells_outside_a_window_are_masked() -> None:
    torch.manual_seed(0)
    grid = SpanGrid(6, 3, width=4, channels=8, layers=2, dropout=0.0).train(False)
    vectors, present = torch.randn(1, 9, 6), torch.tensor([[True] * 5 + [False] * 4])
    short = grid(vectors[:, :5], remaining_words(present[:, :5]))
    padded = grid(vectors, remaining_words(present))[:, :5]
    inside = torch.arange(4) < remaining_words(present[:, :5])[..., None]
    assert torch.allclose(short[inside], padded[inside], atol=1e-5)


def test_grid_loss_is_the_cross_entropy_of_cells_with_labelled_ends() -> None:
    torch.manual_seed(0)
    logits, targets = torch.randn(1, 4, 3, 2), torch.rand(1, 4, 3, 2) < 0.3
    labelled = torch.tensor([[True, True, True, False]])
    total = 0.0
    for first, size, kind in product(range(4), range(3), range(2)):
        if first + size < 3:  # the last word is not labelled
            probability = logits[0, first, size, kind].sigmoid().item()
            total -= math.log(probability if targets[0, first, size, kind] else 1 - probability)
    assert grid_loss(logits, targets, labelled, 0.0).item() == pytest.approx(total / 3, rel=1e-5)
    twice, both = torch.cat([logits, logits]), torch.cat([labelled, labelled])
    assert grid_loss(twice, targets, both, 5.0).item() == pytest.approx(total / 3, rel=1e-5)
    assert grid_loss(torch.cat([logits, logits + 1]), targets, both, 5.0).item() > total / 3 + 0.1


def test_divergence_is_the_symmetric_kullback_leibler_divergence() -> None:
    first = torch.tensor([[[2.0, 0.0], [0.0, 1.0]]])
    labelled = torch.tensor([[True, False]] * 2)
    assert divergence([torch.cat([first, first])], labelled).item() == 0
    p, q = first[0, 0].softmax(0), torch.tensor([0.5, 0.5])
    expected = 0.5 * ((p * (p / q).log()).sum() + (q * (q / p).log()).sum())
    second = torch.tensor([[[0.0, 0.0], [9.0, 1.0]]])  # the second word is not labelled
    assert divergence([torch.cat([first, second])], labelled).item() == pytest.approx(expected.item())


def test_rdrop_changes_nothing_without_dropout(tiny_encoder: Callable[[str], str]) -> None:
    encoder = tiny_encoder("bert")
    model = Tagger.around(encoder, sizes=(3, 4, 5), dropout=0.0, span_types=2, span_width=2).train(False)
    inputs = {
        "input_ids": torch.tensor([[2, 7, 8, 3]]), "attention_mask": torch.ones(1, 4, dtype=torch.long),
        "word": torch.tensor([[-1, 0, 1, -1]]), "shape": torch.tensor([[0, 0]]),
        "labels": torch.tensor([[[0, 1, 2], [2, 3, 4]]]),
        "spans": torch.tensor([[[[False, False], [True, False]], [[False, False], [False, False]]]]),
    }  # fmt: skip
    plain = loss_of(model, inputs, Recipe(span_loss=2.0))
    assert loss_of(model, inputs, Recipe(span_loss=2.0, rdrop=5.0)).item() == pytest.approx(plain.item(), rel=1e-5)
    assert plain.item() > loss_of(model, inputs, Recipe()).item() + 0.01


@pytest.mark.parametrize("kind", [kind for kind in WHOLE_MASKS if kind != "camembert"])
def test_attention_mask_of_four_dimensions_is_equivalent(kind: str, tiny_encoder: Callable[[str], str]) -> None:
    model = Tagger.around(tiny_encoder(kind), sizes=(3, 4, 5)).train(False)
    assert model.mask_whole
    ids, mask = torch.tensor([[2, 7, 8, 3], [2, 9, 3, 0]]), torch.tensor([[1, 1, 1, 1], [1, 1, 1, 0]])
    plain = model.encode(ids, mask)
    whole = model.encoder(input_ids=ids, attention_mask=mask[:, None, None, :].bool()).last_hidden_state
    assert torch.allclose(plain[mask == 1], whole[mask == 1], atol=1e-6)
    assert not torch.allclose(plain, model.encoder(input_ids=ids).last_hidden_state, atol=1e-6)


def test_model_learns_with_all_losses(tiny_encoder: Callable[[str], str], tmp_path: Path) -> None:
    recipe = quick(tiny_encoder("bert"), span_loss=1.0, rdrop=1.0, dropout=0.1)
    run = train(MANY, CORPUS, tmp_path / "model", recipe, use_cpu=True)
    assert run.recognizer.predict(CORPUS) == GOLD


def test_share_of_the_subwords_is_masked() -> None:
    torch.manual_seed(0)
    ids, word = torch.arange(5, 4005).reshape(4, 1000), torch.arange(1000).repeat(4, 1)
    word[:, ::10] = -1
    corrupted = mask_subwords(ids, word, 0.25, mask=4)
    assert torch.equal(corrupted[word < 0], ids[word < 0])
    masked = corrupted != ids
    assert set(corrupted[masked].tolist()) == {4}
    assert masked[word >= 0].float().mean().item() == pytest.approx(0.25, abs=0.03)
    assert not torch.equal(masked[0], masked[1])
