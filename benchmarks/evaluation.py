"""The evaluation, measured: a million sentences from two files, the time and the memory they take.

    python benchmarks/evaluation.py [--sentences 1000000] [--write build/measured/evaluation.md]

The embedded corpus is repeated, each sentence with a word of its own; predictions are gold with mistakes. Time is CPU
time of the one process, which is its wall-clock time on an idle machine. Memory must not grow with the sentences.
"""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from itertools import cycle, islice
from pathlib import Path

from nestag import Entity, Sentence
from nestag.formats import jsonl, sample
from nestag.formats.files import writing

CHILD = """
import resource, sys
from nestag.cli import app
try:
    app(sys.argv[1:])
finally:
    used = resource.getrusage(resource.RUSAGE_SELF)
    print("used", used.ru_utime + used.ru_stime, used.ru_maxrss, file=sys.stderr)
"""


def main() -> None:
    """Measure a tenth, then all, and print a table."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--sentences", type=int, default=1_000_000)
    arguments.add_argument("--write", type=Path, help="also write the table to this file")
    options = arguments.parse_args()
    lines = ["| sentences | entities | `nestag evaluate`, CPU time | peak memory |", "|---|---|---|---|"]
    with tempfile.TemporaryDirectory() as folder:
        lines += [measured(Path(folder), size) for size in (options.sentences // 10, options.sentences)]
    print("\n".join(lines))
    if options.write:
        with writing(options.write) as stream:
            stream.write("# The evaluation, measured\n\nWritten by `benchmarks/evaluation.py`; one process.\n\n")
            stream.write("\n".join(lines) + "\n")


def measured(folder: Path, size: int) -> str:
    """A row of the table."""
    gold, predicted = folder / "gold.jsonl", folder / "predicted.jsonl"
    jsonl.write(numbered(size), gold)
    jsonl.write(map(mistaken, jsonl.read(gold), map(random.Random, range(size))), predicted)
    entities = sum(len(sentence.entities) for sentence in jsonl.read(gold))
    command = [sys.executable, "-c", CHILD, "evaluate", str(gold), str(predicted), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    seconds, kilobytes = map(float, done.stderr.rpartition("used ")[2].split())
    return f"| {size:,} | {entities:,} | {seconds:.1f} s | {kilobytes / 1024:.0f} MiB |"


def numbered(size: int) -> Iterator[Sentence]:
    """The embedded training corpus again and again, no sentence twice."""
    for number, sentence in enumerate(islice(cycle(sample.sentences("train")), size)):
        yield Sentence([*sentence.tokens, str(number)], sentence.entities, str(number))


def mistaken(sentence: Sentence, rng: random.Random) -> Sentence:
    """A sentence in which about one entity of five is missing, too long, or of another type."""
    return sentence.with_entities(
        changed for entity in sentence.entities if (changed := perhaps_wrong(entity, rng, len(sentence)))
    )


def perhaps_wrong(entity: Entity, rng: random.Random, length: int) -> Entity | None:
    """The entity as it is, changed, or None."""
    chance = rng.random()
    if chance < 0.07:
        return None
    if chance < 0.14:
        return entity._replace(end=min(length, entity.end + 1))
    return entity._replace(type="other") if chance < 0.2 else entity


if __name__ == "__main__":
    main()
