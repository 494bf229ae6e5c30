"""export: a corpus for another sequence labeling library and its predictions back, or a model for onnxruntime."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import Annotated, Any

import typer

import nestag
from nestag.cli.groups import HelpedGroup, add_command
from nestag.cli.labels import CrossingOption, EncodingOption, Output, StrategyOption
from nestag.cli.options import From, ModelArgument, Reading, SeedOption, To, file_option
from nestag.cli.terminal import log, log_all, silence_libraries
from nestag.errors import MissingExtraError
from nestag.formats.files import PIPE
from nestag.integrations.export import ExportOutcome, Unseen
from nestag.integrations.taggers import Labels, MaChAmp

app = typer.Typer(
    cls=HelpedGroup,
    name="export",
    help="Write a corpus for another sequence labeling library and its predictions back, or a model for onnxruntime.",
    no_args_is_help=True,
    add_completion=False,
)
TargetFolder = Annotated[str, typer.Argument(metavar="DIR", help="The folder to create.")]


@dataclass(frozen=True)
class Corpora:
    """The splits to export."""

    train: Annotated[str, file_option("The training corpus; its labels are the vocabulary.")]
    dev: Annotated[str, file_option("The development corpus.")]
    test: Annotated[str | None, file_option("The test corpus.")] = None
    crossing: CrossingOption = "error"
    encoding: EncodingOption = "rel"
    format: From = None

    @property
    def arguments(self) -> dict[str, Any]:
        """The arguments of an export: the splits, the encoding, and what to do with crossing entities."""
        paths = {"train": self.train, "dev": self.dev, "test": self.test}
        splits = {name: Reading().corpus(path, self.format) for name, path in paths.items() if path is not None}
        return {**splits, "encoding": self.encoding, "crossing": self.crossing}


def machamp(
    directory: TargetFolder,
    corpora: Corpora,
    encoder: Annotated[str, typer.Option(metavar="NAME", help="The pretrained encoder.")] = MaChAmp.encoder,
    epochs: Annotated[int, typer.Option(min=1, help="Number of epochs; MaChAmp's own default is 20.")] = MaChAmp.epochs,
    seed: SeedOption = MaChAmp.seed,
) -> None:
    """Write what MaChAmp needs to train the paper's model: labels, the two configurations and the commands."""
    _report(nestag.export.machamp(directory, **corpora.arguments, encoder=encoder, epochs=epochs, seed=seed), directory)


def conll(
    directory: TargetFolder,
    corpora: Corpora,
    labels: Annotated[Labels, typer.Option(help="One column for the label, or one for each of n, c, u.")] = "joint",
) -> None:
    """Write columns for Flair, spaCy and the like: a token and its label per line."""
    _report(nestag.export.conll(directory, **corpora.arguments, labels=labels), directory)


def hf(directory: TargetFolder, corpora: Corpora) -> None:
    """Write a folder that Hugging Face's datasets opens for token classification."""
    _report(nestag.export.hf(directory, **corpora.arguments), directory)


def back(
    directory: Annotated[str, typer.Argument(metavar="DIR", help="The export folder that the model was trained on.")],
    corpus: Annotated[
        str, typer.Argument(metavar="CORPUS", help="The corpus that was predicted; its entities are ignored.")
    ],
    predictions: Annotated[
        str, typer.Argument(metavar="PREDICTIONS", help="What the library wrote; - is standard input.")
    ],
    output: Output = PIPE,
    node_label_strategy: StrategyOption = "first",
    unseen: Annotated[
        Unseen, typer.Option(help="Predicted labels that train lacks: stop, or count and accept them.")
    ] = "refuse",
    to: To = None,
    format: From = None,
) -> None:
    """Write a library's predictions as sentences with entities, repairing invalid labels."""
    source = Reading().corpus(corpus, format)
    done = nestag.export.back(
        directory, source, predictions, output, node_label_strategy=node_label_strategy, unseen=unseen, to=to
    )
    log(f"decoded {done.counts} from {done.encoding}")
    log(f"repaired {done.counts.repaired:,} labels in {done.counts.repaired_sentences:,} sentences")
    if done.counts.unseen:
        log(f"{done.counts.unseen:,} predicted label parts are not in train")
    log_all(done.report.summary())


def onnx(
    model: ModelArgument,
    directory: TargetFolder,
    int8: Annotated[bool, typer.Option("--int8", help="Quantize most weights to int8.")] = False,
    dev: Annotated[str | None, file_option("A gold corpus to score on (default: torch's predictions).")] = None,
    max_loss: Annotated[float, typer.Option(min=0, help="The F1 points that --int8 may lose.")] = 1.0,
    format: From = None,
) -> None:
    """Write a model as an ONNX graph that runs without torch, checked against torch before it is saved."""
    with suppress(MissingExtraError):  # nestag.export.onnx names the right extra
        silence_libraries()
    gold = None if dev is None else Reading().corpus(dev, format)
    done = nestag.export.onnx(model, directory, int8=int8, dev=gold, max_loss=max_loss)
    log(f"the entities are the same as torch's; log-probabilities differ by at most {done.difference:.1g}")
    if dev is not None:
        log(f"float32: F1 {100 * done.f1:.2f} on {dev}")
    if done.int8_f1 is not None:
        log(f"int8:    F1 {100 * done.int8_f1:.2f} on {dev or 'the entities of float32 in the sample'}")
    log(f"wrote {directory}; it runs without torch: nestag predict {directory} article.txt --show")


for command in (machamp, conll, hf, back, onnx):
    add_command(app, command)


def _report(done: ExportOutcome, directory: str) -> None:
    """Print what was written and which labels train lacks."""
    learned = done.vocabulary
    log(f"learned {len(learned.n):,} n, {len(learned.c):,} c and {len(learned.u):,} u for {learned.encoding}")
    for split, tally in done.tallies.items():
        log(f"{split}: {tally}, {tally.unseen:,} label parts that train lacks")
    log_all(done.report.summary())
    log(f"wrote {directory}; its README.md has the next commands")
