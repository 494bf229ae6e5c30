"""Files of good and bad rows, and the content of output folders."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

TEXTS = ("Lincoln was president of the USA .", "The mayor of New York slept .", "No one came .", "")


def texts(count: int) -> list[str]:
    """So many texts, no two alike."""
    return [f"{TEXTS[number % len(TEXTS)]} {number}" for number in range(count)]


def write_table(path: Path, values: list[str | None], group: int = 100) -> None:
    """A Parquet file with a text and an id a row."""
    path.parent.mkdir(parents=True, exist_ok=True)
    table = pa.table({"text": pa.array(values, pa.string()), "id": list(range(len(values)))})
    pq.write_table(table, path, row_group_size=group)


def write_lines(path: Path, values: list[object]) -> None:
    """A JSON Lines file with a text and an id a line."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = (json.dumps({"text": value, "id": number}) for number, value in enumerate(values))
    path.write_text("".join(f"{line}\n" for line in lines))


def content(folder: Path) -> dict[str, bytes]:
    """The bytes of every file below a folder."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def rows(folder: Path) -> list[dict[str, object]]:
    """Every row of an output folder."""
    found: list[dict[str, object]] = pq.read_table(folder).to_pylist()
    return found
