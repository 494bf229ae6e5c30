"""Label ids of abs, rel and dyn -> nodes, by the paper's repair rules, for a whole batch at once."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from nestag.arrays import Bools, Ints
from nestag.decoding.chains import Chains
from nestag.decoding.entities import NamedNodes
from nestag.decoding.nodes import next_shallower, openers, previous_not_deeper
from nestag.decoding.scores import LabelBatch, last_words
from nestag.encodings.base import Naming
from nestag.encodings.depth import DepthEncoding
from nestag.errors import LabelError
from nestag.vocabulary import Vocabulary


class DepthSteps(NamedTuple):
    """What each n of a vocabulary adds to the depth before it, or the depth itself where that one does not matter."""

    value: Ints
    absolute: Bools


@lru_cache(maxsize=8)
def depth_steps(encoding: DepthEncoding, vocabulary: Vocabulary) -> DepthSteps:
    """The steps of a vocabulary."""
    after_root, after_one = ([encoding.next_depth(before, n) for n in vocabulary.n] for before in (0, 1))
    value = np.array(after_root, dtype=np.int64)
    return DepthSteps(value, value == np.array(after_one))


def repaired_nodes(steps: DepthSteps, chains: Chains, labels: LabelBatch, naming: Naming) -> NamedNodes:
    """Every node that names entities."""
    c, last = labels.c, last_words(labels.lengths)
    depth = gap_depths(steps.value[labels.n], steps.absolute[labels.n], last)
    inner = np.flatnonzero(depth > 1)
    left, right = previous_not_deeper(depth, inner), next_shallower(depth, inner)
    opener = inner[depth[left[inner]] < depth[inner]]
    named_at = opener if naming == "first" else inner[_naming_index(openers(depth, inner, left), c[inner])]
    named = chains.width[c[named_at]] > 0
    opener, named_at = opener[named], named_at[named]
    root = _roots(depth, c, last, chains, naming)
    return NamedNodes(
        np.concatenate([left[opener] + 1, root.start]),
        np.concatenate([right[opener] + 1, root.end]),
        np.concatenate([c[named_at], root.c]),
    )


def gap_depths(value: Ints, absolute: Bools, last: Ints) -> Ints:
    """The depth after each word, at least 1 inside a sentence and 0 after its last word.

    A walk that may not fall below 1 is the free walk, lifted by how far that one has been below so far. It begins
    anew at each sentence and at each absolute depth.
    """
    depth: Ints
    if absolute.all():
        depth = np.maximum(value, 1)
        depth[last] = 0
        return depth
    begins = absolute.copy()
    begins[:1] = True
    begins[last[:-1] + 1] = True
    first = np.flatnonzero(begins)
    stretch = np.cumsum(begins) - 1
    walk = np.cumsum(value)
    walk -= (walk[first] - value[first])[stretch]
    below = 1 - walk
    # One running maximum serves all stretches if each lies higher than the one before by more than the walk is wide.
    width = int(np.ptp(below)) + 1 if below.size else 1
    if width * len(first) > 2**62:
        raise LabelError(f"{len(value)} labels with depths {width} apart are too much for one batch; split it")
    lift = stretch * width
    depth = walk + np.maximum(np.maximum.accumulate(below + lift) - lift, 0)
    depth[last] = 0
    return depth


def _roots(depth: Ints, c: Ints, last: Ints, chains: Chains, naming: Naming) -> NamedNodes:
    """The roots that name entities; only names with the root's mark count."""
    marked = np.flatnonzero((depth == 1) & chains.root[c])
    if not chains.width[c[marked]].any():
        return NamedNodes(last[:0], last[:0], last[:0])
    sentence = np.searchsorted(last, marked)
    index = np.unique(sentence, return_index=True)[1] if naming == "first" else _naming_index(sentence, c[marked])
    index = index[chains.width[c[marked[index]]] > 0]
    sentence = sentence[index]
    first = np.concatenate([np.zeros(1, dtype=np.int64), last + 1])
    return NamedNodes(first[sentence], last[sentence] + 1, c[marked[index]])


def _naming_index(group: Ints, c: Ints) -> Ints:
    """For each group, in order, where its most frequent name first stands; the first of equals wins."""
    _, index, count = np.unique(np.stack([group, c]), axis=1, return_index=True, return_counts=True)
    order = np.lexsort((index, -count, group[index]))
    winner: Ints = index[order[np.unique(group[index[order]], return_index=True)[1]]]
    return winner
