"""adapt: text -> an encoder that knows its kind of text."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Annotated

import typer

import nestag
from nestag.cli.options import CpuOption, From, Reading, SeedOption
from nestag.cli.paths import inputs_from, together
from nestag.cli.terminal import bar_of_steps, hush, progress, say, tell, tell_all
from nestag.cli.train import saved_in
from nestag.data.report import Report
from nestag.inspect.tables import duration
from nestag.model.encoders import locate

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
    epochs: Annotated[
        int | None, typer.Option(min=1, help="Epochs (default: 100, or as many as 5,000 steps make).")
    ] = None,
    seed: SeedOption = 1,
    cpu: CpuOption = False,
    format: From = None,
    reading: Reading,
) -> None:
    """Adapt an encoder to a kind of text before training; the same command goes on after an interruption."""
    hush()
    locate(encoder)  # before anything is read
    report = Report()
    texts, held_out = (
        progress(together(inputs_from(paths, format), reading.options, report), what)
        for paths, what in ((sources, "reading"), ([dev] if dev else [], "reading dev"))
    )
    with bar_of_steps() as bar:
        shown = AdaptationBar(bar)
        try:
            done = nestag.adapt(
                texts, output, encoder, dev=held_out, epochs=epochs, seed=seed, watch=shown, use_cpu=cpu
            )
        except (KeyboardInterrupt, SystemExit):
            tell(f"stopped after step {shown.step:,}{saved_in(output)}")
            raise
    tell_all(report.summary())
    accuracy = "" if done.accuracy is None else f", {done.accuracy:.1%} accuracy on masked subwords of dev"
    tell(f"{done.windows:,} windows, {done.steps:,} steps{accuracy}; train with --encoder {output}")


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
            say(self.bar, f"about {duration(left)} more on this machine")
        if now.step % max(1, now.steps // 10) == 0:
            say(self.bar, f"step {now.step:,} of {now.steps:,}{loss}")
