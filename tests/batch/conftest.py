"""A model that loads in milliseconds, and one cluster for all tests that need a real one."""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from scale_cluster import Workers
from shape_model import save_shape_model


@pytest.fixture(scope="session")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("scale") / "model"
    save_shape_model(folder)
    return folder


@pytest.fixture(scope="session")
def cluster() -> Iterator[Workers]:
    """A real local cluster of two CPUs."""
    ray = pytest.importorskip("ray")
    mark = f"nestag-{uuid.uuid4()}"
    paths = os.pathsep.join([str(Path(__file__).parents[2] / "src"), os.environ.get("PYTHONPATH", "")])
    variables = {"NESTAG_TEST": mark, "PYTHONPATH": paths, "RAY_USAGE_STATS_ENABLED": "0",
                 "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0"}  # fmt: skip
    with pytest.MonkeyPatch.context() as patch:
        for name, value in variables.items():
            patch.setenv(name, value)
        context = ray.init(
            num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="ERROR",
            object_store_memory=100 * 2**20,
        )  # fmt: skip
        yield Workers(context.address_info["gcs_address"], mark)
        ray.shutdown()
