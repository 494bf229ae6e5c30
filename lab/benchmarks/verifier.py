"""What a verifier is worth: F1, recall of the proposals, calibration and time, beside plain constrained decoding.

    python lab/benchmarks/verifier.py MODEL... --corpus FOLDER [--biases 0,2,-1.5] [--times N] [--records FILE]
    python lab/benchmarks/verifier.py --records lab/results/verifier.jsonl --table docs/results/verifier.md

MODEL is a folder of a finished run and FOLDER has dev and test.jsonl.gz. A model with a head for spans that was trained
without `verifier = true` is given one first, by FOLDER's dev. Each model and split is a line of FILE as JSON.
The last command makes a table of the lines; a model's name is corpus-encoding-seed.

For confidences there are the expected calibration error and the AUC (how often a right entity is surer than a wrong
one), of the marginals of constrained entities, of the verifier for the same entities, and of the verifier for those it
keeps.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from nestag.data.document import document_of
from nestag.data.sentence import Entity, Sentence
from nestag.decoding.verification import BIASES
from nestag.evaluation import score
from nestag.evaluation.thresholds import Rated, calibration
from nestag.formats import jsonl
from nestag.model.chunks import Item
from nestag.model.predictor import TextEntity
from nestag.model.recognizer import NestedNER
from nestag.training.calibration import judged_proposals, verification_for

Scored = Sequence[Sequence[TextEntity]]
ROUNDS = 3


def main() -> None:
    """Measure every model on every split."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("models", nargs="*", metavar="MODEL")
    arguments.add_argument("--corpus", type=Path, help="a folder with dev and test.jsonl.gz")
    arguments.add_argument("--splits", default="dev,test")
    arguments.add_argument("--times", type=int, default=1, help="how often the split is repeated to measure speed")
    arguments.add_argument("--records", type=Path, help="a file to which lines of JSON are added")
    arguments.add_argument("--biases", default="", help="find a verifier anew, with these decodings: 0,2,-1.5")
    arguments.add_argument("--device")
    arguments.add_argument("--table", type=Path, help="make a table of the records")
    options = arguments.parse_args()
    if options.table:
        options.table.write_text(table_of([json.loads(line) for line in options.records.read_text().splitlines()]))
    if options.models and not options.corpus:
        arguments.error("--corpus is missing: a folder with dev and test.jsonl.gz")
    for model in options.models:
        biases = tuple(float(bias) for bias in options.biases.split(",") if bias)
        recognizer = with_verifier(model, options.corpus, options.device, biases)
        for split in options.splits.split(","):
            sentences = read(options.corpus, split)
            record = {"model": model, "corpus": options.corpus.name, "split": split}
            record |= {**measured(recognizer, sentences), **speed(recognizer, sentences * options.times)}
            for name, value in record.items():
                print(f"{name:45} {value}")
            print()
            if options.records:
                with options.records.open("a", encoding="utf-8") as stream:
                    stream.write(json.dumps(record) + "\n")


COLUMNS = {
    "constrained F1": "constrained F1",
    "verified F1": "verified F1",
    "recall of proposed spans": "recall of the proposals",
    "ECE: marginals": "ECE of marginals",
    "ECE: verifier, same entities": "ECE of the verifier",
    "AUC: marginals": "AUC of marginals",
    "AUC: verifier, same entities": "AUC of the verifier",
}
"""What the table shows of a record, and what it is called there."""


def table_of(records: Sequence[dict[str, Any]]) -> str:
    """Means over the models of each corpus, encoding and split, as Markdown."""
    groups: dict[tuple[str, ...], list[dict[str, Any]]] = {}
    for record in records:
        encoding = record["model"].split("-")[-2]
        groups.setdefault((record["corpus"], encoding, record["split"]), []).append(record)
    head = ["corpus", "encoding", "split", "models", *COLUMNS.values()]
    rows = [
        [*key, str(len(some)), *(f"{sum(one[name] for one in some) / len(some):.2f}" for name in COLUMNS)]
        for key, some in sorted(groups.items())
    ]
    timed = [one for one in records if "constrained: sentences/s" in one and one["split"] == "test"]
    lines = [
        "# What a verifier is worth",
        "",
        "Written by `lab/benchmarks/verifier.py` from lab/results/verifier.jsonl: means over models of the recipe",
        "`default`, in percent. Threshold and weights of each verifier were found on dev, so trust the test rows.",
        "ECE and AUC are of the confidences of the constrained entities, by both ways.",
        "",
        *(f"| {' | '.join(row)} |" for row in (head, ["---"] * 3 + ["---:"] * (len(head) - 3), *rows)),
        "",
        *(
            f"Speed of {one['model']}, alone on its machine: {one['constrained: sentences/s']:,.0f} sentences/s"
            f" constrained and {one['verified: sentences/s']:,.0f} verified; decoding"
            f" {one['constrained: decoding, µs a word']} and {one['verified: decoding, µs a word']} µs a word."
            for one in timed
        ),
    ]
    return "\n".join(lines) + "\n"


def read(corpus: Path, split: str) -> list[Sentence]:
    """A split of a corpus."""
    packed = corpus / f"{split}.jsonl.gz"
    return list(jsonl.read(packed if packed.is_file() else corpus / f"{split}.jsonl"))


