"""Tagging on a cluster beside the engine alone: sentences a second, and memory, measured in one run.

    python benchmarks/scale.py [--sentences 100000] [--many 1000000] [--write docs/benchmarks/scale.md]

A tiny encoder (two layers of 64) is trained for some steps on the embedded corpus and exported, so that what is around
the engine weighs as much as it can. The engine tags sentences that are in memory, in one process and with one thread;
the cluster is embedded, has one worker, reads Parquet and writes Parquet. They take turns. Time is from the beginning
of the first part to the end of the last. Memory is the most that a worker and the driver ever had.
"""

from __future__ import annotations

import argparse
import itertools
import multiprocessing
import os
import random
import string
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from nestag import Sentence, sample
from nestag.files import writing
from nestag.scale import Job, tag
from nestag.scale.cluster import Cluster
from nestag.scale.model import load, pack
from nestag.scale.storage import library
from nestag.scale.summary import Totals
from nestag.scale.worker import peak_memory

BAR = 0.85
"""The least share of the engine's rate."""

FLAT = 1.25
"""The most that memory may grow from a hundredth of the sentences to all of them."""

FEW = 10_000
GROUP = 2_000
PART = 2 * 2**20
SHARD = 100_000
WORDS = 5_000


class Ran(NamedTuple):
    """What a run took."""

    rate: float  # sentences a second
    start: float  # seconds before the first part was begun
    peak: int  # bytes of a worker, or of the engine's process


def main() -> None:
    """Measure and print one table after the other."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--sentences", type=int, default=100_000)
    arguments.add_argument("--many", type=int, default=1_000_000, help="sentences for memory; 0 leaves that out")
    arguments.add_argument("--rounds", type=int, default=2)
    arguments.add_argument(
        "--models", type=Path, help="a folder with the models torch and onnx, made if it is not there"
    )
    arguments.add_argument("--write", type=Path, help="also write the tables to this file")
    options = arguments.parse_args()
    lines: list[str] = []
    with tempfile.TemporaryDirectory() as scratch:
        models = options.models or Path(scratch) / "models"
        if not models.exists():
            make_models(models)
        sections = [rates(models, Path(scratch), options.sentences, options.rounds)]
        sections += [memory(models / "onnx", Path(scratch), options.many)] if options.many else []
        for line in itertools.chain.from_iterable(sections):
            print(line, flush=True)
            lines.append(line)
    if options.write:
        load_average = ", ".join(f"{value:.1f}" for value in os.getloadavg())
        told = f"Written by `benchmarks/scale.py`; {os.cpu_count()} cores, load average {load_average}."
        with writing(options.write) as stream:
            stream.write(f"# Tagging on a cluster, measured\n\n{told}\n\n" + "\n".join(lines) + "\n")


def rates(models: Path, scratch: Path, count: int, rounds: int) -> Iterator[str]:
    """The cluster's sentences a second beside the engine's, with one worker and one thread."""
    write_sentences(scratch / "rate", count)
    yield f"## Rate over {count:,} sentences\n"
    yield "| model | engine alone | one worker | share | start of the cluster | at least 0.85 |"
    yield "|---|---|---|---|---|---|"
    for name in ("torch", "onnx"):
        alone, worker = [], []
        for number in range(rounds):
            alone.append(in_process(engine_alone, models / name, count))
            worker.append(in_process(on_cluster, models / name, scratch / "rate", scratch / f"{name}-{number}", 1))
        best, beside = max(run.rate for run in alone), max(run.rate for run in worker)
        yield (
            f"| {name} | {best:,.0f} sentences/s | {beside:,.0f} sentences/s | {beside / best:.2f} |"
            f" {worker[0].start:.1f} s | {'yes' if beside >= BAR * best else 'no'} |"
        )


def memory(model: Path, scratch: Path, many: int) -> Iterator[str]:
    """The peak memory of a worker and the driver over few sentences and over many."""
    yield f"\n## Memory from {FEW:,} to {many:,} sentences\n"
    yield "| sentences | worker | driver | sentences/s |"
    yield "|---|---|---|---|"
    peaks = []
    for count in (FEW, many):
        write_sentences(scratch / f"memory-{count}", count)
        workers = os.cpu_count() or 1
        run, driver = in_process(
            with_driver, model, scratch / f"memory-{count}", scratch / f"memory-out-{count}", workers
        )
        peaks.append((run.peak, driver))
        yield f"| {count:,} | {run.peak / 2**20:.0f} MiB | {driver / 2**20:.0f} MiB | {run.rate:,.0f} |"
    growth = max(b / a for a, b in zip(*peaks, strict=True))
    yield f"\nMemory is flat (at most {FLAT:g} times): {'yes' if growth <= FLAT else 'no'}, {growth:.2f}."


def in_process(work: Any, *arguments: Any) -> Any:
    """What a function returns in a new process, so that peaks of memory are its own."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(work, arguments)


