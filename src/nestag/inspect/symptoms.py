"""What may be wrong with a split, noted in one pass over it; doctor.py judges it and says what to do.

Counts are complete and examples few, so memory grows with the distinct mentions of a split and not with its length.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from nestag.data.crossing import set_aside_crossing
from nestag.data.sentence import Entity, Sentence
from nestag.errors import CrossingError
from nestag.formats.labels import place_of

Measure = Callable[[Sequence[str]], int]
"""How long an encoder finds a sentence."""
Wording = tuple[str, ...]
"""The words of a mention."""

MOST_SHOWN = 3
LONGEST_FORM = 8  # words of a mention beyond which it is not looked for elsewhere
CLOSING = {")": "(", "]": "[", "}": "{"}
BRACKETS = frozenset(CLOSING) | frozenset(CLOSING.values())
MOST_CHARACTERS = 80  # of a text that is shown as an example
MARKS = frozenset(",;:.!?-–—")
DETERMINERS = frozenset(
    {"the", "a", "an", "this", "that", "these", "those"}
    | {"der", "die", "das", "den", "dem", "des", "ein", "eine", "einen", "einem", "einer", "eines"}
    | {"le", "la", "les", "un", "une", "el", "los", "las", "il", "lo"}
)


class Example(NamedTuple):
    """Where something was seen, and what it was."""

    place: str
    text: str


@dataclass
class Noted:
    """How often something was seen, and the first few times."""

    count: int = 0
    examples: list[Example] = field(default_factory=list)

    def add(self, place: str, text: str) -> None:
        """Count one more occurrence."""
        self.count += 1
        if len(self.examples) < MOST_SHOWN:
            self.examples.append(Example(place, text))


@dataclass
class Usage:
    """How often a mention has certain types, and where it first had them."""

    count: int
    place: str


class LengthLimits(NamedTuple):
    """How long a sentence and an entity may be."""

    sentence: int
    entity: int
    measure: Measure = len


@dataclass
class Symptoms:
    """What one pass over a split noted."""

    sentences: int = 0
    tokens: int = 0
    words: set[str] = field(default_factory=set)  # two different words at most: enough to know that there are some
    types: Counter[str] = field(default_factory=Counter)
    first: dict[str, Example] = field(default_factory=dict)  # of each type
    prints: set[int] = field(default_factory=set)  # fingerprints of sentences
    empty: Noted = field(default_factory=Noted)
    long: Noted = field(default_factory=Noted)
    long_entities: Noted = field(default_factory=Noted)
    crossing: Noted = field(default_factory=Noted)
    tangled: Noted = field(default_factory=Noted)
    repeated: Noted = field(default_factory=Noted)
    leaked: Noted = field(default_factory=Noted)
    edges: dict[tuple[str, str], Noted] = field(default_factory=dict)  # by type and oddity
    forms: dict[Wording, dict[tuple[str, ...], Usage]] = field(default_factory=dict)

    @property
    def entities(self) -> int:
        """How many entities there are."""
        return self.types.total()

    @property
    def wordless(self) -> bool:
        """Whether every word is the same, as in corpora that are shared without their text."""
        return len(self.words) == 1 and self.tokens > 1


def symptoms_of(sentences: Iterable[Sentence], source: str, size: LengthLimits, train: Container[int] = ()) -> Symptoms:
    """Read a split once; `train` are the fingerprints of the training split's sentences."""
    noted = Symptoms()
    for number, sentence in enumerate(sentences, 1):
        place = place_of(source, sentence, number)
        _note_sentence(noted, sentence, place, size, train)
        _note_crossing(noted, sentence, place)
        brackets = [place for place, token in enumerate(sentence.tokens) if token in BRACKETS]
        chains: dict[tuple[int, int], list[str]] = {}
        for entity in sentence.entities:
            _note_entity(noted, entity, sentence.tokens, brackets, place, size)
            chains.setdefault((entity.start, entity.end), []).append(entity.type)
        for (start, end), types in chains.items():
            if end - start <= LONGEST_FORM:
                usages = noted.forms.setdefault(sentence.tokens[start:end], {})
                usage = usages.get(tuple(types))
                if usage is None:
                    usage = usages[tuple(types)] = Usage(0, place)
                usage.count += 1
    return noted


