"""Reports as files: the page, and its figures all together."""

from __future__ import annotations

from pathlib import Path

from nestag.files import writing, writing_bytes, writing_together
from nestag.lab.report.page import ReportPage
from nestag.lab.report.topics import TOPICS


def write_report(report: ReportPage, file: str | Path, figures: Path | None = None) -> None:
    """Write the page, and the figures to a folder if one is given, replacing those of an older report."""
    if figures is None:
        _write_page(report, file)
        return
    with writing_together(figures, stale=_ours(figures)) as part:
        for name, content in report.figures.items():
            with writing_bytes(part / name) as stream:
                stream.write(content)
        _write_page(report, file)  # if that fails, the old figures stay too


def _write_page(report: ReportPage, file: str | Path) -> None:
    with writing(file) as stream:
        stream.write(report.page)


def _ours(folder: Path) -> set[str]:
    """The files of a folder that are called as figures of a report are."""
    return {file.name for topic in TOPICS for end in ("png", "svg") for file in folder.glob(f"{topic.name}-*.{end}")}
