import math
from collections.abc import Callable

import pytest
import torch

from conftest import KINDS
from nestag.inputs import Reader, load_tokenizer
from nestag.model import IGNORED, Tagger, pooled, summed_loss
from nestag.vocabulary import LabelIds

SENTENCES = [["ab", "cde", "f"], ["\u200b", "漢", "x"], ["a"] * 100]


@pytest.mark.parametrize("kind", KINDS)
def test_any_encoder_scores_every_word(kind: str, tiny_encoder: Callable[[str], str]) -> None:
    model = Tagger.around(tiny_encoder(kind), sizes=(3, 4, 5), pooling="first", shape_size=4, lstm_size=6)
    reader = Reader(load_tokenizer(tiny_encoder(kind)), window=32)
    reading = reader.read(SENTENCES)
    inputs = reader.tensors(reading, reading.windows)
    scores = model(**inputs)
    words = max(window.last - window.first for window in reading.windows)
    assert [tuple(part.shape) for part in scores[:3]] == [(len(reading.windows), words, size) for size in (3, 4, 5)]
    assert all(torch.isfinite(part).all() for part in scores[:3])
    assert scores.loss is None


def test_poolings_take_the_subwords_they_say() -> None:
    hidden = torch.arange(5.0)[None, :, None]  # one window, five subwords, width one
    word = torch.tensor([[-1, 0, 0, 1, -1]])
    assert pooled(hidden, word, 2, "first").flatten().tolist() == [1.0, 3.0]
    assert pooled(hidden, word, 2, "last").flatten().tolist() == [2.0, 3.0]
    assert pooled(hidden, word, 2, "mean").flatten().tolist() == [1.5, 3.0]


def test_words_outside_a_window_are_not_learned() -> None:
    scores = tuple(torch.zeros(1, 2, size, requires_grad=True) for size in (2, 4, 8))
    labels = torch.tensor([[[0, 1, IGNORED], [IGNORED, 1, IGNORED]]])
    loss = summed_loss(scores, labels)  # type: ignore[arg-type]
    assert loss.item() == pytest.approx(math.log(2) + math.log(4), abs=1e-5)
    assert torch.isfinite(summed_loss(scores, torch.full((1, 2, 3), IGNORED)))  # type: ignore[arg-type]


def test_every_label_is_learned_in_exactly_one_window(tiny_encoder: Callable[[str], str]) -> None:
    reader = Reader(load_tokenizer(tiny_encoder("bert")), window=20)
    sentence = ["abc"] * 50
    reading = reader.read([sentence])
    ids = LabelIds(list(range(50)), list(range(50)), list(range(50)))
    labels = reader.tensors(reading, reading.windows, [ids])["labels"]
    assert len(reading.windows) > 5
    for head in range(3):
        learned = [value for value in labels[..., head].flatten().tolist() if value != IGNORED]
        assert learned == list(range(50))


def test_padding_and_company_do_not_change_scores(tiny_encoder: Callable[[str], str]) -> None:
    model = Tagger.around(tiny_encoder("bert"), sizes=(3, 4, 5), pooling="mean", shape_size=4, lstm_size=6).train(False)
    reader = Reader(load_tokenizer(tiny_encoder("bert")), window=32)
    reading = reader.read(SENTENCES)
    alone = model(**reader.tensors(reading, reading.windows[:1]))
    together = model(**reader.tensors(reading, reading.windows))
    for one, many in zip(alone[:3], together[:3], strict=True):
        assert torch.allclose(one[0], many[0, : one.shape[1]], atol=1e-5)


def test_a_saved_tagger_loads_without_its_encoder(tiny_encoder: Callable[[str], str], tmp_path: object) -> None:
    model = Tagger.around(tiny_encoder("bert"), sizes=(3, 4, 5), shape_size=4, lstm_size=6).train(False)
    model.save_pretrained(tmp_path)
    loaded = Tagger.from_pretrained(tmp_path)
    for name, weight in model.state_dict().items():
        assert torch.equal(weight, loaded.state_dict()[name]), name
