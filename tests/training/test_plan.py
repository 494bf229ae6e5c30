import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nestag.training.plan import average_for, batch_for, knows_language, plan_for, rough_plan, steps_for
from nestag.training.recipe import Recipe, load_recipe


@given(st.integers(1, 10**8))
def test_batches_and_steps_grow_with_the_corpus(subwords: int) -> None:
    assert 256 <= batch_for(subwords) <= batch_for(2 * subwords) <= 2048
    epoch_steps = 1 + subwords // 10_000
    assert 600 <= steps_for(epoch_steps) <= steps_for(2 * epoch_steps)
    assert steps_for(epoch_steps) >= 7 * epoch_steps


@pytest.mark.parametrize(
    ("sentences", "steps", "batch"),
    [(100, 600, 256), (500, 1_080, 544), (1_000, 1_500, 769), (4_000, 1_500, 1_538), (15_000, 1_911, 2_048)],
)
def test_steps_and_batches_by_corpus_size(sentences: int, steps: int, batch: int) -> None:
    """Golden numbers: the results were measured with this rule."""
    plan = plan_for(Recipe(), np.full(sentences, 37), 60_000)
    assert (plan.batch_subwords, plan.steps) == (batch, steps)
    assert plan_for(load_recipe("default"), np.full(sentences, 37), 60_000).steps == max(600, round(steps / 2))


def test_settings_override_the_rule() -> None:
    sizes = np.full(100, 30)
    plan = plan_for(
        Recipe(steps=50, batch_subwords=300, evaluations=5, early_stopping_patience=3, ema_decay=0.5), sizes, 1_000
    )
    assert (plan.steps, plan.batch_subwords, plan.epoch_steps) == (50, 300, 10)
    assert (plan.evaluate_every, plan.evaluations, plan.patience, plan.ema_decay) == (10, 5, 3, 0.5)
    plan = plan_for(
        Recipe(epochs=4, batch_subwords=300, warmup_ratio=0.25, gradient_accumulation_steps=3), sizes, 1_000
    )
    assert (plan.epoch_steps, plan.steps, plan.evaluations, plan.warmup_steps) == (4, 16, 4, 4)


def test_batch_has_as_many_sentences_with_context() -> None:
    alone = plan_for(Recipe(), np.full(15_000, 37), 60_000)
    among_others = plan_for(Recipe(), np.full(15_000, 111), 60_000, labelled=37 * 15_000)
    assert among_others.batch_subwords == 3 * alone.batch_subwords
    assert among_others.steps == pytest.approx(alone.steps, rel=0.02)
    given_size = plan_for(Recipe(batch_subwords=300), np.full(100, 111), 60_000, labelled=3_700)
    assert given_size.batch_subwords == 300


def test_dev_is_scored_less_often_if_it_is_large() -> None:
    few, many = (plan_for(Recipe(), np.full(200, 30), dev).evaluations for dev in (10**6, 10))
    assert (few, many) == (8, 20)


def test_average_covers_a_tenth_of_the_run() -> None:
    assert average_for(1_000) == pytest.approx(0.99)
    assert average_for(10) == pytest.approx(0.9)
    assert average_for(10**6) == pytest.approx(0.999)


def test_rough_plan_needs_no_tokenizer() -> None:
    assert rough_plan(Recipe(), 1_000, 26_000).steps == pytest.approx(1_500, rel=0.1)
    assert rough_plan(load_recipe("default"), 0, 0).steps == 600


def test_plan_as_text() -> None:
    plan = plan_for(
        Recipe(steps=50, batch_subwords=300, evaluations=5, early_stopping_patience=3), np.full(100, 30), 1_000
    )
    assert str(plan) == (
        "100 sentences of 3,000 subwords: 50 steps of up to 300 subwords (5 epochs), dev scored 5 times;"
        " stops after 3 without a better F1"
    )


@pytest.mark.parametrize(
    ("name", "known", "unknown"), [("default", 750, 1_500), ("accurate", 1_500, 3_000), ("light", 1_500, 3_000)]
)
def test_training_takes_twice_as_long_if_the_encoder_does_not_know_the_language(
    name: str, known: int, unknown: int
) -> None:
    recipe, sizes = load_recipe(name), np.full(4_000, 37)
    plans = [
        plan_for(recipe, sizes, 60_000, word_sizes=np.array(words)) for words in ([1, 2, 3, 1], [4, 1, 3], [3, 1, 3])
    ]
    assert [plan.steps for plan in plans] == [known, unknown, unknown]
    assert plans[0] == plan_for(recipe, sizes, 60_000)
    assert plans[1].warmup_steps == 2 * plans[0].warmup_steps
    for length in ({"steps": 50}, {"epochs": 5}):
        fixed = recipe.changed(length)
        assert plan_for(fixed, sizes, 60_000, word_sizes=np.array([4])) == plan_for(fixed, sizes, 60_000)


def test_language_is_known_if_a_third_of_the_words_are_split() -> None:
    assert knows_language(np.array([9, 2, 2]))
    assert not knows_language(np.array([9, 2, 2, 3]))
    assert knows_language(np.array([], dtype=np.int64))
