"""The English model: LitBank and GUM with the types that both annotate.

| here | LitBank | GUM |
|---|---|---|
| person | PER | person |
| place | GPE, LOC, FAC | place |
| organization | ORG | organization |

Both annotate names and descriptions (`the old man 's wife`), nested in each other. Where they differ, the narrower one
counts: GUM loses its pronouns and the possessive mark at the end of a mention, LitBank the form of address inside a
name (`Mr.` in `Mr. Bennet`) as a separate mention. What only one of them annotates is dropped. So are GUM's texts
that are CC BY-SA, so that a model need only name its sources.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from nestag.data.sentence import Entity, Sentence
from nestag.formats import jsonl
from nestag.formats.folders import SPLITS, Split
from nestag_lab.corpora import gum, litbank
from nestag_lab.corpora.split import SplitSentence

LITBANK_TYPES = {"PER": "person", "GPE": "place", "LOC": "place", "FAC": "place", "ORG": "organization"}
GUM_TYPES = {name: name for name in ("person", "place", "organization")}

PRONOUNS = frozenset(
    """i me my mine myself you your yours yourself yourselves he him his himself she her hers herself it its itself we
    us our ours ourselves they them their theirs themselves themself who whom whose which that this these those what
    's 'em y'all ya thee thou thy""".split()  # noqa: SIM905 - a list of 48 strings is worse to read
)
ADDRESSES = frozenset(("mr", "mrs", "ms", "miss", "messrs", "sir", "dr", "m", "mme", "madame", "monsieur", "master"))
POSSESSIVE = ("'s", "’s", "'", "’")
SHARE_ALIKE = frozenset(genre for genre, licence in gum.LICENCES.items() if "SA" in licence)


class CorpusSource(NamedTuple):
    """A corpus that was used, as a card has to name it."""

    name: str
    address: str
    licence: str
    cited: str


SOURCES = (
    CorpusSource(
        "LitBank",
        "https://github.com/dbamman/litbank",
        "annotations CC BY 4.0, texts in the public domain",
        "David Bamman, Sejal Popat and Sheng Shen (2019), An Annotated Dataset of Literary Entities, NAACL",
    ),
    CorpusSource(
        "GUM",
        "https://github.com/amir-zeldes/gum",
        "annotations CC BY 4.0; texts of academic, court, interview, news, speech, textbook and vlog CC BY or in the"
        " public domain",
        "Amir Zeldes (2017), The GUM Corpus: Creating Multilayer Resources in the Classroom, LRE 51(3)",
    ),
)

TEXTS = (
    CorpusSource(
        "LitBank's novels",
        "https://github.com/dbamman/litbank",
        "public domain",
        "The full text of the 80 novels of its training split, tagged by a teacher",
    ),
    CorpusSource(
        "AMALGUM",
        "https://github.com/gucorpling/amalgum",
        "texts of news and interview CC BY 2.5, of academic CC BY 4.0",
        "Luke Gessler and others (2020), AMALGUM, LREC; tagged by a teacher",
    ),
)
"""Raw text that was used."""

TEXT = ("novels", "news", "interview", "academic")
"""The files of raw text."""

TEACHER, SENTENCES, STEPS = "accurate", 110_000, 5_000
"""The recipe of the teacher, the sentences of raw text that it tags, and the student's training steps."""

SplitCorpora = dict[str, dict[Split, list[Sentence]]]
"""The sentences of each corpus, by its name and split."""


def corpora(litbank_source: str | Path, gum_source: str | Path) -> SplitCorpora:
    """Both corpora in the one scheme, each from a copy of its repository or from what `nestag corpus` made of it."""
    return {
        "LitBank": _by_split(_read(Path(litbank_source), litbank.read), from_litbank),
        "GUM": _by_split((one for one in _read(Path(gum_source), gum.read) if _needs_no_sharing(one)), from_gum),
    }


def from_litbank(sentence: Sentence) -> Sentence:
    """Return a sentence of LitBank with the types of the English model.

    >>> from_litbank(Sentence(["Mr.", "Li"], [Entity(0, 2, "PER"), Entity(0, 1, "PER")])).entities
    (Entity(start=0, end=2, type='person'),)
    """
    kept = (
        Entity(entity.start, entity.end, LITBANK_TYPES[entity.type])
        for entity in sentence.entities
        if entity.type in LITBANK_TYPES and not _is_address(entity, sentence)
    )
    return sentence.with_entities(kept)


def from_gum(sentence: Sentence) -> Sentence:
    """Return a sentence of GUM with the types of the English model.

    >>> found = from_gum(Sentence(["She", "met", "Ada", "'s", "son"], [Entity(0, 1, "person"), Entity(2, 4, "person")]))
    >>> found.entities
    (Entity(start=2, end=3, type='person'),)
    """
    return sentence.with_entities(_without_pronouns(sentence))


def _without_pronouns(sentence: Sentence) -> Iterator[Entity]:
    for start, end, kind in sentence.entities:
        last = end - 1 if end - start > 1 and sentence.tokens[end - 1] in POSSESSIVE else end
        is_pronoun = last - start == 1 and sentence.tokens[start].lower() in PRONOUNS
        if kind in GUM_TYPES and not is_pronoun:
            yield Entity(start, last, GUM_TYPES[kind])


def _is_address(entity: Entity, sentence: Sentence) -> bool:
    """Whether an entity is a form of address inside a longer entity."""
    start, end, _ = entity
    if end - start != 1 or sentence.tokens[start].lower().rstrip(".") not in ADDRESSES:
        return False
    return any(other.start <= start and end <= other.end and len(range(*other[:2])) > 1 for other in sentence.entities)


def _needs_no_sharing(placed: SplitSentence) -> bool:
    return gum.genre_of(str(placed.sentence.id)) not in SHARE_ALIKE


def _read(source: Path, read: Callable[[Path], Iterator[SplitSentence]]) -> Iterator[SplitSentence]:
    """Read a corpus from the files of `nestag corpus`, or else from its repository."""
    files = {split: sorted(source.glob(f"{split}.jsonl*")) for split in SPLITS}
    if not all(files.values()):
        return read(source)
    return (SplitSentence(split, sentence) for split, found in files.items() for sentence in jsonl.read(found[0]))


def _by_split(placed: Iterable[SplitSentence], change: Callable[[Sentence], Sentence]) -> dict[Split, list[Sentence]]:
    found: dict[Split, list[Sentence]] = {split: [] for split in SPLITS}
    for split, sentence in placed:
        found[split].append(change(sentence))
    return found


def joined(found: SplitCorpora, split: Split) -> list[Sentence]:
    """Join a split of all corpora."""
    return [sentence for splits in found.values() for sentence in splits[split]]
