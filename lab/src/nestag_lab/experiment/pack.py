"""A pack: finished runs in one small file without any text, from which every table can be made again.

    runs.jsonl.gz     the runs that were asked for, facts of corpora, and of each run its result and, for every sentence
                      of the test set, how many entities are gold, predicted and correct

Counts are 16-bit numbers in base64, in the order of the test set. Sentences of one document have one number, where all
documents are known.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from nestag.data.arrays import Ints
from nestag.data.document import document_of
from nestag.data.sentence import Sentence
from nestag.data.validation import to_mapping
from nestag.errors import InputError
from nestag.evaluation.matching import match_sentences
from nestag.formats import jsonl
from nestag.formats.files import read_lines, writing
from nestag_lab.experiment.facts import Facts, read_all_facts
from nestag_lab.experiment.grid import load_grid
from nestag_lab.experiment.result import Key, RunResult, read_results, read_wanted, record_from
from nestag_lab.experiment.spec import GRID, CorpusFiles, folder_of, read_spec

PACK = "runs.jsonl.gz"
VERSION = 1
SPLIT = "test"


class GoldCounts(NamedTuple):
    """The test set of a corpus, sentence by sentence."""

    gold: Ints
    documents: Ints  # empty where they are not all known


class FoundCounts(NamedTuple):
    """What a run found in each sentence of the test set."""

    correct: Ints
    predicted: Ints


@dataclass(frozen=True)
class Pack:
    """Finished runs, and their counts by sentence."""

    results: tuple[RunResult, ...]
    facts: dict[str, Facts]
    wanted: tuple[Key, ...]
    gold: dict[str, GoldCounts]  # by corpus
    counts: dict[Key, dict[str, FoundCounts]]  # by way of decoding


def has_pack(folder: str | Path) -> bool:
    """Return whether a folder holds a pack."""
    return (Path(folder) / PACK).exists()


def pack_of(folder: str | Path) -> Pack:
    """Pack the experiment in a folder; its predictions are compared with the test sets, which must be there."""
    root = Path(folder)
    results = tuple(_stripped(result) for result in read_results(root))

    @cache
    def test_set(files: CorpusFiles) -> list[Sentence]:
        return list(_reachable(files, root).read(SPLIT))

    gold: dict[str, GoldCounts] = {}
    counts: dict[Key, dict[str, FoundCounts]] = {}
    for result in results:
        place = folder_of(root, result.key)
        sentences = test_set(read_spec(place).corpus)
        gold[result.key.corpus] = _gold_counts(sentences)
        ways = result.evaluations.get(SPLIT, {})
        counts[result.key] = {way: _found_counts(sentences, place / f"{SPLIT}.{way}.jsonl.gz") for way in ways}
        for way, found in counts[result.key].items():
            _refuse_other_counts(ways[way].overall, found, place / f"{SPLIT}.{way}.jsonl.gz")
    return Pack(results, read_all_facts(root), tuple(read_wanted(root)), gold, counts)


def joined(old: Pack, new: Pack) -> Pack:
    """Merge two packs; new runs replace old ones."""
    fresh = {result.key for result in new.results}
    results = (*(result for result in old.results if result.key not in fresh), *new.results)
    for corpus in old.gold.keys() & new.gold.keys():
        if not np.array_equal(old.gold[corpus].gold, new.gold[corpus].gold):
            raise InputError("the test set is another one in the new runs; pack them under another name", corpus)
    return Pack(
        tuple(sorted(results, key=lambda result: result.key)),
        old.facts | new.facts,
        tuple(sorted({*old.wanted, *new.wanted})),
        old.gold | new.gold,
        old.counts | new.counts,
    )


def _stripped(result: RunResult) -> RunResult:
    """Return a result without sentences and whatever no table needs; the encoder's folder becomes its name."""
    return replace(
        result,
        settings={**result.settings, "encoder": result.key.encoder},
        evaluations={
            split: {
                way: replace(found, intervals={}, mistakes=replace(found.mistakes, confusion=(), worst=()))
                for way, found in ways.items()
            }
            for split, ways in result.evaluations.items()
        },
    )