def engine_alone(model: Path, count: int) -> Ran:
    """The engine over sentences in memory, in one process with one thread, as a worker has it."""
    sentences = [Sentence(words) for words in generated(count)]
    predictor = load(pack(str(model)), "cpu", {})
    predictor.predict(sentences[:100])
    began = time.perf_counter()
    for _ in predictor.annotate_scored(sentences):
        pass
    return Ran(count / (time.perf_counter() - began), 0.0, peak_memory())


def on_cluster(model: Path, source: Path, out: Path, workers: int) -> Ran:
    """The same from Parquet to Parquet, by workers of an embedded cluster."""
    begun: list[float] = []
    ended: list[float] = []
    seen: list[Totals] = []
    start = time.perf_counter()

    def watch(totals: Totals) -> None:
        now = time.perf_counter()
        took = totals.seconds["tagging"] + totals.seconds["writing"]
        begun.append(now - took if not begun else begun[0])
        ended.append(now)
        seen.append(totals)

    finished = tag(str(source), str(out), str(model), Job(tokens="tokens", part_bytes=PART), Cluster(workers=workers),
                   watch=watch)  # fmt: skip
    assert finished.complete
    totals = finished.totals
    return Ran(totals.rows / (ended[-1] - begun[0]), begun[0] - start, totals.peak)


def with_driver(model: Path, source: Path, out: Path, workers: int) -> tuple[Ran, int]:
    """The same, and the peak of the driver."""
    return on_cluster(model, source, out, workers), peak_memory()


def generated(count: int) -> Iterator[list[str]]:
    """Sentences of the embedded corpus in turn, a word in ten replaced by one of some thousand."""
    rng = random.Random(0)
    letters = string.ascii_lowercase
    others = ["".join(rng.choices(letters, k=rng.randint(3, 9))) for _ in range(WORDS)]
    given = [list(sentence.tokens) for sentence in sample.sentences()]
    for number in range(count):
        yield [rng.choice(others) if rng.random() < 0.1 else word for word in given[number % len(given)]]


def write_sentences(folder: Path, count: int) -> None:
    """Sentences as Parquet, in files of 100,000."""
    folder.mkdir()
    rows = generated(count)
    for number in itertools.count():
        shard = list(itertools.islice(rows, SHARD))
        if not shard:
            return
        table = library("pyarrow").table({"tokens": shard})
        library("pyarrow.parquet").write_table(table, folder / f"{number:04}.parquet", row_group_size=GROUP)


def make_models(folder: Path) -> None:
    """A tiny encoder, trained for some steps, for torch and for onnxruntime."""
    from nestag import NestedNER, Recipe
    from nestag.graph import export
    from nestag.training.run import train

    encoder = folder / "encoder"
    encoder.mkdir(parents=True)
    save_encoder(encoder)
    recipe = Recipe(encoder=str(encoder), steps=100, learning_rate=1e-3)
    train(sample.sentences("train"), sample.sentences("dev"), folder / "torch", recipe, use_cpu=True)
    export(NestedNER.from_pretrained(folder / "torch", "cpu"), folder / "onnx", sample.sentences("dev"))


def save_encoder(folder: Path) -> None:
    """A random BERT of two layers of 64 whose subwords are single characters and the words of the corpus."""
    import torch
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers
    from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    words = sorted({word.lower() for sentence in sample.sentences() for word in sentence.tokens})
    signs = sorted({char for word in words for char in word} | set(string.ascii_lowercase))
    pieces = list(dict.fromkeys([*special, *words, *signs, *(f"##{char}" for char in signs)]))
    inner = Tokenizer(models.WordPiece({piece: number for number, piece in enumerate(pieces)}, unk_token="[UNK]"))
    inner.normalizer = normalizers.Lowercase()
    inner.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    names = dict(zip(("pad_token", "unk_token", "cls_token", "sep_token", "mask_token"), special, strict=True))
    PreTrainedTokenizerFast(tokenizer_object=inner, model_max_length=512, **names).save_pretrained(folder)
    torch.manual_seed(0)
    size: dict[str, Any] = {
        "hidden_size": 64,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "intermediate_size": 256,
    }
    BertModel(BertConfig(vocab_size=len(pieces), pad_token_id=0, **size)).save_pretrained(folder)


if __name__ == "__main__":
    main()
