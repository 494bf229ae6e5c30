"""The cores that a container may use."""

from pathlib import Path

import pytest

from nestag.data.cores import cpu_limit, usable_cores


@pytest.mark.parametrize(
    ("files", "limit"),
    [
        ({"cpu.max": "150000 100000\n"}, 2),
        ({"cpu.max": "50000 100000\n"}, 1),
        ({"cpu.max": "max 100000\n"}, None),
        ({"cpu.max": "?"}, None),
        ({"cpu/cpu.cfs_quota_us": "300000\n", "cpu/cpu.cfs_period_us": "100000\n"}, 3),
        ({"cpu/cpu.cfs_quota_us": "-1\n", "cpu/cpu.cfs_period_us": "100000\n"}, None),
        ({}, None),
    ],
)
def test_cgroup_limits_of_both_versions_are_read(files: dict[str, str], limit: int | None, tmp_path: Path) -> None:
    (tmp_path / "cpu").mkdir()
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    assert cpu_limit(tmp_path) == limit


def test_cpu_limit_is_at_least_one_core(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nestag.data.cores.CGROUP", tmp_path)
    everything = usable_cores()
    (tmp_path / "cpu.max").write_text("100 100000")
    assert 1 == usable_cores() <= everything
