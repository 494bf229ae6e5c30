"""The speed of a recognizer compared with its bare encoder, measured in one run on the same batches.

The stages are timed separately and together. The bare encoder reads the same batches in the same precision and does
nothing else. Everything that is compared takes turns, so a machine that slows down for a while slows down all of it.
"""

from __future__ import annotations

import resource
import statistics
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import torch

from nestag.data.document import document_of
from nestag.data.sentence import Sentence
from nestag.evaluation import score
from nestag.formats.corpus import CorpusFile, CorpusSource, in_memory
from nestag.formats.files import writing
from nestag.model.engine import Chunk, ChunkLayout, Engine, Item, chunks
from nestag.model.recognizer import NestedNER
from nestag.model.scorer import compute_mode, to_device

ROUNDS = 3  # the fastest one counts
SINGLE = 50  # sentences that are tagged one by one


class Measurement(NamedTuple):
    """A figure and its unit."""

    what: str
    value: float
    unit: str

    @property
    def shown(self) -> str:
        """The value with its unit."""
        value = f"{self.value:,.0f}" if self.value >= 1_000 or not self.value % 1 else f"{self.value:#.4g}"
        return f"{value} {self.unit}".rstrip()


def benchmark(
    model: str | Path,
    corpus: CorpusSource,
    *,
    times: int = 1,
    device: str | None = None,
    float32: bool = False,
    threads: int | None = None,
    write: str | Path | None = None,
    watch: Callable[[Measurement], None] | None = None,
) -> tuple[Measurement, ...]:
    """Measure the stages of tagging and the bare encoder on the same batches, in one run.

    `times` repeats the corpus, and `threads` limits those of the CPU. The table becomes a section of the Markdown page
    `write`. `watch` is called with each measurement.
    """
    if threads:
        torch.set_num_threads(threads)
    recognizer = NestedNER.from_pretrained(model, device, precision="float32" if float32 else "auto")
    if isinstance(corpus, CorpusFile):
        corpus = corpus.tokenized_as(recognizer.settings.reading)
    measurements = []
    for measurement in _measure(recognizer, in_memory(corpus), times):
        measurements.append(measurement)
        if watch:
            watch(measurement)
    if write:
        page = Path(write)
        text = page.read_text("utf-8") if page.exists() else "# Tagging compared with the bare encoder\n"
        with writing(page) as stream:
            stream.write(_with_section(text, _machine_name(recognizer.model.device), _table(measurements)))
    return tuple(measurements)


def _measure(recognizer: NestedNER, sentences: Sequence[Sentence], times: int) -> Iterator[Measurement]:
    """Yield every figure for a corpus, repeated `times`."""
    items = [Item(s.tokens, document_of(s)) for s in sentences] * times
    cuda = recognizer.model.device.type == "cuda"
    yield Measurement("sentences", len(items), "")
    yield Measurement("words", sum(len(item.tokens) for item in items), "")
    yield from _throughput(recognizer, items)
    yield from _latency(recognizer, sentences)
    if cuda and recognizer.settings.precision != "float32":
        yield from _precision(recognizer, sentences)
    yield Measurement("peak memory of the process", resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10, "MiB")
    if cuda:
        yield Measurement("peak memory of the GPU", torch.cuda.max_memory_allocated() / 2**20, "MiB")


def _throughput(recognizer: NestedNER, items: Sequence[Item]) -> Iterator[Measurement]:
    """Compare the stages, one by one and together, with the bare encoder."""
    engine = recognizer.engine()
    layouts = _lay_out(engine, items)
    scores = [engine.score(layout) for layout in layouts]
    stages = {
        "bare encoder, same batches": lambda: _encode(recognizer, layouts),
        "layout": lambda: _lay_out(engine, items),
        "encoder and heads": lambda: [engine.score(layout) for layout in layouts],
        "decoding": lambda: [engine.decode(chunk) for chunk in scores],
        "decoding with confidences": lambda: [engine.decode(chunk, confidence=True) for chunk in scores],
    }
    together = [lambda: list(engine.run(items)), lambda: list(engine.run(items, confidence=True))]
    *seconds, plain, confident = time_in_turn([*stages.values(), *together])
    for name, value in zip(stages, seconds, strict=True):
        yield Measurement(name, value, "s")
    encoder, _, _, decoding, _ = seconds
    yield Measurement("tokens in, entities out", len(items) / plain, "sentences/s")
    yield Measurement("the same with confidences", len(items) / confident, "sentences/s")
    yield Measurement("share of the bare encoder's speed", encoder / plain, "")
    yield Measurement("the same with confidences, share", encoder / confident, "")
    yield Measurement("decoding's share of the time", decoding / plain, "")


