import threading
import time

import pytest

from nestag.pipeline import DEPTH, overlapped


def names() -> list[str]:
    return [thread.name for thread in threading.enumerate() if thread.name.startswith("nestag-")]


def test_results_come_in_order_whatever_each_takes() -> None:
    def slow(x: int) -> int:
        time.sleep(0.002 * (x % 3))
        return x * x

    assert list(overlapped(range(30), slow, str)) == [str(x * x) for x in range(30)]
    assert names() == []


def test_stages_overlap() -> None:
    both = threading.Barrier(2, timeout=10)  # passed only if two stages are at work at once
    seen = list(
        overlapped(range(2), lambda x: (both.wait(), x)[1] if x else x, lambda x: x if x else (both.wait(), x)[1])
    )
    assert seen == [0, 1]


@pytest.mark.parametrize("stage", [0, 1, 2])
def test_an_error_in_any_stage_is_raised_and_ends_all(stage: int) -> None:
    def failing(x: int) -> int:
        if x == 3:
            raise ValueError("no")
        return x

    stages = [failing if number == stage else (lambda x: x) for number in range(3)]
    found = overlapped(range(100), *stages)
    assert [next(found) for _ in range(3)] == [0, 1, 2]
    with pytest.raises(ValueError, match="no"):
        next(found)
    assert names() == []


def test_an_error_of_the_source_is_raised() -> None:
    def source() -> object:
        yield 1
        raise OSError("gone")

    with pytest.raises(OSError, match="gone"):
        list(overlapped(source(), str))  # type: ignore[call-overload]


def test_queues_are_bounded_and_leaving_early_stops_every_stage() -> None:
    taken = 0

    def source() -> object:
        nonlocal taken
        while True:
            taken += 1
            yield taken

    found = overlapped(source(), str, str)  # type: ignore[call-overload]
    assert next(found) == "1"
    time.sleep(0.3)
    assert taken <= 2 * DEPTH + 4
    found.close()
    assert names() == []
