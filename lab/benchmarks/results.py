"""Every number and table of README and docs that comes from runs, made again from the packs under lab/results.

    python lab/benchmarks/results.py                   # make them again from the packs there are
    python lab/benchmarks/results.py paper=runs/paper  # first pack the runs of an experiment as lab/results/paper;
                                                       # runs that are packed there already stay
    python lab/benchmarks/results.py --check           # change nothing; fail if anything would change

A pack holds results and counts by sentence, no text (`nestag tables --pack`). Where a page has

    <!-- results paper f1 -->
    <!-- end -->

the table of that name (or `gains`, a sentence) is put between the two lines. A pack that is not there changes nothing.
The tables of `recipes` come from lab/results/recipes.jsonl, a line for each run.
"""

from __future__ import annotations

import argparse
import re
import sys
import textwrap
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from nestag.formats.files import writing
from nestag.inspect.table_forms import TableForm, write
from nestag.inspect.tables import shown
from nestag_lab.baseline.tables import recipe_tables
from nestag_lab.experiment.pack import PACK, has_pack, joined, pack_of, read_pack, write_pack
from nestag_lab.experiment.result import RunResult
from nestag_lab.experiment.spec import GREEDY
from nestag_lab.paper.gains import gain
from nestag_lab.paper.pages import Pages, packed_pages
from nestag_lab.paper.runs import in_order, mean_of

TOP = Path(__file__).parents[2]
BLOCK = re.compile(r"(<!-- results (\S+) (\S+) -->\n)(.*?)([ ]*)<!-- end -->", re.DOTALL)


def main() -> None:
    """Pack and fill pages, or say what would change."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("runs", nargs="*", metavar="NAME=DIR", help="an experiment to pack, and its name")
    arguments.add_argument("--check", action="store_true", help="change nothing; fail if anything would change")
    given = arguments.parse_args()
    for one in given.runs:
        name, _, folder = one.partition("=")
        place = TOP / "lab" / "results" / name
        new = pack_of(folder)
        write_pack(joined(read_pack(place), new) if has_pack(place) else new, place)
    stale = rebuilt(TOP, change=not given.check)
    if given.check and stale:
        sys.exit("not as the packs say: " + ", ".join(map(str, stale)))


def rebuilt(top: Path, change: bool, differences: bool = True) -> list[Path]:
    """Fill all blocks again; the pages that differ from them, relative to the top."""
    found = {file.parent.name: read_pack(file.parent) for file in sorted((top / "lab" / "results").glob(f"*/{PACK}"))}
    made = {name: packed_pages(pack, differences=differences) for name, pack in found.items()}
    stale: list[Path] = []
    results = {name: pack.results for name, pack in found.items()}
    recipes = recipe_tables(top / "lab" / "results" / "recipes.jsonl")
    folders = (top / "docs", top / "lab" / "docs")
    for page in [top / "README.md", *(page for folder in folders for page in sorted(folder.rglob("*.md")))]:
        text = page.read_text(encoding="utf-8")
        filled = BLOCK.sub(lambda block: _filled(block, made, results, recipes), text)
        if filled != text:
            stale.append(page)
            if change:
                with writing(page) as stream:
                    stream.write(filled)
    return [path.relative_to(top) for path in stale]


def _filled(
    block: re.Match[str],
    made: dict[str, Pages],
    results: dict[str, tuple[RunResult, ...]],
    recipes: dict[str, str],
) -> str:
    """Return a block with its table, or unchanged if there is no such pack or table."""
    begin, name, what, _, indent = block.groups()
    table = made[name].table(what) if name in made else None
    if name == "recipes" and what in recipes:
        text = recipes[what]
    elif name in made and what == "gains":
        text = gains_line(results[name]) + "\n"
    elif table is not None:
        text = write(replace(table, title=""), TableForm.markdown)
    else:
        return block[0]
    return f"{begin}{textwrap.indent(text, indent)}{indent}<!-- end -->"


def gains_line(results: Sequence[RunResult]) -> str:
    """Return a sentence with the gain of constrained over greedy decoding on test, for each encoding."""
    corpora = sorted({result.key.corpus for result in results})
    gains = []
    for over in GREEDY:
        parts = []
        for encoding in in_order(result.key.encoding for result in results):
            same = [gain(result, "test", over) for result in results if result.key.encoding == encoding]
            known = [one for one in same if one is not None]
            if mean := mean_of(known, len(known), "+.2f"):
                parts.append(f"{shown(mean)} for `{encoding}`")
        if parts:
            gains.append(f"over {over} {', '.join(parts)}")
    models = len(results)
    return f"Gain of constrained decoding in F1 on test ({models} models, {', '.join(corpora)}): {'; '.join(gains)}."


if __name__ == "__main__":
    main()
