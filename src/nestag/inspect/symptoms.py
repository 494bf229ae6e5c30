"""Symptoms: what one pass over a split counts, for doctor.py to judge.

Counts are complete and examples few, so memory grows with the distinct mentions of a split and not with its length.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import NamedTuple

from nestag.data.crossing import drop_crossing
from nestag.data.report import place_of
from nestag.data.sentence import Entity, Sentence
from nestag.errors import CrossingError

Measure = Callable[[Sequence[str]], int]
"""Returns the length of a sentence, for example in an encoder's subwords."""

Wording = tuple[str, ...]
"""The words of a mention."""

EXAMPLES = 3  # of a finding
MOST_CHARACTERS = 80  # of an example
LONGEST_FORM = 8  # words of a mention that is searched for elsewhere
CLOSING = {")": "(", "]": "[", "}": "{"}
BRACKETS = frozenset(CLOSING) | frozenset(CLOSING.values())
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
class Occurrences:
    """How often something occurs, and the first few examples."""

    count: int = 0
    examples: list[Example] = field(default_factory=list)

    def add(self, place: str, text: str) -> None:
        """Count one more occurrence."""
        self.count += 1
        if len(self.examples) < EXAMPLES:
            self.examples.append(Example(place, text))


@dataclass(frozen=True)
class DoctorLimits:
    """The limits of what is too few, too many or too long."""

    rare: int = 10  # examples of a type in the training split
    sentence: int = 512  # the longest sentence that the encoder takes
    entity: int = 30  # tokens of an entity beyond which it is probably a mistake
    minority: float = 0.2  # the share of a type's entities up to which an odd border is suspicious
    frequent: int = 10  # annotated occurrences of a mention before its other occurrences are compared
    disagreement: float = 0.1  # the share of its occurrences that must differ
    crossing: float = 0.1  # the share of entities that may cross
    leak: float = 0.5  # the share of a split that may also be in the training split
    measure: Measure | None = None  # how the encoder counts a sentence; words by default


@dataclass
class Symptoms:
    """The counts of a split."""

    limits: DoctorLimits = DoctorLimits()
    train: Container[int] = ()  # fingerprints of the training split's sentences
    sentences: int = 0
    tokens: int = 0
    words: set[str] = field(default_factory=set)  # two different words at most: enough to know that there are some
    types: Counter[str] = field(default_factory=Counter)
    first: dict[str, Example] = field(default_factory=dict)  # of each type
    prints: set[int] = field(default_factory=set)  # fingerprints of sentences
    empty: Occurrences = field(default_factory=Occurrences)
    long: Occurrences = field(default_factory=Occurrences)
    long_entities: Occurrences = field(default_factory=Occurrences)
    crossing: Occurrences = field(default_factory=Occurrences)
    tangled: Occurrences = field(default_factory=Occurrences)
    repeated: Occurrences = field(default_factory=Occurrences)
    leaked: Occurrences = field(default_factory=Occurrences)
    edges: dict[tuple[str, str], Occurrences] = field(default_factory=dict)  # by type and oddity
    forms: dict[Wording, dict[tuple[str, ...], Occurrences]] = field(default_factory=dict)  # types of each mention

    @property
    def entities(self) -> int:
        """Return the number of entities."""
        return self.types.total()

    @property
    def wordless(self) -> bool:
        """Return whether every word is the same, as in corpora that are shared without their text."""
        return len(self.words) == 1 and self.tokens > 1

    def add(self, sentence: Sentence, place: str) -> None:
        """Count a sentence and its entities."""
        tokens = sentence.tokens
        self.sentences += 1
        self.tokens += len(tokens)
        if len(self.words) < 2:
            self.words.update(tokens)
        if tokens:
            self._add_text(tokens, place)
        else:
            self.empty.add(place, "no words")
        try:
            for entity in drop_crossing(sentence.entities).dropped:
                self.crossing.add(place, f"{entity.type} {shorten(tokens[entity.start : entity.end])}")
        except CrossingError as error:
            self.tangled.add(place, str(error))
        brackets = [place for place, token in enumerate(tokens) if token in BRACKETS]
        chains: dict[tuple[int, int], list[str]] = {}
        for entity in sentence.entities:
            self._add_entity(entity, tokens, brackets, place)
            chains.setdefault((entity.start, entity.end), []).append(entity.type)
        for (start, end), types in chains.items():
            if end - start <= LONGEST_FORM:
                self.forms.setdefault(tokens[start:end], {}).setdefault(tuple(types), Occurrences()).add(place, "")

    def _add_text(self, tokens: Wording, place: str) -> None:
        length = (self.limits.measure or len)(tokens)
        if length > self.limits.sentence:
            self.long.add(place, f"{length:,} long: {shorten(tokens)}")
        fingerprint = hash(tokens)
        if fingerprint in self.prints:
            self.repeated.add(place, shorten(tokens))
        if fingerprint in self.train:
            self.leaked.add(place, shorten(tokens))
        self.prints.add(fingerprint)

    def _add_entity(self, entity: Entity, tokens: Wording, brackets: Sequence[int], place: str) -> None:
        """Count an entity; `brackets` has the places of the sentence's brackets, so that long entities cost no more."""
        start, end, kind = entity
        self.types[kind] += 1
        inside = brackets and brackets[bisect_right(brackets, start) : bisect_left(brackets, end - 1)]
        outline = [tokens[start], *(tokens[i] for i in inside), *tokens[end - 1 : end if end - start > 1 else 0]]
        text = shorten(tokens[start : min(end, start + MOST_CHARACTERS + 1)])
        self.first.setdefault(kind, Example(place, text))
        if end - start > self.limits.entity:
            self.long_entities.add(place, f"{kind}, {end - start} tokens: {text}")
        for oddity in oddities(outline):
            self.edges.setdefault((kind, oddity), Occurrences()).add(place, text)


