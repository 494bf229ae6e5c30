"""Input files and parts: every row is in exactly one part."""

import gzip
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from files_of_rows import texts, write_lines, write_table
from nestag.batch.manifest import DONE, claim
from nestag.batch.plan import Job, PartPlan, plan_parts
from nestag.batch.rows import read_part
from nestag.batch.storage import Folder, find_input_files
from nestag.errors import InputError


def read_all(source: Path, **settings: object) -> tuple[list[object], list[int]]:
    """The values and positions of all rows, part by part."""
    job = Job(**settings).on("cpu")  # type: ignore[arg-type]
    plan = plan_parts(find_input_files(str(source), job.kind), job)
    assert plan.failures == ()
    batches = [batch for part in plan.parts for batch in read_part(part, job)]
    return [v for batch in batches for v in batch.values], [p for batch in batches for p in batch.positions]


@given(lines=st.lists(st.text(st.characters(exclude_characters="\n\r\ufeff", exclude_categories=["Cs"])), max_size=8),
       size=st.integers(1, 40), ended=st.booleans())  # fmt: skip
def test_every_line_is_in_one_part(
    lines: list[str], size: int, ended: bool, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("lines") / "a.txt"
    path.write_bytes("\n".join(lines).encode() + b"\n" * (ended and bool(lines)))
    expected = path.read_bytes().split(b"\n")
    expected = expected[:-1] if expected[-1] == b"" else expected
    values, positions = read_all(path, part_bytes=size)
    assert [str(value).encode() for value in values] == expected
    assert [path.read_bytes()[at : at + len(line)] for at, line in zip(positions, expected, strict=True)] == expected


@pytest.mark.parametrize("size", [1, 500, 10**6])
def test_every_row_group_is_in_one_part(size: int, tmp_path: Path) -> None:
    write_table(tmp_path / "a.parquet", list(texts(30)), group=7)
    assert read_all(tmp_path, part_bytes=size) == (texts(30), list(range(30)))


def test_compressed_file_is_one_part(tmp_path: Path) -> None:
    (tmp_path / "a.txt.gz").write_bytes(gzip.compress("one\r\ntwo\nthree".encode("utf-8-sig")))
    assert read_all(tmp_path, part_bytes=2)[0] == ["one", "two", "three"]


def test_tokens_are_read_from_tables_and_lines(tmp_path: Path) -> None:
    write_lines(tmp_path / "a.jsonl", [["New", "York"], []])
    assert read_all(tmp_path, tokens="text")[0] == [["New", "York"], []]


def test_globs_hidden_files_and_files_of_other_kinds(tmp_path: Path) -> None:
    for name in ("2023/a.jsonl", "2024/b.jsonl", "2024/_c.jsonl", ".d/e.jsonl"):
        write_lines(tmp_path / name, ["x"])
    (tmp_path / "2024" / "notes.csv").write_text("x")
    found = find_input_files(str(tmp_path))
    assert [file.name for file in found.files] == ["2023/a.jsonl", "2024/b.jsonl"]
    assert (found.kind, found.ignored) == ("jsonl", 1)
    assert [file.name for file in find_input_files(f"{tmp_path}/*/b.jsonl").files] == ["2024/b.jsonl"]
    assert [file.name for file in find_input_files(f"file://{tmp_path}/2023/a.jsonl").files] == ["a.jsonl"]


def test_invalid_inputs_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no input files"):
        find_input_files(str(tmp_path))
    write_lines(tmp_path / "a.jsonl", ["x"])
    (tmp_path / "a.txt").write_text("x")
    with pytest.raises(InputError, match="jsonl and text; choose one"):
        find_input_files(str(tmp_path))
    assert len(find_input_files(str(tmp_path), "text").files) == 1
    with pytest.raises(InputError, match="no parquet files"):
        find_input_files(str(tmp_path), "parquet")


def test_missing_columns_are_failures(tmp_path: Path) -> None:
    write_table(tmp_path / "a.parquet", ["x"])
    (tmp_path / "b.parquet").write_bytes(b"PAR1 and no more")
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.table({"text": ["x"], "id": ["one"]}), tmp_path / "c.parquet")
    pq.write_table(pa.table({"text": [1], "id": [1]}), tmp_path / "d.parquet")
    pq.write_table(pa.table({"body": ["x"], "id": [1]}), tmp_path / "e.parquet")
    plan = plan_parts(find_input_files(str(tmp_path)), Job(keep=("id",)).on("cpu"))
    assert [part.file.name for part in plan.parts] == ["a.parquet"]
    broken, other, number, missing = plan.failures
    assert "not a complete Parquet file" in broken.error
    assert "id string is int64" in other.error
    assert "is int64, not strings" in number.error
    assert "'text' is missing" in missing.error


