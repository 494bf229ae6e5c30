"""Recovery: another library's predictions -> sentences with entities.

Sentences come in the order of the corpus, and give their tokens, identifiers and places in the text; predictions give
the labels. Sentences without tokens were left out of the export and have no predictions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Literal, TypeVar

from nestag.arguments import named
from nestag.corpora.labelling import LabellingTally, entities_of
from nestag.corpora.labels import LabelBlock, LabelParsers, parts
from nestag.data import Sentence
from nestag.encodings import encoding
from nestag.encodings.base import Naming
from nestag.errors import InputError, LabelError
from nestag.export.folder import Export
from nestag.vocabulary import Vocabulary

Unseen = Literal["refuse", "allow"]
"""Labels that train lacks: a mistake, since nothing learned from train says them, or something to be counted."""

T = TypeVar("T")


def recovered(
    export: Export,
    corpus: Iterable[Sentence],
    predictions: str | Path,
    tally: LabellingTally,
    naming: Naming = "first",
    unseen: Unseen = "refuse",
) -> Iterator[Sentence]:
    """The sentences of a corpus with the entities that were predicted for them, labels repaired where not legal."""
    target, vocabulary = export
    by = encoding(vocabulary.encoding)
    readers = parts(by) if unseen == "allow" else known_parts(parts(by), vocabulary)
    blocks = (block for block in target.read(predictions, readers, vocabulary) if block.labels)
    for number, sentence in enumerate(corpus, 1):
        found = aligned(next(blocks, None), sentence, number, predictions).labels if len(sentence) else []
        tally.unseen += vocabulary.ids(found).unseen
        predicted = sentence.with_entities(entities_of(found, by, naming, tally))
        tally.see(predicted)
        yield predicted
    if (more := next(blocks, None)) is not None:
        raise InputError(
            "there are more sentences here than in the corpus; give its corpus", str(predictions), more.line
        )


def aligned(block: LabelBlock | None, sentence: Sentence, number: int, source: str | Path) -> LabelBlock:
    """The block, if it is the sentence's."""
    if block is None:
        raise InputError(f"ends before sentence {number} of the corpus; predict all of it, in its order", str(source))
    if len(block.labels) != len(sentence):
        raise InputError(
            f"{len(block.labels)} labels for sentence {number}, which has {len(sentence)} tokens; predict one a token",
            str(source),
            block.line,
        )
    for position, (told, token) in enumerate(zip(block.tokens, sentence.tokens, strict=False)):
        if told != token:
            raise InputError(
                f"token {position} of sentence {number} is {told!r}, in the corpus {token!r};"
                " give the corpus that was predicted, in its order",
                str(source),
                block.line,
            )
    return block


def known_parts(parts: LabelParsers, vocabulary: Vocabulary) -> LabelParsers:
    """The same parts, with an error for those that the vocabulary lacks."""
    return LabelParsers(
        _among(parts.n, vocabulary.n, "n"), _among(parts.c, vocabulary.c, "c"), _among(parts.u, vocabulary.u, "u")
    )


def _among(read: Callable[[str], T], table: Iterable[T], head: str) -> Callable[[str], T]:
    allowed = frozenset(table)

    @cache
    def read_known(text: str) -> T:
        part = read(text)
        if part not in allowed:
            raise LabelError(
                f"{head} is {text!r}, which no label of train has; check the column, or allow it with"
                f" {named('unseen', 'allow')}"
            )
        return part

    return read_known