def with_verifier(model: str, corpus: Path, device: str | None, biases: tuple[float, ...]) -> NestedNER:
    """The model, with a verifier that dev found if it has none of its own, or other decodings are to propose."""
    recognizer = NestedNER.from_pretrained(model, device, decoding="constrained")
    if recognizer.model.spans is None:
        sys.exit(f"{model} has no head for spans; train with span_loss above 0")
    if recognizer.settings.verification is None or biases:
        by = verification_for(recognizer, read(corpus, "dev"), biases or BIASES)
        print(f"found on dev: {by}")
        recognizer.settings = replace(recognizer.settings, verification=by)
    return recognizer


def measured(recognizer: NestedNER, sentences: Sequence[Sentence]) -> dict[str, Any]:
    """What both ways find, and how far their confidences can be trusted."""
    gold = [set(sentence.entities) for sentence in sentences]
    constrained = using(recognizer, sentences, verifier=False)
    verified = using(recognizer, sentences, verifier=True)
    proposed = using(recognizer, sentences, verifier=True, return_candidates=True)
    rated = [{one.entity: one.confidence for one in found} for found in proposed]
    again = [
        [one._replace(confidence=values.get(one.entity, 0.0)) for one in found]
        for found, values in zip(constrained, rated, strict=True)
    ]
    assert recognizer.settings.verification is not None
    judged = list(judged_proposals(recognizer, sentences, recognizer.settings.verification.biases))
    held = sum(int(one.right.sum()) for one in judged)
    spans = sum(len(one.proposals.start) for one in judged)
    return {
        **figures("constrained", gold, constrained),
        **figures("verified", gold, verified),
        "recall of proposed spans": round(100 * held / max(1, sum(map(len, gold))), 2),
        "proposed spans a word": round(spans / sum(len(one.tokens) for one in sentences), 3),
        **trust("marginals", gold, constrained),
        **trust("verifier, same entities", gold, again),
        **trust("verifier, its entities", gold, verified),
    }


def using(recognizer: NestedNER, sentences: Sequence[Sentence], **changes: Any) -> Scored:
    """The entities with other settings, and their confidences."""
    return list(changed(recognizer, **changes).pipe(sentences))


def changed(recognizer: NestedNER, **changes: Any) -> NestedNER:
    """The same model with other settings."""
    settings = replace(
        recognizer.settings, **{"return_candidates": False, "threshold": 0.0, "thresholds": {}, **changes}
    )
    return NestedNER(recognizer.model, recognizer.tokenizer, recognizer.vocabulary, settings)


def figures(name: str, gold: Sequence[set[Entity]], found: Scored) -> dict[str, float]:
    """F1, precision and recall."""
    got = score([tuple(one) for one in gold], [[one.entity for one in entities] for entities in found])
    return {
        f"{name} F1": round(100 * got.f1, 2),
        f"{name} precision": round(100 * got.precision, 2),
        f"{name} recall": round(100 * got.recall, 2),
    }


def trust(name: str, gold: Sequence[set[Entity]], found: Scored) -> dict[str, float]:
    """How far confidences can be trusted."""
    rated = [
        Rated(one.confidence, one.entity in wanted)
        for wanted, entities in zip(gold, found, strict=True)
        for one in entities
    ]
    got = calibration(rated)
    return {
        f"ECE: {name}": round(100 * got.error, 2),
        f"Brier: {name}": round(100 * got.brier, 2),
        f"AUC: {name}": round(100 * area(rated), 2),
    }


def area(rated: Sequence[Rated]) -> float:
    """How often a right entity is surer than a wrong one; equals count half."""
    sure = np.array([one.confidence for one in rated])
    right = np.array([one.right for one in rated], dtype=bool)
    _, place, count = np.unique(sure, return_inverse=True, return_counts=True)
    rank = (np.cumsum(count) - (count - 1) / 2)[place] if len(sure) else sure
    good, bad = int(right.sum()), int((~right).sum())
    return float((rank[right].sum() - good * (good + 1) / 2) / max(1, good * bad))


def speed(recognizer: NestedNER, sentences: Sequence[Sentence]) -> dict[str, float]:
    """Sentences a second end to end, and microseconds a word of decoding alone; both ways in turns."""
    items = [Item(one.tokens, document_of(one)) for one in sentences]
    words = sum(len(item.tokens) for item in items)
    ways = {"constrained": changed(recognizer, verifier=False), "verified": changed(recognizer, verifier=True)}
    whole: dict[str, list[float]] = {name: [] for name in ways}
    stage: dict[str, list[float]] = {name: [] for name in ways}
    scores = {name: one.scores([item.tokens for item in items[:2_000]]) for name, one in ways.items()}
    some = int(scores["constrained"].lengths.sum())
    for _ in range(ROUNDS):
        for name, one in ways.items():
            whole[name].append(timed(lambda one=one: [None for _ in one.engine().run(items)]))  # type: ignore[misc]
            stage[name].append(timed(lambda one=one, name=name: one.engine().decode(scores[name])))  # type: ignore[misc]
    found = {}
    for name in ways:
        found[f"{name}: sentences/s"] = round(len(items) / min(whole[name]), 1)
        found[f"{name}: end to end, µs a word"] = round(1e6 * min(whole[name]) / words, 2)
        found[f"{name}: decoding, µs a word"] = round(1e6 * min(stage[name]) / some, 2)
    return found


def timed(work: Callable[[], object]) -> float:
    """The seconds that it takes."""
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


if __name__ == "__main__":
    main()
