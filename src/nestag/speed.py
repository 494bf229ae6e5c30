"""How fast a recognizer is beside its bare encoder: every figure is taken in one run, on the same batches.

The stages are first timed one after the other, then together as they are used. The bare encoder reads the same batches
in the same precision and nothing else, so the ratio says what finding nested entities costs.
"""

from __future__ import annotations

import resource
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import torch

from nestag.chunks import Chunk, Item, chunks
from nestag.corpora.document import document_of
from nestag.data import Sentence
from nestag.engine import CHUNK, Engine, LaidOut
from nestag.evaluation import score
from nestag.recognizer import NestedNER
from nestag.scorer import computing, moved

ROUNDS = 3
"""Each time is the best of so many."""

SINGLE = 50
"""Sentences that are tagged one at a time."""

LENGTHS = (16, 64, 256, 1024, 4096)
"""Words of the sentences by which growth is measured."""


class Measurement(NamedTuple):
    """A figure, its unit and what it is."""

    what: str
    value: float
    unit: str


def measure(recognizer: NestedNER, sentences: Sequence[Sentence], times: int = 1) -> Iterator[Measurement]:
    """Every figure for a corpus that is read `times` over."""
    items = [Item(s.tokens, document_of(s)) for s in sentences] * times
    words = sum(len(item.tokens) for item in items)
    engine = recognizer.engine()
    yield Measurement("sentences", len(items), "")
    yield Measurement("words", words, "")
    laid_out = _laid_out(engine, items)
    encoder = best_of(lambda: bare(recognizer, laid_out))
    scores = [engine.score(one) for one in laid_out]
    stages = {
        "layout": best_of(lambda: _laid_out(engine, items)),
        "encoder and heads": best_of(lambda: [engine.score(one) for one in laid_out]),
        "decoding": best_of(lambda: [engine.decode(one) for one in scores]),
        "decoding with confidences": best_of(lambda: [engine.decode(one, confidence=True) for one in scores]),
    }
    yield Measurement("bare encoder, same batches", encoder, "s")
    for name, seconds in stages.items():
        yield Measurement(name, seconds, "s")
    plain = best_of(lambda: _drain(engine.run(items)))
    rated = best_of(lambda: _drain(engine.run(items, confidence=True)))
    yield Measurement("tokens in, entities out", len(items) / plain, "sentences/s")
    yield Measurement("the same with confidences", len(items) / rated, "sentences/s")
    yield Measurement("share of the bare encoder's speed", encoder / plain, "")
    yield Measurement("the same with confidences, share", encoder / rated, "")
    yield Measurement("decoding's share of the time", stages["decoding"] / (plain if plain > 0 else 1), "")
    yield from latency(recognizer, sentences)
    yield from growth(recognizer, sentences)
    yield from precision(recognizer, sentences)
    yield Measurement("peak memory of the process", resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10, "MiB")
    if recognizer.model.device.type == "cuda":
        yield Measurement("peak memory of the GPU", torch.cuda.max_memory_allocated() / 2**20, "MiB")


def latency(recognizer: NestedNER, sentences: Sequence[Sentence]) -> Iterator[Measurement]:
    """One sentence at a time, beside the bare encoder."""
    chosen = [s for s in sentences if s.tokens][:SINGLE]
    engine = recognizer.engine()
    whole, encoder = [], []
    for sentence in chosen:
        laid_out = engine.lay_out(Chunk([Item(sentence.tokens)], 0, 1))
        encoder.append(best_of(lambda laid_out=laid_out: bare(recognizer, [laid_out])))  # type: ignore[misc]
        whole.append(best_of(lambda sentence=sentence: recognizer.predict([sentence])))  # type: ignore[misc]
    yield Measurement("one sentence at a time", 1000 * statistics.median(whole), "ms")
    yield Measurement("the same beside the bare encoder", sum(whole) / sum(encoder), "times")


def growth(recognizer: NestedNER, sentences: Sequence[Sentence]) -> Iterator[Measurement]:
    """What is added to the bare encoder on the same windows, a word, as sentences grow."""
    words = [token for sentence in sentences for token in sentence.tokens]
    added = []
    for length in LENGTHS:
        some = (words * (1 + length // max(1, len(words))))[:length]
        items = [Item(some)] * max(1, LENGTHS[-1] // length)
        engine = recognizer.engine()
        laid_out = _laid_out(engine, items)
        whole = best_of(lambda items=items, engine=engine: _drain(engine.run(items)))  # type: ignore[misc]
        added.append((whole - best_of(lambda laid_out=laid_out: bare(recognizer, laid_out))) / LENGTHS[-1])  # type: ignore[misc]
        yield Measurement(f"added a word in sentences of {length:,} words", 1e6 * added[-1], "µs")


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
    return [engine.lay_out(chunk) for chunk in chunks(items, CHUNK, engine.maker.context)]


def _drain(found: Iterator[Any]) -> None:
    for _ in found:
        pass


def best_of(work: Callable[[], object]) -> float:
    """The seconds of the fastest of several rounds."""
    times = []
    for _ in range(ROUNDS):
        begin = time.perf_counter()
        work()
        times.append(time.perf_counter() - begin)
    return min(times)


def _wait(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize()
