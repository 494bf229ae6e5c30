"""Two processes that train together learn what one learns from the same batches."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from nestag.corpora.formats import jsonl
from nestag.training.dataset import BySize
from nestag.training.plan import plan_for
from nestag.training.run import train
from two_sentences import CORPUS, MANY, quick


@pytest.mark.parametrize(("windows", "processes"), [(4, 2), (5, 2), (1, 3)])
def test_every_process_gets_as_many_batches(windows: int, processes: int) -> None:
    given: Any = SimpleNamespace(sizes=np.full(windows, 10))
    sampler = BySize(given, 10, 0, seed=1, processes=processes)
    found = list(sampler)
    assert len(found) == len(sampler)
    assert len(found) % processes == 0
    assert {number for batch in found for number in batch} == set(range(windows))


def test_two_processes_take_a_step_together() -> None:
    recipe, sizes = quick("any", batch_subwords=10, batch_sentences=1), np.full(8, 10)
    assert plan_for(recipe, sizes, 1).epoch_steps == 2 * plan_for(recipe, sizes, 1, processes=2).epoch_steps


def without_dropout(encoder: str, folder: Path) -> Path:
    """A copy of an encoder in which nothing depends on which process draws which number."""
    shutil.copytree(encoder, folder)
    config = json.loads((folder / "config.json").read_text())
    config |= {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
    (folder / "config.json").write_text(json.dumps(config))
    return folder


def test_two_processes_learn_what_one_learns(tiny_encoder: Callable[[str], str], tmp_path: Path) -> None:
    jsonl.write(MANY, tmp_path / "train.jsonl")
    jsonl.write(CORPUS, tmp_path / "dev.jsonl")
    recipe = quick(str(without_dropout(tiny_encoder("bert"), tmp_path / "encoder")), epochs=2, batch_subwords=64)
    train(MANY, CORPUS, tmp_path / "one", recipe, use_cpu=True, gradient_accumulation_steps=2)
    settings = [f"{name}={getattr(recipe, name)}" for name in (
        "encoder", "epochs", "batch_subwords", "learning_rate", "head_learning_rate", "dropout", "schedule",
        "warmup_ratio", "ema_decay", "patience", "span_loss", "conv_size", "shape_size",
    )]  # fmt: skip
    command = [
        sys.executable, "-m", "accelerate.commands.launch", "--multi_gpu", "--num_processes", "2", "--num_machines",
        "1", "--mixed_precision", "no", "--dynamo_backend", "no", "--main_process_port", "0",
        "-m", "nestag", "train", "--train", tmp_path / "train.jsonl", "--dev", tmp_path / "dev.jsonl",
        "-o", tmp_path / "two", "--cpu", *(word for text in settings for word in ("--set", text)),
    ]  # fmt: skip
    done = subprocess.run(
        list(map(str, command)), capture_output=True, text=True, check=False,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "OMP_NUM_THREADS": "1"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3_000:]
    one, two = (json.loads((tmp_path / name / "history.json").read_text()) for name in ("one", "two"))
    assert one["plan"] == two["plan"]
    losses = [[scoring[1] for scoring in run["scorings"]] for run in (one, two)]
    assert len(losses[0]) == 2
    np.testing.assert_allclose(losses[0], losses[1], rtol=1e-4)
