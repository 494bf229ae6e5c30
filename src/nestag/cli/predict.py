"""predict: a recognizer and sentences or text -> entities."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from typing import Annotated, Any

import typer

from nestag.cli.options import From, Predicting, Reading
from nestag.cli.paths import Input, inputs_from, together
from nestag.cli.terminal import progress, tell
from nestag.data.report import Report
from nestag.data.segment import Options
from nestag.data.sentence import Sentence
from nestag.errors import InputError
from nestag.formats.files import PIPE, is_stream, writing
from nestag.formats.format import Writer
from nestag.formats.registry import format_named, writer_for
from nestag.model.model_folder import load
from nestag.model.predictor import Predictor, TextEntities


def predict(
    *,
    model: Annotated[str, typer.Argument(metavar="MODEL", help="A model folder, or a name on the hub.")],
    sources: Annotated[
        list[str],
        typer.Argument(
            metavar="IN", help="Text files or corpora in any format, folders, globs; - is standard input, text or JSON."
        ),
    ],
    output: Annotated[
        str | None, typer.Option("-o", "--output", metavar="OUT", help="The output file (default: standard output).")
    ] = None,
    beside: Annotated[
        bool, typer.Option("--beside", help="Write one output next to each input: a.txt gives a.entities.jsonl.")
    ] = False,
    show: Annotated[bool, typer.Option("--show", help="Draw the entities in the terminal, and write nothing.")] = False,
    read_as: From = None,
    write_as: Annotated[
        str | None, typer.Option("--to", metavar="FORMAT", help="The output format, if it cannot be guessed.")
    ] = None,
    confidence: Annotated[
        bool, typer.Option("--confidence", help="Write JSON Lines with text and confidence of each entity.")
    ] = False,
    predicting: Predicting,
    device: Annotated[
        str | None, typer.Option(metavar="D", help="cpu, cuda or cuda:1 (default: a GPU if there is one).")
    ] = None,
    reading: Reading,
) -> None:
    """Find nested entities in texts or corpora, which are read and written as they stream by."""
    check_output(output, beside, show, confidence, write_as)
    given = inputs_from(sources, read_as, output)
    if beside:
        check_beside(given, suffix_of(write_as))
    name = f"x{suffix_of(write_as)}" if beside else output or PIPE
    write = None if confidence or show else writer_for(name, write_as)  # looked for before a model is loaded
    recognizer = load(model, device, **predicting.changes)
    options = reading.options_for(recognizer.settings.reading)
    report = Report()
    sentences = progress(together(given, options, report), "tagging")
    if show:
        draw(recognizer.annotate(sentences))
    elif beside:
        write_beside(recognizer, given, write, suffix_of(write_as), options, report)
    elif write:
        write(recognizer.annotate(sentences), output or PIPE, options, report)
    else:
        write_records(recognizer.pipe(sentences), output or PIPE)
    for line in report.summary():
        tell(line)


def check_output(output: str | None, beside: bool, show: bool, confidence: bool, write_as: str | None) -> None:
    """Refuse options that contradict each other."""
    if confidence and write_as not in (None, "jsonl"):
        raise InputError("confidences are written as JSON Lines; drop --to", "--confidence")
    if beside and output is not None:
        raise InputError("outputs lie beside their inputs; drop -o or --beside", "--beside")
    if show and (beside or output is not None or confidence or write_as is not None):
        raise InputError(
            "nothing is written when entities are drawn; drop -o, --to, --beside and --confidence", "--show"
        )


def check_beside(given: Sequence[Input], suffix: str) -> None:
    """Refuse pipes, and inputs whose outputs would have the same name, such as those of `a.txt` and `a.conll`."""
    targets: dict[str, str] = {}
    for one in given:
        if is_stream(one.path):
            raise InputError("nothing can lie beside a pipe; drop --beside", one.path)
        target = one.beside(suffix)
        if targets.setdefault(target, one.path) != one.path:
            raise InputError(
                f"its output {target} would be that of {targets[target]} too; rename one, or drop --beside", one.path
            )


def suffix_of(write_as: str | None) -> str:
    """How outputs of a format are called."""
    suffixes = format_named(write_as or "jsonl").suffixes
    if not suffixes:
        raise InputError(f"{write_as} writes a folder; say which with -o, and drop --beside", "--beside")
    return suffixes[0]


def write_beside(
    recognizer: Predictor, given: Sequence[Input], write: Writer | None, suffix: str, options: Options, report: Report
) -> None:
    """An output beside each input; all are tagged as one stream, so small files cost no more than a large one."""
    owners: deque[Input] = deque()  # of the sentences that are read and not yet written
    left = dict.fromkeys(given)

    def sentences() -> Iterator[Sentence]:
        for one in given:
            for sentence in one.read(options, report):
                owners.append(one)
                yield sentence

    def save(tagged: Iterable[Any], one: Input) -> None:
        target = one.beside(suffix)
        if write:
            write(tagged, target, options, report)
        else:
            write_records(tagged, target)
        left.pop(one)
        tell(f"{one.path} -> {target}")

    tag: Callable[..., Iterable[Any]] = recognizer.annotate if write else recognizer.pipe
    for one, tagged in groupby(tag(progress(sentences(), "tagging")), key=lambda _: owners.popleft()):
        save(tagged, one)
    for one in list(left):  # those without a sentence
        save([], one)


def draw(sentences: Iterable[Sentence]) -> None:
    """Each sentence in the terminal, with its entities below the words."""
    from rich.console import Console

    from nestag.inspect.terminal import nested, print_lines

    console = Console(highlight=False)
    for sentence in sentences:
        print_lines(console, [*nested(sentence, console.width), []])


def write_records(tagged: Iterable[TextEntities[Sentence]], output: str) -> None:
    """Write a line of JSON for each sentence, with the records of its entities."""
    with writing(output) as stream:
        for found in tagged:
            record = {"tokens": list(found.tokens), "entities": found.records(), "id": found.source.id}
            stream.write(json.dumps(record, ensure_ascii=False) + "\n")
