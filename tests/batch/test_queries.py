"""The queries of docs/how-to/batch.md run on real output."""

import re
from pathlib import Path

import pytest

from files_of_rows import rows, texts, write_lines
from nestag.batch.plan import Job, plan_parts
from nestag.batch.storage import Folder, find_input_files
from nestag.batch.worker import PartTagger, read_model

PAGE = (Path(__file__).parents[2] / "docs" / "how-to" / "batch.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def out(model: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("queries")
    write_lines(folder / "in" / "a.jsonl", list(texts(40)))
    job = Job(tokenizer="whitespace", part_bytes=500).on("cpu")
    tagger = PartTagger(job, read_model(str(model)), Folder(str(folder / "out")))
    for part in plan_parts(find_input_files(str(folder / "in")), job).parts:
        assert tagger.tag(part).done
    return folder / "out"


def example(opening: str, out: Path) -> str:
    (found,) = re.findall(rf"```\w+\n({opening}.*?)```", PAGE, re.DOTALL)
    return str(found).replace("OUT", str(out))


def test_documented_duckdb_query_works(out: Path) -> None:
    duckdb = pytest.importorskip("duckdb")
    expected: dict[str, int] = {}
    for row in rows(out):
        found = row["entities"]
        assert isinstance(found, list)
        for inner in found:
            span = range(inner["start"], inner["end"])
            around = [outer for outer in found if outer["start"] <= span.start and span.stop <= outer["end"]]
            longer = any(len(span) < outer["end"] - outer["start"] for outer in around)  # once, however many there are
            expected[inner["text"]] = expected.get(inner["text"], 0) + (inner["type"] == "PER" and longer)
    top = sorted(((text, n) for text, n in expected.items() if n), key=lambda pair: (-pair[1], pair[0]))[:20]
    assert top
    assert duckdb.sql(example("-- DuckDB", out)).fetchall() == top


def test_documented_polars_query_works(out: Path) -> None:
    pytest.importorskip("polars")
    scope: dict[str, object] = {"print": lambda table: scope.update(table=table)}
    exec(example("# Polars", out), scope)
    types = [entity["type"] for row in rows(out) for entity in row["entities"]]  # type: ignore[attr-defined]
    table = scope["table"]
    assert dict(table.select("type", "len").iter_rows()) == {kind: types.count(kind) for kind in set(types)}  # type: ignore[attr-defined]
