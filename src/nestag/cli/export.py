"""export: a corpus for another sequence labeling library and its predictions back, or a model for onnxruntime."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

import typer

import nestag
from nestag import sample
from nestag.cli.boundary import guarded
from nestag.cli.groups import grouped
from nestag.cli.helping import HelpedCommand, HelpedGroup
from nestag.cli.labels import EncodingOption, Keep, OnCrossing, Policy
from nestag.cli.options import From
from nestag.cli.terminal import hush, progress, tell
from nestag.cli.writers import writer_for
from nestag.corpora.labelling import LabellingTally
from nestag.corpora.registry import format_of
from nestag.corpora.report import Report
from nestag.corpora.splits import Split
from nestag.encodings.base import Encoding
from nestag.export import folder as exports
from nestag.export.conll import Conll
from nestag.export.folder import Source
from nestag.export.hf import HuggingFace
from nestag.export.machamp import MaChAmp
from nestag.export.recover import recovered
from nestag.export.target import Target
from nestag.files import PIPE

app = typer.Typer(
    cls=HelpedGroup,
    name="export",
    help="Write a corpus for another sequence labeling library and its predictions back, or a model for onnxruntime.",
    no_args_is_help=True,
    add_completion=False,
)


class LabelColumns(StrEnum):
    """How many columns a label takes."""

    joint = "joint"
    separate = "separate"


class OnUnseen(StrEnum):
    """What to do with predicted labels that train lacks."""

    refuse = "refuse"
    allow = "allow"


TargetFolder = Annotated[str, typer.Argument(metavar="DIR", help="The folder to create.")]
TrainFile = Annotated[str, typer.Option(metavar="FILE", help="The corpus to train on; its labels are the vocabulary.")]
DevFile = Annotated[str, typer.Option(metavar="FILE", help="The development corpus.")]
TestFile = Annotated[str | None, typer.Option(metavar="FILE", help="The corpus to test on.")]


@dataclass(frozen=True)
class Corpora:
    """What is exported."""

    train: TrainFile
    dev: DevFile
    test: TestFile = None

    def sources(self, format: str | None, crossing: OnCrossing) -> dict[Split, Source]:
        """The splits that there are, as exports take them."""
        paths: dict[Split, str | None] = {"train": self.train, "dev": self.dev, "test": self.test}
        aside = crossing is OnCrossing.set_aside
        return {split: Source(path, format, aside, progress) for split, path in paths.items() if path is not None}


def machamp(
    directory: TargetFolder,
    corpora: Corpora,
    by: EncodingOption = "rel",  # type: ignore[assignment]
    encoder: Annotated[str, typer.Option(metavar="NAME", help="The pretrained encoder.")] = MaChAmp.encoder,
    epochs: Annotated[int, typer.Option(min=1, help="Number of epochs; MaChAmp's own default is 20.")] = MaChAmp.epochs,
    seed: Annotated[int, typer.Option(help="The random seed.")] = MaChAmp.seed,
    crossing: Policy = OnCrossing.error,
    format: From = None,
) -> None:
    """Write what MaChAmp needs to train the paper's model: labels, the two configurations and the commands."""
    target = MaChAmp(encoder, epochs, seed)
    _export(target, directory, corpora.sources(format, crossing), by)


def conll(
    directory: TargetFolder,
    corpora: Corpora,
    by: EncodingOption = "rel",  # type: ignore[assignment]
    labels: Annotated[
        LabelColumns, typer.Option(help="One column for the label, or one for each of n, c, u.")
    ] = LabelColumns.joint,
    crossing: Policy = OnCrossing.error,
    format: From = None,
) -> None:
    """Write columns for Flair, spaCy and the like: a token and its label a line."""
    _export(Conll(labels.value), directory, corpora.sources(format, crossing), by)


def hf(
    directory: TargetFolder,
    corpora: Corpora,
    by: EncodingOption = "rel",  # type: ignore[assignment]
    crossing: Policy = OnCrossing.error,
    format: From = None,
) -> None:
    """Write a folder that Hugging Face's datasets opens for token classification."""
    _export(HuggingFace(), directory, corpora.sources(format, crossing), by)


