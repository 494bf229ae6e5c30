"""Measure evaluation: time and memory for a million sentences in two files.

    python benchmarks/evaluation.py [--sentences 1000000] [--write build/measured/evaluation.md]

The embedded corpus is repeated, with a different word in each sentence. Predictions are gold entities with errors. Time
is the CPU time of one process. Memory should not grow with the sentences.
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
            stream.write("# Evaluation\n\nOne process.\n\n")
            stream.write("\n".join(lines) + "\n")


def measured(folder: Path, size: int) -> str:
    """Measure one row of the table."""
    gold, predicted = folder / "gold.jsonl", folder / "predicted.jsonl"
    jsonl.write(numbered(size), gold)
    jsonl.write(map(add_errors, jsonl.read(gold), map(random.Random, range(size))), predicted)
    entities = sum(len(sentence.entities) for sentence in jsonl.read(gold))
    command = [sys.executable, "-c", CHILD, "evaluate", str(gold), str(predicted), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    seconds, kilobytes = map(float, done.stderr.rpartition("used ")[2].split())
    return f"| {size:,} | {entities:,} | {seconds:.1f} s | {kilobytes / 1024:.0f} MiB |"


def numbered(size: int) -> Iterator[Sentence]:
    """Repeat the embedded training corpus without repeating a sentence."""
    for number, sentence in enumerate(islice(cycle(sample.sentences("train")), size)):
        yield Sentence([*sentence.tokens, str(number)], sentence.entities, str(number))


def add_errors(sentence: Sentence, rng: random.Random) -> Sentence:
    """Make about one entity in five missing, too long, or of another type."""
    return sentence.with_entities(
        changed for entity in sentence.entities if (changed := perhaps_wrong(entity, rng, len(sentence)))
    )


def perhaps_wrong(entity: Entity, rng: random.Random, length: int) -> Entity | None:
    """Return the entity, perhaps changed or None."""
    chance = rng.random()
    if chance < 0.07:
        return None
    if chance < 0.14:
        return entity._replace(end=min(length, entity.end + 1))
    return entity._replace(type="other") if chance < 0.2 else entity


if __name__ == "__main__":
    main()
