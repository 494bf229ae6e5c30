"""nestag.export: a corpus for another sequence labeling library and its predictions back; a model for onnxruntime."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import nestag
from nestag.data.report import Report
from nestag.encodings import Encoding
from nestag.encodings import encoding as encoding_named
from nestag.encodings.base import Naming
from nestag.errors import MissingExtraError
from nestag.formats import sample
from nestag.formats.corpus import CorpusSource, corpus_of, in_memory, report_of
from nestag.formats.folders import Split
from nestag.formats.labels import LabellingTally
from nestag.formats.registry import writer_for
from nestag.integrations.tagging import folder
from nestag.integrations.tagging.conll import Conll, Labels
from nestag.integrations.tagging.folder import ExportCrossing, ExportOutcome, Unseen, recovered
from nestag.integrations.tagging.hf import HuggingFace
from nestag.integrations.tagging.machamp import MaChAmp
from nestag.integrations.tagging.target import Target

if TYPE_CHECKING:
    from nestag.model.onnx_export import Exported

__all__ = ["back", "conll", "hf", "machamp", "onnx"]


def machamp(
    directory: str | Path,
    train: CorpusSource,
    dev: CorpusSource,
    test: CorpusSource | None = None,
    *,
    encoding: str | Encoding = "rel",
    encoder: str = MaChAmp.encoder,
    epochs: int = MaChAmp.epochs,
    seed: int = MaChAmp.seed,
    crossing: ExportCrossing = "error",
) -> ExportOutcome:
    """Write what MaChAmp needs to train the paper's model: labels, the two configurations and the commands."""
    return _export(MaChAmp(encoder, epochs, seed), directory, train, dev, test, encoding, crossing)


def conll(
    directory: str | Path,
    train: CorpusSource,
    dev: CorpusSource,
    test: CorpusSource | None = None,
    *,
    encoding: str | Encoding = "rel",
    labels: Labels = "joint",
    crossing: ExportCrossing = "error",
) -> ExportOutcome:
    """Write columns for Flair, spaCy and the like: a token and its label per line."""
    return _export(Conll(labels), directory, train, dev, test, encoding, crossing)


def hf(
    directory: str | Path,
    train: CorpusSource,
    dev: CorpusSource,
    test: CorpusSource | None = None,
    *,
    encoding: str | Encoding = "rel",
    crossing: ExportCrossing = "error",
) -> ExportOutcome:
    """Write a folder that Hugging Face's datasets opens for token classification."""
    return _export(HuggingFace(), directory, train, dev, test, encoding, crossing)


def _export(
    target: Target,
    directory: str | Path,
    train: CorpusSource,
    dev: CorpusSource,
    test: CorpusSource | None,
    encoding: str | Encoding,
    crossing: ExportCrossing,
) -> ExportOutcome:
    corpora: dict[Split, CorpusSource] = {"train": train, "dev": dev}
    if test is not None:
        corpora["test"] = test
    return folder.write(target, corpora, encoding_named(encoding), directory, crossing)


@dataclass(frozen=True)
class Recovery:
    """The encoding, the counts and the report of recovered predictions."""

    encoding: str
    counts: LabellingTally
    report: Report


def back(
    directory: str | Path,
    corpus: CorpusSource,
    predictions: str | Path,
    output: str | Path,
    *,
    node_label_strategy: Naming = "first",
    unseen: Unseen = "refuse",
    to: str | None = None,
) -> Recovery:
    """Write a library's predictions as sentences with entities, repairing invalid labels.

    `directory` is the export that the library was trained on, `corpus` the predicted corpus; its entities are ignored.
    """
    export, write = folder.read(directory), writer_for(output, to)
    sentences, counts, report = corpus_of(corpus), LabellingTally(), Report()
    write(recovered(export, sentences, predictions, counts, node_label_strategy, unseen), output, report=report)
    report.include(report_of(sentences))
    return Recovery(export.vocabulary.encoding, counts, report)


def onnx(
    model: str | Path,
    directory: str | Path,
    *,
    int8: bool = False,
    dev: CorpusSource | None = None,
    max_loss: float = 1.0,
) -> Exported:
    """Write a model as an ONNX graph that runs without torch, checked against torch before it is saved.

    It is checked on `dev`, an annotated corpus, or else on a sample with torch's predictions as gold. `int8` quantizes
    most weights; a loss of more than `max_loss` points of F1 is an error.
    """
    try:
        recognizer = nestag.NestedNER.from_pretrained(model, "cpu")
    except MissingExtraError:
        raise MissingExtraError("an export to ONNX needs torch", "onnx-export") from None
    from nestag.model.onnx_export import export

    sentences = in_memory(dev) if dev is not None else sample.sentences("test")
    return export(recognizer, directory, sentences, int8=int8, gold=dev is not None, max_loss=max_loss)
