"""Parameter groups and schedules match worked examples."""

from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from nestag.model.tagger import Tagger
from nestag.training.optimization import (
    LOWEST,
    Average,
    copy_weights,
    freezes_encoder,
    layer_of,
    optimizer_of,
    scheduler_of,
)
from nestag.training.plan import plan_for
from nestag.training.recipe import Recipe, load_recipe


def factors(recipe: Recipe, steps: int) -> list[list[float]]:
    """The rates of an encoder's and a head's weight at each step, for a corpus that is seen in so many steps."""
    weights = [torch.nn.Parameter(torch.zeros(1)) for _ in range(2)]
    groups = [
        {"params": [weights[0]], "lr": 1.0, "is_head": False},
        {"params": [weights[1]], "lr": 1.0, "is_head": True},
    ]
    optimizer = torch.optim.AdamW(groups)
    plan = plan_for(recipe.changed({"batch_subwords": 10}), np.full(steps, 10), 1)
    assert plan.epoch_steps == steps
    scheduler = scheduler_of(optimizer, recipe, plan)
    rates = []
    for _ in range(plan.steps):
        rates.append([group["lr"] for group in optimizer.param_groups])
        optimizer.step()
        scheduler.step()
    return rates


MACHAMP = {
    # step counted from 1 -> rate over the group's own, worked out from MaChAmp's definitions for 10 steps an epoch,
    # 3 epochs and cut_frac 0.3: (1 + share * 31) / 32. Epoch 1 is a triangle of 10 steps that peaks at step 3, the
    # rest one of 20 steps that peaks at its step 6.
    1: (1 + 31 * 1 / 3) / 32,
    2: (1 + 31 * 2 / 3) / 32,
    3: 1.0,
    4: (1 + 31 * 6 / 7) / 32,
    10: 1 / 32,
    11: (1 + 31 * 1 / 6) / 32,
    15: (1 + 31 * 5 / 6) / 32,
    16: 1.0,
    17: (1 + 31 * 13 / 14) / 32,
    30: 1 / 32,
}


def test_slanted_schedule_is_that_of_machamp() -> None:
    rates = factors(Recipe(lr_scheduler_type="slanted_triangular", epochs=3, warmup_ratio=0.3), 10)
    assert len(rates) == 30
    assert {step: rates[step - 1] for step in MACHAMP} == {
        step: pytest.approx([rate, rate]) for step, rate in MACHAMP.items()
    }


def test_peak_of_the_slanted_schedule_is_rounded_down() -> None:
    rates = [
        head for _, head in factors(Recipe(lr_scheduler_type="slanted_triangular", epochs=2, warmup_ratio=0.3), 9)
    ]  # cut at 2 of 9
    epoch = [(1 + 31 * share) / 32 for share in (1 / 2, 1, 6 / 7, 5 / 7, 4 / 7, 3 / 7, 2 / 7, 1 / 7, 0)]
    assert rates == pytest.approx([*epoch, *epoch])


def test_slanted_schedule_without_warmup_only_falls() -> None:
    rates = [head for _, head in factors(Recipe(lr_scheduler_type="slanted_triangular", epochs=1, warmup_ratio=0.3), 3)]
    assert LOWEST == 32
    assert rates == pytest.approx([(1 + 31 * share) / 32 for share in (2 / 3, 1 / 3, 0)])


@pytest.mark.parametrize(("step", "frozen"), [(0, True), (9, True), (10, False), (29, False)])
def test_slanted_run_freezes_the_encoder_for_one_epoch(step: int, frozen: bool) -> None:
    recipe = Recipe(lr_scheduler_type="slanted_triangular", epochs=3, batch_subwords=10)
    assert freezes_encoder(recipe, plan_for(recipe, np.full(10, 10), 1), step) is frozen
    assert not freezes_encoder(Recipe(), plan_for(recipe, np.full(10, 10), 1), step)


def test_parameter_groups_of_the_paper_match_machamp(tiny_encoder: Callable[[str], str]) -> None:
    """Two groups, all of it decayed, the heads at 1e-4 and the encoder at 0.38 of that."""
    groups = optimizer_of(Tagger.around(tiny_encoder("bert"), sizes=(3, 4, 5)), load_recipe("paper"), 100).param_groups
    assert [(group["is_head"], group["weight_decay"], group["betas"], group["eps"]) for group in groups] == [
        (False, 0.01, (0.9, 0.99), 1e-8),
        (True, 0.01, (0.9, 0.99), 1e-8),
    ]
    assert [group["lr"] for group in groups] == pytest.approx([0.38 * 1e-4, 1e-4])
    assert len(groups[1]["params"]) == 6


