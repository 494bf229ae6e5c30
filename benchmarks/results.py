"""Every number and table of README and docs that comes from runs, made again from the packs under docs/results.

    python benchmarks/results.py                         # make them again from the packs there are
    python benchmarks/results.py paper=runs/paper        # first pack the runs of an experiment as docs/results/paper;
                                                         # runs that are packed there already stay
    python benchmarks/results.py --check                 # change nothing; fail if anything would change

A pack holds results and counts by sentence, no text (`nestag tables --pack`). Its tables stand in its folder. Where a
page has

    <!-- results paper f1 -->
    <!-- end -->

the table of that name (or `gains`, a sentence) is put between the two lines. A pack that is not there changes nothing.
"""

from __future__ import annotations

import argparse
import re
import sys
import textwrap
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from nestag.files import writing
from nestag.lab.experiment.pack import PACK, has_pack, joined, pack_of, read_pack, write_pack
from nestag.lab.experiment.result import RunResult
from nestag.lab.experiment.ways import GREEDY
from nestag.lab.paper.gains import gain
from nestag.lab.paper.means import mean_of
from nestag.lab.paper.pages import Pages, packed_pages
from nestag.lab.paper.runs import in_order
from nestag.lab.paper.write import ALL, table_files, write_tables
from nestag.tables import TableForm, shown, write

TOP = Path(__file__).parents[1]
BLOCK = re.compile(r"(<!-- results (\S+) (\S+) -->\n)(.*?)([ ]*)<!-- end -->", re.DOTALL)


def main() -> None:
    """Pack, make tables and fill pages, or say what would change."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("runs", nargs="*", metavar="NAME=DIR", help="an experiment to pack, and its name")
    arguments.add_argument("--check", action="store_true", help="change nothing; fail if anything would change")
    given = arguments.parse_args()
    for one in given.runs:
        name, _, folder = one.partition("=")
        place = TOP / "docs" / "results" / name
        new = pack_of(folder)
        write_pack(joined(read_pack(place), new) if has_pack(place) else new, place)
    stale = rebuilt(TOP, change=not given.check)
    if given.check and stale:
        sys.exit("not as the packs say: " + ", ".join(map(str, stale)))


def rebuilt(top: Path, change: bool, differences: bool = True) -> list[Path]:
    """Make all tables and blocks again; the files that differ from them, relative to the top."""
    found = {file.parent.name: read_pack(file.parent) for file in sorted((top / "docs" / "results").glob(f"*/{PACK}"))}
    made = {name: packed_pages(pack, differences=differences) for name, pack in found.items()}
    stale: list[Path] = []
    for name, pages in made.items():
        folder = top / "docs" / "results" / name
        files = {file: text for file, text in table_files(pages).items() if differences or file != ALL}
        stale += [folder / file for file, text in files.items() if _differs(folder / file, text)]
        if change:
            write_tables(pages, folder)
    results = {name: pack.results for name, pack in found.items()}
    for page in [top / "README.md", *sorted((top / "docs").rglob("*.md"))]:
        text = page.read_text(encoding="utf-8")
        filled = BLOCK.sub(lambda block: _filled(block, made, results), text)
        if filled != text:
            stale.append(page)
            if change:
                with writing(page) as stream:
                    stream.write(filled)
    return [path.relative_to(top) for path in stale]


def _differs(file: Path, text: str) -> bool:
    return not file.exists() or file.read_text(encoding="utf-8") != text


def _filled(block: re.Match[str], made: dict[str, Pages], results: dict[str, tuple[RunResult, ...]]) -> str:
    """A block with what belongs between its lines; as it is if there is no such pack or table."""
    begin, name, what, _, indent = block.groups()
    table = made[name].table(what) if name in made else None
    if name in made and what == "gains":
        text = gains_line(results[name]) + "\n"
    elif table is not None:
        text = write(replace(table, title=""), TableForm.markdown)
    else:
        return block[0]
    return f"{begin}{textwrap.indent(text, indent)}{indent}<!-- end -->"


def gains_line(results: Sequence[RunResult]) -> str:
    """What legal decoding gains over both greedy ones on test, for each encoding over all corpora and seeds."""
    corpora = sorted({result.key.corpus for result in results})
    told = []
    for over in GREEDY:
        parts = []
        for encoding in in_order(result.key.encoding for result in results):
            same = [gain(result, "test", over) for result in results if result.key.encoding == encoding]
            known = [one for one in same if one is not None]
            if mean := mean_of(known, len(known), "+.2f"):
                parts.append(f"{shown(mean)} for `{encoding}`")
        if parts:
            told.append(f"over {over} {', '.join(parts)}")
    models = len(results)
    return f"Gain of legal decoding in F1 on test ({models} models, {', '.join(corpora)}): {'; '.join(told)}."


if __name__ == "__main__":
    main()
