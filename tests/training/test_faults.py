"""After a fault at any file operation of training, the same command ends with the same bytes.

Here a few operations are tried for each kind of fault; `make faults` tries them all.
"""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import faulty_runs

STRIDE = 60


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="looks at open files as Linux shows them")
def test_training_survives_faults_at_file_operations(tiny_encoder: Callable[[str], str], tmp_path: Path) -> None:
    command = [sys.executable, faulty_runs.__file__, tiny_encoder("bert"), str(tmp_path / "runs"), f"--stride={STRIDE}"]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = subprocess.run(command, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    results = [json.loads(line) for line in done.stdout.splitlines()]
    assert [result["fault"] for result in results] == list(faulty_runs.FAULTS)
    assert all(result["operations"] > 50 and result["places"] > 1 for result in results)
    assert {result["fault"]: result["failed"] for result in results if result["failed"]} == {}
