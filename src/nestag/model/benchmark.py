"""How fast a recognizer is beside its bare encoder: every figure is taken in one run, on the same batches.

The stages are timed one by one, and together as they are used. The bare encoder reads the same batches in the same
precision and nothing else, so the ratio says what finding nested entities costs. What is added to it, word by word, is
timed without it: the encoder answers at once with vectors that it computed before. What is compared takes turns, so
that a machine that becomes slower for a while does so for all.
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
from nestag.model.chunks import Chunk, Item, chunks
from nestag.model.engine import Engine, LaidOut
from nestag.model.recognizer import NestedNER
from nestag.model.scorer import computing, moved

ROUNDS = 3
"""Each time is the best of so many."""

SINGLE = 50
"""Sentences that are tagged one at a time."""

LENGTHS = (16, 64, 256, 1024, 4096)
"""Words of the sentences by which growth is measured."""


class Bars(NamedTuple):
    """What a device has to reach."""

    share: float  # of the bare encoder's speed
    decoding: float | None = 0.05  # of the time, where nothing overlaps with it
    latency: float | None = 1.3  # times the bare encoder's, one sentence at a time
    growth: float = 1.2  # of what is added a word, from the shortest sentences to the longest


CPU_BARS, GPU_BARS = Bars(share=0.9), Bars(share=0.5, decoding=None, latency=None)


class Measurement(NamedTuple):
    """A figure, its unit and what it is."""

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
        """What it has to be, and whether it is."""
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

    `times` repeats the corpus, `threads` limits those of the CPU, `write` is a Markdown page that gets the table as a
    section, and `watch` is called with each measurement as it comes.
    """
    if threads:
        torch.set_num_threads(threads)
    recognizer = NestedNER.from_pretrained(model, device, precision="float32" if float32 else "auto")
    if isinstance(corpus, CorpusFile):
        corpus = corpus.tokenized_as(recognizer.settings.reading)
    found = []
    for one in measure(recognizer, in_memory(corpus), times):
        found.append(one)
        if watch:
            watch(one)
    if write:
        page = Path(write)
        text = page.read_text("utf-8") if page.exists() else "# Tagging compared with the bare encoder\n"
        with writing(page) as stream:
            stream.write(with_section(text, machine_name(recognizer.model.device), table(found)))
    return tuple(found)


def measure(recognizer: NestedNER, sentences: Sequence[Sentence], times: int = 1) -> Iterator[Measurement]:
    """Every figure for a corpus that is read `times` over."""
    items = [Item(s.tokens, document_of(s)) for s in sentences] * times
    cuda = recognizer.model.device.type == "cuda"
    bars = GPU_BARS if cuda else CPU_BARS
    yield Measurement("sentences", len(items), "")
    yield Measurement("words", sum(len(item.tokens) for item in items), "")
    yield from throughput(recognizer, items, bars)
    yield from latency(recognizer, sentences, bars)
    yield from growth(recognizer, sentences, bars)
    yield from precision(recognizer, sentences)
    yield Measurement("peak memory of the process", resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10, "MiB")
    if cuda:
        yield Measurement("peak memory of the GPU", torch.cuda.max_memory_allocated() / 2**20, "MiB")


def throughput(recognizer: NestedNER, items: Sequence[Item], bars: Bars) -> Iterator[Measurement]:
    """The stages one after the other, then together, beside the bare encoder."""
    engine = recognizer.engine()
    laid_out = _laid_out(engine, items)
    scores = [engine.score(one) for one in laid_out]
    stages = {
        "bare encoder, same batches": lambda: bare(recognizer, laid_out),
        "layout": lambda: _laid_out(engine, items),
        "encoder and heads": lambda: [engine.score(one) for one in laid_out],
        "decoding": lambda: [engine.decode(one) for one in scores],
        "decoding with confidences": lambda: [engine.decode(one, confidence=True) for one in scores],
    }
    *seconds, plain, rated = best_in_turn(
        [*stages.values(), lambda: _drain(engine.run(items)), lambda: _drain(engine.run(items, confidence=True))]
    )
    found = dict(zip(stages, seconds, strict=True))
    encoder = seconds[0]
    for name, value in found.items():
        yield Measurement(name, value, "s")
    yield Measurement("tokens in, entities out", len(items) / plain, "sentences/s")
    yield Measurement("the same with confidences", len(items) / rated, "sentences/s")
    yield Measurement("share of the bare encoder's speed", encoder / plain, "", least=bars.share)
    yield Measurement("the same with confidences, share", encoder / rated, "")
    yield Measurement("decoding's share of the time", found["decoding"] / plain, "", most=bars.decoding)


def latency(recognizer: NestedNER, sentences: Sequence[Sentence], bars: Bars) -> Iterator[Measurement]:
    """One sentence at a time, beside the bare encoder."""
    chosen = [s for s in sentences if s.tokens][:SINGLE]
    engine = recognizer.engine()
    whole, encoder = [], []
    for sentence in chosen:
        laid_out = engine.lay_out(Chunk([Item(sentence.tokens)], 0, 1))
        alone, all_of_it = best_in_turn(
            [partial(bare, recognizer, [laid_out]), partial(recognizer.predict, [sentence])]
        )
        encoder.append(alone)
        whole.append(all_of_it)
    yield Measurement("one sentence at a time", 1000 * statistics.median(whole), "ms")
    yield Measurement("the same beside the bare encoder", sum(whole) / sum(encoder), "times", most=bars.latency)


