"""The display of training and adaptation: plan, estimated time, progress, scores, and the folder of the model.

Lines and a progress bar go to stderr, or into the cell of a notebook. Programs pass their own `watch` instead.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping
from html import escape
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from nestag.data.report import Report
from nestag.errors import either, named, visible
from nestag.evaluation import Score
from nestag.inspect.tables import duration
from nestag.training.plan import Progress
from nestag.training.run_folder import CHECKPOINTS, is_first_process, last_checkpoint, step_of

if TYPE_CHECKING:
    from nestag.training.run import Run

TIMED_STEPS = 10  # steps of an adaptation, after the first, from which its time is estimated
REDRAW_SECONDS = 0.5  # between two updates of the progress bar in a notebook


def is_watched(watch: object, quiet: bool | None) -> bool:
    """Return whether to show progress: by default in a terminal or notebook, unless the caller watches."""
    if watch is not None or quiet or not is_first_process():
        return False
    return quiet is False or in_notebook() or (sys.stderr is not None and sys.stderr.isatty())


def in_notebook() -> bool:
    """Return whether this is the kernel of a notebook."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return type(shell).__name__ == "ZMQInteractiveShell"


class Terminal:
    """Lines and a bar on stderr."""

    def __init__(self, title: str) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as Bar

        columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
        self.bar = Bar(*columns, console=Console(stderr=True, highlight=False, markup=False))
        self.bar.start()
        self.task = self.bar.add_task(title, total=None)

    def print(self, line: str) -> None:
        """Print a line above the bar."""
        self.bar.console.print(visible(line), soft_wrap=True)

    def update(self, text: str, step: int, steps: int) -> None:
        """Redraw the bar."""
        self.bar.update(self.task, description=text, completed=step, total=steps)

    def stop(self) -> None:
        """Leave the bar as it is."""
        self.bar.stop()


class Notebook:
    """Lines and a bar in the cell of a notebook."""

    def __init__(self, title: str) -> None:
        from IPython.display import HTML, display

        self.html: Any = HTML
        self.handle: Any = display(HTML(escape(title)), display_id=True)  # type: ignore[no-untyped-call]
        self.drawn = 0.0
        self.shown = escape(title)

    def print(self, line: str) -> None:
        """Print a line."""
        sys.stdout.write(f"{visible(line)}\n")

    def update(self, text: str, step: int, steps: int) -> None:
        """Redraw the bar from time to time."""
        bar = f'<progress value="{step}" max="{steps}"></progress>'
        self.shown = f"{escape(text)} {bar} {step:,} of {steps:,}"
        if time.monotonic() - self.drawn >= REDRAW_SECONDS:
            self.stop()

    def stop(self) -> None:
        """Draw the bar a last time."""
        self.drawn = time.monotonic()
        self.handle.update(self.html(self.shown))


class _Display:
    """A screen for a run."""

    def __init__(self, title: str, output: Path | None) -> None:
        """Show a run in the folder `output`, None if it is temporary."""
        self.title, self.output = title, output
        self.screen: Terminal | Notebook
        self.step = 0
        self.detail = ""  # about the last step

    def __enter__(self) -> Self:
        self.screen = (Notebook if in_notebook() else Terminal)(self.title)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: TracebackType | None) -> None:
        self.screen.stop()
        if kind is not None and issubclass(kind, KeyboardInterrupt | SystemExit):
            line = f"stopped after step {self.step:,}{self.detail}" if self.step else "stopped before the first step"
            if last := self.output and last_checkpoint(self.output / CHECKPOINTS):
                resume = either("call", "command")
                line += f"; step {step_of(last):,} is saved in {self.output}, and the same {resume} resumes there"
            self.screen.print(line)


class TrainingDisplay(_Display):
    """The plan, a bar with loss and dev F1, a line for each evaluation on dev, and the final scores."""

    def __init__(self, title: str, output: Path | None) -> None:
        super().__init__(title, output)
        self.evaluations: int | None = None  # that have been shown; None before the plan
        self.is_timed = False

    def show_reports(self, reports: Mapping[str, Report]) -> None:
        """Print what the readers of the corpora changed."""
        for name, report in reports.items():
            for line in report.summary():
                self.screen.print(f"{name}: {line}")

    def __call__(self, progress: Progress) -> None:
        """Show the state of the run."""
        self.step = progress.step
        if self.evaluations is None:
            self.evaluations = len(progress.dev)
            self.screen.print(str(progress.plan))
            if times := progress.cpu_seconds:
                each = ", ".join(f"{duration(times[name])} with {named('encoder', name)}" for name in times)
                self.screen.print(f"on this CPU, at most about {each}")
            if progress.step:
                self.screen.print(f"resuming after step {progress.step:,}")
        if progress.seconds is not None and not self.is_timed:
            self.is_timed = True
            self.screen.print(f"about {duration(progress.seconds)} on this machine, less if it stops early")
        loss = "" if progress.loss is None else f"  loss {progress.loss:.3f}"
        best = "" if progress.best_scoring is None else f"dev F1 {100 * progress.best_scoring.score.f1:.2f}"
        self.detail = f" of {progress.plan.steps:,}" + (f", {best} so far" if best else "")
        self.screen.update(f"{self.title}{loss}  {best}".rstrip(), progress.step, progress.plan.steps)
        for scoring in progress.dev[self.evaluations :]:
            f1 = 100 * scoring.score.f1
            self.screen.print(f"step {scoring.step:,}: loss {scoring.loss:.3f}, dev F1 {f1:.2f}")
        self.evaluations = len(progress.dev)

    def finish(self, run: Run) -> None:
        """Print dropped entities, advice, the scores, and the folder of the model."""
        self.screen.stop()
        if run.dropped:
            self.screen.print(f"{run.dropped:,} crossing entities of train were dropped")
        for line in run.advice:
            self.screen.print(line)
        for name, score in run.scores.items():
            self.screen.print(f"{self.title} {name:5} {score_line(score)}")
        if self.output:
            load = f'; load it with nestag.load("{self.output}")'
            self.screen.print(f"the model is in {self.output}{either(load, '')}")


class AdaptationProgress(NamedTuple):
    """The state of an adaptation, passed to the watcher."""

    step: int
    steps: int
    loss: float | None


AdaptationCallback = Callable[[AdaptationProgress], None]  # called after each step


class AdaptationDisplay(_Display):
    """A bar with the loss, a time estimate, and a line each tenth."""

    start = 0.0  # the time of the first step

    def __call__(self, progress: AdaptationProgress) -> None:
        """Show the state of the adaptation."""
        if not self.start:
            self.start, self.first = time.monotonic(), progress.step
        elif progress.step == self.first + TIMED_STEPS:
            left = (time.monotonic() - self.start) / TIMED_STEPS * (progress.steps - progress.step)
            self.screen.print(f"about {duration(left)} more on this machine")
        self.step = progress.step
        loss = "" if progress.loss is None else f"  loss {progress.loss:.3f}"
        self.screen.update(f"{self.title}{loss}", progress.step, progress.steps)
        if progress.step % max(1, progress.steps // 10) == 0:
            self.screen.print(f"step {progress.step:,} of {progress.steps:,}{loss}")


def score_line(score: Score) -> str:
    """Return a score in one line.

    >>> score_line(Score.of(1, 2, 1))
    'precision  50.00  recall 100.00  F1  66.67'
    """
    return f"precision {100 * score.precision:6.2f}  recall {100 * score.recall:6.2f}  F1 {100 * score.f1:6.2f}"
