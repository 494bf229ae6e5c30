"""nestag.export: a corpus for another sequence labeling library and its predictions back; a model for onnxruntime.

An export is a folder with a corpus as labels, and everything to read predictions for it:

    vocabulary.json   the labels of train, and the order of same-span types that every split is written in
    export.json       the library and its settings
    README.md         the commands to train, to predict and to convert predictions back
    ...               the splits, and the settings of the library; see taggers.py

Labels are learned from train alone; labels that only other splits have are reported. To convert predictions back, the
corpus provides tokens, ids and offsets, and the predictions, in the same order, the labels.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import nestag
from nestag.data.report import Report
from nestag.data.sentence import Sentence
from nestag.encodings import Encoding
from nestag.encodings import encoding as encoding_named
from nestag.encodings.base import Naming
from nestag.encodings.notation import write_chain, write_name
from nestag.encodings.vocabulary import UNSEEN, Vocabulary
from nestag.errors import InputError, MissingExtraError
from nestag.formats import sample
from nestag.formats.corpus import CorpusSource, corpus_of, handle_crossing, in_memory, path_of, report_of, reread
from nestag.formats.files import read_lines, writing, writing_folder
from nestag.formats.folders import Split
from nestag.formats.labels import (
    LabelBlock,
    Labelled,
    LabellingTally,
    entities_of,
    labelled,
    parts,
    read_vocabulary,
)
from nestag.formats.registry import format_for
from nestag.integrations.hf_dataset import HuggingFace
from nestag.integrations.taggers import HEADS, Conll, Labels, MaChAmp, Target, known_parts, to_json

if TYPE_CHECKING:
    from nestag.model.onnx_export import Exported

__all__ = ["back", "conll", "hf", "machamp", "onnx"]

ExportCrossing = Literal["error", "drop"]
"""Entities that overlap without nesting: stop at the first, or drop as few as possible."""

Unseen = Literal["refuse", "allow"]
"""Predicted labels that train lacks: an error, or accepted and counted."""

TARGETS: dict[str, type[Target]] = {target.name: target for target in (Conll, HuggingFace, MaChAmp)}
FORMAT = 1  # the version of export.json; other versions are refused


class ExportOutcome(NamedTuple):
    """The vocabulary of an export, the counts of each split, and a report."""

    vocabulary: Vocabulary
    tallies: dict[Split, LabellingTally]
    report: Report


class Recovery(NamedTuple):
    """The encoding, the counts and the report of recovered predictions."""

    encoding: str
    counts: LabellingTally
    report: Report


class Export(NamedTuple):
    """An export in a folder."""

    target: Target
    vocabulary: Vocabulary


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
    return write_export(MaChAmp(encoder, epochs, seed), directory, train, dev, test, encoding, crossing)


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
    return write_export(Conll(labels), directory, train, dev, test, encoding, crossing)


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
    return write_export(HuggingFace(), directory, train, dev, test, encoding, crossing)


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
    export, goal = read_export(directory), format_for(output, to)
    sentences, counts, report = corpus_of(corpus), LabellingTally(), Report()
    goal.write(recover(export, sentences, predictions, counts, node_label_strategy, unseen), output, report=report)
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


def write_export(
    target: Target,
    directory: str | Path,
    train: CorpusSource,
    dev: CorpusSource,
    test: CorpusSource | None = None,
    encoding: str | Encoding = "rel",
    crossing: ExportCrossing = "error",
) -> ExportOutcome:
    """Export a corpus; the folder is written atomically."""
    by = encoding_named(encoding)
    corpora: dict[Split, Iterable[Sentence]] = {"train": reread(train), "dev": corpus_of(dev)}
    if test is not None:
        corpora["test"] = corpus_of(test)
    paths = {split: path_of(corpus, split) for split, corpus in corpora.items()}
    report = Report()
    tallies: dict[Split, LabellingTally] = {}

    def sentences(split: Split, report: Report) -> Iterator[Sentence]:
        return handle_crossing(corpora[split], paths[split], crossing, report)

    with writing_folder(directory) as part:
        vocabulary = Vocabulary.learn(sentences("train", Report()), by)
        if not vocabulary.n:
            raise InputError(
                "train has no tokens, so there are no labels to learn; is this the right file?", paths["train"]
            )
        target = target.learn(vocabulary, sentences("train", Report()))
        for split, corpus in corpora.items():
            tallies[split] = LabellingTally()
            (part / target.files[split]).parent.mkdir(exist_ok=True)
            with writing(part / target.files[split]) as stream:
                labels = _labelled(sentences(split, report), paths[split], by, vocabulary, tallies[split], report)
                target.write(labels, vocabulary, stream)
            report.include(report_of(corpus))
        texts = target.texts(Path(directory).resolve().name, list(corpora), vocabulary, back_commands(paths))
        texts["vocabulary.json"] = vocabulary.to_json()
        texts["export.json"] = to_json({"format": FORMAT, "target": target.name, **asdict(target)})
        for name, text in texts.items():
            with writing(part / name) as stream:
                stream.write(text)
    return ExportOutcome(vocabulary, tallies, report)


def back_commands(paths: Mapping[Split, str]) -> str:
    """Return the commands that convert predictions for all splits but train to entities, to be run in the folder."""
    return "\n".join(
        f"    nestag export back . {shlex.quote(str(Path(path).resolve()))} {split}.out -o {split}.entities.jsonl"
        for split, path in paths.items()
        if split != "train"
    )


def _labelled(
    sentences: Iterable[Sentence],
    source: str,
    by: Encoding,
    vocabulary: Vocabulary,
    tally: LabellingTally,
    report: Report,
) -> Iterator[Labelled]:
    """Yield the sentences of a split as labels, and report labels that the vocabulary lacks."""
    writers: tuple[Callable[[Any], str], ...] = (by.write_n, write_name, write_chain)
    for sentence in labelled(sentences, by, tally, vocabulary):
        place = f"sentence {tally.sentences}"
        if not sentence.tokens:
            report.add("sentence without tokens skipped", source, place)
            continue
        for label, *ids in zip(sentence.labels, *vocabulary.ids(sentence.labels), strict=True):
            for head, value, number, write in zip(HEADS, label, ids, writers, strict=True):
                if number == UNSEEN:
                    report.add("label part that train lacks", f"{source}: {place}", f"{head} {write(value)}")
        yield sentence


def read_export(folder: str | Path) -> Export:
    """Read an export; an InputError says what is missing."""
    path = Path(folder) / "export.json"
    try:
        settings = json.loads("\n".join(line.text for line in read_lines(path)))
        if settings.pop("format") != FORMAT:
            raise InputError(f"this version reads exports of format {FORMAT}; export again", str(path))
        target = TARGETS[settings.pop("target")]
        fields = {name: tuple(value) if isinstance(value, list) else value for name, value in settings.items()}
        return Export(target(**fields), read_vocabulary(Path(folder) / "vocabulary.json"))
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise InputError(f"not an export ({type(error).__name__}: {error}); export again", str(path)) from None


def recover(
    export: Export,
    corpus: Iterable[Sentence],
    predictions: str | Path,
    tally: LabellingTally,
    naming: Naming = "first",
    unseen: Unseen = "refuse",
) -> Iterator[Sentence]:
    """Yield the sentences of a corpus with their predicted entities; invalid labels are repaired."""
    target, vocabulary = export
    by = encoding_named(vocabulary.encoding)
    readers = parts(by) if unseen == "allow" else known_parts(parts(by), vocabulary)
    blocks = (block for block in target.read(predictions, readers, vocabulary) if block.labels)
    for number, sentence in enumerate(corpus, 1):
        labels = align(next(blocks, None), sentence, number, predictions).labels if len(sentence) else []
        tally.unseen += vocabulary.ids(labels).unseen
        predicted = sentence.with_entities(entities_of(labels, by, naming, tally))
        tally.see(predicted)
        yield predicted
    if (more := next(blocks, None)) is not None:
        raise InputError(
            "there are more sentences here than in the corpus; give its corpus", str(predictions), more.line
        )


def align(block: LabelBlock | None, sentence: Sentence, number: int, source: str | Path) -> LabelBlock:
    """Return the block, or raise an InputError if it is not that of the sentence."""
    if block is None:
        raise InputError(f"ends before sentence {number} of the corpus; predict all of it, in its order", str(source))
    if len(block.labels) != len(sentence):
        counts = f"{len(block.labels)} labels for sentence {number}, which has {len(sentence)} tokens"
        raise InputError(f"{counts}; predict one a token", str(source), block.line)
    for position, (word, token) in enumerate(zip(block.tokens, sentence.tokens, strict=False)):
        if word != token:
            reason = f"token {position} of sentence {number} is {word!r}, in the corpus {token!r}"
            raise InputError(f"{reason}; give the corpus that was predicted, in its order", str(source), block.line)
    return block
