"""All tables of an experiment, in the order of the paper, and what could not be put into them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from nestag.lab.experiment.facts import Facts, read_all_facts
from nestag.lab.experiment.pack import Pack, has_pack, read_pack
from nestag.lab.experiment.result import RunResult, read_results
from nestag.lab.paper.all_runs import runs_table
from nestag.lab.paper.datasets import datasets_table
from nestag.lab.paper.differences import differences_table
from nestag.lab.paper.gains import gains_known, gains_table
from nestag.lab.paper.groups import depth_table, length_table, own_depth_table, own_length_table
from nestag.lab.paper.labels import labels_table
from nestag.lab.paper.missing import missing_lines, missing_runs
from nestag.lab.paper.runs import finished
from nestag.lab.paper.scores import best_table, f1_table, lead_table, precision_recall_table
from nestag.lab.paper.types import types_table
from nestag.tables import Table

COVERAGE, F1, GAIN, DIFFERENCES, DATASETS, RUNS = "coverage", "f1", "gain", "differences", "datasets", "runs"
OF_RUNS = {
    F1: f1_table,
    "dyn_rel": lead_table,
    "depth": depth_table,
    "depth_own": own_depth_table,
    "length": length_table,
    "length_own": own_length_table,
    "types": types_table,
    "precision_recall": precision_recall_table,
    "best": best_table,
}
NAMES = (COVERAGE, *OF_RUNS, DATASETS, GAIN, DIFFERENCES, RUNS)
"""What the files of tables are called, in the order of the paper; the last three are ours."""


class Page(NamedTuple):
    """A table and the name of its files."""

    name: str
    table: Table


class Pages(NamedTuple):
    """What there is to be shown of an experiment."""

    pages: tuple[Page, ...]
    missing: tuple[str, ...]
    """What there is not, a line each."""

    def table(self, name: str) -> Table | None:
        """The table of a name, if it could be made."""
        return next((page.table for page in self.pages if page.name == name), None)


def read_pages(folder: str | Path, split: str = "test") -> Pages:
    """The tables of the experiment in a folder, or of its pack."""
    if has_pack(folder):
        return packed_pages(read_pack(folder), split)
    results, facts = read_results(folder), read_all_facts(folder)
    runs = missing_lines(missing_runs(folder, [result.key for result in results]))
    made = pages_of(results, facts, split)
    return Pages(made.pages, (*made.missing, *runs))


def packed_pages(pack: Pack, split: str = "test", differences: bool = True) -> Pages:
    """The tables of a pack; those of differences are of test, and take the most time."""
    made = pages_of(pack.results, pack.facts, split)
    there = {result.key for result in pack.results}
    missing = (*made.missing, *missing_lines([key for key in pack.wanted if key not in there]))
    if split != "test" or not differences:
        return Pages(made.pages, missing)
    pages = {page.name: page for page in (*made.pages, Page(DIFFERENCES, differences_table(pack)))}
    return Pages(tuple(pages[name] for name in NAMES if name in pages), missing)


def pages_of(results: Sequence[RunResult], facts: Mapping[str, Facts], split: str = "test") -> Pages:
    """The tables of finished runs and of the facts of corpora; what lacks its input is left out and named."""
    tables: dict[str, Table] = {}
    missing: list[str] = []
    runs = finished(results, split)
    if runs.models:
        made = {name: make(runs) for name, make in OF_RUNS.items()}
        tables |= {name: table for name, table in made.items() if table.sections}  # none without dyn and rel
        tables[RUNS] = runs_table(results, split)
    else:
        missing.append(f"no finished run has scores on {split}, so there are no tables of scores")
    if any(gains_known(result) for result in results):
        tables[GAIN] = gains_table(results)
    else:
        missing.append("no run was decoded both greedy and legal, so there is no table of gains")
    if facts:
        tables[COVERAGE] = labels_table({corpus: found.coverage for corpus, found in facts.items()})
        tables[DATASETS] = datasets_table({corpus: found.statistics for corpus, found in facts.items()})
    lacking = [corpus for corpus in runs.corpora if corpus not in facts]
    missing += [f"no facts of {corpus}: it is not in the tables of labels and of corpora" for corpus in lacking]
    return Pages(tuple(Page(name, tables[name]) for name in NAMES if name in tables), tuple(missing))
