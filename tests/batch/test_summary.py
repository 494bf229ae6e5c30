"""The progress of a run."""

from typing import Any

import pytest
from typer.testing import CliRunner

from nestag.batch import run as summary
from nestag.batch.manifest import Done
from nestag.batch.plan import Part
from nestag.batch.storage import InputFile
from nestag.batch.worker import PartOutcome
from nestag.cli import app


def test_speed_counts_from_the_first_finished_part(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [1_000.0]
    monkeypatch.setattr(summary.time, "monotonic", lambda: clock[0])
    totals = summary.Totals(parts=12, weight=120)
    part = Part("a", "text", InputFile("a.txt", "/", "/a.txt", 120, ""), 0, 10, 0, 10)
    done = PartOutcome("a", Done("a.txt", 0, 10, 1, "", rows=5))
    assert "0 of 12 parts, ? rows/s, ? left, 0 bad rows, 0 failed" in totals.line()
    clock[0] += 60  # until the workers have started
    totals.add(part, done)
    assert "1 of 12 parts, ? rows/s, ? left" in totals.line()
    clock[0] += 2
    totals.add(part, done)
    assert "2 of 12 parts, 2 rows/s, 20 s left" in totals.line()  # 5 rows in 2 s, and ten more parts
    totals.add(part, PartOutcome("b", error="broken"))
    assert totals.line().endswith("1 failed")


def test_after_ctrl_c_a_line_says_how_to_resume(monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("nestag.cli.batch.tag_files", stop)
    done = CliRunner().invoke(app, ["batch", "in", "out", "--model", "model"])
    assert (done.exit_code, done.stderr) == (130, "resume with the same command\nnestag: interrupted\n")
