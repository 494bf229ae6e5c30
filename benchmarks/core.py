"""Measure encoding and decoding: speed on one core, growth with sentence length, and the label counts of the paper.

    python benchmarks/core.py [--write build/measured/core.md]

If NESTAG_CORPORA names a folder of corpora (a folder each, with train/dev/test.jsonl.gz), every corpus is encoded and
decoded with every encoding.
"""

from __future__ import annotations

import argparse
import gc
import os
import random
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np

from nestag.data.crossing import drop_crossing
from nestag.data.sentence import Entity, Sentence
from nestag.data.tree import Tree
from nestag.decoding import decode_batch
from nestag.encodings import Absolute, Label, available, decode, encode, encoding
from nestag.encodings.vocabulary import Vocabulary
from nestag.formats import jsonl
from nestag.formats.files import writing

NAMES = ("abs", "rel", "dyn", "4tg")
TYPES = ("PER", "ORG", "GPE", "LOC", "DATE")
SHORT, LONG, TOKENS = 20, 10_000, 400_000
GOALS = {"encode": (500_000, 300_000), "decode a batch": (4_000_000, 300_000)}  # depth encodings, 4tg
GROWTH = 1.3


def main() -> None:
    """Measure everything and print the tables."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--write", type=Path, help="also write the tables to this file")
    arguments.add_argument("--corpora", action="store_true", help="only the corpora")
    options = arguments.parse_args()
    lines: list[str] = []
    for section in (corpora,) if options.corpora else (start_up, speed, corpora):
        for line in section():
            print(line, flush=True)
            lines.append(line)
    if options.write:
        with writing(options.write) as stream:
            stream.write("# Encoding and decoding\n\n" + "\n".join(lines) + "\n")


def start_up() -> Iterator[str]:
    """Measure the time of `import nestag` without the start of Python."""

    def run(code: str) -> float:
        return best_time(lambda: subprocess.run([sys.executable, "-c", code], check=True), clock=time.perf_counter)

    bare, ours = run("pass"), run("import nestag")
    yield "## Start\n"
    yield f"`import nestag` takes {ours - bare:.3f} s (at most 0.2).\n"


def speed() -> Iterator[str]:
    """Measure tokens per second, and the time per token in long sentences compared with short ones."""
    yield "## Speed on one core\n"
    yield "| encoding | step | tokens/s | at least | time per token, sentences of 10,000 tokens : of 20 | at most |"
    yield "|---|---|---|---|---|---|"
    short = list(sentences(random.Random(0), SHORT, TOKENS))
    long = list(sentences(random.Random(0), LONG, TOKENS))
    natural = shared("genia", "train") or short
    for name in NAMES:
        for step, measure in (("encode", encoding_time), ("decode a batch", batch_time)):
            fast, brief, lengthy = (measure(corpus, name) for corpus in (natural, short, long))
            goal = GOALS[step][name == "4tg"]
            ratio = lengthy / brief
            yield f"| {name} | {step} | {1 / fast:,.0f} | {goal:,} | {ratio:.2f} | {GROWTH} |"
    source = "random sentences" if natural is short else "GENIA"
    yield f"\nSpeed on {source}, growth on random sentences. A batch is decoded to lists of entities."
    yield "Garbage collection is off, as in timeit.\n"


def encoding_time(corpus: Sequence[Sentence], name: str) -> float:
    """Return the seconds per token of encoding."""
    return best_time(lambda: deque((encode(sentence, name) for sentence in corpus), maxlen=0)) / sum(map(len, corpus))


def batch_time(corpus: Sequence[Sentence], name: str) -> float:
    """Return the seconds per token from arrays of ids to lists of entities, in batches."""
    vocabulary = Vocabulary.learn(corpus, name)
    batches = list(flat(sorted(corpus, key=len), vocabulary))

    def decode_all() -> None:
        for n, c, u, sizes in batches:
            decode_batch(vocabulary, n, c, u, sizes).to_lists()

    return best_time(decode_all) / sum(map(len, corpus))


def flat(corpus: Sequence[Sentence], vocabulary: Vocabulary, tokens: int = 100_000) -> Iterator[list[np.ndarray]]:
    """Batch neighbouring sentences as arrays of about `tokens` tokens."""
    step = max(1, tokens * len(corpus) // max(1, sum(map(len, corpus))))
    for first in range(0, len(corpus), step):
        group = corpus[first : first + step]
        labels = [vocabulary.ids(vocabulary.encode(sentence)) for sentence in group]
        heads = [np.concatenate([ids[head] for ids in labels]) for head in range(3)]
        yield [*heads, np.array([len(sentence) for sentence in group])]


def corpora() -> Iterator[str]:
    """Encode and decode every corpus, and count labels as in table 1 of the paper."""
    yield "## Corpora\n"
    folder = os.environ.get("NESTAG_CORPORA")
    if not folder:
        yield "NESTAG_CORPORA is not set."
        return
    yield "c and u are counted as annotated, and in brackets with same-span types in canonical order.\n"
    yield "| corpus | encoding | n, c, u in train | lost entities | crossing, dropped | absolute labels, sentences |"
    yield "|---|---|---|---|---|---|"
    for corpus in sorted(path.name for path in Path(folder).iterdir() if (path / "train.jsonl.gz").exists()):
        splits = [shared(corpus, split) for split in ("train", "dev", "test")]
        for name in NAMES:
            yield f"| {corpus} | {name} | {round_trip(splits, name)} |"


def round_trip(splits: list[list[Sentence]], name: str) -> str:
    """Return a row of the table."""
    chosen, aside, lost = encoding(name), 0, 0
    parts: tuple[set[object], set[object], set[object]] = set(), set(), set()
    absolute: list[int] = []
    tokens = 0
    train = [sentence.with_entities(drop_crossing(sentence.annotated).nested) for sentence in splits[0]]
    vocabulary = Vocabulary.learn(train, name)
    for number, sentence in enumerate(sentence for split in splits for sentence in split):
        kept = drop_crossing(sentence.entities).nested
        aside += len(sentence.entities) - len(kept)
        given = [entity for entity in sentence.annotated if entity in kept]
        labels = chosen.encode(Tree.from_entities(len(sentence), given, order=None))
        lost += len(set(kept) ^ set(decode(labels, name)))
        lost += len(set(kept) ^ set(decode(vocabulary.encode(sentence.with_entities(kept)), name)))
        tokens += len(labels)
        absolute.append(sum(isinstance(label.n, Absolute) for label in labels))
        if number < len(splits[0]):
            collect(labels, parts)
    share = f"{100 * sum(absolute) / tokens:.2f} %, {100 * sum(map(bool, absolute)) / len(absolute):.2f} %"
    n, c, u = map(len, parts)
    counts = f"{n}, {c} ({len(vocabulary.c)}), {u} ({len(vocabulary.u)})"
    return f"{counts} | {lost} | {aside} | {share if name == 'dyn' else ''}"


def collect(labels: list[Label], parts: tuple[set[object], ...]) -> None:
    """Add the parts of labels to the sets of n, c and u."""
    for label in labels:
        for part, seen in zip(label, parts, strict=True):
            seen.add(part)


def shared(corpus: str, split: str) -> list[Sentence]:
    """Return a split of a corpus under NESTAG_CORPORA, or nothing."""
    path = Path(os.environ.get("NESTAG_CORPORA", "")) / corpus / f"{split}.jsonl.gz"
    return list(jsonl.read(path)) if path.exists() else []


def sentences(rng: random.Random, length: int, tokens: int) -> Iterator[Sentence]:
    """Generate random sentences of one length; density and depth of entities do not depend on it."""
    for _ in range(tokens // length):
        entities = [Entity(at + entity.start, at + entity.end, entity.type)
                    for at in range(0, length, SHORT) for entity in nested(rng)]  # fmt: skip
        yield Sentence(["w"] * length, entities)


def nested(rng: random.Random) -> Iterator[Entity]:
    """Generate up to three nested entities and a single word within 20 tokens."""
    start, end = rng.randrange(4), rng.randrange(11, 14)
    for _ in range(rng.randrange(4)):
        yield Entity(start, end, rng.choice(TYPES))
        start, end = start + rng.randrange(2), end - 1
    yield Entity(15, 16, rng.choice(TYPES))


def best_time(action: Callable[[], object], times: int = 5, clock: Callable[[], float] = time.process_time) -> float:
    """Return the shortest of several runs in seconds, without garbage collection."""
    durations = []
    gc.collect()
    gc.disable()
    try:
        for _ in range(times):
            begin = clock()
            action()
            durations.append(clock() - begin)
    finally:
        gc.enable()
    return min(durations)


if __name__ == "__main__":
    assert set(NAMES) == set(available())
    main()
