"""Measure how many small faults (mutants) in modules that compute the tests find.

    make mutants
    python benchmarks/mutants.py [--rooms encodings windows] [--most 60] [--jobs 2] [--again] [--write FILE]

A mutant is a module with one small change (`+` to `-`, `<=` to `<`, 2 to 1, a loop that never runs, ...), made by
cosmic-ray's operators. It is killed if a test of its room, a group of modules, fails. Mutants are drawn with a fixed
seed: one in each module, then one for each place in the code, then further ones, up to `--most`. `--again` skips
equivalent mutants and those killed last time, and resumes a run that `--minutes` ended. The page also shows the last
results of rooms that are not run.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from pathlib import Path

from mutation.bench import preload, tested
from mutation.drawing import Mutant, Results, drawn
from mutation.page import equivalents, table
from mutation.rooms import LAST, ROOMS


def main() -> None:
    """Draw and test mutants, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rooms", nargs="+", default=list(ROOMS), choices=ROOMS)
    parser.add_argument("--most", type=int, default=60, help="mutants a room")
    parser.add_argument("--minutes", type=float, default=60, help="start no mutant of a room later")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--again", action="store_true", help="skip equivalent mutants and those killed last time")
    parser.add_argument("--write", type=Path, help="the page to write")
    options = parser.parse_args()
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    preload(options.rooms)
    results: dict[Mutant, bool] = {}
    same = equivalents()
    for room in options.rooms:
        mutants, found = tested_before(room, options.most) if options.again else (drawn(room, options.most, {}), {})
        left = [one for one in mutants if one not in found or not (found[one] or one.change in same)]
        for mutant, killed in tested(left, options.jobs, time.monotonic() + 60 * options.minutes):
            found[mutant] = killed
            keep(room, found)  # at once: a run may be interrupted
        results |= found
    for room in (room for room in ROOMS if room not in options.rooms):
        results |= tested_before(room, 0)[1]
    text = table(results)
    print(text)
    if options.write:
        options.write.write_text(text)


def keep(room: str, found: dict[Mutant, bool]) -> None:
    """Store which changes were killed."""
    LAST.mkdir(parents=True, exist_ok=True)
    lines = [json.dumps([*mutant.change, killed]) + "\n" for mutant, killed in found.items()]
    (LAST / f"{room}.jsonl").write_text("".join(lines))


def tested_before(room: str, most: int) -> tuple[list[Mutant], dict[Mutant, bool]]:
    """Return a room's mutants, and the last results of those that have one."""
    last = last_results(room)
    mutants = drawn(room, most, last) if most or last else []
    return mutants, {mutant: last[mutant.change] for mutant in mutants if mutant.change in last}


def last_results(room: str) -> Results:
    """Return which changes were killed last time."""
    path = LAST / f"{room}.jsonl"
    rows = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    return {tuple(change): killed for *change, killed in rows}


if __name__ == "__main__":
    main()
