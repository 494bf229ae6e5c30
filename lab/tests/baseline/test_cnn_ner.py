"""CNN-NER learns a small corpus; its loss and decoding match slow literal implementations."""

import json
import math
import random
from collections.abc import Callable
from itertools import product
from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import AutoTokenizer
from typer import Typer
from typer.testing import CliRunner

from nestag.data.sentence import Entity, Sentence
from nestag.formats.corpus import write_corpus
from nestag.model.pretrained import load_encoder
from nestag.model.windows import LayoutMaker
from nestag.training.recipe import load_recipe
from nestag_lab.baseline import cnn_ner
from nestag_lab.baseline.cnn_ner import TrainingSet, f1_of, train
from nestag_lab.baseline.inference import THRESHOLD, Recognizer, best_types, joined, without_crossing
from nestag_lab.baseline.model import CnnNer, Sizes, cells, loss_of

SMALL = Sizes(biaffine=16, heads=2, channels=8, convolutions=2, length=4, shape=4, dropout=0.0)
PLACES = ["paris", "oslo", "rome", "lima", "bonn"]


def small_corpus() -> list[Sentence]:
    """Return 20 sentences in which a mayor holds a place."""
    draw = random.Random(1)
    sentences = []
    for number in range(20):
        before = draw.choices(["we", "saw", "then", "9"], k=draw.randrange(3))
        words = [*before, "mayor", "of", draw.choice(PLACES), "."]
        at = len(before)
        sentences.append(Sentence(words, [Entity(at, at + 3, "PER"), Entity(at + 2, at + 3, "GPE")], str(number)))
    return sentences


def test_cnn_ner_learns_twenty_sentences(tiny_encoder: Callable[[], str]) -> None:
    recipe = load_recipe("accurate").changed(
        {"encoder": tiny_encoder(), "steps": 120, "learning_rate": 3e-3, "head_learning_rate": 1e-2, "evaluations": 4}
    )
    corpus = small_corpus()
    run = train(corpus, corpus, recipe, sizes=SMALL, device="cpu")
    assert run.dev.f1 == 1.0
    assert f1_of(run.recognizer, corpus) == run.dev


