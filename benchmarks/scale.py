"""Tagging on a cluster beside the engine alone: sentences a second, and memory.

    python benchmarks/scale.py lab/results/scale.jsonl [--only torch onnx parts memory]
    python benchmarks/scale.py lab/results/scale.jsonl --only gpu --model MODEL --corpus test.jsonl [--workers 1 2 4]
    python benchmarks/scale.py lab/results/scale.jsonl --write build/measured/scale.md

A tiny encoder (two layers of 64) is trained for some steps on the embedded corpus and exported, so that what is around
the engine weighs as much as it can. The engine alone is `pipe` over sentences in memory, in one thread; the
cluster is embedded, has one worker, reads Parquet and writes Parquet. The medians of their rates are compared, by time
and by CPU seconds, which other work on the machine disturbs less. Time is from the beginning of the first part to the
end of the last. Memory is the most that a worker or the driver ever had. Parts of one sentence each show what a part
costs besides its tagging. Each measurement is a line of the file.

On a GPU the model and the corpus are given, the corpus is read over and over, and several numbers of workers share the
GPU, with words and with texts. The engine alone has the same GPU for itself, and is measured without confidences too.
"""

from __future__ import annotations

import argparse
import itertools
import json
import multiprocessing
import os
import random
import string
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from scale_page import PLAIN, SYSTEMS, Measured, cores, gpu_table, page

from nestag import Sentence, read_corpus
from nestag.batch import Job, tag
from nestag.batch.cluster import Cluster
from nestag.batch.model import pack, unpack
from nestag.batch.plan import PART_BYTES, Device
from nestag.batch.run import Totals
from nestag.batch.storage import library
from nestag.batch.worker import peak_memory
from nestag.formats import sample
from nestag.formats.files import read_lines, writing

FEW = 10_000
GROUP = 2_000
PART = 2**20
SHARD = 100_000
PARTS = 2_000
GPU_SHARD = 25_000
"""Sentences of a file for a GPU, which is one part."""

WORDS = 5_000
WARM_UP = 4_000
SECTIONS = ("torch", "onnx", "parts", "memory", "gpu")


def main() -> None:
    """Measure what is asked for, or write the page."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("results", type=Path, help="the file of measurements")
    arguments.add_argument("--only", nargs="+", choices=SECTIONS, default=SECTIONS[:4])
    arguments.add_argument("--systems", nargs="+", choices=SYSTEMS, default=SYSTEMS)
    arguments.add_argument("--sentences", type=int, default=100_000)
    arguments.add_argument("--few", type=int, default=FEW, help="the same, before them; 0 leaves them out")
    arguments.add_argument("--many", type=int, default=1_000_000, help="sentences for memory")
    arguments.add_argument("--rounds", type=int, default=1)
    arguments.add_argument("--models", type=Path, help="a folder for the models torch and onnx, made if not there")
    arguments.add_argument("--model", help="a model for the GPU")
    arguments.add_argument("--corpus", type=Path, help="sentences for the GPU, in a format that nestag reads")
    arguments.add_argument("--workers", nargs="+", type=int, default=(1, 2, 4), help="that share the GPU")
    arguments.add_argument("--device", choices=("cuda", "cpu"), default="cuda", help="cpu tries gpu out without one")
    arguments.add_argument("--address", help="of a running cluster with the GPU; else one is started")
    arguments.add_argument("--write", type=Path, help="write the page of all measurements, and measure nothing")
    options = arguments.parse_args()
    if options.write:
        lines = list(page([Measured(**json.loads(line.text)) for line in read_lines(options.results)]))
        print("\n".join(lines))
        with writing(options.write) as stream:
            stream.write("\n".join(lines) + "\n")
        return
    runs: list[Measured] = []
    with tempfile.TemporaryDirectory() as scratch, open(options.results, "a", encoding="utf-8") as results:
        models = options.models or Path(scratch) / "models"
        if not models.exists() and set(options.only) - {"gpu"}:
            make_models(models)
        for measured in measure(models, Path(scratch), options):
            print(measured, flush=True)
            runs.append(measured)
            results.write(json.dumps(asdict(measured)) + "\n")
            results.flush()
    print("\n".join(gpu_table(runs)))


def measure(models: Path, scratch: Path, options: Any) -> Iterator[Measured]:
    """The measurements that are asked for."""
    for name in ("torch", "onnx"):
        for number in range(options.rounds if name in options.only else 0):
            source, out = scratch / f"{name}-{number}", scratch / f"{name}-{number}-out"
            write_sentences(source, options.sentences)
            if "engine" in options.systems:
                yield in_process(engine_alone, name, models / name, options.sentences)
            if "cluster" in options.systems:
                yield in_process(on_cluster, name, models / name, source, out, 1)
    if "parts" in options.only:
        write_sentences(scratch / "parts", PARTS, group=1)
        yield in_process(on_cluster, "parts", models / "onnx", scratch / "parts", scratch / "parts-out", cores())
    for count in filter(None, (options.few, options.many) if "memory" in options.only else ()):
        source, out = scratch / f"memory-{count}", scratch / f"memory-{count}-out"
        write_sentences(source, count)
        yield in_process(on_cluster, "memory", models / "onnx", source, out, cores())
    if "gpu" in options.only:
        yield from measure_gpu(options.model, options.corpus, scratch, options)


def measure_gpu(model: str, corpus: Path, scratch: Path, options: Any) -> Iterator[Measured]:
    """The engine alone on a GPU, then workers that share it: with words, and the most of them with texts too."""
    given = [list(sentence.tokens) for sentence in read_corpus(corpus) if sentence.tokens]
    write_sentences(scratch / "gpu", options.sentences, given, GPU_SHARD)
    if "engine" in options.systems:
        for confidence in (True, False):
            yield in_process(engine_alone, "gpu", model, options.sentences, given, options.device, confidence)
    for section, workers in [*(("gpu", count) for count in options.workers), ("gpu texts", max(options.workers))]:
        if "cluster" in options.systems:
            out = scratch / f"{section}-{workers}"
            place = options.device, options.address
            yield in_process(on_cluster, section, model, scratch / "gpu", out, workers, *place)


def in_process(work: Any, *arguments: Any) -> Any:
    """What a function returns in a new process, so that peaks of memory are its own."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(work, arguments)


