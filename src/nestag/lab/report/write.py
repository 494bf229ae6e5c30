"""Reports as files: everything is written beside its place first, and put there when all of it is whole."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from nestag.corpora.files import writing
from nestag.errors import InputError
from nestag.lab.report.page import Report
from nestag.lab.report.topics import TOPICS


def write_report(report: Report, file: str | Path, pictures: Path | None = None) -> None:
    """Write the page, and the pictures to a folder if one is given; those of an older report there go away."""
    if pictures is None:
        _write_page(report, file)
        return
    try:
        pictures.mkdir(parents=True, exist_ok=True)
        part = Path(tempfile.mkdtemp(dir=pictures, prefix=".pictures.", suffix=".part"))
        try:
            for name, content in report.pictures.items():
                (part / name).write_bytes(content)
            _write_page(report, file)
            for name in report.pictures:
                (part / name).replace(pictures / name)
            for stale in _ours(pictures) - report.pictures.keys():
                (pictures / stale).unlink()
        finally:
            shutil.rmtree(part, ignore_errors=True)
    except OSError as error:
        raise InputError(
            f"cannot be written ({error.strerror or error}); check the folder, its rights and its space", str(pictures)
        ) from None


def _write_page(report: Report, file: str | Path) -> None:
    with writing(file) as stream:
        stream.write(report.page)


def _ours(folder: Path) -> set[str]:
    """The files of a folder that are called as pictures of a report are."""
    return {file.name for topic in TOPICS for end in ("png", "svg") for file in folder.glob(f"{topic.name}-*.{end}")}