def test_the_command_appends_a_line(
    tiny_encoder: Callable[[], str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cnn_ner, "load_recipe", lambda name: load_recipe(name).changed({"steps": 2, "evaluations": 1}))
    corpus, output = tmp_path / "towns.jsonl", tmp_path / "results.jsonl"
    write_corpus(small_corpus(), corpus)
    app = Typer()
    app.command()(cnn_ner.main)
    arguments = [*[str(corpus)] * 3, "--encoder", tiny_encoder(), "--sentences", "5", "-o", str(output)]
    for _ in range(2):
        result = CliRunner().invoke(app, arguments, catch_exceptions=False)
        assert result.exit_code == 0
    first, second = (json.loads(line) for line in output.read_text().splitlines())
    assert (first["sentences"], first["steps"], first["plan"]["sentences"]) == (5, 2, 5)
    assert {"f1", "precision", "recall"} == set(first["dev"]) == set(first["test"])
    assert first["dev"] == second["dev"]
    assert first["sentences_per_second"] > 0 < first["encoder_sentences_per_second"]


def test_products_match_a_literal_implementation(tiny_encoder: Callable[[], str]) -> None:
    model = untrained(tiny_encoder()).model
    start, end = torch.randn(2, 2, 3, 16)
    grid = model.products(start, end)
    for sentence, first, last, head, out in product(range(2), range(3), range(3), range(2), range(4)):
        own = slice(8 * head, 8 * head + 8)
        value = start[sentence, first, own] @ model.product[head, out] @ end[sentence, last, own]
        torch.testing.assert_close(grid[sentence, first, last, 4 * head + out], value)


def test_loss_matches_a_literal_implementation() -> None:
    torch.manual_seed(1)
    present = torch.tensor([[True, True, True], [True, True, False]] * 2)
    logits, gold = torch.randn(4, 3, 3, 2), (torch.rand(2, 3, 3, 2) < 0.3).float().repeat(2, 1, 1, 1)
    entropy = divergence = 0.0
    for sentence, start, end, kind in product(range(2), range(3), range(3), range(2)):
        if not (present[sentence, start] and present[sentence, end]):
            continue
        one, other = (1 / (1 + math.exp(-logits[row, start, end, kind])) for row in (sentence, sentence + 2))
        for probability in (one, other):
            right = probability if gold[sentence, start, end, kind] else 1 - probability
            entropy -= math.log(right)
        for p, q in ((one, other), (1 - one, 1 - other)):
            divergence += 0.5 * (p - q) * (math.log(p) - math.log(q))
    found = loss_of(logits, gold, cells(present), 5.0, rdrop=0.7)
    assert found.item() == pytest.approx(entropy / 2 / 5 + 0.7 * divergence / 5, rel=1e-5)
    alone = loss_of(logits[:2], gold[:2], cells(present[:2]), 2.0)
    assert alone.item() != pytest.approx(found.item())


def literal_decoding(logits: torch.Tensor, words: int) -> set[tuple[int, int, int]]:
    """Return the spans of one sentence, by comparing each span with all that were taken before."""
    probabilities = logits.sigmoid()
    candidates = []
    for start in range(words):
        for end in range(start, words):
            both = (probabilities[start, end] + probabilities[end, start]) / 2
            if both.max() >= THRESHOLD:
                candidates.append((both.max().item(), start, end + 1, int(both.argmax())))
    taken: list[tuple[float, int, int, int]] = []
    for candidate in sorted(candidates, reverse=True):
        own = set(range(candidate[1], candidate[2]))
        others = [set(range(one[1], one[2])) for one in taken]
        if all(not own & other or own <= other or other <= own for other in others):
            taken.append(candidate)
    return {candidate[1:] for candidate in taken}


@pytest.mark.parametrize("seed", range(20))
def test_decoding_matches_a_literal_implementation(seed: int) -> None:
    torch.manual_seed(seed)
    lengths = torch.tensor([7, 5, 1, 6])
    present = torch.arange(7) < lengths[:, None]
    logits = torch.randn(4, 7, 7, 3) - 0.7
    probability, best = best_types(logits, present)
    batch = np.array([2, 0, 3, 1])
    spans = without_crossing(joined([(batch, probability.numpy(), best.numpy())]))
    for row, sentence in enumerate(batch.tolist()):
        mine = spans.take(spans.sentence == sentence)
        columns = zip(mine.start.tolist(), mine.end.tolist(), mine.type.tolist(), strict=True)
        assert set(columns) == literal_decoding(logits[row], int(lengths[row]))


def untrained(encoder: str, max_length: int = 64) -> Recognizer:
    torch.manual_seed(1)
    model = CnnNer(load_encoder(encoder), 3, SMALL)
    torch.nn.init.normal_(model.types.weight, std=3.0)
    return Recognizer(model, LayoutMaker(AutoTokenizer.from_pretrained(encoder), max_length), ["A", "B", "C"])


def test_scores_do_not_depend_on_the_batch(tiny_encoder: Callable[[], str]) -> None:
    draw = random.Random(2)
    sentences = [draw.choices(["a", "bcd", "ef", "ghi"], k=draw.randrange(9)) for _ in range(30)]
    recognizer = untrained(tiny_encoder())
    together = recognizer.predict(sentences)
    assert sum(map(len, together)) > 30
    assert together == [recognizer.predict([sentence])[0] for sentence in sentences]


def test_training_and_inference_use_the_same_words(tiny_encoder: Callable[[], str]) -> None:
    corpus = [sentence.with_entities([]) for sentence in small_corpus()[:4]]
    recognizer = untrained(tiny_encoder())
    layout = recognizer.maker.lay_out([sentence.tokens for sentence in corpus])
    batch = TrainingSet.of(layout, corpus, recognizer.types).batch(np.arange(4), torch.device("cpu"))
    with torch.no_grad():
        hidden = recognizer.model.encode(batch.input_ids, batch.attention_mask)
        words = recognizer.model.word_vectors(hidden, batch.word, batch.shape.flatten())
    torch.testing.assert_close(words[(batch.shape >= 0).flatten()], recognizer._words(layout))


def test_gold_spans_fill_both_triangles_of_their_window(tiny_encoder: Callable[[], str]) -> None:
    sentence = Sentence(["ab"] * 12, [Entity(0, 2, "A"), Entity(10, 12, "B"), Entity(0, 12, "B")])
    layout = untrained(tiny_encoder(), max_length=16).maker.lay_out([sentence.tokens])
    corpus = TrainingSet.of(layout, [sentence], ["A", "B"])
    gold = corpus.batch(np.arange(len(layout.windows)), torch.device("cpu")).gold
    last = int(layout.windows.last[-1] - layout.windows.first[-1]) - 1
    expected = {(0, 0, 1, 0), (0, 1, 0, 0), (len(gold) - 1, last - 1, last, 1), (len(gold) - 1, last, last - 1, 1)}
    assert len(gold) > 1
    assert {tuple(cell) for cell in gold.nonzero().tolist()} == expected
