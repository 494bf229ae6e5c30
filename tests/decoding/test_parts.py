"""Parts of long sentences that settle on each other have what a walk from word to word has, and walk no further."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nestag.decoding.depth import parts as module
from nestag.decoding.depth.parts import SentenceParts, spread


def walked(kept: np.ndarray, lengths: list[int], back: bool) -> np.ndarray:
    """At each word, how many words ago something was last begun anew: an example of what one word tells the next."""
    found, at = np.zeros(len(kept), dtype=np.int64), 0
    for length in lengths:
        words = range(at, at + length)
        told = -1
        for word in reversed(words) if back else words:
            told = told + 1 if kept[word] else 0
            found[word] = told
        at += length
    return found


@pytest.mark.parametrize("back", [False, True])
@given(
    st.lists(st.lists(st.booleans(), min_size=1, max_size=20), min_size=1, max_size=4),
    st.integers(1, 7),
    st.integers(1, 4),
)
def test_every_word_follows_from_its_neighbour(back: bool, sentences: list[list[bool]], size: int, rounds: int) -> None:
    lengths = list(map(len, sentences))
    kept = np.concatenate(sentences)
    first = np.cumsum([0, *lengths[:-1]])
    passed = np.zeros(len(kept), dtype=np.int64)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "PART", size)
        parts = SentenceParts.of(first, np.array(lengths))
    assert spread(parts.first, parts.sizes).tolist() == list(range(len(kept)))
    # each part alone: right where the sentence begins, and elsewhere as if the words before had told nothing
    values = walked(kept, parts.sizes.tolist(), back)

    def advance(words: np.ndarray) -> np.ndarray:
        passed[words] += 1
        told = values[words + (1 if back else -1)]
        new = np.where(kept[words], told + 1, 0)
        changed = new != values[words]
        values[words] = new
        return changed

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "ROUNDS", rounds)
        parts.settle(advance, back)
    assert values.tolist() == walked(kept, lengths, back).tolist()
    assert passed.max() <= rounds + 1
