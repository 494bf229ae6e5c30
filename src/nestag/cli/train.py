"""train: a corpus and a recipe -> a recognizer."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nestag.cli.terminal import hush, tell
from nestag.corpora.registry import format_of
from nestag.data import Sentence
from nestag.errors import InputError
from nestag.evaluation import Score, score
from nestag.recipe import Recipe, load_recipe

if TYPE_CHECKING:
    from nestag.trainer import Progress
    from nestag.training import Run

ZERO_AFTER = 3
"""Epochs after which an F1 of zero on dev is explained."""


def train(
    training: Annotated[str, typer.Option("--train", metavar="FILE", help="The training corpus, in any format.")],
    dev: Annotated[str, typer.Option(metavar="FILE", help="The corpus by which the best epoch is chosen.")],
    output: Annotated[str, typer.Option("-o", "--output", metavar="DIR", help="Where the model goes.")],
    test: Annotated[str | None, typer.Option(metavar="FILE", help="A corpus to report scores on at the end.")] = None,
    encoder: Annotated[
        str | None, typer.Option(metavar="E", help="minilm, a folder, or a name on the hub; else the recipe's.")
    ] = None,
    encoding: Annotated[str | None, typer.Option(metavar="E", help="abs, rel, dyn or 4tg; else the recipe's.")] = None,
    recipe: Annotated[str, typer.Option(metavar="R", help="default, paper, or a .toml file.")] = "default",
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Change a setting of the recipe; may be given again."),
    ] = None,
    seeds: Annotated[int, typer.Option(min=1, help="How many runs, with the seeds 1, 2, ...")] = 1,
    report_to: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME", help="Send losses and scores to tensorboard, wandb or mlflow; may be given again."
        ),
    ] = None,
    cpu: Annotated[bool, typer.Option("--cpu", help="Use the processor even if there is a GPU.")] = False,
) -> None:
    """Train a recognizer; the same command goes on with a run that was interrupted."""
    changes = dict(_setting(text) for text in settings or [])
    changes |= {name: value for name, value in (("encoder", encoder), ("encoding", encoding)) if value}
    chosen = load_recipe(recipe).changed(changes)
    splits = {name: read(path) for name, path in (("train", training), ("dev", dev), ("test", test)) if path}
    rows = [
        one(splits, output if seeds == 1 else str(Path(output) / f"seed-{seed}"), chosen, seed, report_to or (), cpu)
        for seed in range(1, seeds + 1)
    ]
    for line in summary(rows):
        tell(line)


@dataclass(frozen=True)
class Row:
    """How a run ended."""

    seed: int
    scores: dict[str, Score]


def one(
    splits: dict[str, list[Sentence]], output: str, recipe: Recipe, seed: int, report_to: Sequence[str], cpu: bool
) -> Row:
    """One run, with a progress bar, and its model card."""
    from nestag.card import card
    from nestag.files import writing
    from nestag.training import train as run_training

    hush()
    with watching(f"seed {seed}") as watch:
        run = run_training(splits["train"], splits["dev"], output, recipe, seed, watch, report_to, cpu)
    if run.set_aside:
        tell(f"{run.set_aside:,} crossing entities of train were set aside")
    explain_zero(run)
    predicted = {name: run.recognizer.predict(splits[name]) for name in splits if name != "train"}
    with writing(Path(output) / "README.md") as stream:
        stream.write(card(Path(output).name, recipe, seed, dict(splits), dict(predicted)))
    scores = {name: score([s.entities for s in splits[name]], found) for name, found in predicted.items()}
    return Row(seed, scores)


def read(path: str) -> list[Sentence]:
    """A corpus in any format."""
    return list(format_of(path).read(path))


def summary(rows: Sequence[Row]) -> list[str]:
    """A line for each run and split, and the mean and deviation of several."""
    lines = [f"seed {row.seed} {name:5} {shown(found)}" for row in rows for name, found in row.scores.items()]
    if len(rows) > 1:
        for name in rows[0].scores:
            values = [100 * row.scores[name].f1 for row in rows]
            lines.append(
                f"{name:5} F1 {statistics.mean(values):.2f} ± {statistics.stdev(values):.2f} over {len(rows)} seeds"
            )
    return lines


def shown(found: Score) -> str:
    """A score in one line."""
    return f"precision {100 * found.precision:6.2f}  recall {100 * found.recall:6.2f}  F1 {100 * found.f1:6.2f}"


def explain_zero(run: Run) -> None:
    """Say what probably went wrong if nothing was found on dev."""
    if run.dev.f1 > 0 or len(run.epochs) < ZERO_AFTER:
        return
    if not run.dev.gold:
        tell("dev F1 is 0 because dev has no entities; check its field names")
    elif not run.dev.predicted:
        tell(
            "dev F1 is 0 because no entity is predicted: the heads have not learned more than the most frequent labels;"
            " train longer, or raise head_learning_rate (--set head_learning_rate=3e-3)"
        )
    else:
        tell(
            f"dev F1 is 0 although {run.dev.predicted:,} entities are predicted: types or offsets of train and dev"
            " differ; compare them with nestag stats and nestag doctor"
        )


def _setting(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals:
        raise InputError(f"{text!r} is no setting; write --set key=value", "--set")
    return name, value


class watching:  # noqa: N801 - reads as a verb where it is used
    """A progress bar with loss, F1 on dev and the time left, on the error stream."""

    def __init__(self, title: str) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
        self.bar = Progress(*columns, console=Console(stderr=True))
        self.title = title
        self.told = 0

    def __enter__(self) -> Callable[[Progress], None]:
        self.bar.start()
        self.task = self.bar.add_task(self.title, total=None)
        return self.tell

    def tell(self, progress: Progress) -> None:
        """Show where the run stands, and a line for each epoch."""
        text = f"{self.title}  loss {progress.loss:.3f}  dev F1 {100 * progress.best:.2f}"
        self.bar.update(self.task, description=text, completed=progress.step, total=progress.steps)
        if len(progress.dev) > self.told:
            self.told = len(progress.dev)
            self.bar.console.print(
                f"epoch {self.told}: loss {progress.loss:.3f}, dev F1 {100 * progress.dev[-1].f1:.2f}"
            )

    def __exit__(self, *_: object) -> None:
        self.bar.stop()