def back(
    directory: Annotated[str, typer.Argument(metavar="DIR", help="The export folder that the model was trained on.")],
    corpus: Annotated[
        str, typer.Argument(metavar="CORPUS", help="The corpus that was predicted; its entities are ignored.")
    ],
    predictions: Annotated[
        str, typer.Argument(metavar="PREDICTIONS", help="What the library wrote; - is standard input.")
    ],
    output: Annotated[
        str, typer.Option("-o", "--output", metavar="OUT", help="The output file; - is standard output.")
    ] = PIPE,
    naming: Annotated[
        Keep, typer.Option(help="If a node gets several names, keep the first or the most frequent.")
    ] = Keep.first,
    unseen: Annotated[
        OnUnseen, typer.Option(help="Predicted labels that train lacks: stop, or count and accept them.")
    ] = OnUnseen.refuse,
    format: From = None,
    to: Annotated[
        str | None, typer.Option(metavar="FORMAT", help="The output format, if it cannot be guessed.")
    ] = None,
) -> None:
    """Write a library's predictions as sentences with entities, repairing labels that describe no tree."""
    export = exports.read(directory)
    sentences = progress(format_of(corpus, format).read(corpus), "decoding")
    tally, report = LabellingTally(), Report()
    found = recovered(export, sentences, predictions, tally, naming.value, unseen.value)
    writer_for(output, to)(found, output, report=report)
    tell(f"decoded {_counts(tally)} from {export.vocabulary.encoding}")
    tell(f"repaired {tally.repaired:,} labels in {tally.repaired_sentences:,} sentences")
    if tally.unseen:
        tell(f"{tally.unseen:,} predicted label parts are not in train")
    for line in report.summary():
        tell(line)


def onnx(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="A model folder, or a name on the hub.")],
    directory: TargetFolder,
    int8: Annotated[bool, typer.Option("--int8", help="Compute in 8 bits where most weights are.")] = False,
    dev: Annotated[
        str | None, typer.Option(metavar="FILE", help="A gold corpus to score on (default: torch's predictions).")
    ] = None,
    max_loss: Annotated[float, typer.Option(min=0, help="The F1 points that --int8 may lose.")] = 1.0,
    format: From = None,
) -> None:
    """Write a model as an ONNX graph that runs without torch, checked against torch before it is kept."""
    recognizer = nestag.NestedNER  # says what to install where torch is missing
    hush()
    from nestag.graph import export

    sentences = list(format_of(dev, format).read(dev)) if dev is not None else sample.sentences("test")
    found = export(
        recognizer.from_pretrained(model, "cpu"), directory, sentences, int8=int8, gold=bool(dev), max_loss=max_loss
    )
    tell(f"log-probabilities differ from torch's by {found.difference:.1g} at most, entities in none of the sentences")
    if dev is not None:
        tell(f"float32: F1 {100 * found.f1:.2f} on {dev}")
    if found.int8_f1 is not None:
        tell(f"int8:    F1 {100 * found.int8_f1:.2f} on {dev or 'the entities that torch finds in the sample'}")
    tell(f"wrote {directory}; nestag predict and nestag.runtime read it without torch")


for command in (machamp, conll, hf, back, onnx):
    app.command(cls=HelpedCommand)(grouped(guarded(command)))


def _export(target: Target, directory: str, sources: dict[Split, Source], by: Encoding) -> None:
    """Export, and tell what was written and what train lacks."""
    outcome = exports.write(target, sources, by, directory)
    learned = outcome.vocabulary
    tell(f"learned {len(learned.n):,} n, {len(learned.c):,} c and {len(learned.u):,} u for {learned.encoding}")
    for split, tally in outcome.tallies.items():
        tell(f"{split}: {_counts(tally)}, {tally.unseen:,} label parts that train lacks")
    for line in outcome.report.summary():
        tell(line)
    tell(f"wrote {directory}; its README.md has the commands to go on")


def _counts(tally: LabellingTally) -> str:
    return f"{tally.sentences:,} sentences, {tally.tokens:,} tokens, {tally.entities:,} entities"
