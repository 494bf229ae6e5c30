"""Chunks: how a stream of sentences is cut into pieces that are tagged together.

What a sentence sees of its document must not depend on where a chunk ends, so each chunk brings the neighbours that
may be read as context with it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple


class Item(NamedTuple):
    """The tokens and the document of a sentence, and any value to return along with its entities."""

    tokens: Sequence[str]
    document: str = ""  # its name, or "" if there is none
    source: Any = None


@dataclass(frozen=True, slots=True)
class Chunk:
    """Sentences to tag, with neighbouring sentences before and after them as context."""

    items: list[Item]
    first: int  # the first sentence to be tagged
    last: int  # the end of the sentences to be tagged

    @property
    def own(self) -> list[Item]:
        """The sentences to be tagged."""
        return self.items[self.first : self.last]

    @property
    def tokens(self) -> list[Sequence[str]]:
        """The words of every sentence, neighbours included."""
        return [item.tokens for item in self.items]

    @property
    def documents(self) -> list[str]:
        """The document of every sentence, neighbours included."""
        return [item.document for item in self.items]


def chunks(items: Iterable[Item], size: int, context: int = 0) -> Iterator[Chunk]:
    """The items in chunks of `size`, each with neighbours of at least `context` words if its document has them."""
    source = iter(items)
    waiting: list[Item] = []  # read, and not yet tagged
    before: list[Item] = []  # tagged, and still of use as context
    while True:
        _fill(waiting, source, size)
        if not waiting:
            return
        own = min(size, len(waiting))
        after = _ahead(waiting, source, own, context)
        yield Chunk([*before, *waiting[: own + after]], len(before), len(before) + own)
        before = _behind([*before, *waiting[:own]], context)
        del waiting[:own]


def _fill(waiting: list[Item], source: Iterator[Item], size: int) -> bool:
    """Read until `size` items wait; False if there are not so many."""
    while len(waiting) < size:
        item = next(source, None)
        if item is None:
            return False
        waiting.append(item)
    return True


def _ahead(waiting: list[Item], source: Iterator[Item], own: int, context: int) -> int:
    """How many items after the chunk are needed as context; they are read if they are not yet."""
    document, words, count = waiting[own - 1].document, 0, 0
    while document and words < context and _fill(waiting, source, own + count + 1):
        neighbour = waiting[own + count]
        if neighbour.document != document:
            break
        words += len(neighbour.tokens)
        count += 1
    return count


def _behind(items: list[Item], context: int) -> list[Item]:
    """The last items that are needed as context for what follows."""
    document, words, count = items[-1].document, 0, 0
    while document and words < context and count < len(items) and items[-1 - count].document == document:
        words += len(items[-1 - count].tokens)
        count += 1
    return items[len(items) - count :]
