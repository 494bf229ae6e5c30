from pathlib import Path

import pytest

from nestag.errors import InputError, SettingError, UnknownNameError
from nestag.training.recipe import Recipe, load_recipe


def test_recipe_paper_is_the_published_configuration() -> None:
    paper = load_recipe("paper")
    assert (paper.pooling, paper.decoding, paper.node_label_strategy) == ("last", "greedy", "majority")
    assert (paper.batching, paper.batch_sentences, paper.batch_subwords) == ("fixed", 32, 1024)
    assert (paper.max_length, paper.windows, paper.context) == (128, "disjoint", 0)
    assert (paper.decay_all_parameters, paper.max_grad_norm, paper.precision, paper.head_init) == (
        True,
        0.0,
        "float32",
        "linear",
    )
    assert (paper.metric_for_best_model, paper.evaluations, paper.gradient_accumulation_steps) == (
        "label_accuracy",
        "auto",
        1,
    )
    assert (paper.layer_decay, paper.shape_size) == (1.0, 0)
    assert (paper.adam_beta1, paper.adam_beta2, paper.weight_decay, paper.dropout) == (0.9, 0.99, 0.01, 0.2)
    assert (paper.epochs, paper.early_stopping_patience, paper.head_learning_rate) == (30, 0, 1e-4)
    assert paper.learning_rate == pytest.approx(1e-4 * 0.38)
    assert (paper.lr_scheduler_type, paper.warmup_ratio, paper.ema_decay, paper.conv_size) == (
        "slanted_triangular",
        0.3,
        0.0,
        0,
    )


def test_recipe_default_sets_neither_steps_nor_batch_size() -> None:
    default = load_recipe("default")
    open_settings = ("steps", "epochs", "batch_subwords", "evaluations", "early_stopping_patience", "ema_decay")
    assert {getattr(default, name) for name in open_settings} == {"auto"}


def test_recipe_is_read_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text('encoding = "4tg"\nepochs = 3\nema_decay = "auto"\n')
    assert load_recipe(str(path)) == Recipe(encoding="4tg", epochs=3)
    path.write_text("epoch = 3\n")
    with pytest.raises(SettingError, match=r"mine\.toml: there is no setting 'epoch'; did you mean 'epochs'"):
        load_recipe(str(path))
    for text in ("epochs = = 3\n", f"epochs = {'9' * 5_000}\n"):
        path.write_text(text)
        with pytest.raises(InputError, match="not TOML"):
            load_recipe(str(path))
    (tmp_path / "folder.toml").mkdir()
    with pytest.raises(InputError, match="cannot be read"):
        load_recipe(str(tmp_path / "folder.toml"))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("epoch", "3"), ("epochs", "x"), ("epochs", "0"), ("pooling", "max"), ("ema_decay", "-1"), ("ema_decay", "1"),
        ("learning_rate", "nan"), ("learning_rate", "1e300"), ("max_grad_norm", "inf"), ("batch_subwords", "0"),
        ("dropout", "2"), ("dropout", "1"), ("adam_beta1", "1"), ("max_length", "2"), ("steps", "1.5"),
    ],
)  # fmt: skip
def test_unknown_settings_and_wrong_values_are_refused(name: str, value: str) -> None:
    with pytest.raises(SettingError, match=name):
        Recipe().changed({name: value}, "--set", text=True)


def test_steps_and_epochs_are_exclusive() -> None:
    assert (Recipe(epochs=3).changed({"steps": 9}).epochs, Recipe(steps=3).changed({"epochs": 9}).steps) == (
        "auto",
    ) * 2
    with pytest.raises(SettingError, match="both steps and epochs"):
        Recipe().changed({"steps": 9, "epochs": 2})


def test_an_unknown_recipe_is_refused() -> None:
    with pytest.raises(UnknownNameError, match="there are accurate, default, light, paper, or give"):
        load_recipe("secret")


def test_recipe_accurate_decodes_spans() -> None:
    assert load_recipe("accurate").decoding == "spans"
    assert load_recipe("default").decoding == "constrained"


@pytest.mark.parametrize("content", [b'encoder = "\xff"', b"epochs = " + b"[" * 5_000, b"\0"])
def test_file_that_is_not_a_recipe_is_refused(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_bytes(content)
    with pytest.raises(InputError, match=r"a\.toml: (not TOML|the recipe cannot be read)"):
        load_recipe(str(tmp_path / "a.toml"))
