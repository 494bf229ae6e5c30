"""Ways to decode, measured on the same scores: F1, calibration and time of each, for trained models.

    export NESTAG_CORPORA=...
    python benchmarks/searches.py MODEL [MODEL ...] --write docs/results/searches.jsonl [--corpus NAME] [--split dev]
    python benchmarks/searches.py --write docs/results/searches.jsonl --table docs/results/searches.md

A MODEL is a folder written by `nestag train`. It is measured on the corpora under NESTAG_CORPORA whose name its path
contains, or on `--corpus`. Each model, corpus and way is one line of the file; what has a line is not done again, so
the same command goes on after an interruption. The last command makes a table of the lines.

    relaxed      the best depths with the best name at each gap, then one name for each node
    joint        the best label sequence that the encoding can write, rated as those of `relaxed`
    exact        the same, rated by their marginals
    marginals    every entity whose probability over these sequences passes a threshold

What is fitted (the threshold, the temperature of some confidences) is fitted on one half of the sentences and used on
the other, both ways.
Times are seconds of this process for one thread, the shortest of several runs.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nestag.corpora.document import document_of
from nestag.corpora.formats import jsonl
from nestag.data import Sentence
from nestag.decoding import EntityTable, Search, candidate_entities, decode_scores
from nestag.encodings.base import Naming
from nestag.evaluation import score
from nestag.evaluation.calibration import Rated, calibration
from nestag.recognizer import NestedNER
from nestag.vocabulary import Vocabulary

AT_ONCE = 2_000
"""Sentences decoded together."""
TIMES = 3
TEMPERATURES = (0.75, 1.0, 1.25, 1.5, 1.75, 2.0, 2.5, 3.0)
THRESHOLDS = tuple(np.round(np.arange(0.2, 0.81, 0.05), 2).tolist())
FLOOR = 0.05
SUREST = 1 - 1e-6
WAYS = ("greedy", "greedy majority", "relaxed", "joint", "exact", "marginals")
SEARCHES = {
    "relaxed": Search(joint=False),
    "joint": Search(joint=True),
    "exact": Search(joint=True, pooling="exact"),
}


class Block(NamedTuple):
    """Sentences and what the three heads say of them."""

    sentences: list[Sentence]
    n: NDArray[np.float32]
    c: NDArray[np.float32]
    u: NDArray[np.float32]
    lengths: list[int]


class Decoded(NamedTuple):
    """The entities of a block that some way finds, and which of them are right."""

    block: Block
    table: EntityTable
    right: NDArray[np.bool_]


def main() -> None:
    """Measure what has no line yet, or make the table."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("models", nargs="*", type=Path)
    arguments.add_argument("--write", type=Path, required=True, help="a file of JSON lines")
    arguments.add_argument("--corpus", help="instead of those that a model's path names")
    arguments.add_argument("--split", default="dev")
    arguments.add_argument("--table", type=Path, help="make a table of the lines")
    options = arguments.parse_args()
    for model in options.models:
        for corpus in [options.corpus] if options.corpus else corpora_of(model):
            measure(model, corpus, options.split, options.write)
    if options.table:
        options.table.write_text(table(lines_of(options.write)), encoding="utf-8")


def corpora_of(model: Path) -> list[str]:
    """The corpora that a model's path names."""
    known = sorted(path.name for path in Path(os.environ["NESTAG_CORPORA"]).iterdir() if path.is_dir())
    found = [name for name in known if name in str(model)]
    if not found:
        raise SystemExit(f"the path {model} names none of the corpora {', '.join(known)}; give --corpus")
    return found