def test_linear_schedule_rises_and_falls_to_zero() -> None:
    rates = [encoder for encoder, _ in factors(Recipe(lr_scheduler_type="linear", epochs=2, warmup_ratio=0.2), 10)]
    assert rates[:4] == pytest.approx([0.25, 0.5, 0.75, 1.0])
    assert rates[4:] == pytest.approx([(20 - step) / 16 for step in range(4, 20)])
    assert all(a >= b for a, b in pairwise(rates[4:]))


def test_short_linear_schedules() -> None:
    assert factors(Recipe(lr_scheduler_type="linear", epochs=1, warmup_ratio=0.5), 2) == [[1.0, 1.0]] * 2
    assert [a for a, _ in factors(Recipe(lr_scheduler_type="linear", epochs=1, warmup_ratio=0.5), 4)] == [
        0.5,
        1.0,
        1.0,
        0.5,
    ]
    assert [a for a, _ in factors(Recipe(lr_scheduler_type="linear", epochs=1, warmup_ratio=1.0), 4)] == [
        0.25,
        0.5,
        0.75,
        1.0,
    ]


def test_constant_schedule_only_warms_up() -> None:
    rates = [
        encoder
        for encoder, _ in factors(Recipe(lr_scheduler_type="constant_with_warmup", epochs=1, warmup_ratio=0.4), 10)
    ]
    assert rates == pytest.approx([0.25, 0.5, 0.75, *[1.0] * 7])


@pytest.mark.parametrize(("name", "layer"), [("encoder.layers.3.attn.weight", 4), ("encoder.embeddings.weight", 0)])
def test_layers_are_read_from_names(name: str, layer: int) -> None:
    assert layer_of(name) == layer


def test_learning_rate_and_weight_decay_of_each_weight(tiny_encoder: Callable[[str], str]) -> None:
    recipe = Recipe(learning_rate=0.1, head_learning_rate=0.5, layer_decay=0.5, weight_decay=0.01)
    model = Tagger.around(tiny_encoder("bert"), sizes=(3, 4, 5), shape_size=4)
    groups = {
        id(weight): group for group in optimizer_of(model, recipe, 100).param_groups for weight in group["params"]
    }
    names = dict(model.named_parameters())
    assert len(groups) == len(names)

    def group(name: str) -> tuple[float, float, bool]:
        settings = groups[id(names[name])]
        return settings["lr"], settings["weight_decay"], settings["is_head"]

    assert group("heads.0.weight") == (0.5, 0.01, True)
    assert group("heads.0.bias") == (0.5, 0.0, True)
    assert group("shapes.weight") == (0.5, 0.01, True)
    assert group("encoder.encoder.layer.1.output.dense.weight") == (0.1, 0.01, False)  # the highest: not slowed down
    assert group("encoder.encoder.layer.0.output.dense.weight") == (0.05, 0.01, False)
    assert group("encoder.embeddings.word_embeddings.weight") == (0.025, 0.01, False)
    assert group("encoder.embeddings.LayerNorm.weight") == (0.025, 0.0, False)


def test_groups_of_heads_come_last_and_betas_match_the_recipe(tiny_encoder: Callable[[str], str]) -> None:
    recipe = Recipe(learning_rate=0.9, head_learning_rate=0.1, adam_beta1=0.7, adam_beta2=0.8)
    optimizer = optimizer_of(Tagger.around(tiny_encoder("bert"), sizes=(3, 4, 5), shape_size=4), recipe, 100)
    is_head = [group["is_head"] for group in optimizer.param_groups]
    assert is_head == sorted(is_head)
    assert set(is_head) == {False, True}
    assert all(group["betas"] == (0.7, 0.8) and group["fused"] for group in optimizer.param_groups)


