"""What the ways to decode give, and how far their confidences can be trusted, for the scores of one trained model.

    python benchmarks/search.py MODEL GOLD [GOLD ...] [--lines]

Legal is here the relaxed search, depths first and names then; `searches.py` compares it with the joint one. GOLD is a
corpus in JSON Lines. The model reads each corpus once; every way decodes the same scores. A temperature
divides the log-probabilities of all heads: it changes confidences, not entities. Prints a Markdown table, or with
--lines every row as a line of JSON, shares to five places and with the bins of the confidences.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from nestag.corpora.document import document_of
from nestag.corpora.formats import jsonl
from nestag.data import Sentence
from nestag.decoding import Decoding, EntityTable, Search, decode_scores
from nestag.encodings.base import Naming
from nestag.evaluation import Score, score
from nestag.evaluation.calibration import Calibration, Rated, calibration
from nestag.recognizer import NestedNER
from nestag.tables import Cell, Percent, Section, Table, TableForm, write
from nestag.vocabulary import Vocabulary

AT_ONCE = 2_000
TEMPERATURES = (1.0, 1.25, 1.5, 1.75, 2.0)
POOLINGS: tuple[Literal["sum", "mean"], ...] = ("sum", "mean")
COLUMNS = ("decoding", "naming", "consistent", "pooling", "temperature", "F1", "precision", "recall", "ECE", "Brier")


class Way(NamedTuple):
    """A way to decode; naming is for greedy, search is for legal."""

    decoding: Decoding
    naming: Naming = "first"
    search: Search = Search()


class Block(NamedTuple):
    """Sentences and what the three heads say of them."""

    sentences: list[Sentence]
    heads: tuple[NDArray[np.float32], ...]


class Row(NamedTuple):
    """What one way gave on one corpus; only legal entities are rated."""

    corpus: str
    way: Way
    score: Score
    calibration: Calibration | None


def main() -> None:
    """Print what each way gives on each corpus."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("model")
    arguments.add_argument("gold", nargs="+", type=Path)
    arguments.add_argument("--lines", action="store_true")
    options = arguments.parse_args()
    recognizer = NestedNER.from_pretrained(options.model)
    rows = []
    for path in options.gold:
        blocks = list(read(recognizer, list(jsonl.read(path))))
        rows += [measured(path.name.split(".")[0], recognizer.vocabulary, blocks, way) for way in ways()]
    if options.lines:
        print("\n".join(json.dumps({"model": Path(options.model).name, **record(row)}) for row in rows))
    else:
        print(write(table(options.model, rows), TableForm.markdown), end="")


def ways() -> Iterator[Way]:
    """Greedy with each naming, and legal with each search at each temperature."""
    yield from (Way("greedy", naming) for naming in get_args(Naming))
    for consistent, pooling, temperature in product((True, False), POOLINGS, TEMPERATURES):
        yield Way("legal", search=Search(consistent, None, pooling, temperature, joint=False))


def read(recognizer: NestedNER, sentences: Sequence[Sentence]) -> Iterator[Block]:
    """The scores of all sentences, some at a time."""
    for first in range(0, len(sentences), AT_ONCE):
        chunk = list(sentences[first : first + AT_ONCE])
        scores = recognizer.scores([sentence.tokens for sentence in chunk], [document_of(item) for item in chunk])
        yield Block(chunk, scores[:3])


def measured(corpus: str, vocabulary: Vocabulary, blocks: Sequence[Block], way: Way) -> Row:
    """Decode one way, and compare with the truth."""
    tables = [decoded(vocabulary, block, way) for block in blocks]
    gold = [set(sentence.entities) for block in blocks for sentence in block.sentences]
    predicted = [entities for table in tables for entities in table.to_lists()]
    found = score(gold, predicted)
    if way.decoding == "greedy":
        return Row(corpus, way, found, None)
    right = [entity in wanted for wanted, some in zip(gold, predicted, strict=True) for entity in some]
    confidence = [value for table in tables if table.confidence is not None for value in table.confidence.tolist()]
    return Row(corpus, way, found, calibration(map(Rated, confidence, right)))


def decoded(vocabulary: Vocabulary, block: Block, way: Way) -> EntityTable:
    """The entities of a block, rated if decoding is legal."""
    n, c, u = block.heads
    lengths = [len(sentence) for sentence in block.sentences]
    rate = way.decoding == "legal"
    return decode_scores(vocabulary, n, c, u, lengths, way.decoding, way.naming, rate, way.search)


def record(row: Row) -> dict[str, Any]:
    """A row as JSON has it; a bin is its entities, their mean confidence and the share that is right."""
    rated = row.calibration
    bins = rated and [[b.entities, round(b.mean, 5), round(b.share, 5)] for b in rated.bins]
    shares = {name: round(getattr(row.score, name), 5) for name in ("precision", "recall", "f1")}
    return {
        "corpus": row.corpus,
        "decoding": row.way.decoding,
        "naming": None if rated else row.way.naming,
        "consistent": row.way.search.consistent if rated else None,
        "pooling": row.way.search.pooling if rated else None,
        "temperature": row.way.search.temperature if rated else None,
        "entities": row.score.predicted,
        **shares,
        "calibration_error": rated and round(rated.error, 5),
        "brier": rated and round(rated.brier, 5),
        "bins": bins,
    }


def table(title: str, rows: Sequence[Row]) -> Table:
    """The rows as a table, a section for each corpus."""
    corpora = dict.fromkeys(row.corpus for row in rows)
    sections = (Section(name, tuple(cells(row) for row in rows if row.corpus == name)) for name in corpora)
    return Table(title, COLUMNS, tuple(sections))


def cells(row: Row) -> tuple[Cell, ...]:
    """A row of the table."""
    decoding, naming, search = row.way
    shares = [Percent(100 * share) for share in (row.score.f1, row.score.precision, row.score.recall)]
    if row.calibration is None:
        return decoding, naming, None, None, None, *shares, None, None
    rated = [f"{value:.4f}" for value in (row.calibration.error, row.calibration.brier)]
    return decoding, None, "yes" if search.consistent else "no", search.pooling, search.temperature, *shares, *rated


if __name__ == "__main__":
    main()
