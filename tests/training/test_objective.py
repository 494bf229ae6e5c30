from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch

from nestag.data.sentence import Entity, Sentence
from nestag.model.pretrained import WHOLE_MASKS
from nestag.model.recognizer import load_tokenizer
from nestag.model.subwords import LayoutMaker
from nestag.model.tagger import SpanHead, Tagger
from nestag.training.dataset import GoldSpans
from nestag.training.optimization import divergence, loss_of, masked, twice
from nestag.training.recipe import Recipe
from nestag.training.run import train
from two_sentences import CORPUS, GOLD, MANY, quick

SENTENCES = [
    Sentence(["a"] * 9, [Entity(0, 1, "X"), Entity(2, 6, "X"), Entity(2, 6, "Y"), Entity(4, 6, "Y")]),
    Sentence([]),
    Sentence(["b"] * 40, [Entity(0, 40, "Y"), Entity(17, 18, "X")]),
]


def test_spans_are_the_entities_near_misses_and_others(tiny_encoder: Callable[[str], str]) -> None:
    layout = LayoutMaker(load_tokenizer(tiny_encoder("bert")), 20).lay_out([s.tokens for s in SENTENCES])
    gold = GoldSpans.of(SENTENCES)
    seen: set[tuple[int, int, int, str]] = set()
    for number in range(len(layout.windows)):
        batch = np.array([number])
        windows = layout.windows.take(batch)
        spans, types = gold.judged(windows, 1, batch)
        offset = int(windows.first[0]) - int(layout.subwords.word_offsets[windows.sentence[0]])
        size = int(windows.last[0] - windows.first[0])
        assert len({tuple(span) for span in spans.tolist()}) == len(spans)
        assert all(row == 0 and 0 <= first <= last < size for row, first, last in spans.tolist())
        wanted = {
            (entity.start - offset, entity.end - 1 - offset, entity.type)
            for entity in SENTENCES[windows.sentence[0]].entities
            if entity.start >= offset and entity.end <= offset + size
        }
        found = {(*spans[i, 1:].tolist(), "XY"[kind]) for i, kind in zip(*np.nonzero(types), strict=True)}
        assert found == wanted
        for first, last, _ in wanted:  # the words next to an entity's ends are near misses
            for miss in ((first - 1, last), (first, last + 1), (first + 1, last), (first, last - 1)):
                if 0 <= miss[0] <= miss[1] < size:
                    assert [0, *miss] in spans.tolist()
        seen |= {(int(windows.sentence[0]), *span) for span in found}
    assert (0, 2, 5, "Y") in seen
    assert not any(sentence == 2 and kind == "Y" for sentence, _, _, kind in seen)  # longer than any window


def test_what_is_drawn_depends_on_seed_and_batch_alone(tiny_encoder: Callable[[str], str]) -> None:
    layout = LayoutMaker(load_tokenizer(tiny_encoder("bert")), 64).lay_out([s.tokens for s in SENTENCES])
    gold = GoldSpans.of(SENTENCES)

    def drawn(seed: int, rows: list[int]) -> list[list[int]]:
        return gold.judged(layout.windows.take(rows), seed, np.array(rows)).spans.tolist()

    assert drawn(1, [0, 1]) == drawn(1, [0, 1])
    assert drawn(1, [0, 1]) != drawn(2, [0, 1])


def test_a_span_is_judged_by_its_ends_its_neighbours_and_what_is_inside() -> None:
    torch.manual_seed(0)
    head = SpanHead(6, 3, dropout=0.0)
    vectors, spans = torch.randn(2, 9, 6), torch.tensor([[1, 3, 5], [1, 0, 8], [0, 8, 8]])
    present = torch.ones(2, 9, dtype=torch.bool)
    scores = head.in_windows(vectors, present, spans)
    assert scores.shape == (3, 3)
    for word in range(9):
        moved = vectors.clone()
        moved[1, word] += 1
        changed = (head.in_windows(moved, present, spans) - scores).abs().sum(1) > 1e-6
        assert changed.tolist() == [2 <= word <= 6, True, False]


