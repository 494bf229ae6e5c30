"""distill: a teacher, raw text and an annotated corpus -> a smaller or better recognizer."""

from __future__ import annotations

from typing import Annotated

import typer

import nestag
from nestag.cli.options import CpuOption, EncoderOption, From, Reading, SeedOption, file_option, output_option
from nestag.cli.paths import find_inputs, read_inputs
from nestag.cli.terminal import log, log_all, progress, silence_libraries
from nestag.cli.train import RecipeOption, SettingsOption, settings_from
from nestag.data.report import Report


def distill(
    *,
    teacher: Annotated[
        str,
        typer.Argument(
            metavar="TEACHER", help="A model folder, or a name on the hub; several, separated by commas, vote."
        ),
    ],
    sources: Annotated[
        list[str],
        typer.Argument(metavar="TEXT", help="Files, folders or patterns, in any format; their entities are ignored."),
    ],
    train: Annotated[str, file_option("The annotated training corpus.")],
    dev: Annotated[str, file_option("The development corpus, which selects the best weights.")],
    output: Annotated[str, output_option("DIR", "The folder to save the student in.")],
    test: Annotated[str | None, file_option("A corpus to report scores on at the end.")] = None,
    encoder: EncoderOption = "light",
    recipe: RecipeOption = None,
    settings: SettingsOption = None,
    gold_repeats: Annotated[
        int | None,
        typer.Option(min=1, help="Repetitions of the annotated sentences (default: a quarter of all sentences)."),
    ] = None,
    min_confidence: Annotated[
        float, typer.Option(min=0, max=1, help="Drop sentences with an entity below this confidence.")
    ] = 0.0,
    max_sentences: Annotated[int | None, typer.Option(min=1, help="Use at most this many sentences of text.")] = None,
    seed: SeedOption = 1,
    cpu: CpuOption = False,
    format: From = None,
    reading: Reading,
) -> None:
    """Train a student on annotated sentences and on raw text tagged by a teacher; the same command resumes."""
    silence_libraries()
    report = Report()
    texts = progress(read_inputs(find_inputs(sources, format), reading.options, report), "tagging")
    done = nestag.distill(
        teacher.split(","), texts, reading.corpus(train), reading.corpus(dev), output, recipe,
        encoder=encoder or "light",
        test=None if test is None else reading.corpus(test),
        gold_repeats=gold_repeats, min_confidence=min_confidence, max_sentences=max_sentences, seed=seed,
        quiet=False, use_cpu=cpu, **settings_from(settings or ()),
    )  # fmt: skip
    log_all(report.summary())
    log(f"{done.text}; annotated sentences repeated {done.gold_repeats} times")
    log(f"next: nestag predict {output} article.txt --show")
