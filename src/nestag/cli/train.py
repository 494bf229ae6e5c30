"""train: a corpus and a recipe -> a recognizer."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import nestag
from nestag.cli.options import CpuOption, From, Reading
from nestag.cli.terminal import bar_of_steps, hush, say, tell, tell_all
from nestag.data.sentence import Sentence
from nestag.data.validation import changed, described
from nestag.errors import InputError, visible
from nestag.evaluation import Score
from nestag.evaluation.result import over_seeds
from nestag.formats.corpus import report_of
from nestag.inspect.tables import duration
from nestag.model.model_folder import is_finished
from nestag.training.plan import rough_plan
from nestag.training.recipe import Recipe, load_recipe, recipe_for
from nestag.training.run_folder import CHECKPOINTS, is_first_process, last_checkpoint, step_of

if TYPE_CHECKING:
    from nestag.training.plan import Progress
    from nestag.training.run import Run


def train(
    *,
    train: Annotated[str, typer.Option(metavar="FILE", help="The training corpus, in any format.")],
    dev: Annotated[
        str, typer.Option(metavar="FILE", help="The development corpus; the best weights are chosen by its F1.")
    ],
    output: Annotated[str, typer.Option("-o", "--output", metavar="DIR", help="The folder to save the model in.")],
    test: Annotated[str | None, typer.Option(metavar="FILE", help="A corpus to report scores on at the end.")] = None,
    encoder: Annotated[
        str | None,
        typer.Option(metavar="E", help="minilm, light, a folder, or a name on the hub (default: the recipe's)."),
    ] = None,
    encoding: Annotated[
        str | None, typer.Option(metavar="E", help="abs, rel, dyn or 4tg (default: the recipe's).")
    ] = None,
    recipe: Annotated[
        str | None,
        typer.Option(
            metavar="R",
            help="default, accurate, light, paper, or a .toml file (default: what suits the encoder).",
        ),
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Change a setting (see --settings); may be repeated."),
    ] = None,
    list_settings: Annotated[
        bool,
        typer.Option(
            "--settings", is_eager=True, callback=lambda wanted: show_settings(wanted), help="List all settings."
        ),
    ] = False,
    seeds: Annotated[int, typer.Option(min=1, help="How many runs, with the seeds 1, 2, ...")] = 1,
    report_to: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Log losses and scores to tensorboard, wandb or mlflow; may be repeated."),
    ] = None,
    cpu: CpuOption = False,
    format: From = None,
    reading: Reading,
) -> None:
    """Train a recognizer; the same command goes on with a run that was interrupted."""
    hush()  # first: without torch, nothing need be read
    changes = settings_from(settings or ())
    changes |= {name: value for name, value in (("encoder", encoder), ("encoding", encoding)) if value}
    if not recipe and (name := recipe_for(changes.get("encoder"))) != "default":
        tell(f"recipe {name}, made for this encoder; --recipe names another")
    paths = {"train": train, "dev": dev, "test": test}
    splits = {name: reading.corpus(path, format) for name, path in paths.items() if path is not None}
    if is_first_process() and not is_finished(Path(output)):
        tell_all(cpu_times(splits, recipe, changes, cpu))
    runs = [
        one(splits, output if seeds == 1 else f"{Path(output) / f'seed-{seed}'}", recipe, seed, report_to or (), cpu,
            **changes)
        for seed in range(1, seeds + 1)
    ]  # fmt: skip
    tell_all(summary(runs))


def cpu_times(splits: Mapping[str, Any], recipe: str | None, changes: Mapping[str, Any], cpu: bool) -> Iterator[str]:
    """Estimate, where there is no GPU, how long training with MiniLM and with the light encoder takes."""
    import torch

    from nestag.training.duration import UNITS, cpu_seconds

    chosen = load_recipe(recipe or recipe_for(changes.get("encoder"))).changed(changes, "--set")
    if chosen.encoder not in UNITS or (torch.cuda.is_available() and not cpu):
        return
    sizes = [(len(found), sum(map(len, found))) for found in (splits["train"].in_memory, splits["dev"].in_memory)]
    times = {}
    for encoder in UNITS:
        plain = chosen if encoder == chosen.encoder else load_recipe(recipe_for(encoder))
        plan = replace(rough_plan(plain, *sizes[0]), dev_subwords=rough_plan(plain, *sizes[1]).subwords)
        times[encoder] = duration(cpu_seconds(encoder, plan) * (2 if plain.rdrop else 1))
    yield "on this CPU, at most about " + ", ".join(f"{times[name]} with --encoder {name}" for name in UNITS)


def one(
    splits: Mapping[str, Any],
    output: str,
    recipe: str | Recipe | None,
    seed: int,
    report_to: Sequence[str],
    cpu: bool,
    kept: bool = True,
    **settings: Any,
) -> Run:
    """One run, with a progress bar; `kept` says whether the output outlives the command."""
    bar = ProgressBar(f"seed {seed}", splits) if is_first_process() else nullcontext()
    try:
        with bar as watch:
            logs = report_to if watch else ()
            run = nestag.train(
                **splits, output=output, recipe=recipe, seed=seed, watch=watch, report_to=logs, use_cpu=cpu, **settings
            )
    except (KeyboardInterrupt, SystemExit):
        if isinstance(bar, ProgressBar):
            tell(bar.stopped() + (saved_in(output) if kept else ""))
        raise
    if isinstance(bar, ProgressBar):
        bar.tell_changes()
        if run.set_aside:
            tell(f"{run.set_aside:,} crossing entities of train were set aside")
        tell_all(run.advice)
    return run


def saved_in(output: str) -> str:
    """What a stopped command saved, to be added to a line."""
    last = last_checkpoint(Path(output) / CHECKPOINTS)
    return f"; step {step_of(last):,} is saved in {output}, and the same command resumes there" if last else ""


def summary(runs: Sequence[Run]) -> list[str]:
    """A line for each run and split, and the mean and deviation of several."""
    lines = [f"seed {run.seed} {name:5} {shown(score)}" for run in runs for name, score in run.scores.items()]
    if len(runs) > 1:
        for name in runs[0].scores:
            mean = over_seeds([100 * run.scores[name].f1 for run in runs])
            lines.append(f"{name:5} F1 {mean} over {len(runs)} seeds")
    return lines


def shown(found: Score) -> str:
    """A score in one line."""
    return f"precision {100 * found.precision:6.2f}  recall {100 * found.recall:6.2f}  F1 {100 * found.f1:6.2f}"


def show_settings(wanted: bool) -> None:
    """Every setting of a recipe, with what it takes and its value in `default`."""
    if not wanted:
        return
    default = load_recipe("default")
    for one_setting in described(Recipe):
        value = getattr(default, one_setting.name)
        typer.echo(f"{one_setting.name} = {value}\n    {one_setting.help}; takes {one_setting.takes}")
    raise typer.Exit


def settings_from(texts: Sequence[str]) -> dict[str, Any]:
    """The settings of a recipe as typed with --set.

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