def test_two_readings_are_drawn_to_each_other() -> None:
    one = torch.tensor([[[2.0, 0.0], [0.0, 1.0]]])
    learned = torch.tensor([[True, False]] * 2)
    assert divergence([torch.cat([one, one])], learned).item() == 0
    p, q = one[0, 0].softmax(0), torch.tensor([0.5, 0.5])
    wanted = 0.5 * ((p * (p / q).log()).sum() + (q * (q / p).log()).sum())
    other = torch.tensor([[[0.0, 0.0], [9.0, 1.0]]])  # what is not learned does not count
    assert divergence([torch.cat([one, other])], learned).item() == pytest.approx(wanted.item())


def test_without_dropout_reading_twice_changes_nothing(tiny_encoder: Callable[[str], str]) -> None:
    encoder = tiny_encoder("bert")
    model = Tagger.around(encoder, sizes=(3, 4, 5), dropout=0.0, span_types=2).train(False)
    inputs = {
        "input_ids": torch.tensor([[2, 7, 8, 3]]), "attention_mask": torch.ones(1, 4, dtype=torch.long),
        "word": torch.tensor([[-1, 0, 1, -1]]), "shape": torch.tensor([[0, 0]]),
        "labels": torch.tensor([[[0, 1, 2], [2, 3, 4]]]), "spans": torch.tensor([[0, 0, 1], [0, 1, 1]]),
        "span_types": torch.tensor([[1.0, 0.0], [0.0, 0.0]]),
    }  # fmt: skip
    plain = loss_of(model, inputs, Recipe(span_loss=2.0))
    assert loss_of(model, inputs, Recipe(span_loss=2.0, rdrop=5.0)).item() == pytest.approx(plain.item(), rel=1e-5)
    assert plain.item() > loss_of(model, inputs, Recipe()).item() + 0.1
    assert twice(inputs)["spans"].tolist()[2:] == [[1, 0, 1], [1, 1, 1]]


@pytest.mark.parametrize("kind", [kind for kind in WHOLE_MASKS if kind != "camembert"])
def test_a_mask_of_four_dimensions_means_the_same(kind: str, tiny_encoder: Callable[[str], str]) -> None:
    model = Tagger.around(tiny_encoder(kind), sizes=(3, 4, 5)).train(False)
    assert model.mask_whole
    ids, mask = torch.tensor([[2, 7, 8, 3], [2, 9, 3, 0]]), torch.tensor([[1, 1, 1, 1], [1, 1, 1, 0]])
    plain = model.encoded(ids, mask)
    whole = model.encoder(input_ids=ids, attention_mask=mask[:, None, None, :].bool()).last_hidden_state
    assert torch.allclose(plain[mask == 1], whole[mask == 1], atol=1e-6)
    assert not torch.allclose(plain, model.encoder(input_ids=ids).last_hidden_state, atol=1e-6)


def test_a_model_learns_with_everything_at_once(tiny_encoder: Callable[[str], str], tmp_path: Path) -> None:
    recipe = quick(tiny_encoder("bert"), span_loss=1.0, rdrop=1.0, dropout=0.1)
    run = train(MANY, CORPUS, tmp_path / "model", recipe, use_cpu=True)
    assert run.recognizer.predict(CORPUS) == GOLD


def test_a_share_of_the_words_subwords_is_hidden() -> None:
    torch.manual_seed(0)
    ids, word = torch.arange(5, 4005).reshape(4, 1000), torch.arange(1000).repeat(4, 1)
    word[:, ::10] = -1
    found = masked(ids, word, 0.25, mask=4)
    assert torch.equal(found[word < 0], ids[word < 0])
    hidden = found != ids
    assert set(found[hidden].tolist()) == {4}
    assert hidden[word >= 0].float().mean().item() == pytest.approx(0.25, abs=0.03)
    assert not torch.equal(hidden[0], hidden[1])
