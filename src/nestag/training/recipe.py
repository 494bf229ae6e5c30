"""Recipes: every setting of a training run, as a file that people can read and copy.

A recipe is a TOML file of the fields below. Missing fields have their defaults, and `"auto"` lets the corpus decide
(plan.py). Four come with the package: `default`; `accurate`, which is better and takes up to twice as long; `light`,
for the light encoder; and `paper`, the published configuration.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal

from nestag.data.validation import changed, setting
from nestag.errors import InputError, SettingError, UnknownNameError
from nestag.model.encoders import is_light
from nestag.model.settings import LayerSettings, PredictionSettings

Auto = Literal["auto"]


@dataclass(frozen=True)
class Start:
    """What is trained."""

    encoder: str = setting("minilm", help="minilm, light, a folder, or a name on the hub")
    light_size: int = setting(192, minimum=1, maximum=4096, help="vector size of a new light encoder")
    encoding: str = setting("rel", help="abs, rel, dyn or 4tg")
    head_init: Literal["normal", "linear"] = setting(
        "normal", help="initial weights of the heads: normal with a standard deviation of 0.02, or nn.Linear's default"
    )


@dataclass(frozen=True)
class Recipe(PredictionSettings, LayerSettings, Start):
    """The settings of a training run; "auto" means that the corpus decides."""

    # how long and in what portions
    steps: int | Auto = setting("auto", minimum=1, help="optimizer steps in total")
    steps_factor: float = setting(
        1.0, above=0, maximum=100, help="multiplies the steps that the corpus decides; R-Drop needs about half as many"
    )
    epochs: int | Auto = setting("auto", minimum=1, help="epochs; replaces steps")
    batching: Literal["shuffled", "fixed"] = setting("shuffled", help="new batches each epoch, or MaChAmp's fixed ones")
    batch_subwords: int | Auto = setting(
        "auto", minimum=1, help="maximum subwords in a batch, with padding if shuffled"
    )
    batch_sentences: int = setting(10_000, minimum=1, help="maximum sentences in a batch")
    gradient_accumulation_steps: int = setting(1, minimum=1, maximum=1024, help="batches per step")
    evaluations: int | Auto = setting("auto", minimum=1, help="number of evaluations on dev, evenly over the run")
    early_stopping_patience: int | Auto = setting(
        "auto", minimum=0, help="early stopping: evaluations without improvement; 0 for none"
    )
    metric_for_best_model: Literal["f1", "label_accuracy"] = setting(
        "f1", help="what selects the best weights on dev: entity F1, or the sum of the heads' label accuracies"
    )

    # how it learns
    learning_rate: float = setting(2e-4, minimum=0, maximum=1, help="learning rate of the encoder")
    head_learning_rate: float | Auto = setting(
        1e-3,
        minimum=0,
        maximum=1,
        help="learning rate of everything else; auto is 1e-3, but with light and a small corpus 3e-3, and 1e-4 for its"
        " pretrained layers",
    )
    layer_decay: float = setting(1.0, above=0, maximum=1, help="factor on the learning rate for each lower layer")
    lr_scheduler_type: Literal["linear", "slanted_triangular", "constant_with_warmup"] = setting(
        "linear", help="learning rate schedule; MaChAmp's slanted_triangular freezes the encoder in epoch 1"
    )
    warmup_ratio: float = setting(0.1, minimum=0, maximum=1, help="share of the steps for linear warmup")
    weight_decay: float = setting(0.01, minimum=0, maximum=1, help="weight decay")
    decay_all_parameters: bool = setting(False, help="apply weight decay to biases and norms too")
    adam_beta1: float = setting(0.9, minimum=0, below=1, help="of AdamW")
    adam_beta2: float = setting(0.999, minimum=0, below=1, help="of AdamW")
    max_grad_norm: float = setting(1.0, minimum=0, help="maximum gradient norm; 0 for no clipping")
    span_loss: float = setting(
        0.0, minimum=0, maximum=1e3, help="loss weight of the span grid, which scores all short spans; 0 for no grid"
    )
    span_width: int | Auto = setting("auto", minimum=1, maximum=64, help="maximum words of a span in the grid")
    rdrop: float = setting(
        0.0, minimum=0, maximum=1e3, help="R-Drop: loss weight of the divergence between two dropout passes; 0 for none"
    )
    masked_subwords: float = setting(0.0, minimum=0, below=1, help="share of subwords masked in training")
    ema_decay: float | Auto = setting("auto", minimum=0, below=1, help="decay of the average of weights; 0 for none")

    def settings_of(self, part: type[LayerSettings | PredictionSettings]) -> dict[str, Any]:
        """Return those settings that a base class has."""
        return {field.name: getattr(self, field.name) for field in fields(part)}

    def changed(self, values: Mapping[str, Any], where: str = "recipe", *, text: bool = False) -> Recipe:
        """Return a copy with other settings, which are strings if `text`; unknown or wrong ones are errors.

        >>> Recipe().changed({"epochs": "3", "encoding": "dyn"}, text=True).epochs
        3
        """
        lengths = [name for name in ("steps", "epochs") if values.get(name, "auto") != "auto"]
        if len(lengths) == 2:
            raise SettingError("both steps and epochs are given; give one of them", where)
        if lengths:
            values = {"steps": "auto", "epochs": "auto", **values}
        recipe = changed(self, values, where, text=text)
        if recipe.decoding == "spans" and not recipe.span_loss:
            raise SettingError('decoding is "spans" and span_loss is 0; give a span_loss above 0', where)
        return recipe


def recipe_for(encoder: str | None) -> str:
    """Return the name of an encoder's default recipe.

    >>> recipe_for(None), recipe_for("minilm"), recipe_for("light")
    ('default', 'default', 'light')
    """
    return "light" if encoder and is_light(encoder) else "default"


def recipe_names() -> list[str]:
    """Return the names of the packaged recipes."""
    return sorted(entry.name[:-5] for entry in (files("nestag.training") / "recipes").iterdir())


def load_recipe(name: str) -> Recipe:
    """Return the recipe of that name, or in that file."""
    packaged = files("nestag.training") / "recipes" / f"{name}.toml"
    source = Path(name) if name.endswith(".toml") else packaged
    try:
        text = source.read_text(encoding="utf-8")
    except FileNotFoundError:
        known = ", ".join(recipe_names())
        raise UnknownNameError(f"no recipe is called {name!r}; there are {known}, or give a .toml file") from None
    except OSError as error:
        raise InputError(f"the recipe cannot be read ({error.strerror}); give a .toml file", name) from None
    except ValueError as error:  # not UTF-8, or a null character in the name
        raise InputError(f"the recipe cannot be read ({error}); give a .toml file", name) from None
    try:
        table = tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # also for numbers of thousands of digits
        raise InputError(f"not TOML ({error})", name) from None
    return Recipe().changed(table, name)
