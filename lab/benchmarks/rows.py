"""What a row costs around the engine: CPU time to read it, to cut a text into words, and to write it with its entities.

    python lab/benchmarks/rows.py [--sentences 5000] [--corpus test.jsonl] [--write docs/benchmarks/rows.md]

Each step is timed by itself, in one thread and without a model: the best of several rounds, by the CPU seconds of the
process. Rows are sentences of the corpus, else of the embedded one; the entities written are the corpus's own.
"""

from __future__ import annotations

import argparse
import io
import itertools
import json
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from nestag import Sentence, read_corpus
from nestag.batch.output import writer_for
from nestag.batch.plan import Job, plan_parts
from nestag.batch.rows import RowBatch, read_part
from nestag.batch.storage import find_input_files, library
from nestag.data.document import joined_offsets
from nestag.data.segment import Options, segments
from nestag.formats import sample
from nestag.formats.files import writing
from nestag.model.predictor import TextEntities, TextEntity

ROUNDS = 3


class Step(NamedTuple):
    """What a row costs in a step."""

    name: str
    seconds: float


def main() -> None:
    """Time the steps and print the table."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--sentences", type=int, default=5_000)
    arguments.add_argument("--corpus", type=Path, help="sentences in a format that nestag reads")
    arguments.add_argument("--write", type=Path, help="also write the table to this file")
    options = arguments.parse_args()
    given = read_corpus(options.corpus) if options.corpus else sample.sentences()
    sentences = list(itertools.islice(itertools.cycle(given), options.sentences))
    with tempfile.TemporaryDirectory() as scratch:
        lines = list(table(sentences, list(steps(sentences, Path(scratch)))))
    print("\n".join(lines))
    if options.write:
        with writing(options.write) as stream:
            stream.write("# What a row costs around the engine\n\nWritten by `lab/benchmarks/rows.py`.\n\n")
            stream.write("\n".join(lines) + "\n")


def table(sentences: Sequence[Sentence], found: Sequence[Step]) -> Iterator[str]:
    """The steps, a row in microseconds."""
    words = sum(len(sentence.tokens) for sentence in sentences) / len(sentences)
    entities = sum(len(sentence.entities) for sentence in sentences) / len(sentences)
    yield f"{len(sentences):,} rows of {words:.1f} words and {entities:.1f} entities, CPU time of one thread.\n"
    yield "| step | µs a row | rows a CPU second |"
    yield "|---|---:|---:|"
    for step in found:
        yield f"| {step.name} | {1e6 * step.seconds:.1f} | {1 / step.seconds:,.0f} |"


def steps(sentences: Sequence[Sentence], scratch: Path) -> Iterator[Step]:
    """Every step, timed."""
    words = [list(sentence.tokens) for sentence in sentences]
    texts = [" ".join(row) for row in words]
    count = len(sentences)
    write_inputs(scratch, words, texts)
    for name, kind, tokens in (
        ("words of Parquet", "parquet", "tokens"), ("texts of Parquet", "parquet", ""),
        ("words of JSON Lines", "jsonl", "tokens"), ("texts of JSON Lines", "jsonl", ""), ("lines of text", "txt", ""),
    ):  # fmt: skip
        yield Step(
            f"read {name}", best_time(partial(read, scratch / f"rows.{kind}", Job(tokens=tokens).on("cuda"))) / count
        )
    for tokenizer in ("whitespace", "spacy"):
        yield Step(f"cut a text by {tokenizer}", best_time(partial(cut, texts, Options(tokenizer=tokenizer))) / count)
    batches = read(scratch / "rows.parquet", Job(tokens="tokens").on("cuda"))
    rows = iter(sentences)
    found = [(batch, list(map(entities_of, itertools.islice(rows, len(batch.positions))))) for batch in batches]
    for name, form in (("Parquet", "parquet"), ("JSON Lines", "jsonl")):
        yield Step(f"write {name}", best_time(partial(write, found, form)) / count)


def best_time(work: Callable[[], Any]) -> float:
    """The least CPU seconds of several rounds."""
    times = []
    for _ in range(ROUNDS):
        began = time.process_time()
        work()
        times.append(time.process_time() - began)
    return min(times)


def read(path: Path, job: Job) -> list[RowBatch]:
    """Every row of a file."""
    return [batch for part in plan_parts(find_input_files(str(path)), job).parts for batch in read_part(part, job)]


def cut(texts: Sequence[str], options: Options) -> None:
    """Every text as sentences of words."""
    for text in texts:
        for words in segments(text, options):
            [text[start:end] for start, end in words]


def write(found: Sequence[tuple[RowBatch, list[TextEntities[Any]]]], form: Any) -> None:
    """Every row with its entities."""
    writer = writer_for(form, io.BytesIO(), "rows.parquet")
    for batch, entities in found:
        writer.write(batch, entities)
    writer.close()


def entities_of(sentence: Sentence) -> TextEntities[Any]:
    """The entities of a sentence, as a model finds them."""
    text, words = " ".join(sentence.tokens), joined_offsets(sentence.tokens)
    places = ((words[entity.start][0], words[entity.end - 1][1], entity) for entity in sentence.entities)
    found = [TextEntity(a, b, entity.type, text[a:b], 0.9, entity.start, entity.end) for a, b, entity in places]
    return TextEntities(sentence, sentence.tokens, found)


def write_inputs(folder: Path, words: list[list[str]], texts: list[str]) -> None:
    """The rows in every form that is read."""
    table = library("pyarrow").table({"tokens": words, "text": texts})
    library("pyarrow.parquet").write_table(table, folder / "rows.parquet", row_group_size=2_000)
    (folder / "rows.txt").write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")
    lines = (json.dumps({"text": text, "tokens": row}) for text, row in zip(texts, words, strict=True))
    (folder / "rows.jsonl").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


if __name__ == "__main__":
    main()
