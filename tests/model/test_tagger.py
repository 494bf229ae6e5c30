import json
import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch

from nestag.model.engine import Batch
from nestag.model.layers import pool_subwords
from nestag.model.recognizer import load_tokenizer
from nestag.model.scorer import TaggerScorer
from nestag.model.settings import Settings
from nestag.model.tagger import IGNORED, Tagger, sum_losses
from nestag.model.windows import Layout, LayoutMaker
from tiny_encoders import KINDS

SENTENCES = [["ab", "cde", "f"], ["\u200b", "漢", "x"], ["a"] * 100]


def laid_out(encoder: str, sentences: list[list[str]] = SENTENCES) -> Layout:
    return LayoutMaker(load_tokenizer(encoder), 32).lay_out(sentences)


def inputs(layout: Layout, *windows: int) -> dict[str, torch.Tensor]:
    arrays = layout.arrays(np.array(windows or range(len(layout.windows))))
    return {name: torch.from_numpy(values) for name, values in arrays._asdict().items()}


@pytest.mark.parametrize("kind", KINDS)
def test_any_encoder_scores_every_word(kind: str, tiny_encoder: Callable[[str], str]) -> None:
    model = Tagger.around(tiny_encoder(kind), sizes=(3, 4, 5), pooling="first", shape_size=4, conv_size=6)
    layout = laid_out(tiny_encoder(kind))
    scores = model(**inputs(layout))
    windows = layout.windows
    words = int((windows.last - windows.first).max())
    assert [tuple(part.shape) for part in scores[:3]] == [(len(windows), words, size) for size in (3, 4, 5)]
    assert all(torch.isfinite(part).all() for part in scores[:3])
    assert scores.loss is None


def test_pooling_first_last_and_mean() -> None:
    hidden = torch.arange(5.0)[None, :, None]  # one window, five subwords, width one
    word = torch.tensor([[-1, 0, 0, 1, -1]])
    assert pool_subwords(hidden, word, 2, "first").flatten().tolist() == [1.0, 3.0]
    assert pool_subwords(hidden, word, 2, "last").flatten().tolist() == [2.0, 3.0]
    assert pool_subwords(hidden, word, 2, "mean").flatten().tolist() == [1.5, 3.0]


def test_loss_skips_ignored_labels() -> None:
    scores = tuple(torch.zeros(1, 2, size, requires_grad=True) for size in (2, 4, 8))
    labels = torch.tensor([[[0, 1, IGNORED], [IGNORED, 1, IGNORED]]])
    loss = sum_losses(scores, labels)  # type: ignore[arg-type]
    assert loss.item() == pytest.approx(math.log(2) + math.log(4), abs=1e-5)
    assert torch.isfinite(sum_losses(scores, torch.full((1, 2, 3), IGNORED)))  # type: ignore[arg-type]


def test_padding_does_not_change_scores(tiny_encoder: Callable[[str], str]) -> None:
    model = Tagger.around(tiny_encoder("bert"), sizes=(3, 4, 5), pooling="mean", shape_size=4, conv_size=6).train(False)
    layout = laid_out(tiny_encoder("bert"))
    alone, together = model(**inputs(layout, 0)), model(**inputs(layout))
    for one, many in zip(alone[:3], together[:3], strict=True):
        assert torch.allclose(one[0], many[0, : one.shape[1]], atol=1e-5)


def test_convolutions_use_neighbouring_words(tiny_encoder: Callable[[str], str]) -> None:
    model = Tagger.around(tiny_encoder("bert"), sizes=(3, 4, 5), conv_size=6, conv_layers=1).train(False)
    torch.manual_seed(0)
    vectors, present = torch.randn(1, 9, 6), torch.ones(1, 9, 1, dtype=torch.bool)
    moved = vectors.clone()
    moved[0, 4] = torch.randn(6)
    (convolution,) = model.convolutions
    changed = (convolution(vectors, present) - convolution(moved, present)).abs().sum(-1)[0] > 1e-6
    assert changed.tolist() == [False, False, False, True, True, True, False, False, False]


def test_scorer_returns_log_probabilities_and_restores_training_mode(tiny_encoder: Callable[[str], str]) -> None:
    model = Tagger.around(tiny_encoder("bert"), sizes=(3, 4, 5)).train(True)
    layout = laid_out(tiny_encoder("bert"))
    batch = np.arange(len(layout.windows))
    row, column, word = layout.labelled_words(batch)
    heads = TaggerScorer(model, Settings()).start([Batch(layout.arrays(batch), row, column, word)], len(word))()
    assert heads.spans is None
    assert [part.shape for part in heads[:3]] == [(len(word), size) for size in (3, 4, 5)]
    assert all(np.allclose(np.exp(part).sum(1), 1, atol=1e-5) for part in heads[:3])
    assert model.training


@pytest.mark.parametrize("pooling", ["first", "last", "mean"])
@pytest.mark.parametrize("conv_size", [0, 6])
def test_scores_in_one_row_equal_those_in_windows(
    pooling: str, conv_size: int, tiny_encoder: Callable[[str], str]
) -> None:
    settings = {"pooling": pooling, "shape_size": 4, "conv_size": conv_size, "span_types": 2, "span_width": 3}
    model = Tagger.around(tiny_encoder("bert"), sizes=(3, 4, 5), **settings).train(False)
    layout = laid_out(tiny_encoder("bert"))
    batch = np.arange(len(layout.windows))
    row, column, word = layout.labelled_words(batch)
    options = Settings(decoding="spans", span_threshold=0.02)
    least = options.least_span_logit
    heads = TaggerScorer(model, options).start([Batch(layout.arrays(batch), row, column, word)], len(word))()
    whole = model(**inputs(layout))
    for part, scores in zip(heads[:3], whole[:3], strict=True):
        wanted = torch.log_softmax(scores[row, column], dim=-1).detach().numpy()
        np.testing.assert_allclose(part[word], wanted, atol=1e-5)
    assert heads.spans is not None
    cells, limit = heads.spans
    remaining = (np.array(layout.windows.last - layout.windows.first)[row] - column)[np.argsort(word)]
    assert limit.tolist() == np.minimum(3, remaining).tolist()
    logits = np.empty((len(word), 3, 2))
    logits[word] = whole.spans[row, column].detach().numpy()
    inside = np.arange(1, 4) <= limit[:, None]
    assert least is not None
    assert -4 < least < -3
    assert len(cells.first) == (logits[inside] >= least).sum() > 0
    np.testing.assert_allclose(cells.logit, logits[cells.first, cells.length - 1, cells.type], atol=1e-4)


def test_train_switches_every_module(tiny_encoder: Callable[[str], str]) -> None:
    model = Tagger.around(tiny_encoder("bert"), sizes=(3, 4, 5))
    for mode in (True, False, True):
        assert {module.training for module in model.train(mode).modules()} == {mode}


def test_saved_tagger_loads_without_its_encoder(tiny_encoder: Callable[[str], str], tmp_path: Path) -> None:
    model = Tagger.around(tiny_encoder("bert"), sizes=(3, 4, 5), shape_size=4, conv_size=6).train(False)
    model.save_pretrained(tmp_path)
    loaded = Tagger.load(json.loads((tmp_path / "config.json").read_text()), tmp_path / "model.safetensors")
    for name, weight in model.state_dict().items():
        assert torch.equal(weight, loaded.state_dict()[name]), name
