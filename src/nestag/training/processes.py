"""Several processes that train one model, on GPUs of one machine or of many, as `accelerate launch` starts them.

Every process takes its share of the batches of a step. The first one alone scores dev, writes files and speaks.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def count() -> int:
    """How many processes there are."""
    return int(os.environ.get("WORLD_SIZE", "1"))


def is_first() -> bool:
    """Whether this is the one that writes."""
    return os.environ.get("RANK", "0") == "0"


def from_first(make: Callable[[], T]) -> T:
    """What the first process makes, in all of them."""
    if count() == 1:
        return make()
    from torch import distributed

    held: list[T | None] = [make() if is_first() else None]
    distributed.broadcast_object_list(held)
    (value,) = held
    assert value is not None
    return value


def mean(value: float) -> float:
    """The mean over all processes."""
    if count() == 1:
        return value
    from torch import distributed

    held: list[float] = [0.0] * count()
    distributed.all_gather_object(held, value)
    return sum(held) / len(held)


def wait_for_all() -> None:
    """Go on when every process is here."""
    if count() > 1:
        from torch import distributed

        distributed.barrier()
