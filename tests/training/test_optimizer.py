"""Groups and schedules against numbers worked out by hand."""

from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pytest
import torch

from nestag.model.tagger import Tagger
from nestag.training.optimization import LOWEST, freezes_encoder, layer_of, optimizer_of, scheduler_of
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
    seen = []
    for _ in range(plan.steps):
        seen.append([group["lr"] for group in optimizer.param_groups])
        optimizer.step()
        scheduler.step()
    return seen


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


def test_the_slanted_schedule_is_machamp_s() -> None:
    seen = factors(Recipe(lr_scheduler_type="slanted_triangular", epochs=3, warmup_ratio=0.3), 10)
    assert len(seen) == 30
    assert {step: seen[step - 1] for step in MACHAMP} == {
        step: pytest.approx([rate, rate]) for step, rate in MACHAMP.items()
    }


def test_the_cut_is_rounded_down_as_machamp_rounds_it() -> None:
    seen = [
        ours for _, ours in factors(Recipe(lr_scheduler_type="slanted_triangular", epochs=2, warmup_ratio=0.3), 9)
    ]  # cut at 2 of 9
    one = [(1 + 31 * share) / 32 for share in (1 / 2, 1, 6 / 7, 5 / 7, 4 / 7, 3 / 7, 2 / 7, 1 / 7, 0)]
    assert seen == pytest.approx([*one, *one])


def test_a_cut_of_no_step_only_falls() -> None:
    seen = [ours for _, ours in factors(Recipe(lr_scheduler_type="slanted_triangular", epochs=1, warmup_ratio=0.3), 3)]
    assert LOWEST == 32
    assert seen == pytest.approx([(1 + 31 * share) / 32 for share in (2 / 3, 1 / 3, 0)])


@pytest.mark.parametrize(("step", "frozen"), [(0, True), (9, True), (10, False), (29, False)])
def test_the_encoder_is_frozen_for_the_first_epoch_of_a_slanted_run(step: int, frozen: bool) -> None:
    recipe = Recipe(lr_scheduler_type="slanted_triangular", epochs=3, batch_subwords=10)
    assert freezes_encoder(recipe, plan_for(recipe, np.full(10, 10), 1), step) is frozen
    assert not freezes_encoder(Recipe(), plan_for(recipe, np.full(10, 10), 1), step)


def test_the_groups_of_the_paper_are_machamp_s(tiny_encoder: Callable[[str], str]) -> None:
    """Two groups, all of it decayed, the heads at 1e-4 and the encoder at 0.38 of that."""
    groups = optimizer_of(Tagger.around(tiny_encoder("bert"), sizes=(3, 4, 5)), load_recipe("paper")).param_groups
    assert [(group["is_head"], group["weight_decay"], group["betas"], group["eps"]) for group in groups] == [
        (False, 0.01, (0.9, 0.99), 1e-8),
        (True, 0.01, (0.9, 0.99), 1e-8),
    ]
    assert [group["lr"] for group in groups] == pytest.approx([0.38 * 1e-4, 1e-4])
    assert len(groups[1]["params"]) == 6


def test_the_linear_schedule_rises_and_falls_to_nothing() -> None:
    seen = [encoder for encoder, _ in factors(Recipe(lr_scheduler_type="linear", epochs=2, warmup_ratio=0.2), 10)]
    assert seen[:4] == pytest.approx([0.25, 0.5, 0.75, 1.0])
    assert seen[4:] == pytest.approx([(20 - step) / 16 for step in range(4, 20)])
    assert all(a >= b for a, b in pairwise(seen[4:]))


def test_a_linear_schedule_of_two_steps_falls_in_one() -> None:
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


def test_the_constant_schedule_only_rises() -> None:
    seen = [
        encoder
        for encoder, _ in factors(Recipe(lr_scheduler_type="constant_with_warmup", epochs=1, warmup_ratio=0.4), 10)
    ]
    assert seen == pytest.approx([0.25, 0.5, 0.75, *[1.0] * 7])


@pytest.mark.parametrize(("name", "layer"), [("encoder.layers.3.attn.weight", 4), ("encoder.embeddings.weight", 0)])
def test_layers_are_read_from_names(name: str, layer: int) -> None:
    assert layer_of(name) == layer


def test_every_weight_learns_at_its_own_rate(tiny_encoder: Callable[[str], str]) -> None:
    recipe = Recipe(learning_rate=0.1, head_learning_rate=0.5, layer_decay=0.5, weight_decay=0.01)
    model = Tagger.around(tiny_encoder("bert"), sizes=(3, 4, 5), shape_size=4)
    groups = {id(weight): group for group in optimizer_of(model, recipe).param_groups for weight in group["params"]}
    names = dict(model.named_parameters())
    assert len(groups) == len(names)

    def group(name: str) -> tuple[float, float, bool]:
        found = groups[id(names[name])]
        return found["lr"], found["weight_decay"], found["is_head"]

    assert group("heads.0.weight") == (0.5, 0.01, True)
    assert group("heads.0.bias") == (0.5, 0.0, True)
    assert group("shapes.weight") == (0.5, 0.01, True)
    assert group("encoder.encoder.layer.1.output.dense.weight") == (0.1, 0.01, False)  # the highest: not slowed down
    assert group("encoder.encoder.layer.0.output.dense.weight") == (0.05, 0.01, False)
    assert group("encoder.embeddings.word_embeddings.weight") == (0.025, 0.01, False)
    assert group("encoder.embeddings.LayerNorm.weight") == (0.025, 0.0, False)


def test_groups_of_heads_come_last_and_adam_has_the_recipe_s_betas(tiny_encoder: Callable[[str], str]) -> None:
    recipe = Recipe(learning_rate=0.9, head_learning_rate=0.1, adam_beta1=0.7, adam_beta2=0.8)
    optimizer = optimizer_of(Tagger.around(tiny_encoder("bert"), sizes=(3, 4, 5), shape_size=4), recipe)
    ours = [group["is_head"] for group in optimizer.param_groups]
    assert ours == sorted(ours)
    assert set(ours) == {False, True}
    assert all(group["betas"] == (0.7, 0.8) and group["fused"] for group in optimizer.param_groups)


def test_each_layer_further_down_learns_more_slowly() -> None:
    names = ["embeddings", *(f"layer.{number}.dense" for number in range(5))]
    model = torch.nn.Module()
    weights = {f"encoder.{name}.weight": torch.nn.Parameter(torch.zeros(2, 2)) for name in names}
    model.named_parameters = weights.items  # type: ignore[assignment,method-assign]
    model.parameters = weights.values  # type: ignore[assignment,method-assign]
    groups = optimizer_of(model, Recipe(learning_rate=1.0, layer_decay=0.5)).param_groups  # type: ignore[arg-type]
    rates = {id(weight): group["lr"] for group in groups for weight in group["params"]}
    assert [rates[id(weight)] for weight in weights.values()] == [0.5**below for below in (5, 4, 3, 2, 1, 0)]


def test_a_device_that_has_no_fused_step_gets_the_plain_one(tiny_encoder: Callable[[str], str]) -> None:
    model = Tagger.around(tiny_encoder("bert"), sizes=(3, 4, 5)).to("meta")
    assert not any(group["fused"] for group in optimizer_of(model, Recipe()).param_groups)