def engine_alone(
    section: str,
    model: Path | str,
    count: int,
    given: Sequence[list[str]] = (),
    device: Device = "cpu",
    confidence: bool = True,
) -> Measured:
    """The engine over sentences in memory, in one process, on a processor with one thread, as a worker has it."""
    sentences = [Sentence(words) for words in generated(count, given)]
    predictor = unpack(pack(str(model)), device, {})
    tag: Callable[..., Iterable[Any]] = predictor.pipe if confidence else predictor.annotate
    list(tag(sentences[:WARM_UP]))
    began, computed = time.perf_counter(), time.process_time()
    for _ in tag(sentences):
        pass
    rate = count / (time.perf_counter() - began)
    computed = count / (time.process_time() - computed)
    system = "engine" if confidence else PLAIN
    name, busy = gpu_name() if device == "cuda" else "", os.getloadavg()[0]
    words = sum(len(sentence.tokens) for sentence in sentences)
    return Measured(section, system, count, rate, computed, 0.0, peak_memory(), load=busy, device=name, words=words)


def gpu_name() -> str:
    """The GPU of this machine."""
    import torch

    return torch.cuda.get_device_name()


def on_cluster(
    section: str,
    model: Path | str,
    source: Path,
    out: Path,
    workers: int,
    device: Device = "cpu",
    address: str | None = None,
) -> Measured:
    """The same from Parquet to Parquet, by workers of an embedded cluster."""
    begun: list[float] = []
    ended: list[float] = []
    start = time.perf_counter()

    def watch(totals: Totals) -> None:
        ended.append(time.perf_counter())
        if totals.finished == 1:  # the seconds are those of one part, not of several side by side
            begun.append(ended[-1] - totals.seconds["reading"] - totals.seconds["tagging"] - totals.seconds["writing"])

    job, cluster = job_of(section, device), Cluster(address, workers)
    finished = tag(str(source), str(out), str(model), job, cluster, watch=watch)
    assert finished.complete
    totals = finished.totals
    rate = totals.rows / (ended[-1] - begun[0])
    return Measured(
        section,
        "cluster",
        totals.rows,
        rate,
        totals.rows / totals.processor,
        begun[0] - start,
        totals.peak,
        peak_memory(),
        os.getloadavg()[0],
        workers,
        stages={stage: round(seconds, 2) for stage, seconds in totals.seconds.items()},
    )


def job_of(section: str, device: Device) -> Job:
    """How the rows of a section are read; for a GPU a file is a part."""
    if section == "gpu texts":
        return Job(tokenizer="whitespace", device=device, part_bytes=PART_BYTES["cuda"])
    sizes = {"gpu": PART_BYTES["cuda"], "parts": 1}
    return Job(tokens="tokens", device=device, part_bytes=sizes.get(section, PART))


def generated(count: int, given: Sequence[list[str]] = ()) -> Iterator[list[str]]:
    """Sentences in turn, else those of the embedded corpus; a word in ten is replaced by one of some thousand."""
    rng = random.Random(0)
    letters = string.ascii_lowercase
    others = ["".join(rng.choices(letters, k=rng.randint(3, 9))) for _ in range(WORDS)]
    given = given or [list(sentence.tokens) for sentence in sample.sentences()]
    for number in range(count):
        yield [rng.choice(others) if rng.random() < 0.1 else word for word in given[number % len(given)]]


def write_sentences(
    folder: Path, count: int, given: Sequence[list[str]] = (), size: int = SHARD, group: int = GROUP
) -> None:
    """Sentences as Parquet, as words and as texts, in files of so many."""
    folder.mkdir()
    rows = generated(count, given)
    for number in itertools.count():
        shard = list(itertools.islice(rows, size))
        if not shard:
            return
        table = library("pyarrow").table({"tokens": shard, "text": [" ".join(words) for words in shard]})
        library("pyarrow.parquet").write_table(table, folder / f"{number:04}.parquet", row_group_size=group)


def make_models(folder: Path) -> None:
    """A tiny encoder, trained for some steps, for torch and for onnxruntime."""
    from nestag import NestedNER, Recipe
    from nestag.model.onnx_export import export
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