def test_output_of_an_earlier_run_is_not_an_input(tmp_path: Path) -> None:
    for name in ("in/a.jsonl", "out/a.jsonl-1-00000.jsonl", "outside/b.jsonl"):
        write_lines(tmp_path / name, ["x"])
    found = find_input_files(f"{tmp_path}/**/*.jsonl", None, f"file://{tmp_path}/out")
    assert [file.name for file in found.files] == ["in/a.jsonl", "outside/b.jsonl"]


@pytest.mark.parametrize("settings", [{"keep": ("id",)}, {"tokens": "words"}])
def test_lines_of_text_have_no_columns(tmp_path: Path, settings: dict[str, object]) -> None:
    (tmp_path / "a.txt").write_text("x")
    with pytest.raises(InputError, match=r"a.txt: text files have no columns"):
        plan_parts(find_input_files(str(tmp_path)), Job(**settings).on("cpu"))  # type: ignore[arg-type]


@pytest.mark.parametrize("settings", [{"text": "txet"}, {"keep": ("id", "txet")}, {"tokens": "txet"}])
def test_unknown_column_is_refused(tmp_path: Path, settings: dict[str, object]) -> None:
    (tmp_path / "a.jsonl.gz").write_bytes(b"no gzip")
    (tmp_path / "b.jsonl").write_bytes(b'\xff\n[1]\n{"text": "x", "id": 1}\n')
    job = Job(**settings).on("cpu")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="txet: none of the first 1 rows has a field 'txet'; the fields are id, text"):
        plan_parts(find_input_files(str(tmp_path)), job)
    (tmp_path / "b.jsonl").write_bytes(b"")  # nothing to judge by
    assert len(plan_parts(find_input_files(str(tmp_path)), job).parts) == 2


def test_file_without_output_may_be_fixed_or_removed(tmp_path: Path) -> None:
    out, source = Folder(str(tmp_path / "out")), tmp_path / "in"
    write_table(source / "a.parquet", ["x"])
    (source / "b.parquet").write_bytes(b"PAR1 and no more")
    job = Job().on("cpu")

    def begin() -> PartPlan:
        inputs = find_input_files(str(source))
        plan = plan_parts(inputs, job)
        claim(out, "0" * 64, job, inputs, plan.schema)
        return plan

    out.write(f"{DONE}/{begin().parts[0].name}.json", b"{}")
    write_table(source / "b.parquet", ["y"])
    assert [part.file.name for part in begin().parts] == ["a.parquet", "b.parquet"]
    (source / "b.parquet").unlink()
    assert [part.file.name for part in begin().parts] == ["a.parquet"]
    write_table(source / "a.parquet", ["another"])
    with pytest.raises(InputError, match=r"a.parquet: it has changed"):
        begin()
    (source / "a.parquet").rename(source / "c.parquet")
    with pytest.raises(InputError, match=r"a.parquet: it is no longer among the inputs"):
        begin()


def test_run_with_only_broken_files_can_resume(tmp_path: Path) -> None:
    out, path, job = Folder(str(tmp_path / "out")), tmp_path / "in" / "a.parquet", Job().on("cpu")
    path.parent.mkdir()
    for mend in (lambda: path.write_bytes(b"PAR1"), lambda: write_table(path, ["x"])):
        mend()
        inputs = find_input_files(str(path))
        plan = plan_parts(inputs, job)
        claim(out, "0" * 64, job, inputs, plan.schema)
    assert plan.schema == ("text string",)


def test_kept_columns_may_not_have_output_names() -> None:
    with pytest.raises(InputError, match="column 'entities'"):
        Job(keep=("entities",))
