"""Shared fixtures; tiny encoders are made in memory, nothing is downloaded."""

from __future__ import annotations

import gc
import os
import signal
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tiny_encoders import save_encoder

os.environ.setdefault("OMP_NUM_THREADS", "1")  # tests run in parallel; more threads would only wait for each other

if threading.current_thread() is threading.main_thread():
    signal.signal(signal.SIGHUP, signal.SIG_DFL)  # under nohup it is ignored, and tests that send it would wait in vain
    signal.signal(signal.SIGINT, signal.default_int_handler)  # it is ignored in the background of a script

gc.disable()  # until everything is imported: little of that is garbage

os.environ["HF_HUB_OFFLINE"] = "1"  # nothing here may reach for the network

settings.register_profile(
    "fuzz",  # new examples each time; `make fuzz` uses it
    max_examples=int(os.environ.get("NESTAG_EXAMPLES", "50")),  # of a property test
    database=None,
    deadline=None,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.register_profile("repeatable", settings.get_profile("fuzz"), derandomize=True)
settings.load_profile("repeatable")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Files with tests that train come first: they take longest, and a process that ends with one is waited for.

    The tests of a file run in one process (`--dist loadfile`), so that what they share is made once. Slow tests have a
    longer time limit.
    """
    for item in items:
        if item.get_closest_marker("slow"):
            item.add_marker(pytest.mark.timeout(1_800))
    training = {_file(item) for item in items if "tiny_encoder" in getattr(item, "fixturenames", ())}
    items.sort(key=lambda item: _file(item) not in training)


def pytest_collection_finish() -> None:
    """What was imported stays: looking through it for garbage takes half a second, and each training run does so."""
    gc.freeze()
    gc.enable()


def _file(item: pytest.Item) -> str:
    return item.nodeid.partition("::")[0]


@pytest.fixture(scope="session")
def tiny_encoder(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], str]:
    """The folder of a tiny encoder of a kind."""
    made: dict[str, str] = {}

    def make(kind: str = "bert") -> str:
        if kind not in made:
            folder = tmp_path_factory.mktemp(kind)
            save_encoder(kind, folder)
            made[kind] = str(folder)
        return made[kind]

    return make


@pytest.fixture(scope="session")
def trained_model(tiny_encoder: Callable[[str], str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a recognizer that has overfitted two sentences; tests must not write to it."""
    from nestag.training.run import train
    from two_sentences import CORPUS, MANY, quick

    folder = tmp_path_factory.mktemp("trained") / "model"
    run = train(MANY, CORPUS, folder, quick(tiny_encoder("bert")), use_cpu=True)
    assert run.dev.f1 == 1.0
    return folder