def _reachable(files: CorpusFiles, root: Path) -> CorpusFiles:
    """Return the files of a corpus: the paths of the run if they exist, or those of the grid."""
    if Path(files.test).exists():
        return files
    for corpus in load_grid(root / GRID).corpora:
        if corpus.name == files.name:
            return corpus
    raise InputError(f"the test set of {files.name} is not there; it was {files.test}", str(root))


def _gold_counts(sentences: Sequence[Sentence]) -> GoldCounts:
    names = [document_of(sentence) for sentence in sentences]
    number = {name: place for place, name in enumerate(dict.fromkeys(names))}
    documents = [number[name] for name in names] if all(names) else []
    return GoldCounts(_ints(len(set(one.entities)) for one in sentences), np.array(documents, dtype=np.int64))


def _found_counts(sentences: Sequence[Sentence], file: Path) -> FoundCounts:
    pairs = [
        (set(pair.gold.entities), set(pair.predicted.entities))
        for pair in match_sentences(sentences, jsonl.read(file), "order", ("test set", str(file)))
    ]
    return FoundCounts(_ints(len(gold & found) for gold, found in pairs), _ints(len(found) for _, found in pairs))


def _ints(values: Iterator[int]) -> Ints:
    return np.fromiter(values, dtype=np.int64)


def _refuse_other_counts(score: Any, found: FoundCounts, file: Path) -> None:
    counted = int(found.correct.sum()), int(found.predicted.sum())
    if counted != (score.correct, score.predicted):
        raise InputError(
            f"{counted[0]:,} of {counted[1]:,} entities are right, and the result says {score.correct:,} of"
            f" {score.predicted:,}; the predictions are not those of the result, or the test set is another",
            str(file),
        )


def write_pack(pack: Pack, folder: str | Path) -> None:
    """Write a pack into a folder, which is made."""
    Path(folder).mkdir(parents=True, exist_ok=True)
    with writing(Path(folder) / PACK) as stream:
        for record in _records(pack):
            stream.write(json.dumps(record, ensure_ascii=False, separators=(",", ":")) + "\n")


def _records(pack: Pack) -> Iterator[dict[str, Any]]:
    yield {"version": VERSION, "wanted": [key._asdict() for key in pack.wanted]}
    for facts in pack.facts.values():
        yield {"facts": to_mapping(facts)}
    for corpus, gold in pack.gold.items():
        yield {"corpus": corpus, "gold": _text(gold.gold), "documents": _text(gold.documents)}
    for result in pack.results:
        counts = {way: [_text(part) for part in found] for way, found in pack.counts[result.key].items()}
        yield {"result": to_mapping(result) | {"key": result.key._asdict()}, "counts": counts}


def read_pack(folder: str | Path) -> Pack:
    """Return the pack of a folder; an InputError says what is wrong with it."""
    file = Path(folder) / PACK
    what, remedy = "a pack of runs", "make it again with nestag tables --pack"
    found = Pack((), {}, (), {}, {})
    try:
        records = [json.loads(line.text) for line in read_lines(file)]
        if not records or records[0].get("version") != VERSION:
            raise InputError(f"it is not of version {VERSION}; {remedy}", str(file))
        for record in records:
            found = _joined(found, record, file, what, remedy)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise InputError(f"not {what} ({error}); {remedy}", str(file)) from None
    return found


def _joined(pack: Pack, record: Mapping[str, Any], file: Path, what: str, remedy: str) -> Pack:
    """Add a line to a pack."""
    if "facts" in record:
        facts = record_from(Facts, record["facts"], file, what, remedy)
        return replace(pack, facts=pack.facts | {facts.corpus: facts})
    if "gold" in record:
        gold = GoldCounts(_numbers(record["gold"]), _numbers(record["documents"]))
        return replace(pack, gold=pack.gold | {record["corpus"]: gold})
    if "result" in record:
        result = record_from(RunResult, record["result"], file, what, remedy)
        counts = {way: FoundCounts(*map(_numbers, parts)) for way, parts in record["counts"].items()}
        return replace(pack, results=(*pack.results, result), counts=pack.counts | {result.key: counts})
    return replace(pack, wanted=tuple(Key(**key) for key in record["wanted"]))


def _text(values: Ints) -> str:
    return base64.b64encode(values.astype("<u2").tobytes()).decode()


def _numbers(text: str) -> Ints:
    return np.frombuffer(base64.b64decode(text, validate=True), dtype="<u2").astype(np.int64)