def lines_of(path: Path) -> list[dict[str, Any]]:
    """What has been measured."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []


def measure(model: Path, corpus: str, split: str, path: Path) -> None:
    """Add a line for each way that has none."""
    key = {"model": "/".join(model.parts[-2:]), "corpus": corpus, "split": split}
    done = {line["way"] for line in lines_of(path) if key.items() <= line.items()}
    ways = [way for way in WAYS if way not in done]
    if not ways:
        return
    recognizer = NestedNER.from_pretrained(str(model))
    sentences = list(jsonl.read(Path(os.environ["NESTAG_CORPORA"]) / corpus / f"{split}.jsonl.gz"))
    blocks = list(read(recognizer, sentences))
    encoding = recognizer.vocabulary.encoding
    for way in ways:
        line = {**key, "encoding": encoding, "way": way, **measured(recognizer.vocabulary, blocks, way)}
        with path.open("a", encoding="utf-8") as stream:
            stream.write(json.dumps(line) + "\n")
        print(json.dumps(line), flush=True)


def read(recognizer: NestedNER, sentences: Sequence[Sentence]) -> Iterator[Block]:
    """The scores of all sentences, those of like length together."""
    order = sorted(range(len(sentences)), key=lambda row: len(sentences[row]))
    scored: dict[int, Block] = {}
    for first in range(0, len(sentences), AT_ONCE):
        chunk = list(sentences[first : first + AT_ONCE])
        n, c, u, lengths, *_ = recognizer.scores([one.tokens for one in chunk], [document_of(one) for one in chunk])
        ends = np.cumsum(lengths)
        for row, (one, end) in enumerate(zip(chunk, ends.tolist(), strict=True)):
            words = slice(end - len(one), end)
            scored[first + row] = Block([one], n[words], c[words], u[words], [len(one)])
    for first in range(0, len(sentences), AT_ONCE):
        some = [scored[row] for row in order[first : first + AT_ONCE]]
        n, c, u = (np.concatenate(head) for head in zip(*((one.n, one.c, one.u) for one in some), strict=True))
        yield Block([one.sentences[0] for one in some], n, c, u, [one.lengths[0] for one in some])


def measured(vocabulary: Vocabulary, blocks: Sequence[Block], way: str) -> dict[str, Any]:
    """What a way gives: shares of 1, and sentences a second."""
    sentences = sum(len(block.sentences) for block in blocks)
    if way.startswith("greedy"):
        naming: Naming = "majority" if way.endswith("majority") else "first"

        def greedy(block: Block) -> EntityTable:
            return decode_scores(vocabulary, block.n, block.c, block.u, block.lengths, "greedy", naming)

        return {**f1_of(blocks, map(greedy, blocks)), **speed(sentences, "speed", lambda: list(map(greedy, blocks)))}
    if way == "marginals":
        return by_marginals(vocabulary, blocks, sentences)
    return by_search(vocabulary, blocks, SEARCHES[way], sentences)


def by_search(vocabulary: Vocabulary, blocks: Sequence[Block], search: Search, sentences: int) -> dict[str, Any]:
    """The best sequence, its confidences as they are and with a fitted temperature."""

    def plain(block: Block) -> EntityTable:
        return decode_scores(vocabulary, block.n, block.c, block.u, block.lengths, search=search)

    def rated(block: Block, temperature: float) -> EntityTable:
        own = replace(search, temperature=temperature)
        return decode_scores(vocabulary, block.n, block.c, block.u, block.lengths, confidence=True, search=own)

    decoded = {t: [with_truth(block, rated(block, t)) for block in blocks] for t in TEMPERATURES}
    losses = [[loss(decoded[t], 1 - half) for t in TEMPERATURES] for half in (0, 1)]
    fitted = [TEMPERATURES[int(np.argmin(found))] for found in losses]
    best = [pair for half in (0, 1) for pair in pairs(decoded[fitted[half]], half)]
    as_is = [pair for half in (0, 1) for pair in pairs(decoded[1.0], half)]
    return {
        **f1_of(blocks, (one.table for one in decoded[1.0])),
        **calibrated("", as_is),
        **calibrated("fitted ", best),
        "temperatures": fitted,
        **speed(sentences, "speed", lambda: list(map(plain, blocks))),
        **speed(sentences, "speed with confidences", lambda: [rated(block, 1.0) for block in blocks]),
        **speed(sentences, "speed with fitted confidences", lambda: [rated(block, fitted[0]) for block in blocks]),
    }


def by_marginals(vocabulary: Vocabulary, blocks: Sequence[Block], sentences: int) -> dict[str, Any]:
    """Entities over a threshold, which is fitted with the temperature: for each half, on the other half."""

    def candidates(block: Block, temperature: float) -> EntityTable:
        return candidate_entities(
            vocabulary, block.n, block.c, block.u, block.lengths, floor=FLOOR, search=Search(temperature=temperature)
        )  # fmt: skip

    decoded = {t: [with_truth(block, candidates(block, t)) for block in blocks] for t in (1.0, 1.5, 2.0)}
    settings = [(t, threshold) for t in decoded for threshold in THRESHOLDS]
    counts = {one: [halved(decoded[one[0]], one[1], half) for half in (0, 1)] for one in settings}
    gold = [sum(len(set(s.entities)) for block in blocks for s in block.sentences[half::2]) for half in (0, 1)]
    reached = [[f1(*counts[one][1 - half], gold[1 - half]) for one in settings] for half in (0, 1)]
    chosen = [settings[int(np.argmax(found))] for found in reached]
    right, predicted = (sum(counts[chosen[half]][half][k] for half in (0, 1)) for k in (0, 1))
    rated = [pair for half in (0, 1) for pair in pairs(decoded[1.0], half)]
    even, odd = counts[1.0, 0.5]
    return {
        "precision": round(right / max(1, predicted), 5),
        "recall": round(right / max(1, sum(gold)), 5),
        "f1": round(f1(right, predicted, sum(gold)), 5),
        "settings": chosen,
        "f1 at 0.5": round(f1(even[0] + odd[0], even[1] + odd[1], sum(gold)), 5),
        **calibrated("", rated),
        "recall of candidates": round(sum(pair.right for pair in rated) / max(1, sum(gold)), 5),
        **speed(sentences, "speed with confidences", lambda: [candidates(block, 1.0) for block in blocks]),
    }


def with_truth(block: Block, found: EntityTable) -> Decoded:
    """Which entities are right."""
    truth = [set(sentence.entities) for sentence in block.sentences]
    right = [entity in wanted for wanted, some in zip(truth, found.to_lists(), strict=True) for entity in some]
    return Decoded(block, found, np.array(right, dtype=bool))


def pairs(decoded: Sequence[Decoded], half: int) -> list[Rated]:
    """How sure each entity of every other sentence is, and whether it is right."""
    found = []
    for _, table, right in decoded:
        assert table.confidence is not None
        mine = table.sentence % 2 == half
        found += list(map(Rated, table.confidence[mine].tolist(), right[mine].tolist()))
    return found


def loss(decoded: Sequence[Decoded], half: int) -> float:
    """The negative log-likelihood of what is right and wrong."""
    found = np.array(pairs(decoded, half), dtype=np.float64).reshape(-1, 2)
    sure = np.clip(found[:, 0], 1 - SUREST, SUREST)
    return -float(np.log(np.where(found[:, 1] > 0, sure, 1 - sure)).sum())


def halved(decoded: Sequence[Decoded], threshold: float, half: int) -> tuple[int, int]:
    """How many entities over the threshold are right, and how many there are, in every other sentence."""
    right = predicted = 0
    for _, table, truth in decoded:
        assert table.confidence is not None
        mine = (table.sentence % 2 == half) & (table.confidence >= threshold)
        right, predicted = right + int(truth[mine].sum()), predicted + int(mine.sum())
    return right, predicted


def f1(right: float, predicted: float, gold: float) -> float:
    """The harmonic mean of precision and recall."""
    return 2 * right / max(1, predicted + gold)


def f1_of(blocks: Sequence[Block], tables: Any) -> dict[str, Any]:
    """Precision, recall and F1 of tables."""
    gold = [set(sentence.entities) for block in blocks for sentence in block.sentences]
    found = score(gold, [entities for one in tables for entities in one.to_lists()])
    return {name: round(getattr(found, name), 5) for name in ("precision", "recall", "f1")}


def calibrated(name: str, found: Sequence[Rated]) -> dict[str, Any]:
    """The expected calibration error and the Brier score."""
    result = calibration(found)
    return {f"{name}calibration error": round(result.error, 5), f"{name}brier": round(result.brier, 5)}


def speed(sentences: int, name: str, action: Callable[[], object]) -> dict[str, Any]:
    """Sentences a second."""
    return {name: round(sentences / min(seconds(action) for _ in range(TIMES)))}


def seconds(action: Callable[[], object]) -> float:
    """How long an action takes this process."""
    begin = time.process_time()
    action()
    return time.process_time() - begin


COLUMNS = (
    "f1", "precision", "recall", "calibration error", "brier", "fitted calibration error", "fitted brier",
    "speed", "speed with confidences",
)  # fmt: skip


def table(lines: Sequence[dict[str, Any]]) -> str:
    """A row for each tagger, corpus, encoding and way: means over the models."""
    first = ("tagger", "corpus", "encoding", "way", "models")
    rows = [f"| {' | '.join((*first, *COLUMNS))} |", "|---" * (len(first) + len(COLUMNS)) + "|"]
    groups: dict[tuple[str, ...], list[dict[str, Any]]] = {}
    for line in lines:
        tagger = "hashed" if line["model"].startswith("hashed") else "trained"
        groups.setdefault((tagger, line["corpus"], line["encoding"], line["way"]), []).append(line)
    for key, found in sorted(groups.items()):
        means = [[line[name] for line in found if name in line] for name in COLUMNS]
        cells = [formatted(name, sum(m) / len(m)) if m else "" for name, m in zip(COLUMNS, means, strict=True)]
        rows.append(f"| {' | '.join((*key, str(len(found)), *cells))} |")
    about = "Written by `benchmarks/searches.py`, which says what the ways are; `hashed` is `benchmarks/hashed.py`."
    return f"# Ways to decode, measured on dev\n\n{about}\n\n" + "\n".join(rows) + "\n"


def formatted(name: str, value: float) -> str:
    """A cell: shares of F1 in percent."""
    if name.startswith("speed"):
        return f"{value:,.0f}"
    return f"{100 * value:.2f}" if name in ("f1", "precision", "recall") else f"{value:.4f}"


if __name__ == "__main__":
    main()
