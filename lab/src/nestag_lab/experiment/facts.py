"""Facts of a corpus: its statistics and label coverage, kept in the folder of an experiment.

So the tables of datasets and of labels can be made later, without the corpus. The fingerprints of its files tell
whether it is still the one that the runs were done on.

    python -m nestag_lab.experiment.facts DIR CORPUS      # CORPUS is JSON, as spec.CorpusFiles has it
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from nestag.data.validation import from_mapping, to_mapping
from nestag.inspect.statistics import TRAIN, Statistics, describe
from nestag_lab.corpora.coverage import Covered, count_coverage
from nestag_lab.experiment.result import read_record, write_json
from nestag_lab.experiment.spec import CorpusFiles

FACTS = "corpora"


@dataclass(frozen=True)
class Facts:
    """What is known of a corpus."""

    corpus: str
    fingerprints: dict[str, str]  # of each split
    statistics: dict[str, Statistics]  # of each split
    coverage: Covered

    findings: dict[str, tuple[str, ...]] = field(default_factory=dict)  # of each split, what reading it changed


def facts_of(corpus: CorpusFiles) -> Facts:
    """Read a corpus and count."""
    splits = {split: corpus.read(split) for split in corpus.files}
    found = {
        split: replace(one, duplicates=splits[split].report.counts["duplicate entity merged"])
        for split, one in describe(splits).items()
    }
    others = {split: sentences for split, sentences in splits.items() if split != TRAIN}
    covered = count_coverage(splits[TRAIN], others)
    findings = {split: tuple(read.report.summary()) for split, read in splits.items()}
    return Facts(corpus.name, fingerprints(corpus), found, covered, findings)


def fingerprints(corpus: CorpusFiles) -> dict[str, str]:
    """Return the sha256 of each split: of a file, or of all files of a folder with their names."""
    return {split: _fingerprint(Path(path)) for split, path in corpus.files.items()}


def _fingerprint(path: Path) -> str:
    if path.is_file():
        return hashlib.sha256(path.read_bytes()).hexdigest()
    files = sorted(child for child in path.rglob("*") if child.is_file())
    listed = "".join(f"{child.relative_to(path)} {_fingerprint(child)}\n" for child in files)
    return hashlib.sha256(listed.encode()).hexdigest()


def facts_file(root: Path, corpus: str) -> Path:
    """Return the file with the facts of a corpus."""
    return root / FACTS / f"{corpus}.json"


def write_facts(facts: Facts, root: Path) -> None:
    """Save them in the folder of an experiment."""
    file = facts_file(root, facts.corpus)
    file.parent.mkdir(parents=True, exist_ok=True)
    write_json(to_mapping(facts), file)


def read_facts(file: Path) -> Facts:
    """Load them, or an InputError that says what is wrong."""
    return read_record(Facts, file, "the facts of a corpus", "delete it and run the experiment again")


def read_all_facts(folder: str | Path) -> dict[str, Facts]:
    """Return the facts of every corpus of an experiment, by name."""
    files = sorted((Path(folder) / FACTS).glob("*.json"))
    return {facts.corpus: facts for facts in map(read_facts, files)}


def main(arguments: Sequence[str]) -> None:
    """Count a corpus in its own process."""
    root, corpus = arguments
    write_facts(facts_of(from_mapping(CorpusFiles, json.loads(corpus), "CORPUS")), Path(root))


if __name__ == "__main__":
    main(sys.argv[1:])
