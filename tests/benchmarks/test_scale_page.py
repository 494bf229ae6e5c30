"""The page of measurements on a cluster: what is said of the bars follows from the lines."""

import sys
from collections.abc import Iterator
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import pytest

TOP = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def scale() -> Iterator[ModuleType]:
    """The script."""
    spec = spec_from_file_location("scale_page", TOP / "benchmarks" / "scale_page.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "scale_page", module)  # dataclasses look there
        spec.loader.exec_module(module)
        yield module


def runs(scale: ModuleType, section: str, engine: float, worker: float, load: float = 1.0) -> list[object]:
    """The engine alone and one worker."""
    return [
        scale.Measured(section, system, 1_000, rate, rate, 9.0, 100, 10, load=load)
        for system, rate in (("engine", engine), ("cluster", worker))
    ]


def test_bars_are_met_or_not(scale: ModuleType) -> None:
    memory = [scale.Measured("memory", "cluster", count, 1, 1, 9.0, 100, 10) for count in (10, 1_000)]
    text = "\n".join(scale.page([*runs(scale, "torch", 100, 85), *runs(scale, "onnx", 100, 84), *memory]))
    assert "| torch | 1,000 | 1 | sentences/s | 100 | 85 | 0.85 | yes |" in text
    assert "| onnx | 1,000 | 1 | sentences/s | 100 | 84 | 0.84 | no |" in text
    parts = scale.Measured("parts", "cluster", 2_000, 50, 50, 9.0, 100, 10, workers=2)
    assert "2 workers did 50 parts of one sentence a second" in "\n".join(scale.page([parts]))
    assert "costs its worker 0.040 s besides" in "\n".join(scale.page([parts]))
    assert "flat from 10 to 1,000 sentences (at most 1.25 times): yes, 1.00." in text
    grown = scale.Measured("memory", "cluster", 10_000, 1, 1, 9.0, 126, 10)
    assert "(at most 1.25 times): no, 1.26." in "\n".join(scale.page([*memory, grown]))


def test_a_busy_machine_compares_no_times(scale: ModuleType) -> None:
    text = "\n".join(scale.page(runs(scale, "torch", 100, 99, load=1_000.0)))
    assert "sentences/s | 100 | 99 | not compared: the machine was busy" in text
    assert "sentences in a CPU second | 100 | 99 | 0.99 | yes |" in text


def test_on_a_gpu_the_best_number_of_workers_counts(scale: ModuleType) -> None:
    engine, one = runs(scale, "gpu", 100, 70)
    two = scale.Measured("gpu", "cluster", 1_000, 80, 80, 9.0, 100, workers=2, stages={"reading": 1.0})
    text = "\n".join(scale.gpu_table([engine, one, two]))
    assert "| words | 1 | 70 | 0.70 |  |" in text
    assert "| words | 2 | 80 | 0.80 | reading 1 |" in text
    assert "At least 0.8 of the engine: yes." in text
    assert "At least 0.8 of the engine: no." in "\n".join(scale.gpu_table([engine, one]))