def _note_sentence(noted: Symptoms, sentence: Sentence, place: str, size: LengthLimits, train: Container[int]) -> None:
    tokens = sentence.tokens
    noted.sentences += 1
    noted.tokens += len(tokens)
    if len(noted.words) < 2:
        noted.words.update(tokens)
    if not tokens:
        noted.empty.add(place, "no words")
        return
    length = size.measure(tokens)
    if length > size.sentence:
        noted.long.add(place, f"{length:,} long: {shortened(tokens)}")
    fingerprint = hash(tokens)
    if fingerprint in noted.prints:
        noted.repeated.add(place, shortened(tokens))
    if fingerprint in train:
        noted.leaked.add(place, shortened(tokens))
    noted.prints.add(fingerprint)


def _note_crossing(noted: Symptoms, sentence: Sentence, place: str) -> None:
    try:
        aside = set_aside_crossing(sentence.entities).set_aside
    except CrossingError as error:
        noted.tangled.add(place, str(error))
        return
    for entity in aside:
        noted.crossing.add(place, f"{entity.type} {shortened(sentence.tokens[entity.start : entity.end])}")


def _note_entity(
    noted: Symptoms, entity: Entity, tokens: Wording, brackets: Sequence[int], place: str, size: LengthLimits
) -> None:
    """Note one entity; `brackets` are the places of the sentence's brackets, so that long entities cost no more."""
    start, end, kind = entity
    noted.types[kind] += 1
    inside = brackets and brackets[bisect_right(brackets, start) : bisect_left(brackets, end - 1)]
    outline = [tokens[start], *(tokens[i] for i in inside), *tokens[end - 1 : end if end - start > 1 else 0]]
    odd = oddities(outline)
    is_long = end - start > size.entity
    if not odd and not is_long and kind in noted.first:
        return  # as most are, and there may be millions
    text = shortened(tokens[start : min(end, start + MOST_CHARACTERS + 1)])
    noted.first.setdefault(kind, Example(place, text))
    if is_long:
        noted.long_entities.add(place, f"{kind}, {end - start} tokens: {text}")
    for oddity in odd:
        noted.edges.setdefault((kind, oddity), Noted()).add(place, text)


def oddities(words: Sequence[str]) -> list[str]:
    """What is unusual at the borders of a mention.

    >>> oddities(["the", "USA", ","]), oddities(["IL-2", "(", "p55", ")"]), oddities(["IL-2", ")"])
    (['end with punctuation', 'begin with a determiner'], [], ['have a bracket without its partner'])
    """
    found: list[str] = []
    if words[-1] in MARKS:
        found.append("end with punctuation")
    if words[0] in MARKS and len(words) > 1:
        found.append("begin with punctuation")
    if words[0] in DETERMINERS and len(words) > 1:
        found.append("begin with a determiner")
    if not is_balanced(words):
        found.append("have a bracket without its partner")
    return found


def is_balanced(words: Iterable[str]) -> bool:
    """Whether every bracket that is a word has its partner."""
    opened: list[str] = []
    for word in words:
        if word in CLOSING:
            if not opened or opened.pop() != CLOSING[word]:
                return False
        elif word in BRACKETS:
            opened.append(word)
    return not opened


def left_out(sentences: Iterable[Sentence], forms: Iterable[Wording], source: str) -> dict[Wording, Noted]:
    """Where these mentions stand without any entity over or in them."""
    lengths: dict[str, set[int]] = {}
    wanted = set(forms)
    for form in wanted:
        lengths.setdefault(form[0], set()).add(len(form))
    found: dict[Wording, Noted] = {}
    for number, sentence in enumerate(sentences, 1):
        for start, form in _bare(sentence, lengths, wanted):
            around = sentence.tokens[max(0, start - 3) : start + len(form) + 3]
            found.setdefault(form, Noted()).add(place_of(source, sentence, number), shortened(around))
    return found


def _bare(sentence: Sentence, lengths: Mapping[str, set[int]], wanted: set[Wording]) -> Iterable[tuple[int, Wording]]:
    """The mentions among the words that no entity covers, and where they start."""
    covered = bytearray(len(sentence))
    reach = 0
    for entity in sentence.entities:  # by their starts, so that no place is marked twice
        new = range(max(reach, entity.start), entity.end)
        covered[new.start : new.start + len(new)] = b"\1" * len(new)
        reach = max(reach, entity.end)
    for start, token in enumerate(sentence.tokens):
        for length in lengths.get(token, ()):
            form = sentence.tokens[start : start + length]
            if form in wanted and not any(covered[start : start + length]):
                yield start, form


def shortened(words: Sequence[str], most: int = MOST_CHARACTERS) -> str:
    """Words as text of bounded length.

    >>> shortened(["a", "long", "story"], 8)
    'a long …'
    """
    text = " ".join(words[:most])
    return text if len(text) <= most else text[: most - 1] + "…"
