"""Matching: which predicted sentence belongs to which gold one, while both files are read side by side.

    order   the first to the first, the second to the second ...
    id      by the names of sentences, in whatever order they come
    auto    in order as long as the names agree or are missing; by name from the first that differ

A sentence is held only until its partner comes, so files in the same order are matched in little memory. Whatever does
not match is refused with an InputError that shows the first difference: sentences are counted from 1, tokens from 0.
Scoring the pairs is left to others.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain, zip_longest
from typing import Literal, NamedTuple

from nestag.data.sentence import Sentence
from nestag.errors import InputError, named

By = Literal["auto", "id", "order"]
"""How sentences are matched."""

LONGEST_SHOWN = 40
"""Characters of a token or name that a message shows."""


class Pair(NamedTuple):
    """A gold sentence and the same one as predicted: their tokens are equal."""

    gold: Sentence
    predicted: Sentence


class _Placed(NamedTuple):
    """A sentence, its side (0 gold, 1 predicted), its number there and the name of its file."""

    side: int
    number: int
    sentence: Sentence
    file: str

    def error(self, message: str) -> InputError:
        """An error about the sentence."""
        shown = "" if self.sentence.id is None else f" ({_short(self.sentence.id)})"
        return InputError(message, f"{self.file}: sentence {self.number:,}{shown}")


_NumberedPair = tuple[int, tuple[Sentence | None, Sentence | None]]


def matched(
    gold: Iterable[Sentence],
    predicted: Iterable[Sentence],
    by: By = "auto",
    names: tuple[str, str] = ("gold", "predicted"),
) -> Iterator[Pair]:
    """Every gold sentence with its prediction, or an InputError that shows the first difference.

    >>> files = [Sentence(["a"], id="1"), Sentence(["b"], id="2")], [Sentence(["b"], id="2"), Sentence(["a"], id="1")]
    >>> [pair.gold.id for pair in matched(*files)]
    ['2', '1']
    >>> next(matched([Sentence(["a", "b"])], [Sentence(["a", "c"])]))
    Traceback (most recent call last):
    nestag.errors.InputError: predicted: sentence 1: token 1 is 'c' and in gold 'b'; ...
    """
    rows: Iterator[_NumberedPair] = enumerate(zip_longest(gold, predicted), 1)
    if by != "id":
        for number, (right, guess) in rows:
            if right is None or guess is None:
                ends = f"ends after sentence {number - 1:,}" if number > 1 else "holds no sentences"
                (left,) = _placed(number, (right, guess), names)
                raise left.error(f"it is left over, for {names[1 - left.side]} {ends}; give both the same sentences")
            if by == "auto" and right.id != guess.id and right.id is not None and guess.id is not None:
                rows = chain([(number, (right, guess))], rows)
                break
            if right.tokens != guess.tokens:
                raise _different(*_placed(number, (right, guess), names))
            yield Pair(right, guess)
        else:
            return
    yield from _by_id(rows, names)


def _placed(number: int, row: tuple[Sentence | None, Sentence | None], names: tuple[str, str]) -> list[_Placed]:
    return [_Placed(side, number, sentence, names[side]) for side, sentence in enumerate(row) if sentence is not None]


def _by_id(rows: Iterable[_NumberedPair], names: tuple[str, str]) -> Iterator[Pair]:
    """The pairs of equal names, in the order in which they become complete."""
    held: tuple[dict[str, _Placed], dict[str, _Placed]] = ({}, {})
    paired: set[str] = set()
    in_order = True  # whether matching by order would have succeeded
    for number, (right, guess) in rows:
        in_order = in_order and right is not None and guess is not None and right.tokens == guess.tokens
        for placed in _placed(number, (right, guess), names):
            name = placed.sentence.id
            by_order = f"or use {named('by', 'order')}"
            if name is None:
                raise placed.error(f"it has no id, but sentences are matched by id; add ids, {by_order}")
            if name in held[placed.side] or name in paired:
                raise placed.error(
                    f"its id is given twice, but sentences are matched by id; make ids differ, {by_order}"
                )
            other = held[1 - placed.side].pop(name, None)
            if other is None:
                held[placed.side][name] = placed
                continue
            paired.add(name)
            one, two = sorted((other, placed))
            if one.sentence.tokens != two.sentence.tokens:
                raise _different(one, two)
            yield Pair(one.sentence, two.sentence)
    if left := [*held[0].values(), *held[1].values()]:
        first = min(left, key=lambda placed: (placed.number, placed.side))
        others = {1: "", 2: " (nor has another)"}.get(len(left), f" (nor have {len(left) - 1:,} others)")
        agree = f"the tokens agree in order, so use {named('by', 'order')}"
        remedy = agree if in_order else "give both the same sentences"
        raise first.error(f"its id has no partner in {names[1 - first.side]}{others}; {remedy}")


def _different(right: _Placed, guess: _Placed) -> InputError:
    """The error for matched sentences with different words."""
    ours, theirs = guess.sentence.tokens, right.sentence.tokens
    pairs = enumerate(zip(ours, theirs, strict=False))
    at = next((i for i, (one, two) in pairs if one != two), min(len(ours), len(theirs)))
    where = f"{right.file}, sentence {right.number:,}," if right.number != guess.number else right.file
    apart = None not in (right.sentence.id, guess.sentence.id) and right.sentence.id != guess.sentence.id
    same = f"predict on the tokens of gold (raw text is tokenized as {named('tokenizer')} says)"
    remedy = f"match sentences with {named('by', 'id')}" if apart else same
    return guess.error(f"token {at} is {_word(ours, at)} and in {where} {_word(theirs, at)}; {remedy}")


def _word(tokens: tuple[str, ...], at: int) -> str:
    return repr(_short(tokens[at])) if at < len(tokens) else "missing (the sentence ends)"


def _short(text: str) -> str:
    return text if len(text) <= LONGEST_SHOWN else text[: LONGEST_SHOWN - 1] + "…"
