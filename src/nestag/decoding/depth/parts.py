"""Long sentences in parts that are searched side by side.

A sentence alone is searched word by word, and each word costs some calls of NumPy, however little they compute. So a
long one is cut into parts that go forward together, each from a guess at what came before it. A guess soon does not
matter any more: a few words on, the best ways from all depths have met. Therefore each part begins anew where the part
before it ended, and goes on only until it finds what it found before. Where it does not before its end, the part behind
it begins anew once more, and after some rounds of this the rest is gone through one after the other. In the end every
word follows from its neighbour, as if there were no parts, and none was passed more than some times.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from nestag.arrays import Bools, Ints

LONG, PART = 128, 32
"""Words up to which a sentence is searched word by word, and words of the parts in which longer ones are."""

ROUNDS = 4
"""How often all parts that have to begin anew do so side by side."""


def are_long(lengths: Ints) -> Bools:
    """Which sentences are searched in parts."""
    long: Bools = lengths > LONG
    return long


class SentenceParts(NamedTuple):
    """Sentences in parts of `PART` words."""

    sentence: Ints
    """Of each part."""
    first: Ints
    """The first word of each part."""
    last: Ints
    """The last word of each part."""
    start: Ints
    """The first word of each part's sentence."""
    stop: Ints
    """The last word of each part's sentence."""

    @property
    def begins(self) -> Bools:
        """Whether each part begins its sentence."""
        begins: Bools = self.first == self.start
        return begins

    @property
    def ends(self) -> Bools:
        """Whether each part ends its sentence."""
        ends: Bools = self.last == self.stop
        return ends

    @property
    def sizes(self) -> Ints:
        """Words of each part."""
        return self.last - self.first + 1

    @property
    def words(self) -> Ints:
        """The words of all parts."""
        return spread(self.first, self.sizes)

    @classmethod
    def of(cls, first: Ints, lengths: Ints) -> SentenceParts:
        """The parts of sentences that begin with these words and have these lengths, none of them 0."""
        count = -(-lengths // PART)
        sentence = np.repeat(np.arange(len(count)), count)
        at = PART * (np.arange(len(sentence)) - (np.cumsum(count) - count)[sentence])
        start, stop = first[sentence], (first + lengths - 1)[sentence]
        return cls(sentence, start + at, np.minimum(start + at + PART - 1, stop), start, stop)

    def settle(self, advance: Callable[[Ints], Bools], back: bool = False) -> None:
        """Make every word follow from the one before, or from the one after if `back`, across all parts.

        Within each part it does already. `advance` computes words from their neighbours and says which have changed.
        """
        step = -1 if back else 1
        begin, begins = (self.last, self.ends) if back else (self.first, self.begins)
        order = np.argsort(begin)
        todo, later = np.flatnonzero(~begins), np.sort(begin[~begins])
        for _ in range(ROUNDS):
            behind = self._follow(advance, begin[todo], self.sizes[todo], step)
            behind = behind[np.isin(behind, later)]  # words of the same sentence, not of the next one
            if not behind.size:
                return
            todo = order[np.searchsorted(begin[order], behind)]
        self._catch_up(advance, behind, step)

    def _follow(self, advance: Callable[[Ints], Bools], word: Ints, left: Ints, step: int) -> Ints:
        """Go on in all parts until nothing changes; returns the words behind the parts that changed to their end."""
        behind = [word[:0]]
        while word.size:
            changed, left = advance(word), left - 1
            behind.append(word[changed & (left == 0)] + step)
            going = changed & (left > 0)
            word, left = word[going] + step, left[going]
        return np.concatenate(behind)

    def _catch_up(self, advance: Callable[[Ints], Bools], behind: Ints, step: int) -> None:
        """Go on from these words, sentence by sentence, until nothing changes; each word is passed once at most."""
        waiting = np.sort(step * behind)  # places in the direction of the walk
        ends = self.ends if step > 0 else self.begins
        stops = np.sort(step * (self.last if step > 0 else self.first)[ends])  # the last place of each sentence
        whose = np.searchsorted(stops, waiting)
        at = waiting[np.flatnonzero(np.diff(whose, prepend=-1))]
        while at.size:
            stop = stops[np.searchsorted(stops, at)]
            going = advance(step * at) & (at < stop)
            after = np.searchsorted(waiting, at, side="right")
            following = np.append(waiting, stops[-1] + 1)[after]
            at = np.where(going, at + 1, following)
            at = at[at <= stop]


def spread(first: Ints, sizes: Ints) -> Ints:
    """The words of stretches that begin with these words and have these sizes.

    >>> spread(np.array([3, 7]), np.array([2, 1])).tolist()
    [3, 4, 7]
    """
    return np.repeat(first - (np.cumsum(sizes) - sizes), sizes) + np.arange(int(sizes.sum()))
