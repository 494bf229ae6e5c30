"""Reports as files: the page, and its pictures all together."""

from __future__ import annotations

from pathlib import Path

from nestag.files import writing, writing_bytes, writing_together
from nestag.lab.report.page import ReportPage
from nestag.lab.report.topics import TOPICS


def write_report(report: ReportPage, file: str | Path, pictures: Path | None = None) -> None:
    """Write the page, and the figures to a folder if one is given, replacing those of an older report."""
    if pictures is None:
        _write_page(report, file)
        return
    with writing_together(pictures, stale=_ours(pictures)) as part:
        for name, content in report.pictures.items():
            with writing_bytes(part / name) as stream:
                stream.write(content)
        _write_page(report, file)  # if that fails, the old pictures stay too


def _write_page(report: ReportPage, file: str | Path) -> None:
    with writing(file) as stream:
        stream.write(report.page)


def _ours(folder: Path) -> set[str]:
    """The files of a folder that are called as pictures of a report are."""
    return {file.name for topic in TOPICS for end in ("png", "svg") for file in folder.glob(f"{topic.name}-*.{end}")}