class ProgressBar:
    """The plan, a progress bar with loss and dev F1, and a line for each scoring, on the error stream."""

    def __init__(self, title: str, splits: Mapping[str, Iterable[Sentence]]) -> None:
        self.bar = bar_of_steps()
        self.title = title
        self.reports = {name: report_of(corpus) for name, corpus in splits.items()}
        self.told: int | None = None  # scorings that have been shown; None before the plan has been
        self.timed = False
        self.last: Progress | None = None

    def __enter__(self) -> Callable[[Progress], None]:
        self.bar.start()
        self.task = self.bar.add_task(self.title, total=None)
        return self.show

    def show(self, progress: Progress) -> None:
        """Show the state of the run."""
        self.last = progress
        if self.told is None:
            self.told = len(progress.dev)
            self.tell_changes()
            say(self.bar, str(progress.plan))
            if progress.step:
                say(self.bar, f"goes on after step {progress.step:,}")
        if progress.seconds is not None and not self.timed:
            self.timed = True
            say(self.bar, f"about {duration(progress.seconds)} on this machine, less if it stops early")
        loss = "" if progress.loss is None else f"  loss {progress.loss:.3f}"
        best = "" if progress.best_scoring is None else f"  dev F1 {100 * progress.best_scoring.score.f1:.2f}"
        self.bar.update(
            self.task, description=self.title + loss + best, completed=progress.step, total=progress.plan.steps
        )
        for scoring in progress.dev[self.told :]:
            say(self.bar, f"step {scoring.step:,}: loss {scoring.loss:.3f}, dev F1 {100 * scoring.score.f1:.2f}")
        self.told = len(progress.dev)

    def tell_changes(self) -> None:
        """Print once what the readers of the corpora had to change."""
        for name, report in self.reports.items():
            for line in report.summary():
                say(self.bar, visible(f"{name}: {line}"))
        self.reports = {}

    def stopped(self) -> str:
        """Where a run was stopped."""
        if self.last is None or not self.last.step:
            return "stopped before the first step"
        best = self.last.best_scoring
        reached = f", dev F1 {100 * best.score.f1:.2f} so far" if best else ""
        return f"stopped after step {self.last.step:,} of {self.last.plan.steps:,}{reached}"

    def __exit__(self, *_: object) -> None:
        self.bar.stop()
