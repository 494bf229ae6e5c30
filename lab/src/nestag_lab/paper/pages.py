"""All tables of an experiment, in the order of the paper, what is missing in them, and their files.

Each table is written as NAME.md, NAME.tex and NAME.csv; tables.md has all of them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from nestag.formats.files import writing, writing_together
from nestag.inspect.table_forms import TableForm, escape_markdown, write
from nestag.inspect.tables import Table
from nestag_lab.experiment.facts import Facts, read_all_facts
from nestag_lab.experiment.pack import Pack, has_pack, read_pack
from nestag_lab.experiment.result import Key, RunResult, read_results, read_wanted
from nestag_lab.paper.datasets import datasets_table, labels_table
from nestag_lab.paper.differences import differences_table
from nestag_lab.paper.gains import gains_known, gains_table
from nestag_lab.paper.groups import depth_table, length_table, own_depth_table, own_length_table
from nestag_lab.paper.published import published
from nestag_lab.paper.runs import finished
from nestag_lab.paper.scores import best_table, f1_table, lead_table, precision_recall_table, runs_table, types_table

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
"""The file names of the tables, in the order of the paper. The last three are not in the paper."""


class Page(NamedTuple):
    """A table and the name of its files."""

    name: str
    table: Table


class Pages(NamedTuple):
    """The tables of an experiment."""

    pages: tuple[Page, ...]
    missing: tuple[str, ...]
    """One line for each thing that is missing."""

    def table(self, name: str) -> Table | None:
        """Return the table of a name, if it could be made."""
        return next((page.table for page in self.pages if page.name == name), None)


def read_pages(folder: str | Path, split: str = "test") -> Pages:
    """Return the tables of the experiment in a folder, or of its pack."""
    if has_pack(folder):
        return packed_pages(read_pack(folder), split)
    results, facts = read_results(folder), read_all_facts(folder)
    runs = missing_lines(missing_runs(folder, [result.key for result in results]))
    made = pages_of(results, facts, split)
    return Pages(made.pages, (*made.missing, *runs))


def packed_pages(pack: Pack, split: str = "test", differences: bool = True) -> Pages:
    """Return the tables of a pack; the table of differences takes most of the time."""
    made = pages_of(pack.results, pack.facts, split)
    there = {result.key for result in pack.results}
    missing = (*made.missing, *missing_lines([key for key in pack.wanted if key not in there]))
    if split != "test" or not differences:
        return Pages(made.pages, missing)
    pages = {page.name: page for page in (*made.pages, Page(DIFFERENCES, differences_table(pack)))}
    return Pages(tuple(pages[name] for name in NAMES if name in pages), missing)


def pages_of(results: Sequence[RunResult], facts: Mapping[str, Facts], split: str = "test") -> Pages:
    """Return the tables of finished runs and corpora, and what is missing for the others."""
    tables: dict[str, Table] = {}
    missing: list[str] = []
    runs = finished(results, split)
    if runs.models:
        made = {name: make(runs) for name, make in OF_RUNS.items()}
        tables |= {name: table for name, table in made.items() if table.sections}  # none without dyn and rel
        tables[RUNS] = runs_table(results, split)
    else:
        missing.append(f"no finished run has scores on {split}, so score tables are missing")
    if any(gains_known(result) for result in results):
        tables[GAIN] = gains_table(results)
    else:
        missing.append("no run was decoded both greedy and constrained, so the table of gains is missing")
    if facts:
        tables[COVERAGE] = labels_table({corpus: found.coverage for corpus, found in facts.items()})
        tables[DATASETS] = datasets_table({corpus: found.statistics for corpus, found in facts.items()})
    lacking = [corpus for corpus in runs.corpora if corpus not in facts]
    missing += [f"no facts of {corpus}: it is missing in the tables of labels and corpora" for corpus in lacking]
    return Pages(tuple(Page(name, tables[name]) for name in NAMES if name in tables), tuple(missing))


def missing_runs(folder: str | Path, done: Collection[Key]) -> list[Key]:
    """Return the runs without a result: those of the grid, and those that have a folder."""
    return sorted({*read_wanted(Path(folder)), *begun(folder)} - set(done))


def begun(folder: str | Path) -> list[Key]:
    """Return the runs that have a folder."""
    found = [path.parts[-5:] for path in Path(folder).glob("runs/*/*/*/*/*/") if path.name.isdecimal()]
    return [Key(corpus, encoder, encoding, recipe, int(seed)) for corpus, encoder, encoding, recipe, seed in found]


def missing_lines(keys: Iterable[Key]) -> list[str]:
    """Describe runs, with one line for all seeds of a model.

    >>> missing_lines([Key("genia", "minilm", "4tg", "default", 2), Key("genia", "minilm", "4tg", "default", 3)])
    ['no result: genia minilm 4tg default, seeds 2, 3']
    """
    seeds: dict[tuple[str, ...], list[int]] = {}
    for *names, seed in sorted(keys):
        seeds.setdefault(tuple(map(str, names)), []).append(int(seed))
    return [
        f"no result: {' '.join(names)}, seed{'s' * (len(found) > 1)} {', '.join(map(str, found))}"
        for names, found in seeds.items()
    ]


FORMS = {"md": TableForm.markdown, "tex": TableForm.latex, "csv": TableForm.csv}
ALL = "tables.md"


def write_tables(pages: Pages, folder: str | Path) -> None:
    """Write all files or none, and delete files of tables that can no longer be made."""
    texts = table_files(pages)
    ours = (f"{name}.{end}" for name in NAMES for end in FORMS)
    with writing_together(folder, stale=ours) as part:
        for name, text in texts.items():
            with writing(part / name) as stream:
                stream.write(text)


def table_files(pages: Pages) -> dict[str, str]:
    """Return the text of each file."""
    texts = {f"{name}.{end}": write(table, form) for name, table in pages.pages for end, form in FORMS.items()}
    return {**texts, ALL: everything(pages)}


def everything(pages: Pages) -> str:
    """Return one Markdown text with all tables under their titles, and what is missing."""
    parts = [
        "# Tables\n",
        f"The tables of *{published().title}*, computed from finished runs. Rows with the paper's own figures are added"
        " for the same corpora.\n",
    ]
    if pages.missing:
        parts += ["Missing:\n", "".join(f"- {escape_markdown(line)}\n" for line in pages.missing)]
    for _, table in pages.pages:
        parts += [f"## {escape_markdown(table.title)}\n", write(replace(table, title=""), TableForm.markdown)]
    return "\n".join(parts)
