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

from nestag.arguments import named
from nestag.data import Sentence
from nestag.errors import InputError

By = Literal["auto", "id", "order"]
"""How sentences are matched."""

LONGEST_SHOWN = 40
"""Characters of a token or name that a message shows."""


class Pair(NamedTuple):
    """A gold sentence and the same one as predicted: their tokens are equal."""

    gold: Sentence
    predicted: Sentence


class FileNames(NamedTuple):
    """What the two files are called."""

    gold: str
    predicted: str


class _PlacedSentence(NamedTuple):
    """A sentence, the file it stands in (0 gold, 1 predicted) and its number there."""

    side: int
    number: int
    sentence: Sentence


_PairedRow = tuple[int, tuple[Sentence | None, Sentence | None]]


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
    called = FileNames(*names)
    rows: Iterator[_PairedRow] = enumerate(zip_longest(gold, predicted), 1)
    if by != "id":
        for row in rows:
            number, (right, guess) = row
            if right is None or guess is None:
                raise _longer(row, called)
            if by == "auto" and right.id != guess.id and right.id is not None and guess.id is not None:
                rows = chain([row], rows)
                break
            if right.tokens != guess.tokens:
                raise _different(_PlacedSentence(0, number, right), _PlacedSentence(1, number, guess), called)
            yield Pair(right, guess)
        else:
            return
    yield from _by_id(rows, called)


def _by_id(rows: Iterable[_PairedRow], names: FileNames) -> Iterator[Pair]:
    """The pairs of equal names, in the order in which they become complete."""
    held: tuple[dict[str, _PlacedSentence], dict[str, _PlacedSentence]] = ({}, {})
    paired: set[str] = set()
    in_order = True  # whether matching by order would have gone well
    for number, (right, guess) in rows:
        in_order = in_order and right is not None and guess is not None and right.tokens == guess.tokens
        for side, sentence in enumerate((right, guess)):
            if sentence is None:
                continue
            name = _name_of(_PlacedSentence(side, number, sentence), held, paired, names)
            other = held[1 - side].pop(name, None)
            if other is None:
                held[side][name] = _PlacedSentence(side, number, sentence)
                continue
            paired.add(name)
            both = sorted((other, _PlacedSentence(side, number, sentence)))
            if both[0].sentence.tokens != both[1].sentence.tokens:
                raise _different(both[0], both[1], names)
            yield Pair(both[0].sentence, both[1].sentence)
    if held[0] or held[1]:
        raise _alone([*held[0].values(), *held[1].values()], in_order, names)


def _name_of(
    placed: _PlacedSentence,
    held: tuple[dict[str, _PlacedSentence], dict[str, _PlacedSentence]],
    paired: set[str],
    names: FileNames,
) -> str:
    """The name by which a sentence is matched, or an InputError if it has none or one that was there before."""
    name = placed.sentence.id
    if name is None:
        raise InputError(
            f"it has no id, but sentences are matched by id; give every sentence one, or use {named('by', 'order')}",
            _place(placed, names),
        )
    if name in held[placed.side] or name in paired:
        raise InputError(
            f"its id is given twice, but sentences are matched by id; make ids differ, or use {named('by', 'order')}",
            _place(placed, names),
        )
    return name


def _longer(row: _PairedRow, names: FileNames) -> InputError:
    """One file goes on where the other has ended."""
    number, (right, guess) = row
    side = int(right is None)
    left = right if guess is None else guess
    assert left is not None
    ends = f"ends after sentence {number - 1:,}" if number > 1 else "holds no sentences"
    return InputError(
        f"it is left over, for {names[1 - side]} {ends}; give both the same sentences",
        _place(_PlacedSentence(side, number, left), names),
    )


def _different(right: _PlacedSentence, guess: _PlacedSentence, names: FileNames) -> InputError:
    """The error for matched sentences with different words."""
    ours, theirs = guess.sentence.tokens, right.sentence.tokens
    at = next((i for i, (one, two) in enumerate(zip(ours, theirs, strict=False)) if one != two), None)
    if at is None:
        at = min(len(ours), len(theirs))
    where = f"{names.gold}, sentence {right.number:,}," if right.number != guess.number else names.gold
    apart = None not in (right.sentence.id, guess.sentence.id) and right.sentence.id != guess.sentence.id
    same = f"predict on the tokens of gold (raw text is cut as {named('tokenizer')} says)"
    remedy = f"match sentences with {named('by', 'id')}" if apart else same
    return InputError(
        f"token {at} is {_word(ours, at)} and in {where} {_word(theirs, at)}; {remedy}", _place(guess, names)
    )


def _alone(left: list[_PlacedSentence], in_order: bool, names: FileNames) -> InputError:
    """Names that only one file has; the first of them is shown."""
    first = min(left, key=lambda placed: (placed.number, placed.side))
    others = {1: "", 2: " (nor has another)"}.get(len(left), f" (nor have {len(left) - 1:,} others)")
    remedy = f"the tokens agree in order, so use {named('by', 'order')}" if in_order else "give both the same sentences"
    return InputError(
        f"its id has no partner in {names[1 - first.side]}{others}; {remedy}",
        _place(first, names),
    )


def _place(placed: _PlacedSentence, names: FileNames) -> str:
    """Where a sentence stands, for a message."""
    name = placed.sentence.id
    shown = "" if name is None else f" ({_short(name)})"
    return f"{names[placed.side]}: sentence {placed.number:,}{shown}"


def _word(tokens: tuple[str, ...], at: int) -> str:
    return repr(_short(tokens[at])) if at < len(tokens) else "missing (the sentence ends)"


def _short(text: str) -> str:
    return text if len(text) <= LONGEST_SHOWN else text[: LONGEST_SHOWN - 1] + "…"
