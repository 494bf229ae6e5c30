"""Two training processes match one process with the same batches."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from socket import socket
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from nestag.data.validation import to_mapping
from nestag.formats import jsonl
from nestag.training.dataset import BatchSampler
from nestag.training.plan import plan_for
from nestag.training.run import train
from two_sentences import CORPUS, MANY, quick


@pytest.mark.parametrize(("windows", "processes"), [(4, 2), (5, 2), (1, 3)])
def test_every_process_gets_the_same_number_of_batches(windows: int, processes: int) -> None:
    corpus: Any = SimpleNamespace(sizes=np.full(windows, 10))
    sampler = BatchSampler(corpus, 10, 0, seed=1, processes=processes)
    batches = list(sampler)
    assert len(batches) == len(sampler)
    assert len(batches) % processes == 0
    assert {number for batch in batches for number in batch} == set(range(windows))


def test_step_of_two_processes_has_two_batches() -> None:
    recipe, sizes = quick("any", batch_subwords=10, batch_sentences=1), np.full(8, 10)
    assert plan_for(recipe, sizes, 1).epoch_steps == 2 * plan_for(recipe, sizes, 1, processes=2).epoch_steps


@pytest.mark.slow
def test_two_processes_have_the_losses_of_one(tiny_encoder: Callable[[str], str], tmp_path: Path) -> None:
    jsonl.write(MANY, tmp_path / "train.jsonl")
    jsonl.write(CORPUS, tmp_path / "dev.jsonl")
    recipe = quick(without_dropout(tiny_encoder("bert"), tmp_path / "encoder"), epochs=2, batch_subwords=64)
    settings = {name: value for name, value in to_mapping(recipe).items() if value is not None}
    lines = (f"{name} = {json.dumps(value)}" for name, value in settings.items())
    (tmp_path / "recipe.toml").write_text("\n".join(lines))
    train(MANY, CORPUS, tmp_path / "one", recipe, use_cpu=True, gradient_accumulation_steps=2)
    words = ["train", "--train", tmp_path / "train.jsonl", "--dev", tmp_path / "dev.jsonl", "-o", tmp_path / "two",
             "--recipe", tmp_path / "recipe.toml", "--cpu"]  # fmt: skip
    with socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    launched = [launch(rank, port, *map(str, words)) for rank in range(2)]
    assert [process.wait() for process in launched] == [0, 0]
    one, two = (json.loads((tmp_path / name / "history.json").read_text()) for name in ("one", "two"))
    assert one["plan"] == two["plan"]
    losses = [[scoring[1] for scoring in run["scorings"]] for run in (one, two)]
    assert len(losses[0]) == 2
    np.testing.assert_allclose(losses[0], losses[1], rtol=1e-4)


@pytest.mark.slow
def test_two_processes_adapt_together(tiny_encoder: Callable[[str], str], tmp_path: Path) -> None:
    jsonl.write(MANY, tmp_path / "text.jsonl")
    words = ["adapt", tmp_path / "text.jsonl", "-o", tmp_path / "new", "--encoder", tiny_encoder("bert"),
             "--epochs", "3", "--dev", tmp_path / "text.jsonl", "--cpu"]  # fmt: skip
    with socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    launched = [launch(rank, port, *map(str, words)) for rank in range(2)]
    assert [process.wait() for process in launched] == [0, 0]
    report = json.loads((tmp_path / "new" / "adaptation.json").read_text())
    assert report["steps"] == 3
    assert 0 <= report["accuracy"] <= 1
    train(MANY, CORPUS, tmp_path / "model", quick(str(tmp_path / "new"), steps=1), use_cpu=True)


def without_dropout(encoder: str, folder: Path) -> str:
    """A copy of an encoder that draws no random numbers, of which every process has its own."""
    shutil.copytree(encoder, folder)
    config = json.loads((folder / "config.json").read_text())
    config |= {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
    (folder / "config.json").write_text(json.dumps(config))
    return str(folder)


def launch(rank: int, port: int, *words: str) -> subprocess.Popen[bytes]:
    """Start one of two processes, with the environment of `accelerate launch`."""
    variables = {"RANK": rank, "LOCAL_RANK": rank, "WORLD_SIZE": 2, "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port}
    environment = {name: str(value) for name, value in variables.items()} | {"OMP_NUM_THREADS": "1"}
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, sys.path))
    return subprocess.Popen([sys.executable, "-m", "nestag", *words], env=os.environ | environment)