def growth(recognizer: NestedNER, sentences: Sequence[Sentence], bars: Bars) -> Iterator[Measurement]:
    """What is added to the encoder on the same windows, a word, as sentences grow."""
    words = [token for sentence in sentences for token in sentence.tokens]
    some = (words * (1 + LENGTHS[-1] // max(1, len(words))))[: LENGTHS[-1]]
    added = [Added(recognizer, [Item(some[at : at + size]) for at in range(0, len(some), size)]) for size in LENGTHS]
    for confidence in (False, True):
        suffix = ", with confidences" if confidence else ""
        seconds = best_in_turn([partial(one.tag, confidence) for one in added], 3 * ROUNDS)
        for length, value in zip(LENGTHS, seconds, strict=True):
            yield Measurement(f"added a word in sentences of {length:,} words{suffix}", 1e6 * value / len(some), "µs")
        what = f"growth of that from {LENGTHS[0]} to {LENGTHS[-1]:,} words{suffix}"
        yield Measurement(what, seconds[-1] / seconds[0], "times", most=bars.growth)


class Added:
    """Tagging without the encoder, whose vectors are known."""

    def __init__(self, recognizer: NestedNER, items: Sequence[Item]) -> None:
        self.model, self.engine, self.items = recognizer.model, recognizer.engine(), items
        self.known: list[torch.Tensor] = []
        with torch.inference_mode(), computing(self.model.device, recognizer.settings.precision):
            for layout, _, found in _laid_out(self.engine, items):
                inputs = (moved(layout.arrays(batch)[:2], self.model.device) for batch in found)
                self.known += [self.model.encoded(*one) for one in inputs]

    def tag(self, confidence: bool) -> None:
        """Tag all sentences."""
        vectors = iter(self.known)
        try:
            self.model.encoded = lambda *_: next(vectors)  # type: ignore[method-assign]
            _drain(self.engine.run(self.items, confidence=confidence))
        finally:
            del self.model.encoded  # the class has it


def precision(recognizer: NestedNER, sentences: Sequence[Sentence]) -> Iterator[Measurement]:
    """What fewer bits change, where a device computes in them."""
    if recognizer.settings.precision == "float32" or recognizer.model.device.type != "cuda":
        return
    gold = [sentence.entities for sentence in sentences]
    fast = recognizer.predict(sentences)
    settings = recognizer.settings
    recognizer.settings = replace(settings, precision="float32")
    exact = recognizer.predict(sentences)
    recognizer.settings = settings
    changed = sum(a != b for a, b in zip(fast, exact, strict=True))
    yield Measurement("sentences that bfloat16 changes", 100 * changed / max(1, len(gold)), "%")
    yield Measurement("F1 in bfloat16", 100 * score(gold, fast).f1, "")
    yield Measurement("F1 in float32", 100 * score(gold, exact).f1, "")


@torch.inference_mode()
def bare(recognizer: NestedNER, laid_out: Sequence[LaidOut]) -> None:
    """The encoder alone on the batches of laid-out chunks."""
    model, device = recognizer.model, recognizer.model.device
    for layout, _, found in laid_out:
        with computing(device, recognizer.settings.precision):
            for batch in found:
                model.encoded(*moved(layout.arrays(batch)[:2], device))
    _wait(device)


def _laid_out(engine: Engine, items: Sequence[Item]) -> list[LaidOut]:
    return [engine.lay_out(chunk) for chunk in chunks(items, engine.chunk_size, engine.maker.context)]


def _drain(found: Iterator[Any]) -> None:
    for _ in found:
        pass


def best_in_turn(works: Sequence[Callable[[], object]], rounds: int = ROUNDS) -> list[float]:
    """The seconds of each in the fastest of several rounds, in which they take turns."""
    times: list[list[float]] = [[] for _ in works]
    for _ in range(rounds):
        for work, seconds in zip(works, times, strict=True):
            begin = time.perf_counter()
            work()
            seconds.append(time.perf_counter() - begin)
    return list(map(min, times))


def _wait(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize()


def table(found: Iterable[Measurement]) -> str:
    """Measurements as a table in Markdown."""
    lines = ["| | | bar |", "|---|---:|---|"]
    return "\n".join(lines + [f"| {one.what} | {one.shown} | {one.bar} |" for one in found]) + "\n"


def with_section(page: str, title: str, text: str) -> str:
    """A page in Markdown with a section of this title, in the place of one that has it already, or at the end."""
    before, _, rest = f"{page.rstrip()}\n".partition(f"\n## {title}\n")
    _, following, after = rest.partition("\n## ")
    return f"{before.rstrip()}\n\n## {title}\n\n{text}{following}{after}"


def machine_name(device: torch.device) -> str:
    """The name of the GPU, or of the CPU with the number of threads used."""
    if device.type == "cuda":
        return f"{torch.cuda.get_device_name(device)}, torch {torch.__version__}"
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    name = next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "a processor")
    return f"{name}, {torch.get_num_threads()} threads, torch {torch.__version__}"