def _latency(recognizer: NestedNER, sentences: Sequence[Sentence]) -> Iterator[Measurement]:
    """Tag one sentence at a time, compared with the bare encoder."""
    engine = recognizer.engine()
    pairs = []
    for sentence in [s for s in sentences if s.tokens][:SINGLE]:
        layout = engine.lay_out(Chunk([Item(sentence.tokens)], 0, 1))
        tasks: list[Callable[[], Any]] = [
            partial(_encode, recognizer, [layout]),
            partial(recognizer.predict, [sentence]),
        ]
        pairs.append(time_in_turn(tasks))
    encoder, whole = zip(*pairs, strict=True)
    yield Measurement("one sentence at a time", 1000 * statistics.median(whole), "ms")
    yield Measurement("the same compared with the bare encoder", sum(whole) / sum(encoder), "times")


def _precision(recognizer: NestedNER, sentences: Sequence[Sentence]) -> Iterator[Measurement]:
    """Compare bfloat16 with float32."""
    gold = [sentence.entities for sentence in sentences]
    fast, settings = recognizer.predict(sentences), recognizer.settings
    recognizer.settings = replace(settings, precision="float32")
    exact = recognizer.predict(sentences)
    recognizer.settings = settings
    changed = sum(a != b for a, b in zip(fast, exact, strict=True))
    yield Measurement("sentences that bfloat16 changes", 100 * changed / max(1, len(gold)), "%")
    yield Measurement("F1 in bfloat16", 100 * score(gold, fast).f1, "")
    yield Measurement("F1 in float32", 100 * score(gold, exact).f1, "")


@torch.inference_mode()
def _encode(recognizer: NestedNER, layouts: Iterable[ChunkLayout]) -> None:
    """Run the bare encoder on the batches of some chunks."""
    model, device = recognizer.model, recognizer.model.device
    with compute_mode(device, recognizer.settings.precision):
        for layout, _, batches in layouts:
            for batch in batches:
                model.encode(*to_device(layout.arrays(batch)[:2], device))
    if device.type == "cuda":
        torch.cuda.synchronize()


def _lay_out(engine: Engine, items: Sequence[Item]) -> list[ChunkLayout]:
    return [engine.lay_out(chunk) for chunk in chunks(items, engine.chunk_size, engine.maker.context)]


def time_in_turn(tasks: Sequence[Callable[[], Any]]) -> list[float]:
    """Return the seconds of each task in its fastest round; in each round the tasks take turns."""
    times: list[list[float]] = [[] for _ in tasks]
    for _ in range(ROUNDS):
        for task, seconds in zip(tasks, times, strict=True):
            begin = time.perf_counter()
            task()
            seconds.append(time.perf_counter() - begin)
    return list(map(min, times))


def _table(measurements: Iterable[Measurement]) -> str:
    rows = [f"| {measurement.what} | {measurement.shown} |" for measurement in measurements]
    return "\n".join(["| | |", "|---|---:|", *rows]) + "\n"


def _with_section(page: str, title: str, text: str) -> str:
    """Put a section into a Markdown page, in place of the one with its title, or at the end."""
    before, _, rest = f"{page.rstrip()}\n".partition(f"\n## {title}\n")
    _, following, after = rest.partition("\n## ")
    return f"{before.rstrip()}\n\n## {title}\n\n{text}{following}{after}"


def _machine_name(device: torch.device) -> str:
    """Return the name of the GPU, or of the CPU with the number of threads."""
    if device.type == "cuda":
        return f"{torch.cuda.get_device_name(device)}, torch {torch.__version__}"
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    name = next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "CPU")
    return f"{name}, {torch.get_num_threads()} threads, torch {torch.__version__}"
