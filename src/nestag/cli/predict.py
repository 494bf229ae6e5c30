"""predict: a recognizer and sentences or text -> entities."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

import nestag
from nestag.cli.splits import From, Reading
from nestag.cli.terminal import hush, progress, tell
from nestag.cli.written import writer_for
from nestag.corpora.registry import format_named, format_of
from nestag.corpora.report import Report
from nestag.data import Sentence
from nestag.errors import InputError
from nestag.files import PIPE, writing
from nestag.model_folder import has_graph, local_folder

if TYPE_CHECKING:
    from nestag.predictor import Predictor


def predict(
    *,
    model: Annotated[str, typer.Argument(metavar="MODEL", help="A folder of a model, or a name on the hub.")],
    source: Annotated[str, typer.Argument(metavar="IN", help="Text or a corpus in any format; - is a pipe of text.")],
    output: Annotated[str, typer.Option("-o", "--output", metavar="OUT", help="Where to write; - is a pipe.")] = PIPE,
    read_as: From = None,
    write_as: Annotated[
        str | None, typer.Option("--to", metavar="FORMAT", help="The format written, if it must be said.")
    ] = None,
    confidence: Annotated[
        bool, typer.Option("--confidence", help="Write JSON Lines with the confidence of each entity.")
    ] = False,
    threshold: Annotated[
        float | None, typer.Option(min=0, max=1, help="Leave out entities of less confidence; else as the model says.")
    ] = None,
    type_threshold: Annotated[
        list[str] | None, typer.Option(metavar="TYPE=VALUE", help="The same for one type; may be given again.")
    ] = None,
    decoding: Annotated[str | None, typer.Option(metavar="D", help="legal or greedy, if not as trained.")] = None,
    device: Annotated[str | None, typer.Option(metavar="D", help="cpu, cuda or cuda:1; else a GPU if any.")] = None,
    reading: Reading,
) -> None:
    """Find nested entities in text or in a corpus, which is read and written as it streams by."""
    if confidence and write_as not in (None, "jsonl"):
        raise InputError("confidences are written as JSON Lines; drop --to", "--confidence")
    options = reading.options
    read = format_named(read_as) if read_as else format_named("text") if source == PIPE else format_of(source)
    write = None if confidence else writer_for(output, write_as)
    changes: dict[str, Any] = {
        name: value for name, value in (("threshold", threshold), ("decoding", decoding)) if value is not None
    }
    if type_threshold:
        changes["thresholds"] = dict(map(_threshold, type_threshold))
    recognizer = loaded(model, device, changes)
    report = Report()
    sentences = progress(read.read(source, options, report, annotated=False), "tagging")
    if write:
        write(recognizer.annotate(sentences), output, options, report)
    else:
        write_scored(recognizer, sentences, output)
    for line in report.summary():
        tell(line)


def loaded(model: str, device: str | None, changes: dict[str, Any]) -> Predictor:
    """The recognizer of a folder or of a name on the hub: for onnxruntime if it was exported, else for torch."""
    folder = local_folder(model)
    if has_graph(folder):
        from nestag.runtime import OnnxNER

        return OnnxNER.from_pretrained(folder, device, **changes)
    recognizer = nestag.NestedNER  # says what to install where torch is missing
    hush()
    return recognizer.from_pretrained(folder, device, **changes)


def write_scored(recognizer: Predictor, sentences: Iterable[Sentence], output: str) -> None:
    """A line of JSON for each sentence, with the confidence of each entity and its characters if it has any."""
    with writing(output) as stream:
        for record in scored_records(recognizer, sentences):
            stream.write(json.dumps(record, ensure_ascii=False) + "\n")


def scored_records(recognizer: Predictor, sentences: Iterable[Sentence]) -> Iterator[dict[str, object]]:
    """What `write_scored` writes."""
    for sentence, found in recognizer.annotate_scored(sentences):
        entities: list[dict[str, object]] = []
        for entity in found:
            record: dict[str, object] = {**entity._asdict(), "confidence": round(entity.confidence, 4)}
            if sentence.origin:
                start, end, text = sentence.origin.characters(entity.start, entity.end)
                record |= {"start_char": start, "end_char": end, "text": text}
            entities.append(record)
        yield {"tokens": list(sentence.tokens), "entities": entities, "id": sentence.id}


def _threshold(text: str) -> tuple[str, float]:
    kind, _, value = text.rpartition("=")
    try:
        number = float(value)
        if not 0 <= number <= 1:  # nan is neither
            raise ValueError
        return kind, number
    except ValueError:
        raise InputError(f"{text!r} is no threshold; write --type-threshold PER=0.5", "--type-threshold") from None
