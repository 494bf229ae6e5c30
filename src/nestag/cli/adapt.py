"""adapt: text -> an encoder that knows its kind of text."""

from __future__ import annotations

from typing import Annotated

import typer

from nestag.cli.options import From, Reading
from nestag.cli.paths import inputs_from, together
from nestag.cli.terminal import hush, progress, tell
from nestag.corpora.report import Report
from nestag.encoders import locate


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
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    from nestag.training.adaptation import AdaptationProgress
    from nestag.training.adaptation import adapt as run_adaptation

    locate(encoder)
    report = Report()
    texts, held_out = (
        progress(together(inputs_from(paths, format), reading.options, report), what)
        for paths, what in ((sources, "reading"), ([dev] if dev else [], "reading dev"))
    )
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
    with Progress(*columns, console=Console(stderr=True, highlight=False)) as bar:
        task = bar.add_task("adapting", total=None, visible=False)
        step = 0

        def show(now: AdaptationProgress) -> None:
            nonlocal step
            step = now.step
            loss = "" if now.loss is None else f"  loss {now.loss:.3f}"
            bar.update(task, description=f"adapting{loss}", completed=now.step, total=now.steps, visible=True)

        try:
            done = run_adaptation(
                texts, output, encoder,
                dev=held_out, passes=passes, seed=seed, watch=show, use_cpu=cpu,
            )  # fmt: skip
        except (KeyboardInterrupt, SystemExit):
            tell(
                f"stopped after step {step:,}; everything is saved in {output}, and the same command goes on from there"
                if step
                else "stopped before the first step; nothing had to be saved"
            )
            raise
    for line in report.summary():
        tell(line)
    guessed = "" if done.guessed is None else f", {done.guessed:.1%} of the hidden subwords of dev are guessed"
    tell(f"{done.windows:,} windows, {done.steps:,} steps{guessed}; train with --encoder {output}")
