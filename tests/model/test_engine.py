"""The order of the engine's stages, with a scorer that records its calls."""

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nestag.data.sentence import Sentence
from nestag.encodings.vocabulary import Vocabulary
from nestag.model.engine import Batch, Engine, Heads, Item, TaggedChunk, chunks
from nestag.model.settings import Settings
from nestag.model.subwords import WordTokenizer
from nestag.model.windows import LayoutMaker

VOCABULARY = Vocabulary.learn([Sentence(["a", "b"], [])], "rel")


class Letters(WordTokenizer):
    """A tokenizer for which every word is one subword."""

    def __init__(self) -> None:
        self.cls_token_id = self.sep_token_id = self.pad_token_id = 0
        self.unk_token_id = 1

    def encode(self, sentences: Iterable[Sequence[str]], add_special_tokens: bool = False) -> list[Any]:
        return [SimpleNamespace(ids=[ord(word[0]) for word in words]) for words in sentences]


class Recording:
    """A scorer that says what it was asked, and when."""

    sizes = (len(VOCABULARY.n), len(VOCABULARY.c), len(VOCABULARY.u))
    batch_subwords = 100

    def __init__(self, ahead: int) -> None:
        self.ahead = ahead
        self.reach = None
        self.events: list[str] = []
        self.release: threading.Event | None = None

    def start(self, batches: Iterable[Batch], words: int) -> Callable[[], Heads]:
        number = sum(event.startswith("start") for event in self.events)
        self.events.append(f"start {number}")
        if number == 2 and self.release:
            self.release.set()
        seen = np.concatenate([batch.word for batch in batches])
        assert sorted(seen.tolist()) == list(range(words))

        def waited() -> Heads:
            if self.release:
                assert self.release.wait(250)
            self.events.append(f"wait {number}")
            n, c, u = (np.zeros((words, size), dtype=np.float32) for size in self.sizes)
            return Heads(n, c, u)

        return waited


def engine(scorer: Recording) -> Engine:
    return Engine(scorer, LayoutMaker(Letters(), 16), VOCABULARY, Settings(), chunk_size=2)


def test_stages_are_sequential_on_a_cpu() -> None:
    scorer = Recording(0)
    tagged = list(engine(scorer).run(Item([letter]) for letter in "abcde"))
    assert scorer.events == ["start 0", "wait 0", "start 1", "wait 1", "start 2", "wait 2"]
    assert letters(tagged) == ["ab", "cd", "e"]


def test_chunks_overlap_on_a_gpu() -> None:
    scorer = Recording(2)
    scorer.release = threading.Event()  # nothing is there before the third chunk has begun
    tagged = list(engine(scorer).run(Item([letter]) for letter in "abcdefg"))
    assert scorer.events[:3] == ["start 0", "start 1", "start 2"]
    assert letters(tagged) == ["ab", "cd", "ef", "g"]
    assert not threads()


def letters(tagged: list[TaggedChunk]) -> list[str]:
    return ["".join(item.tokens[0] for item in chunk.items) for chunk in tagged]


def threads() -> list[str]:
    return [thread.name for thread in threading.enumerate() if thread.name.startswith("nestag-decoding")]


def test_input_is_read_lazily() -> None:
    taken = 0

    def endless() -> Iterator[Item]:
        nonlocal taken
        while True:
            taken += 1
            yield Item(["a"])

    tagged = engine(Recording(1)).run(endless())
    next(tagged)
    assert taken == 4
    tagged.close()
    assert not threads()


def test_error_of_the_input_is_raised() -> None:
    def broken() -> Iterator[Item]:
        yield Item(["a"])
        raise OSError("gone")

    with pytest.raises(OSError, match="gone"):
        list(engine(Recording(1)).run(broken()))
    assert not threads()


@pytest.mark.parametrize("ahead", [0, 2])
def test_error_of_a_stage_stops_all_threads(ahead: int, monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(*_: object) -> TaggedChunk:
        raise ValueError("no")

    failing_engine = engine(Recording(ahead))
    monkeypatch.setattr(failing_engine, "decode", failing)
    with pytest.raises(ValueError, match="no"):
        list(failing_engine.run(Item([letter]) for letter in "abcdefgh"))
    assert not threads()


ITEMS = st.lists(
    st.builds(Item, st.lists(st.just("w"), max_size=4), st.sampled_from(["", "a", "b"]), st.none()), max_size=20
)


@given(ITEMS, st.integers(1, 6), st.integers(0, 7))
def test_every_item_is_in_one_chunk_with_its_context(items: list[Item], size: int, context: int) -> None:
    numbered = [item._replace(source=number) for number, item in enumerate(items)]
    split = list(chunks(iter(numbered), size, context))
    assert [item.source for chunk in split for item in chunk.targets] == list(range(len(items)))
    assert all(len(chunk.targets) <= size for chunk in split)
    for chunk in split:
        places = [item.source for item in chunk.items]
        assert places == list(range(places[0], places[-1] + 1))  # neighbours as they stood
        for step in (-1, 1):
            for item in chunk.targets:
                words, at = 0, item.source + step
                while (
                    0 <= at < len(items) and item.document and items[at].document == item.document and words < context
                ):
                    assert at in places, (item.source, at)
                    words += len(items[at].tokens)
                    at += step
