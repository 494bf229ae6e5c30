"""adapt: text -> an encoder that knows its kind of text."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Annotated

import typer

from nestag.cli.options import From, Reading
from nestag.cli.paths import inputs_from, together
from nestag.cli.terminal import bar_of_steps, hush, progress, tell
from nestag.corpora.report import Report
from nestag.duration import duration
from nestag.encoders import locate

if TYPE_CHECKING:
    from rich.progress import Progress

    from nestag.training.adaptation import AdaptationProgress

TIMED = 10
"""Steps after the first from which the time of all is reckoned."""


def adapt(
    *,
    sources: Annotated[
        list[str],
        typer.Argument(
            metavar="TEXT",
            help="Files, folders or patterns like notes/*.txt, in any format; entities are not looked at.",
        ),
    ],
    output: Annotated[str, typer.Option("-o", "--output", metavar="DIR", help="The folder to save the encoder in.")],
    encoder: Annotated[str, typer.Option(metavar="E", help="minilm, a folder, or a name on the hub.")] = "minilm",
    dev: Annotated[
        str | None, typer.Option(metavar="FILE", help="Text to measure on, at the end, how many words are guessed.")
    ] = None,
    passes: Annotated[
        int | None, typer.Option(min=1, help="Passes over the text (default: 100, or as many as 5,000 steps make).")
    ] = None,
    seed: Annotated[int, typer.Option(help="The random seed.")] = 1,
    cpu: Annotated[bool, typer.Option("--cpu", help="Use the CPU even if there is a GPU.")] = False,
    format: From = None,
    reading: Reading,
) -> None:
    """Adapt an encoder to a kind of text before training; the same command goes on after an interruption."""
    hush()
    from nestag.training.adaptation import adapt as run_adaptation

    locate(encoder)
    report = Report()
    texts, held_out = (
        progress(together(inputs_from(paths, format), reading.options, report), what)
        for paths, what in ((sources, "reading"), ([dev] if dev else [], "reading dev"))
    )
    with bar_of_steps() as bar:
        shown = AdaptationBar(bar)
        try:
            done = run_adaptation(
                texts, output, encoder, dev=held_out, passes=passes, seed=seed, watch=shown, use_cpu=cpu
            )
        except (KeyboardInterrupt, SystemExit):
            tell(shown.stopped(output))
            raise
    for line in report.summary():
        tell(line)
    guessed = "" if done.guessed is None else f", {done.guessed:.1%} of the hidden subwords of dev are guessed"
    tell(f"{done.windows:,} windows, {done.steps:,} steps{guessed}; train with --encoder {output}")


class AdaptationBar:
    """Steps and loss on a bar that appears with the first step, how long it will take, and a line each tenth."""

    def __init__(self, bar: Progress) -> None:
        self.bar = bar
        self.task = bar.add_task("adapting", total=None, visible=False)
        self.step = 0
        self.timed = (0, 0.0)  # a step and when it was done, from which the time is reckoned

    def __call__(self, now: AdaptationProgress) -> None:
        """Show how far it is."""
        self.step = now.step
        loss = "" if now.loss is None else f"  loss {now.loss:.3f}"
        self.bar.update(self.task, description=f"adapting{loss}", completed=now.step, total=now.steps, visible=True)
        first, begun = self.timed
        if not first:
            self.timed = now.step, time.monotonic()
        elif now.step == first + TIMED:
            left = (time.monotonic() - begun) / TIMED * (now.steps - now.step)
            self.say(f"about {duration(left)} more on this machine")
        if now.step % max(1, now.steps // 10) == 0:
            self.say(f"step {now.step:,} of {now.steps:,}{loss}")

    def say(self, line: str) -> None:
        """A line above the bar."""
        self.bar.console.print(line, soft_wrap=True)

    def stopped(self, output: str) -> str:
        """What to say when it was stopped."""
        if not self.step:
            return "stopped before the first step; nothing had to be saved"
        return f"stopped after step {self.step:,}; {output} has everything, and the same command goes on from there"
