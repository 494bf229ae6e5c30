"""A sentence as HTML: gold above predicted, each mistaken entity with what is wrong with it.

    gold        Lincoln PER  was [ president of [ the USA GPE ] PER ✗ missed ]
    predicted   Lincoln PER  was   president of [ the USA GPE ]

How entities are drawn is for `render`; what is a mistake is asked of `evaluation.mistakes`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from nestag.data import Entity
from nestag.evaluation.mistakes import Mistake, mistakes_of
from nestag.evaluation.result import KINDS, Shown
from nestag.rendering import Html, Mark, harmless, sentence_html


def drawn(sentence: Shown, colours: Mapping[str, int]) -> Html:
    """The sentence, its mistakes counted, in an `article`; `colours` gives the number of each type."""
    mistakes = mistakes_of(sentence.gold, sentence.predicted)
    of_gold = {mistake.gold: mistake.kind for mistake in mistakes if mistake.gold}
    of_predicted = {mistake.predicted: mistake.kind for mistake in mistakes if mistake.predicted}
    return Html(
        f'<article class="sentence nestag" data-mistakes="{_keys(mistakes, colours)}">'
        f"<h4>{_heading(sentence, mistakes)}</h4>"
        f"{_side('gold', sentence.tokens, sentence.gold, of_gold, colours)}"
        f"{_side('predicted', sentence.tokens, sentence.predicted, of_predicted, colours)}</article>"
    )


def _keys(mistakes: Iterable[Mistake], colours: Mapping[str, int]) -> str:
    """Each mistake as `kind.type`, in numbers, for a page to choose by."""
    found = {
        f"{KINDS.index(mistake.kind)}.{colours[entity.type]}"
        for mistake in mistakes
        for entity in (mistake.gold, mistake.predicted)
        if entity
    }
    return " ".join(sorted(found))


def _heading(sentence: Shown, mistakes: Sequence[Mistake]) -> str:
    counts = Counter(mistake.kind for mistake in mistakes)
    told = ", ".join(f"{counts[kind]} {kind}" for kind in KINDS if counts[kind])
    name = f"<bdi>{harmless(sentence.id)}</bdi> " if sentence.id else ""
    return f"{name}<small>{len(mistakes)} mistake{'s' * (len(mistakes) != 1)}: {told}</small>"


def _side(
    name: str,
    tokens: Sequence[str],
    entities: Iterable[Entity],
    wrong: Mapping[Entity, str],
    colours: Mapping[str, int],
) -> str:
    """One of the two sides, with its name."""
    marks = (Mark(*entity, wrong=wrong.get(entity, "")) for entity in entities)
    return f'<div class="side"><span class="name">{name}</span>{sentence_html(tokens, marks, colours)}</div>'
