"""train: a corpus and a recipe -> a recognizer."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nestag.cli.options import From, Reading
from nestag.cli.terminal import bar_of_steps, hush, tell
from nestag.corpora.corpus import Corpus
from nestag.data import Sentence
from nestag.duration import duration
from nestag.encoders import locate
from nestag.errors import InputError
from nestag.evaluation import Score, score
from nestag.evaluation.seeds import over_seeds
from nestag.training.recipe import Recipe, load_recipe, recipe_for

if TYPE_CHECKING:
    from nestag.training.progress import Progress


def train(
    *,
    training: Annotated[str, typer.Option("--train", metavar="FILE", help="The training corpus, in any format.")],
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
    cpu: Annotated[bool, typer.Option("--cpu", help="Train on the CPU even if there is a GPU.")] = False,
    format: From = None,
    reading: Reading,
) -> None:
    """Train a recognizer; the same command goes on with a run that was interrupted."""
    hush()  # first: without torch, nothing need be read
    changes = dict(_setting(text) for text in settings or [])
    changes |= {name: value for name, value in (("encoder", encoder), ("encoding", encoding)) if value}
    name = recipe or recipe_for(changes.get("encoder"))
    chosen = load_recipe(name).changed(changes, "--set", text=True)
    if not recipe and name != "default":
        tell(f"recipe {name}, made for this encoder; --recipe names another")
    _check_encoding(chosen)
    locate(chosen.encoder)
    paths = {"train": training, "dev": dev, "test": test}
    splits = {name: read(name, path, format, reading) for name, path in paths.items() if path is not None}
    rows = [
        one(splits, output if seeds == 1 else str(Path(output) / f"seed-{seed}"), chosen, seed, report_to or (), cpu)
        for seed in range(1, seeds + 1)
    ]
    for line in summary(rows):
        tell(line)


@dataclass(frozen=True)
class SeedScores:
    """How a run ended."""

    seed: int
    scores: dict[str, Score]


def one(
    splits: Mapping[str, Sequence[Sentence]],
    output: str,
    recipe: Recipe,
    seed: int,
    report_to: Sequence[str],
    cpu: bool,
) -> SeedScores:
    """One run, with a progress bar, and its model card."""
    from nestag.files import writing
    from nestag.training.advice import advice
    from nestag.training.card import card
    from nestag.training.processes import is_first
    from nestag.training.run import train as run_training

    if not is_first():
        run_training(splits["train"], splits["dev"], output, recipe, seed=seed, use_cpu=cpu)
        return SeedScores(seed, {})
    bar = ProgressBar(f"seed {seed}")
    try:
        with bar:
            run = run_training(
                splits["train"], splits["dev"], output, recipe,
                seed=seed, watch=bar.show, report_to=report_to, use_cpu=cpu,
            )  # fmt: skip
    except (KeyboardInterrupt, SystemExit):
        tell(bar.stopped(output))
        raise
    if run.set_aside:
        tell(f"{run.set_aside:,} crossing entities of train were set aside")
    for line in advice(run):
        tell(line)
    predicted = {name: run.recognizer.predict(splits[name]) for name in splits if name != "train"}
    with writing(Path(output) / "README.md") as stream:
        stream.write(card(Path(output).name, recipe, seed, dict(splits), dict(predicted)))
    scores = {name: score([s.entities for s in splits[name]], found) for name, found in predicted.items()}
    return SeedScores(seed, scores)


def read(name: str, path: str, format: str | None, reading: Reading) -> Corpus:
    """A corpus in any format; what had to be changed is printed."""
    corpus = Corpus.read(path, format, reading.options)
    for line in corpus.report.summary():
        tell(f"{name}: {line}")
    return corpus


def summary(rows: Sequence[SeedScores]) -> list[str]:
    """A line for each run and split, and the mean and deviation of several."""
    lines = [f"seed {row.seed} {name:5} {shown(found)}" for row in rows for name, found in row.scores.items()]
    if len(rows) > 1:
        for name in rows[0].scores:
            found = over_seeds([100 * row.scores[name].f1 for row in rows])
            lines.append(f"{name:5} F1 {found} over {len(rows)} seeds")
    return lines


def shown(found: Score) -> str:
    """A score in one line."""
    return f"precision {100 * found.precision:6.2f}  recall {100 * found.recall:6.2f}  F1 {100 * found.f1:6.2f}"


def show_settings(wanted: bool) -> None:
    """Every setting of a recipe, with what it takes and its value in `default`."""
    if not wanted:
        return
    from nestag.validation import described

    default = load_recipe("default")
    for one_setting in described(Recipe):
        value = getattr(default, one_setting.name)
        typer.echo(f"{one_setting.name} = {value}\n    {one_setting.help}; takes {one_setting.takes}")
    raise typer.Exit


def _check_encoding(recipe: Recipe) -> None:
    from nestag.encodings import encoding

    encoding(recipe.encoding)


def _setting(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals:
        raise InputError(f"{text!r} is no setting; write --set key=value", "--set")
    return name, value


class ProgressBar:
    """The plan, a progress bar with loss and dev F1, and a line for each scoring, on the error stream."""

    def __init__(self, title: str) -> None:
        self.bar = bar_of_steps()
        self.title = title
        self.told: int | None = None  # scorings that have been shown; None before the plan has been
        self.timed = False
        self.last: Progress | None = None

    def __enter__(self) -> Callable[[Progress], None]:
        self.bar.start()
        self.task = self.bar.add_task(self.title, total=None)
        return self.show

    def show(self, progress: Progress) -> None:
        """Show the state of the run."""
        from nestag.training.plan import described

        self.last = progress
        if self.told is None:
            self.told = len(progress.dev)
            self.say(described(progress.plan))
            if progress.step:
                self.say(f"goes on after step {progress.step:,}")
        if progress.seconds is not None and not self.timed:
            self.timed = True
            self.say(f"about {duration(progress.seconds)} on this machine, less if it stops early")
        loss = "" if progress.loss is None else f"  loss {progress.loss:.3f}"
        best = "" if progress.best_scoring is None else f"  dev F1 {100 * progress.best_scoring.score.f1:.2f}"
        self.bar.update(
            self.task, description=self.title + loss + best, completed=progress.step, total=progress.plan.steps
        )
        for scoring in progress.dev[self.told :]:
            self.say(f"step {scoring.step:,}: loss {scoring.loss:.3f}, dev F1 {100 * scoring.score.f1:.2f}")
        self.told = len(progress.dev)

    def say(self, line: str) -> None:
        """A line above the bar."""
        self.bar.console.print(line, soft_wrap=True)

    def stopped(self, output: str) -> str:
        """What to say when a run was stopped."""
        if self.last is None or not self.last.step:
            return "stopped before the first step; nothing had to be saved"
        best = self.last.best_scoring
        reached = f", dev F1 {100 * best.score.f1:.2f} so far" if best else ""
        return (
            f"stopped after step {self.last.step:,} of {self.last.plan.steps:,}{reached};"
            f" everything is saved in {output}, and the same command goes on from there"
        )

    def __exit__(self, *_: object) -> None:
        self.bar.stop()