def symptoms_of(
    sentences: Iterable[Sentence], source: str, limits: DoctorLimits, train: Container[int] = ()
) -> Symptoms:
    """Read a split once."""
    symptoms = Symptoms(limits, train)
    for number, sentence in enumerate(sentences, 1):
        symptoms.add(sentence, place_of(source, sentence, number))
    return symptoms


def oddities(words: Sequence[str]) -> list[str]:
    """Return what is unusual at the borders of a mention.

    >>> oddities(["the", "USA", ","]), oddities(["IL-2", "(", "p55", ")"]), oddities(["IL-2", ")"])
    (['end with punctuation', 'begin with a determiner'], [], ['have a bracket without its partner'])
    """
    odd: list[str] = []
    if words[-1] in MARKS:
        odd.append("end with punctuation")
    if words[0] in MARKS and len(words) > 1:
        odd.append("begin with punctuation")
    if words[0] in DETERMINERS and len(words) > 1:
        odd.append("begin with a determiner")
    if not is_balanced(words):
        odd.append("have a bracket without its partner")
    return odd


def is_balanced(words: Iterable[str]) -> bool:
    """Return whether every bracket that is a word has its partner."""
    opened: list[str] = []
    for word in words:
        if word in CLOSING:
            if not opened or opened.pop() != CLOSING[word]:
                return False
        elif word in BRACKETS:
            opened.append(word)
    return not opened


def find_missed(sentences: Iterable[Sentence], forms: Iterable[Wording], source: str) -> dict[Wording, Occurrences]:
    """Return where these mentions occur without any entity over or in them."""
    wanted = set(forms)
    lengths: dict[str, set[int]] = defaultdict(set)
    for form in wanted:
        lengths[form[0]].add(len(form))
    places: dict[Wording, Occurrences] = defaultdict(Occurrences)
    for number, sentence in enumerate(sentences, 1):
        tokens = sentence.tokens
        borders = [0] * (len(tokens) + 1)
        for entity in sentence.entities:
            borders[entity.start] += 1
            borders[entity.end] -= 1
        entities_over = list(accumulate(borders))
        for start, token in enumerate(tokens):
            for length in lengths.get(token, ()):
                form = tokens[start : start + length]
                if form in wanted and not any(entities_over[start : start + length]):
                    around = tokens[max(0, start - 3) : start + length + 3]
                    places[form].add(place_of(source, sentence, number), shorten(around))
    return places


def shorten(words: Sequence[str], most: int = MOST_CHARACTERS) -> str:
    """Return words as text of bounded length.

    >>> shorten(["a", "long", "story"], 8)
    'a long …'
    """
    text = " ".join(words[:most])
    return text if len(text) <= most else text[: most - 1] + "…"
