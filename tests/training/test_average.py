import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from nestag.training.optimization import Average


@given(st.lists(st.floats(-10, 10, width=32), min_size=1, max_size=30), st.floats(0, 1))
def test_an_average_follows_its_definition(values: list[float], decay: float) -> None:
    model = torch.nn.Linear(1, 1, bias=False)
    average = Average(model, decay)
    expected = model.weight.item()
    for step, value in enumerate(values, 1):
        model.weight.data.fill_(value)
        average.update()
        keep = min(decay, (1 + step) / (10 + step))
        expected = keep * expected + (1 - keep) * value
    assert average.weights["weight"].item() == pytest.approx(expected, abs=1e-4)


def test_learned_weights_are_restored_after_the_average() -> None:
    model = torch.nn.BatchNorm1d(1)  # which has a whole number among its weights
    average = Average(model, 0.5)
    model.weight.data.fill_(5.0)
    model.num_batches_tracked.fill_(3)
    average.update()
    with average.swapped_in():
        assert 1 < model.weight.item() < 5
        assert model.num_batches_tracked.item() == 3  # counted, not averaged
    assert (model.weight.item(), model.num_batches_tracked.item()) == (5.0, 3)


def test_a_saved_average_goes_on() -> None:
    model = torch.nn.Linear(1, 1, bias=False)
    whole, parted = Average(model, 0.9), Average(model, 0.9)
    for value in (1.0, 2.0, 3.0, 4.0):
        model.weight.data.fill_(value)
        whole.update()
        parted.update()
        later = Average(model, 0.9)
        later.restore(parted.steps, {name: weight.clone() for name, weight in parted.weights.items()})
        parted = later
    assert torch.equal(parted.weights["weight"], whole.weights["weight"])
