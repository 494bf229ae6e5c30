"""What stages take while they overlap, with an engine that sleeps and computes."""

import time
from collections.abc import Iterator
from typing import Any

from nestag.speed import together


class Sleepy:
    """An engine whose encoder waits and whose decoding computes."""

    def lay_out(self, chunk: int) -> int:
        return chunk

    def start(self, chunk: int) -> int:
        time.sleep(0.05)
        return chunk

    def decode(self, chunk: int) -> int:
        end = time.thread_time() + 0.03
        while time.thread_time() < end:
            pass
        return chunk

    def run(self, items: list[int]) -> Iterator[int]:
        return (self.decode(self.start(self.lay_out(item))) for item in items)


def test_waiting_and_computing_are_told_apart() -> None:
    engine: Any = Sleepy()
    items: Any = [1, 2]
    found = {one.what: one.value for one in together(engine, items)}
    assert found["starting the encoder in that run"] >= 0.1
    assert found["starting the encoder in that run, computing"] < 0.05
    assert found["decoding in that run"] >= found["decoding in that run, computing"] >= 0.06
    assert found["one run whose stages are timed"] >= 0.16
    assert not vars(engine)  # nothing is timed any more
