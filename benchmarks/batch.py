"""Measure batch inference compared with the engine alone: sentences per second and memory.

    python benchmarks/batch.py MODEL [--corpus test.jsonl] [--sentences 100000] [--workers 1 2] [--write FILE]

The engine tags sentences in memory in one process, with one thread on a CPU. The workers read and write Parquet. Their
time runs from the beginning of the first part to the end of the last. Memory should not grow with the sentences; parts
of one sentence show what a part costs in addition to its tagging.
"""

from __future__ import annotations

import argparse
import itertools
import multiprocessing
import random
import string
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from nestag import Sentence, read_corpus
from nestag.batch import Job, Totals, tag
from nestag.batch.cluster import Cluster
from nestag.batch.plan import PART_BYTES, Device
from nestag.batch.storage import library
from nestag.batch.worker import peak_memory, read_model
from nestag.formats import sample
from nestag.formats.files import writing

ONE_SENTENCE_PARTS = 500
NAMES = {"many": "workers", "few": "workers, a tenth of the sentences", "parts": "workers, parts of one sentence"}
FILE_ROWS = 25_000
WARM_UP = 4_000


class Measured(NamedTuple):
    """Sentences per second of wall-clock time and of CPU time, and the peak memory of a worker in bytes."""

    rate: float
    cpu_rate: float
    peak: int


def main() -> None:
    """Measure everything and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", help="a model folder, or a name on the hub")
    parser.add_argument("--corpus", type=Path, help="sentences to repeat (default: the embedded corpus)")
    parser.add_argument("--sentences", type=int, default=100_000)
    parser.add_argument("--workers", nargs="+", type=int, default=[1, 2])
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--write", type=Path, help="also write the table to this file")
    options = parser.parse_args()
    lines = []
    with tempfile.TemporaryDirectory() as scratch:
        for line in table(options, Path(scratch)):
            print(line, flush=True)
            lines.append(line)
    if options.write:
        with writing(options.write) as stream:
            stream.write("\n".join(["# Batch inference compared with the engine\n", *lines]) + "\n")


def table(options: Any, scratch: Path) -> Iterator[str]:
    """Yield the rows of the table."""
    words = [
        list(sentence.tokens) for sentence in (read_corpus(options.corpus) if options.corpus else sample.sentences())
    ]
    write_sentences(scratch / "few", options.sentences // 10, words)
    write_sentences(scratch / "many", options.sentences, words)
    write_sentences(scratch / "parts", ONE_SENTENCE_PARTS, words, group=1)
    yield "| | workers | sentences/s | share of the engine | sentences per CPU second | peak memory of a worker |"
    yield "|---|---:|---:|---:|---:|---:|"
    engine = in_process(run_engine, options.model, options.device, options.sentences, words)
    yield row("engine, words", "", engine, engine)
    most = max(options.workers)
    cases = [("many", "words", workers) for workers in options.workers]
    cases += [("many", "text", most), ("few", "words", most), ("parts", "words", most)]
    for number, (name, column, workers) in enumerate(cases):
        source, out = scratch / name, scratch / f"out-{number}"
        measured = in_process(run_batch, options.model, options.device, source, out, column, workers)
        yield row(f"{NAMES[name]}, {column}", str(workers), measured, engine)
        if name == "parts":
            yield f"\nA part costs its worker {workers / measured.rate:.3f} s in addition to its tagging."


def row(name: str, workers: str, measured: Measured, engine: Measured) -> str:
    """Return a row of the table."""
    share = measured.rate / engine.rate
    peak = f"{measured.peak / 2**20:,.0f} MiB"
    return f"| {name} | {workers} | {measured.rate:,.0f} | {share:.2f} | {measured.cpu_rate:,.0f} | {peak} |"


def in_process(work: Any, *arguments: Any) -> Any:
    """Call a function in a new process, so that its peak memory is its own."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(work, arguments)


def run_engine(model: str, device: Device, count: int, words: list[list[str]]) -> Measured:
    """Tag sentences in memory."""
    sentences = [Sentence(tokens) for tokens in generate(count, words)]
    predictor = read_model(model).load(device, {})
    list(predictor.pipe(sentences[:WARM_UP]))
    began, cpu = time.perf_counter(), time.process_time()
    for _ in predictor.pipe(sentences):
        pass
    return Measured(count / (time.perf_counter() - began), count / (time.process_time() - cpu), peak_memory())


def run_batch(model: str, device: Device, source: Path, out: Path, column: str, workers: int) -> Measured:
    """Tag sentences from Parquet to Parquet."""
    times: list[float] = []

    def watch(totals: Totals) -> None:
        if not times:  # the seconds of one part, not of several in parallel
            times.append(time.perf_counter() - sum(totals.seconds[stage] for stage in ("tagging", "writing")))
        times.append(time.perf_counter())

    size = 1 if source.name == "parts" else PART_BYTES[device]
    text = {"tokenizer": "whitespace"} if column == "text" else {"tokens": column}
    job = Job(device=device, part_bytes=size, **text)  # type: ignore[arg-type]
    totals = tag(str(source), str(out), model, job, Cluster(None, workers), watch=watch)
    assert not totals.failures
    return Measured(totals.rows / (times[-1] - times[0]), totals.rows / totals.cpu, totals.peak)


def generate(count: int, words: list[list[str]]) -> Iterator[list[str]]:
    """Repeat sentences, with one word in ten replaced, so that caches do not help more than on real text."""
    rng = random.Random(0)
    others = ["".join(rng.choices(string.ascii_lowercase, k=rng.randint(3, 9))) for _ in range(5_000)]
    for sentence in itertools.islice(itertools.cycle(words), count):
        yield [rng.choice(others) if rng.random() < 0.1 else word for word in sentence]


def write_sentences(folder: Path, count: int, words: list[list[str]], group: int = 2_000) -> None:
    """Write sentences as Parquet, as words and as texts."""
    folder.mkdir()
    rows = generate(count, words)
    for number in itertools.count():
        shard = list(itertools.islice(rows, FILE_ROWS))
        if not shard:
            return
        table = library("pyarrow").table({"words": shard, "text": [" ".join(sentence) for sentence in shard]})
        library("pyarrow.parquet").write_table(table, folder / f"{number:04}.parquet", row_group_size=group)


if __name__ == "__main__":
    main()