@pytest.mark.parametrize(
    ("encoder", "sentences", "pretrained", "new"),
    [("light", 400, 1e-4, 3e-3), ("light", 2_000, 1e-4, 3e-3), ("light", 2_001, 1e-3, 1e-3), (None, 400, None, 1e-3)],
)
def test_new_layers_of_a_light_encoder_learn_faster_in_small_corpora(
    encoder: str | None, sentences: int, pretrained: float | None, new: float, tiny_encoder: Callable[[str], str]
) -> None:
    recipe = load_recipe("light")
    model = Tagger.around(
        encoder or f"light:{tiny_encoder('bert')}", recipe.light_size if encoder else 8, sizes=(3, 4, 5), span_types=2,
        shape_size=recipe.shape_size, conv_size=recipe.conv_size, conv_layers=recipe.conv_layers,
    )  # fmt: skip
    names = {id(weight): name for name, weight in model.named_parameters()}
    groups = optimizer_of(model, recipe, sentences).param_groups
    rates = {names[id(weight)]: group["lr"] for group in groups for weight in group["params"]}
    body = {rate for name, rate in rates.items() if name.startswith(("shapes.", "narrow.", "convolutions."))}
    assert rates.pop("encoder.embeddings.weight") == 3e-3
    assert {rate for name, rate in rates.items() if name.startswith(("heads.", "spans."))} == {new}
    assert body == {pretrained or new}


def test_given_learning_rate_applies_to_pretrained_layers_too() -> None:
    recipe = load_recipe("light").changed({"head_learning_rate": 0.5})
    model = Tagger.around("light", sizes=(3, 4, 5), shape_size=recipe.shape_size, conv_size=recipe.conv_size)
    assert model.pretrained_layers
    assert {group["lr"] for group in optimizer_of(model, recipe, 400).param_groups} == {recipe.learning_rate, 0.5}


def test_lower_layers_have_lower_learning_rates() -> None:
    names = ["embeddings", *(f"layer.{number}.dense" for number in range(5))]
    model = torch.nn.Module()
    weights = {f"encoder.{name}.weight": torch.nn.Parameter(torch.zeros(2, 2)) for name in names}
    model.named_parameters = weights.items  # type: ignore[assignment,method-assign]
    model.parameters = weights.values  # type: ignore[assignment,method-assign]
    model.pretrained_layers = frozenset()  # type: ignore[assignment]
    groups = optimizer_of(model, Recipe(learning_rate=1.0, layer_decay=0.5), 100).param_groups  # type: ignore[arg-type]
    rates = {id(weight): group["lr"] for group in groups for weight in group["params"]}
    assert [rates[id(weight)] for weight in weights.values()] == [0.5**below for below in (5, 4, 3, 2, 1, 0)]


def test_optimizer_is_not_fused_on_other_devices(tiny_encoder: Callable[[str], str]) -> None:
    model = Tagger.around(tiny_encoder("bert"), sizes=(3, 4, 5)).to("meta")
    assert not any(group["fused"] for group in optimizer_of(model, Recipe(), 100).param_groups)


@given(st.lists(st.floats(-10, 10, width=32), min_size=1, max_size=30), st.floats(0, 1))
def test_average_follows_its_definition(values: list[float], decay: float) -> None:
    model = torch.nn.Linear(1, 1, bias=False)
    average = Average(model, decay)
    expected = model.weight.item()
    for step, value in enumerate(values, 1):
        model.weight.data.fill_(value)
        average.update()
        keep = min(decay, (1 + step) / (10 + step))
        expected = keep * expected + (1 - keep) * value
    assert average.module.weight.item() == pytest.approx(expected, abs=1e-4)


def test_averaging_leaves_the_model_alone_and_averages_no_whole_numbers() -> None:
    model = torch.nn.BatchNorm1d(1)  # which has a whole number among its weights
    average = Average(model, 0.5)
    model.weight.data.fill_(5.0)
    model.num_batches_tracked.fill_(3)
    average.update()
    assert 1 < average.module.weight.item() < 5
    assert average.module.num_batches_tracked.item() == 3  # counted, not averaged
    assert (model.weight.item(), model.num_batches_tracked.item()) == (5.0, 3)


def test_saved_average_can_be_continued() -> None:
    model = torch.nn.Linear(1, 1, bias=False)
    whole, parted = Average(model, 0.9), Average(model, 0.9)
    for value in (1.0, 2.0, 3.0, 4.0):
        model.weight.data.fill_(value)
        whole.update()
        parted.update()
        later = Average(model, 0.9)
        later.load_state_dict(copy_weights(parted))
        parted = later
    assert torch.equal(parted.module.weight, whole.module.weight)
