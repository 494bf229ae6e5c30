"""Run the property tests with new examples until the time is over, and stop at the first failure.

    python benchmarks/fuzz.py --minutes 60      # draw from a new seed in each round
    python benchmarks/fuzz.py --seed 123        # replay one round

NESTAG_EXAMPLES is the number of examples of each test in a round, 200 if it is not set.
"""

from __future__ import annotations

import argparse
import os
import re
import secrets
import subprocess
import sys
import time
from pathlib import Path

TOP = Path(__file__).parents[1]


def main() -> None:
    """Run rounds and print what each of them did."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--minutes", type=float, default=10, help="no new round begins after this time")
    arguments.add_argument("--seed", type=int, help="run one round with this seed")
    arguments.add_argument("paths", nargs="*", default=["tests"], help="test files, instead of all")
    options = arguments.parse_args()
    examples = os.environ.setdefault("NESTAG_EXAMPLES", "200")
    end = time.monotonic() + 60 * options.minutes
    rounds = total = 0
    while not rounds or (options.seed is None and time.monotonic() < end):
        seed = secrets.randbelow(2**32) if options.seed is None else options.seed
        done = run_round(seed, options.paths)
        rounds += 1
        total += sum(map(int, re.findall(r"(\d+) passing", done.stdout)))
        print(f"round {rounds}, seed {seed}: {total:,} examples so far", flush=True)
        if done.returncode:
            print(done.stdout, done.stderr)
            files = " ".join(sorted(set(re.findall(r"^FAILED (.+?)::", done.stdout, re.MULTILINE))))
            sys.exit(f"to replay: make fuzz SEED={seed} NESTAG_EXAMPLES={examples} FILES='{files}'")


def run_round(seed: int, paths: list[str]) -> subprocess.CompletedProcess[str]:
    """Run every property test once, with examples drawn from a seed."""
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-n",
        "auto",
        "--timeout",
        "3600",
        "-o",
        "faulthandler_timeout=4000",
        "-m",
        "hypothesis",
    ]
    command += ["--hypothesis-profile", "fuzz", "--hypothesis-seed", str(seed), "--hypothesis-show-statistics", *paths]
    return subprocess.run(command, cwd=TOP, capture_output=True, text=True)


if __name__ == "__main__":
    main()
