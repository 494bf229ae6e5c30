"""Memory while sentences stream through a recognizer: what it takes beside the model, for a million of them.

    python benchmarks/streaming.py [MODEL] [--sentences 1000000] [--write build/measured/streaming.md]

MODEL is a folder; without it a tiny model is made, so that the memory is that of the engine. Sentences are made one by
one, of 1 to 12 words of the embedded corpus, with a word never seen before in every third, so nothing can be remembered
for ever. What is measured is the resident memory of this process, from the loaded model on.
"""

from __future__ import annotations

import argparse
import os
import random
import resource
import tempfile
from collections.abc import Iterator
from pathlib import Path

from scale import make_models

from nestag.data.sentence import Sentence
from nestag.formats import sample
from nestag.formats.files import writing
from nestag.model.recognizer import NestedNER

BAR = 1024
"""MiB beside the model."""

HEAD = (
    "Written by `benchmarks/streaming.py`: {model} on a CPU tags sentences that are made one by one, of 1 to 12 words;"
    " every third has a word that never came before."
)


def main() -> None:
    """Stream, print and write."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("model", type=Path, nargs="?")
    arguments.add_argument("--sentences", type=int, default=1_000_000)
    arguments.add_argument("--write", type=Path)
    given = arguments.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        if not given.model:
            make_models(Path(scratch))
        text = "\n".join(measured(given.model or Path(scratch) / "torch", given.sentences)) + "\n"
    print(text)
    if given.write:
        with writing(given.write) as stream:
            stream.write(f"# Memory of a stream\n\n{HEAD.format(model=given.model or 'a tiny model')}\n\n{text}")


def made(count: int) -> Iterator[Sentence]:
    """Sentences, one after the other."""
    rng = random.Random(0)
    common = [word for sentence in sample.sentences() for word in sentence.tokens]
    for number in range(count):
        words = rng.choices(common, k=rng.randrange(1, 13))
        if number % 3 == 0:
            words[-1] = f"x{number}"
        yield Sentence(words)


def measured(model: Path, count: int) -> Iterator[str]:
    """The memory after every tenth of the sentences, as a table."""
    recognizer = NestedNER.from_pretrained(model, "cpu")
    recognizer.predict(made(10))
    loaded = resident()
    yield "| sentences | words | entities | memory beside the loaded model |"
    yield "|---:|---:|---:|---:|"
    words = entities = 0
    tenth = max(1, count // 10)
    for number, sentence in enumerate(recognizer.annotate(made(count)), 1):
        words, entities = words + len(sentence), entities + len(sentence.entities)
        if number % tenth == 0:
            yield f"| {number:,} | {words:,} | {entities:,} | {resident() - loaded:,.0f} MiB |"
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024 - loaded
    yield (
        f"\nThe model loaded, with Python and torch, takes {loaded:,.0f} MiB. The most beside it is {most:,.0f} MiB; it"
        f" is to be at most {BAR:,}: {'yes' if most <= BAR else 'no'}."
    )


def resident() -> float:
    """The memory of this process in MiB."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


if __name__ == "__main__":
    main()
