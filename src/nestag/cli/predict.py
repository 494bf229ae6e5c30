"""predict: a recognizer and sentences or text -> entities."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Annotated, Any

import typer

from nestag.cli.options import DeviceOption, From, ModelArgument, Predicting, Reading, To, output_option
from nestag.cli.paths import Input, find_inputs, read_inputs
from nestag.cli.terminal import log, log_all, progress
from nestag.data.report import Report
from nestag.data.segment import Options
from nestag.data.sentence import Sentence
from nestag.errors import InputError
from nestag.formats import jsonl
from nestag.formats.files import PIPE, is_stream, writing
from nestag.formats.registry import format_for, format_named
from nestag.model.model_folder import load


def predict(
    *,
    model: ModelArgument,
    sources: Annotated[
        list[str],
        typer.Argument(
            metavar="IN", help="Text files or corpora in any format, folders, globs; - is standard input, text or JSON."
        ),
    ],
    output: Annotated[str | None, output_option("OUT", "The output file (default: standard output).")] = None,
    beside: Annotated[
        bool, typer.Option("--beside", help="Write one output next to each input: a.txt gives a.entities.jsonl.")
    ] = False,
    show: Annotated[bool, typer.Option("--show", help="Draw the entities in the terminal, and write nothing.")] = False,
    predicting: Predicting,
    device: DeviceOption = None,
    to: To = None,
    format: From = None,
    reading: Reading,
) -> None:
    """Find nested entities in texts or corpora, as a stream. JSON Lines have the text and confidence of each entity."""
    check_output(output, beside, show, to)
    inputs = find_inputs(sources, format, output)
    if beside:
        check_beside(inputs, suffix_of(to))
    target = f"x{suffix_of(to)}" if beside else output or PIPE
    goal = format_for(target, to)  # raises an error before a model loads
    recognizer = load(model, device, **predicting.changes)
    options = reading.options_for(recognizer.settings.reading)
    report = Report()
    tag: Callable[..., Iterable[Any]] = recognizer.annotate
    write: Callable[..., None] = goal.write
    if goal.name == "jsonl":
        tag, write = recognizer.pipe, write_records
    if show:
        draw(recognizer.annotate(progress(read_inputs(inputs, options, report), "tagging")))
    elif beside:
        write_beside(tag, inputs, write, suffix_of(to), options, report)
    else:
        count: Counter[str] = Counter()
        tagged = tag(progress(read_inputs(inputs, options, report), "tagging"))
        write(counted(tagged, count), target, options, report)
        if not is_stream(target):
            log(f"written to {target} (sentences: {count['sentences']:,}, entities: {count['entities']:,})")
    log_all(report.summary())


def counted(tagged: Iterable[Any], count: Counter[str]) -> Iterator[Any]:
    """Yield tagged sentences and count them and their entities."""
    for sentence in tagged:
        entities = sentence.entities if isinstance(sentence, Sentence) else sentence
        count.update(sentences=1, entities=len(entities))
        yield sentence


def check_output(output: str | None, beside: bool, show: bool, to: str | None) -> None:
    """Refuse options that contradict each other."""
    if beside and output is not None:
        raise InputError("there is one output for each input; drop -o or --beside", "--beside")
    if show and (beside or output is not None or to is not None):
        raise InputError("it writes nothing; drop -o, --to and --beside", "--show")


def check_beside(inputs: Sequence[Input], suffix: str) -> None:
    """Refuse pipes, and inputs whose outputs would have the same name, such as those of `a.txt` and `a.conll`."""
    targets: dict[str, str] = {}
    for source in inputs:
        if is_stream(source.path):
            raise InputError("a pipe has no folder for its output; drop --beside", source.path)
        target = source.beside(suffix)
        if targets.setdefault(target, source.path) != source.path:
            raise InputError(
                f"its output {target} would be that of {targets[target]} too; rename one, or drop --beside", source.path
            )


def suffix_of(to: str | None) -> str:
    """Return the suffix of a format's files."""
    suffixes = format_named(to or "jsonl").suffixes
    if not suffixes:
        raise InputError(f"{to} writes a folder; name it with -o, and drop --beside", "--beside")
    return suffixes[0]


def write_beside(
    tag: Callable[..., Iterable[Any]],
    inputs: Sequence[Input],
    write: Callable[..., None],
    suffix: str,
    options: Options,
    report: Report,
) -> None:
    """Write an output next to each input; all are tagged as one stream, so small files are as fast as a large one."""
    owners: deque[Input] = deque()  # of sentences that are read and not yet written
    left = dict.fromkeys(inputs)

    def sentences() -> Iterator[Sentence]:
        for source in inputs:
            for sentence in source.read(options, report):
                owners.append(source)
                yield sentence

    def save(tagged: Iterable[Any], source: Input) -> None:
        target = source.beside(suffix)
        write(tagged, target, options, report)
        left.pop(source)
        log(f"{source.path} -> {target}")

    for source, tagged in groupby(tag(progress(sentences(), "tagging")), key=lambda _: owners.popleft()):
        save(tagged, source)
    for source in list(left):  # those without a sentence
        save([], source)


def draw(sentences: Iterable[Sentence]) -> None:
    """Draw sentences in the terminal, with entities below the words."""
    from rich.console import Console

    from nestag.inspect.terminal import draw_nested, print_lines

    console = Console(highlight=False)
    for sentence in sentences:
        print_lines(console, [*draw_nested(sentence, console.width), []])


def write_records(tagged: Iterable[Any], path: str | Path, *_: object) -> None:
    """Write a line of JSON for each sentence, with the records of its entities."""
    with writing(path) as stream:
        stream.writelines(jsonl.to_line(entities.source, entities.records()) for entities in tagged)
