"""The speed of a recognizer compared with its bare encoder, measured in one run on the same batches.

The stages are timed separately and together. The bare encoder reads the same batches in the same precision and does
nothing else. What is compared takes turns, so that a machine that slows down for a while slows down all of it.
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
from nestag.model.scorer import computing, moved

ROUNDS = 3  # the fastest one counts
SINGLE = 50  # sentences that are tagged one by one


class Bars(NamedTuple):
    """The limits for a device."""

    share: float  # of the bare encoder's speed
    decoding: float | None = 0.05  # of the time, where nothing runs in parallel
    latency: float | None = 1.3  # times the bare encoder's, one sentence at a time


CPU_BARS, GPU_BARS = Bars(share=0.9), Bars(share=0.5, decoding=None, latency=None)


class Measurement(NamedTuple):
    """A figure and its unit, with a limit for some."""

    what: str
    value: float
    unit: str
    least: float | None = None
    most: float | None = None

    @property
    def shown(self) -> str:
        """The value with its unit."""
        value = f"{self.value:,.0f}" if self.value >= 1_000 or not self.value % 1 else f"{self.value:#.4g}"
        return f"{value} {self.unit}".rstrip()

    @property
    def bar(self) -> str:
        """The limit, and whether the value is within it."""
        if self.least is not None:
            return f"at least {self.least:g}: {'yes' if self.value >= self.least else 'no'}"
        return "" if self.most is None else f"at most {self.most:g}: {'yes' if self.value <= self.most else 'no'}"


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
    for measurement in measure(recognizer, in_memory(corpus), times):
        measurements.append(measurement)
        if watch:
            watch(measurement)
    if write:
        page = Path(write)
        text = page.read_text("utf-8") if page.exists() else "# Tagging compared with the bare encoder\n"
        with writing(page) as stream:
            stream.write(with_section(text, machine_name(recognizer.model.device), _table(measurements)))
    return tuple(measurements)


def measure(recognizer: NestedNER, sentences: Sequence[Sentence], times: int = 1) -> Iterator[Measurement]:
    """Yield every figure for a corpus, repeated `times`."""
    items = [Item(s.tokens, document_of(s)) for s in sentences] * times
    cuda = recognizer.model.device.type == "cuda"
    bars = GPU_BARS if cuda else CPU_BARS
    yield Measurement("sentences", len(items), "")
    yield Measurement("words", sum(len(item.tokens) for item in items), "")
    yield from _throughput(recognizer, items, bars)
    yield from _latency(recognizer, sentences, bars)
    if cuda and recognizer.settings.precision != "float32":
        yield from _precision(recognizer, sentences)
    yield Measurement("peak memory of the process", resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10, "MiB")
    if cuda:
        yield Measurement("peak memory of the GPU", torch.cuda.max_memory_allocated() / 2**20, "MiB")


def _throughput(recognizer: NestedNER, items: Sequence[Item], bars: Bars) -> Iterator[Measurement]:
    """Compare the stages, one by one and together, with the bare encoder."""
    engine = recognizer.engine()
    laid_out = _lay_out(engine, items)
    scores = [engine.score(chunk) for chunk in laid_out]
    stages = {
        "bare encoder, same batches": lambda: _encode(recognizer, laid_out),
        "layout": lambda: _lay_out(engine, items),
        "encoder and heads": lambda: [engine.score(chunk) for chunk in laid_out],
        "decoding": lambda: [engine.decode(chunk) for chunk in scores],
        "decoding with confidences": lambda: [engine.decode(chunk, confidence=True) for chunk in scores],
    }
    together = [lambda: list(engine.run(items)), lambda: list(engine.run(items, confidence=True))]
    *seconds, plain, confident = best_in_turn([*stages.values(), *together])
    for name, value in zip(stages, seconds, strict=True):
        yield Measurement(name, value, "s")
    encoder, _, _, decoding, _ = seconds
    yield Measurement("tokens in, entities out", len(items) / plain, "sentences/s")
    yield Measurement("the same with confidences", len(items) / confident, "sentences/s")
    yield Measurement("share of the bare encoder's speed", encoder / plain, "", least=bars.share)
    yield Measurement("the same with confidences, share", encoder / confident, "")
    yield Measurement("decoding's share of the time", decoding / plain, "", most=bars.decoding)


def _latency(recognizer: NestedNER, sentences: Sequence[Sentence], bars: Bars) -> Iterator[Measurement]:
    """Tag one sentence at a time, compared with the bare encoder."""
    engine = recognizer.engine()
    pairs = []
    for sentence in [s for s in sentences if s.tokens][:SINGLE]:
        laid_out = engine.lay_out(Chunk([Item(sentence.tokens)], 0, 1))
        works: list[Callable[[], Any]] = [
            partial(_encode, recognizer, [laid_out]),
            partial(recognizer.predict, [sentence]),
        ]
        pairs.append(best_in_turn(works))
    encoder, whole = zip(*pairs, strict=True)
    yield Measurement("one sentence at a time", 1000 * statistics.median(whole), "ms")
    yield Measurement("the same compared with the bare encoder", sum(whole) / sum(encoder), "times", most=bars.latency)


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
def _encode(recognizer: NestedNER, laid_out: Sequence[ChunkLayout]) -> None:
    """Run the bare encoder on the batches of laid-out chunks."""
    model, device = recognizer.model, recognizer.model.device
    with computing(device, recognizer.settings.precision):
        for layout, _, batches in laid_out:
            for batch in batches:
                model.encoded(*moved(layout.arrays(batch)[:2], device))
    if device.type == "cuda":
        torch.cuda.synchronize()


def _lay_out(engine: Engine, items: Sequence[Item]) -> list[ChunkLayout]:
    return [engine.lay_out(chunk) for chunk in chunks(items, engine.chunk_size, engine.maker.context)]


def best_in_turn(works: Sequence[Callable[[], Any]], rounds: int = ROUNDS) -> list[float]:
    """Return the seconds of each work in the fastest of several rounds, in which they take turns."""
    times: list[list[float]] = [[] for _ in works]
    for _ in range(rounds):
        for work, seconds in zip(works, times, strict=True):
            begin = time.perf_counter()
            work()
            seconds.append(time.perf_counter() - begin)
    return list(map(min, times))


def _table(measurements: Iterable[Measurement]) -> str:
    rows = [f"| {measurement.what} | {measurement.shown} | {measurement.bar} |" for measurement in measurements]
    return "\n".join(["| | | bar |", "|---|---:|---|", *rows]) + "\n"


def with_section(page: str, title: str, text: str) -> str:
    """Put a section into a Markdown page, in place of the one with its title, or at the end."""
    before, _, rest = f"{page.rstrip()}\n".partition(f"\n## {title}\n")
    _, following, after = rest.partition("\n## ")
    return f"{before.rstrip()}\n\n## {title}\n\n{text}{following}{after}"


def machine_name(device: torch.device) -> str:
    """Return the name of the GPU, or of the CPU with the number of threads."""
    if device.type == "cuda":
        return f"{torch.cuda.get_device_name(device)}, torch {torch.__version__}"
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    name = next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "CPU")
    return f"{name}, {torch.get_num_threads()} threads, torch {torch.__version__}"
