"""coverage: the labels of a training split, and what other splits need beyond them."""

from __future__ import annotations

from nestag.cli.options import Forms, From, Reading, Splits
from nestag.cli.terminal import log, log_all, show
from nestag.formats.corpus import report_of
from nestag_lab.corpora.coverage import coverage_of


def coverage(*, splits: Splits, forms: Forms, format: From = None, reading: Reading) -> None:
    """Count the labels of a training split in each encoding, and the labels that other splits need in addition."""
    form, corpora = forms.chosen, splits.corpora(format, reading)
    covered = coverage_of(*corpora)
    show(covered.table(), form)
    for corpus in corpora:
        log_all(report_of(corpus).summary())
    for name, count in covered.crossing.items():
        if count:
            log(f"{name}: {count:,} crossing entities dropped")
