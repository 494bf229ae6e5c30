"""Facts of a corpus: its statistics and label coverage, kept in the folder of an experiment.

So the tables of datasets and of labels can be made later, without the corpus. The fingerprints of its files tell
whether it is still the one that the runs were done on.

    python -m nestag.lab.experiment.facts DIR NAME TRAIN DEV TEST
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from nestag.corpora.report import Report
from nestag.diagnosis.coverage import Coverage, Covered, Reach, Sizes, coverage
from nestag.diagnosis.statistics import TRAIN, Statistics, describe
from nestag.errors import InputError
from nestag.files import writing
from nestag.lab.experiment.spec import Corpus, read

FACTS = "corpora"
COUNTS = {"lengths": int, "types": str, "depths": int, "spans": int}
"""The fields of statistics that count by something, and what they count by."""


@dataclass(frozen=True)
class Facts:
    """What is known of a corpus."""

    corpus: str
    fingerprints: dict[str, str]  # of each split
    statistics: dict[str, Statistics]  # of each split
    coverage: Covered

    def to_json(self) -> dict[str, Any]:
        """As JSON has it."""
        return {
            "corpus": self.corpus,
            "fingerprints": self.fingerprints,
            "statistics": {split: dict(vars(found)) for split, found in self.statistics.items()},
            "coverage": {
                "rows": [_row_to_json(row) for row in self.coverage.rows],
                "crossing": self.coverage.crossing,
            },
        }

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> Facts:
        """The inverse of `to_json`."""
        covered = record["coverage"]
        return cls(
            record["corpus"],
            record["fingerprints"],
            {split: _statistics_from(found) for split, found in record["statistics"].items()},
            Covered(tuple(map(_row_from, covered["rows"])), covered["crossing"]),
        )


def _row_to_json(row: Coverage) -> dict[str, Any]:
    return row._asdict() | {"reach": {split: list(reach) for split, reach in row.reach.items()}}


def _row_from(record: Mapping[str, Any]) -> Coverage:
    values = dict(record)
    values["labels"], values["missing"] = Sizes(*record["labels"]), Sizes(*record["missing"])
    values["reach"] = {split: Reach(*reach) for split, reach in record["reach"].items()}
    return Coverage(**values)


def _statistics_from(record: Mapping[str, Any]) -> Statistics:
    counts = {name: Counter({kind(k): v for k, v in record[name].items()}) for name, kind in COUNTS.items()}
    return Statistics(**{**record, **counts})


def facts_of(corpus: Corpus) -> Facts:
    """Read a corpus and count."""
    reports = {split: Report() for split in corpus.files}
    splits = {split: read(path, reports[split]) for split, path in corpus.files.items()}
    found = {
        split: replace(one, duplicates=reports[split].counts["duplicate entity merged"])
        for split, one in describe(splits).items()
    }
    others = {split: sentences for split, sentences in splits.items() if split != TRAIN}
    covered = coverage(lambda: splits[TRAIN], others)
    return Facts(corpus.name, fingerprints(corpus), found, covered)


def fingerprints(corpus: Corpus) -> dict[str, str]:
    """The sha256 of each split: of a file, or of all files of a folder with their names."""
    return {split: _fingerprint(Path(path)) for split, path in corpus.files.items()}


def _fingerprint(path: Path) -> str:
    if path.is_file():
        return hashlib.sha256(path.read_bytes()).hexdigest()
    files = sorted(child for child in path.rglob("*") if child.is_file())
    listed = "".join(f"{child.relative_to(path)} {_fingerprint(child)}\n" for child in files)
    return hashlib.sha256(listed.encode()).hexdigest()


def facts_file(root: Path, corpus: str) -> Path:
    """Where the facts of a corpus lie in the folder of an experiment."""
    return root / FACTS / f"{corpus}.json"


def write_facts(facts: Facts, root: Path) -> None:
    """Save them in the folder of an experiment."""
    file = facts_file(root, facts.corpus)
    file.parent.mkdir(parents=True, exist_ok=True)
    with writing(file) as stream:
        stream.write(json.dumps(facts.to_json(), ensure_ascii=False) + "\n")


def read_facts(file: Path) -> Facts:
    """Load them, or an InputError that says what is wrong."""
    try:
        return Facts.from_json(json.loads(file.read_text(encoding="utf-8")))
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(
            f"not the facts of a corpus ({error}); delete it and run the experiment again", str(file)
        ) from None


def read_all_facts(folder: str | Path) -> dict[str, Facts]:
    """Those of every corpus of an experiment, by name."""
    files = sorted((Path(folder) / FACTS).glob("*.json"))
    return {facts.corpus: facts for facts in map(read_facts, files)}


def main(arguments: Sequence[str]) -> None:
    """Count a corpus in a process of its own."""
    root, name, train, dev, test = arguments
    write_facts(facts_of(Corpus(name, train, dev, test)), Path(root))


if __name__ == "__main__":
    main(sys.argv[1:])
