"""The experiment without the command line's libraries, for machines that have only what training needs.

python -m nestag.experiment GRID.toml -o DIR [--at-once N] [--dry-run] [--cpu] [--only TEXT]
"""

from __future__ import annotations

import argparse
import sys

from nestag.errors import NestagError
from nestag.experiment.conduct import Wish, conduct, foretell, means


def main() -> int:
    """Parse the arguments and conduct the experiment."""
    parser = argparse.ArgumentParser(prog="python -m nestag.experiment", description="Do the runs of a grid.")
    parser.add_argument("grid", metavar="GRID.toml")
    parser.add_argument("-o", "--output", metavar="DIR", required=True)
    parser.add_argument("--at-once", type=_positive, default=1, metavar="N")
    parser.add_argument("--dry-run", action="store_true")
    parser.add_argument("--cpu", action="store_true")
    parser.add_argument("--only", default="", metavar="TEXT")
    given = parser.parse_args()
    try:
        wish = Wish(given.grid, given.output, given.at_once, given.cpu, given.only)
        if given.dry_run:
            foretell(wish, tell)
            return 0
        conducted = conduct(wish, tell)
    except NestagError as error:
        tell(f"nestag: {' '.join(str(error).split())}")
        return 2
    for row in means(conducted.results):
        spread = "" if row.deviation is None else f" ± {row.deviation:.2f} over {row.seeds} seeds"
        tell(f"{row.corpus} {row.encoder} {row.encoding} {row.recipe} {row.decoding}: test F1 {row.f1:.2f}{spread}")
    return conducted.code


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{number} is less than 1")
    return number


def tell(line: str) -> None:
    """A line for the person."""
    sys.stderr.write(line + "\n")
    sys.stderr.flush()


if __name__ == "__main__":
    sys.exit(main())
