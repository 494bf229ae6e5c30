from itertools import pairwise
from pathlib import Path

import pytest
import torch

from nestag.errors import InputError, UnknownNameError
from nestag.optimizing import layer_of, scheduler_of
from nestag.recipe import Recipe, load_recipe


def test_the_paper_is_the_published_configuration() -> None:
    paper = load_recipe("paper")
    assert (paper.pooling, paper.decoding, paper.sentences, paper.budget, paper.window) == (
        "first",
        "greedy",
        32,
        1024,
        128,
    )
    assert (paper.beta1, paper.beta2, paper.weight_decay, paper.dropout, paper.epochs) == (0.9, 0.99, 0.01, 0.2, 20)
    assert paper.head_learning_rate == 1e-4
    assert paper.learning_rate == pytest.approx(1e-4 * 0.38)
    assert (paper.schedule, paper.warmup, paper.ema, paper.lstm_size) == ("slanted", 0.3, 0.0, 0)


def test_a_recipe_is_read_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text('encoding = "4tg"\nepochs = 3\n')
    assert load_recipe(str(path)) == Recipe(encoding="4tg", epochs=3)
    path.write_text("epoch = 3\n")
    with pytest.raises(InputError, match="no setting is called 'epoch'"):
        load_recipe(str(path))
    path.write_text("epochs = = 3\n")
    with pytest.raises(InputError, match="not TOML"):
        load_recipe(str(path))


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("epoch", "3", "no setting"),
        ("epochs", "x", "kind int"),
        ("pooling", "max", "one of first"),
        ("ema", "-1", "negative"),
        ("learning_rate", "nan", "negative"),
        ("clip", "inf", "without end"),
        ("budget", "0", "1 or more"),
        ("epochs", "0", "1 or more"),
    ],
)
def test_unknown_settings_and_wrong_values_are_refused(name: str, value: str, told: str) -> None:
    with pytest.raises(UnknownNameError, match=told):
        Recipe().changed({name: value})


def test_an_unknown_recipe_is_refused() -> None:
    with pytest.raises(UnknownNameError, match="there are default, demo, paper"):
        load_recipe("secret")


def factors(recipe: Recipe, steps: int) -> list[list[float]]:
    weights = [torch.nn.Parameter(torch.zeros(1)) for _ in range(2)]
    groups = [{"params": [weights[0]], "lr": 1.0, "ours": False}, {"params": [weights[1]], "lr": 1.0, "ours": True}]
    optimizer = torch.optim.AdamW(groups)
    scheduler = scheduler_of(optimizer, recipe, steps)
    seen = []
    for _ in range(steps * recipe.epochs):
        seen.append([group["lr"] for group in optimizer.param_groups])
        optimizer.step()
        scheduler.step()
    return seen


def test_the_slanted_schedule_freezes_the_encoder_for_an_epoch_and_rises_steeply() -> None:
    seen = factors(Recipe(schedule="slanted", epochs=3, warmup=0.3), 10)
    assert all(encoder == 0 for encoder, _ in seen[:10])
    assert all(encoder == ours > 0 for encoder, ours in seen[10:])
    assert max(seen[10:])[1] == seen[16][1] == pytest.approx(1.0)  # 0.3 of the 20 steps left
    assert seen[3][1] == pytest.approx(1.0)


def test_the_linear_schedule_rises_and_falls_to_nothing() -> None:
    seen = [encoder for encoder, _ in factors(Recipe(schedule="linear", epochs=2, warmup=0.2), 10)]
    assert max(seen) == pytest.approx(1.0, abs=0.07)
    assert seen[0] < seen[1] < seen[3]
    assert seen[-1] < 0.1
    assert all(a >= b for a, b in pairwise(seen[4:]))


@pytest.mark.parametrize(("name", "layer"), [("encoder.layers.3.attn.weight", 4), ("encoder.embeddings.weight", 0)])
def test_layers_are_read_from_names(name: str, layer: int) -> None:
    assert layer_of(name) == layer
