"""Matching: pair gold and predicted sentences while both files are read.

    order   the first with the first, the second with the second ...
    id      by the ids of sentences, in any order
    auto    in order while ids agree or are missing; by id from the first pair that differs

A sentence is kept only until its partner comes, so files in the same order need little memory. An InputError shows the
first difference; it counts sentences from 1 and tokens from 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain, zip_longest
from typing import Literal, NamedTuple

from nestag.data.sentence import Sentence
from nestag.errors import InputError, named

By = Literal["auto", "id", "order"]
"""How to match sentences."""

LONGEST_SHOWN = 40
"""Maximum characters of a token or id in a message."""


class Pair(NamedTuple):
    """A gold sentence and its prediction, with equal tokens."""

    gold: Sentence
    predicted: Sentence


class _Placed(NamedTuple):
    """A sentence, its side (0 gold, 1 predicted), its number and the name of its file."""

    side: int
    number: int
    sentence: Sentence
    file: str

    def error(self, message: str) -> InputError:
        """Return an error about the sentence."""
        shown = "" if self.sentence.id is None else f" ({_short(self.sentence.id)})"
        return InputError(message, f"{self.file}: sentence {self.number:,}{shown}")


_NumberedPair = tuple[int, tuple[Sentence | None, Sentence | None]]


def match_sentences(
    gold: Iterable[Sentence],
    predicted: Iterable[Sentence],
    by: By = "auto",
    names: tuple[str, str] = ("gold", "predicted"),
) -> Iterator[Pair]:
    """Yield every gold sentence with its prediction; an InputError shows the first difference.

    >>> files = [Sentence(["a"], id="1"), Sentence(["b"], id="2")], [Sentence(["b"], id="2"), Sentence(["a"], id="1")]
    >>> [pair.gold.id for pair in match_sentences(*files)]
    ['2', '1']
    >>> next(match_sentences([Sentence(["a", "b"])], [Sentence(["a", "c"])]))
    Traceback (most recent call last):
    nestag.errors.InputError: predicted: sentence 1: token 1 is 'c' and in gold 'b'; ...
    """
    rows: Iterator[_NumberedPair] = enumerate(zip_longest(gold, predicted), 1)
    if by != "id":
        for number, (truth, guess) in rows:
            if truth is None or guess is None:
                ends = f"ends after sentence {number - 1:,}" if number > 1 else "has no sentences"
                (left,) = _placed(number, (truth, guess), names)
                raise left.error(f"it has no partner: {names[1 - left.side]} {ends}; give both the same sentences")
            if by == "auto" and truth.id != guess.id and truth.id is not None and guess.id is not None:
                rows = chain([(number, (truth, guess))], rows)
                break
            if truth.tokens != guess.tokens:
                raise _different(*_placed(number, (truth, guess), names))
            yield Pair(truth, guess)
        else:
            return
    yield from _by_id(rows, names)


def _placed(number: int, row: tuple[Sentence | None, Sentence | None], names: tuple[str, str]) -> list[_Placed]:
    return [_Placed(side, number, sentence, names[side]) for side, sentence in enumerate(row) if sentence is not None]


def _by_id(rows: Iterable[_NumberedPair], names: tuple[str, str]) -> Iterator[Pair]:
    """Yield pairs of equal ids as they become complete."""
    waiting: tuple[dict[str, _Placed], dict[str, _Placed]] = ({}, {})
    paired: set[str] = set()
    in_order = True  # whether matching by order would have succeeded
    for number, (truth, guess) in rows:
        in_order = in_order and truth is not None and guess is not None and truth.tokens == guess.tokens
        for placed in _placed(number, (truth, guess), names):
            name = placed.sentence.id
            by_order = f"or use {named('by', 'order')}"
            if name is None:
                raise placed.error(f"it has no id, but sentences are matched by id; add ids, {by_order}")
            if name in waiting[placed.side] or name in paired:
                raise placed.error(f"its id occurs twice, but sentences are matched by id; make ids differ, {by_order}")
            other = waiting[1 - placed.side].pop(name, None)
            if other is None:
                waiting[placed.side][name] = placed
                continue
            paired.add(name)
            first, second = sorted((other, placed))
            if first.sentence.tokens != second.sentence.tokens:
                raise _different(first, second)
            yield Pair(first.sentence, second.sentence)
    if left := [*waiting[0].values(), *waiting[1].values()]:
        first = min(left, key=lambda placed: (placed.number, placed.side))
        others = f" (and {len(left) - 1:,} more)" if len(left) > 1 else ""
        agree = f"the tokens agree in order, so use {named('by', 'order')}"
        remedy = agree if in_order else "give both the same sentences"
        raise first.error(f"its id has no partner in {names[1 - first.side]}{others}; {remedy}")


def _different(truth: _Placed, guess: _Placed) -> InputError:
    """Return the error for matched sentences with different tokens."""
    ours, theirs = guess.sentence.tokens, truth.sentence.tokens
    pairs = enumerate(zip(ours, theirs, strict=False))
    at = next((i for i, (own, other) in pairs if own != other), min(len(ours), len(theirs)))
    where = f"{truth.file}, sentence {truth.number:,}," if truth.number != guess.number else truth.file
    apart = None not in (truth.sentence.id, guess.sentence.id) and truth.sentence.id != guess.sentence.id
    same = f"predict on the tokens of gold (raw text is tokenized as {named('tokenizer')} says)"
    remedy = f"match sentences with {named('by', 'id')}" if apart else same
    return guess.error(f"token {at} is {_word(ours, at)} and in {where} {_word(theirs, at)}; {remedy}")


def _word(tokens: tuple[str, ...], at: int) -> str:
    return repr(_short(tokens[at])) if at < len(tokens) else "missing (the sentence ends)"


def _short(text: str) -> str:
    return text if len(text) <= LONGEST_SHOWN else text[: LONGEST_SHOWN - 1] + "…"
