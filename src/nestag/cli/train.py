"""train: a corpus and a recipe -> a recognizer."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

import nestag
from nestag.cli.options import CpuOption, EncoderOption, From, Reading, file_option, named, output_option
from nestag.cli.terminal import log, silence_libraries
from nestag.data.validation import changed, described
from nestag.encodings import available as encodings
from nestag.errors import InputError
from nestag.inspect.tables import over_seeds
from nestag.training.recipe import Recipe, load_recipe, recipe_for, recipe_names
from nestag.training.run_folder import is_first_process

LOGGERS = ("tensorboard", "wandb", "mlflow")


RecipeOption = Annotated[
    str | None,
    named(recipe_names, "R", "default, accurate, light, paper, or a .toml file (default: what suits the encoder)."),
]
SettingsOption = Annotated[
    list[str] | None,
    named(
        lambda: (f"{setting.name}=" for setting in described(Recipe)),
        "KEY=VALUE",
        "Change a setting of the recipe (see nestag train --settings); may be repeated.",
        "--set",
    ),
]


def train(
    *,
    train: Annotated[str, file_option("The training corpus, in any format.")],
    dev: Annotated[str, file_option("The development corpus; the best weights are chosen by its F1.")],
    output: Annotated[str, output_option("DIR", "The folder to save the model in.")],
    test: Annotated[str | None, file_option("A corpus to report scores on at the end.")] = None,
    encoder: EncoderOption = None,
    encoding: Annotated[str | None, named(encodings, "E", "abs, rel, dyn or 4tg (default: the recipe's).")] = None,
    recipe: RecipeOption = None,
    settings: SettingsOption = None,
    list_settings: Annotated[
        bool,
        typer.Option(
            "--settings", is_eager=True, callback=lambda wanted: show_settings(wanted), help="List all settings."
        ),
    ] = False,
    seeds: Annotated[int, typer.Option(min=1, help="The number of runs, with the seeds 1, 2, ...")] = 1,
    report_to: Annotated[
        list[str] | None,
        named(lambda: LOGGERS, "NAME", "Log losses and scores to tensorboard, wandb or mlflow; may be repeated."),
    ] = None,
    cpu: CpuOption = False,
    format: From = None,
    reading: Reading,
) -> None:
    """Train a recognizer; the same command resumes an interrupted run."""
    silence_libraries()  # first: without torch, there is no need to read anything
    changes = settings_from(settings or ())
    changes |= {name: value for name, value in (("encoder", encoder), ("encoding", encoding)) if value}
    if not recipe and (name := recipe_for(changes.get("encoder"))) != "default":
        log(f"recipe {name}, made for this encoder; --recipe names another")
    paths = {"train": train, "dev": dev, "test": test}
    splits: dict[str, Any] = {name: reading.corpus(path, format) for name, path in paths.items() if path is not None}
    runs = {}
    for seed in range(1, seeds + 1):
        folder = output if seeds == 1 else f"{Path(output) / f'seed-{seed}'}"
        runs[folder] = nestag.train(
            **splits, output=folder, recipe=recipe, seed=seed, quiet=False, report_to=report_to or (), use_cpu=cpu,
            **changes,
        )  # fmt: skip
    if not is_first_process():
        return
    for name in next(iter(runs.values())).scores if seeds > 1 else ():
        log(f"{name:5} F1 {over_seeds([100 * run.scores[name].f1 for run in runs.values()])} over {seeds} seeds")
    best = max(runs, key=lambda folder: runs[folder].dev.f1)
    log(f"next: nestag predict {best} article.txt --show")
    log(f"      nestag report {best} --test {test or dev}")


def show_settings(wanted: bool) -> None:
    """Print every setting of a recipe, with what it takes and its value in `default`."""
    if not wanted:
        return
    default = load_recipe("default")
    for setting in described(Recipe):
        value = getattr(default, setting.name)
        typer.echo(f"{setting.name} = {value}\n    {setting.help}; takes {setting.takes}")
    raise typer.Exit


def settings_from(texts: Sequence[str]) -> dict[str, Any]:
    """Return the settings of a recipe as typed with --set.

    >>> settings_from(["epochs=3", "encoding=dyn"])
    {'epochs': 3, 'encoding': 'dyn'}
    """
    values: dict[str, str] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals:
            raise InputError(f"{text!r} is not a setting; write --set key=value", "--set")
        values[name] = value
    recipe = changed(Recipe(), values, "--set", text=True)
    return {name: getattr(recipe, name) for name in values}
