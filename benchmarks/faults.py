"""Stop training at each of its file operations, measure how time and memory grow, and write build/measured/faults.md.

    python benchmarks/faults.py [--stride 1] [--jobs N] [--write build/measured/faults.md]

tests/helpers/faulty_runs.py does the first, shared by several processes; a stride above 1 skips operations. growth.py
does the second.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from growth import growth

import nestag
from nestag.formats.files import writing

HELPERS = Path(__file__).parents[1] / "tests" / "helpers"
HEAD = """# Reliability

[SECURITY.md](../SECURITY.md) lists what nestag guarantees, and `make test` and `make slow` test it. This page has two
measurements. `make faults` writes it.

## Training that is stopped

A run is stopped at one of its file operations, then the same command runs again. It passes if weights, vocabulary,
settings and tokenizer are the same bytes as after an undisturbed run, and nothing else is left in the folder.

| fault | operations tried | passed |
|---|---|---|
"""


def main() -> int:
    """Print the page; return 1 if a run did not pass."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--stride", type=int, default=1, help="try every so many operations of training")
    arguments.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="number of processes")
    arguments.add_argument("--write", type=Path, help="also write the page to this file")
    options = arguments.parse_args()
    results = run_training(options.stride, options.jobs)
    text = HEAD + "".join(rows_of(results)) + "".join(growth())
    print(text, end="")
    if options.write:
        with writing(options.write) as stream:
            stream.write(text)
    return int(any(result["failed"] for result in results))


def run_training(stride: int, jobs: int) -> list[dict[str, Any]]:
    """Return what each process found for each kind of fault."""
    sys.path.insert(0, str(HELPERS))
    import tiny_encoders  # type: ignore[import-not-found]

    with tempfile.TemporaryDirectory() as folder:
        encoder = Path(folder) / "encoder"
        encoder.mkdir()
        tiny_encoders.save_encoder("bert", encoder)
        paths = [str(HELPERS), str(Path(nestag.__file__).parents[1])]
        env = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
        command = [sys.executable, str(HELPERS / "faulty_runs.py"), str(encoder)]
        workers = [
            subprocess.Popen(
                [*command, f"{folder}/{part}", f"--part={part}", f"--of={jobs}", f"--stride={stride}"],
                env=env,
                stdout=subprocess.PIPE,
                text=True,
            )
            for part in range(jobs)
        ]
        lines = [line for worker in workers for line in worker.communicate()[0].splitlines()]
    assert not any(worker.returncode for worker in workers)
    return [json.loads(line) for line in lines]


def rows_of(results: list[dict[str, Any]]) -> Iterator[str]:
    """Return a row of the table for each kind of fault."""
    import faulty_runs  # type: ignore[import-not-found]

    for kind, description in faulty_runs.FAULTS.items():
        own = [result for result in results if result["fault"] == kind]
        failed = {place: reason for result in own for place, reason in result["failed"].items()}
        for place, reason in failed.items():
            print(f"{kind} at {place}: {reason}", file=sys.stderr)
        tried = sum(result["places"] for result in own)
        yield f"| {description} | {tried} of {own[0]['operations']} | {tried - len(failed)} of {tried} |\n"


if __name__ == "__main__":
    sys.exit(main())
