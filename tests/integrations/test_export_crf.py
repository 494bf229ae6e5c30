"""A conditional random field learns nested entities from an export.

Entity F1 on the dev split of the embedded corpus, with python-crfsuite and abs: 8.4 for each word's most frequent
label, 45.3 for joint labels, 44.7 for one field each for n, c and u.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path

import pytest
from typer.testing import CliRunner

from nestag.cli import app
from nestag.data.sentence import Entity, Sentence
from nestag.formats import jsonl, sample

crfsuite = pytest.importorskip("pycrfsuite")

Rows = list[list[str]]


def run(*arguments: object) -> None:
    done = CliRunner().invoke(app, ["export", *map(str, arguments)])
    assert done.exit_code == 0, done.output


def columns(path: Path) -> list[Rows]:
    blocks = path.read_text("utf-8").strip().split("\n\n")
    return [[line.split("\t") for line in block.split("\n")] for block in blocks]


def features(words: Sequence[str], position: int) -> list[str]:
    word = words[position]
    shape = "".join("X" if c.isupper() else "x" if c.islower() else "9" if c.isdigit() else c for c in word)
    found = [word.lower(), f"pre={word[:3]}", f"suf={word[-3:]}", f"suf={word[-2:]}", f"shape={shape[:8]}"]
    for step in (-2, -1, 1, 2):
        near = words[position + step] if 0 <= position + step < len(words) else ""
        found += [f"{step}={near.lower()}", f"{step}={near[:1].isupper()}"]
    return found


def crf(model: Path, train: list[Rows], dev: list[Rows], column: int) -> list[list[str]]:
    """Train a field to predict one column, and predict it."""
    trainer = crfsuite.Trainer("averaged-perceptron", verbose=False)
    trainer.set_params({"max_iterations": 10})
    inputs = [[features([row[0] for row in rows], i) for i in range(len(rows))] for rows in (*train, *dev)]
    for rows, given in zip(train, inputs, strict=False):
        trainer.append(given, [row[column] for row in rows])
    trainer.train(str(model))
    tagger = crfsuite.Tagger()
    tagger.open(str(model))
    return [tagger.tag(given) for given in inputs[len(train) :]]


def most_frequent(train: list[Rows], dev: list[Rows]) -> list[list[str]]:
    """The baseline: each word's most frequent label, and the most frequent of all for others."""
    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for word, label in (row for rows in train for row in rows):
        counts[word][label] += 1
        counts[""][label] += 1
    return [[counts[row[0] if row[0] in counts else ""].most_common(1)[0][0] for row in rows] for rows in dev]


def f1(gold: list[Sentence], found: list[Sentence]) -> float:
    right = sum(len(set(a.entities) & set(b.entities)) for a, b in zip(gold, found, strict=True))
    return 2 * right / sum(len(sentence.entities) for sentence in (*gold, *found))


def score(out: Path, dev: list[Rows], predicted: Sequence[list[list[str]]], gold: list[Sentence]) -> float:
    """Write predictions as columns, take the way back, and score what comes out."""
    lines = []
    for rows, *labels in zip(dev, *predicted, strict=True):
        lines += ["\t".join(line) for line in zip([row[0] for row in rows], *labels, strict=True)] + [""]
    (out / "dev.out").write_text("\n".join(lines), "utf-8")
    run("back", out, out.parent / "dev.jsonl", out / "dev.out", "-o", out / "back.jsonl")
    return f1(gold, list(jsonl.read(out / "back.jsonl")))


@pytest.mark.parametrize("labels", ["joint", "separate"])
def test_crf_learns_nested_entities_from_an_export(tmp_path: Path, labels: str) -> None:
    gold = sample.sentences("dev")
    jsonl.write(sample.sentences("train"), tmp_path / "train.jsonl")
    jsonl.write(gold, tmp_path / "dev.jsonl")
    out = tmp_path / labels
    corpora = ["--train", tmp_path / "train.jsonl", "--dev", tmp_path / "dev.jsonl"]
    run("conll", out, *corpora, "--labels", labels, "-e", "abs")
    train, dev = columns(out / "train.tsv"), columns(out / "dev.tsv")
    width = len(dev[0][0])
    reached = score(out, dev, [crf(out / "model", train, dev, column) for column in range(1, width)], gold)
    assert reached > 0.38
    inner = {(s.id, e) for s in gold for e in s.entities if any(covers(other, e) for other in s.entities)}
    found = {(s.id, e) for s in jsonl.read(out / "back.jsonl") for e in s.entities}
    assert len(inner & found) > len(inner) / 5
    if labels == "joint":
        assert score(out, dev, [most_frequent(train, dev)], gold) < 0.15


def covers(outer: Entity, inner: Entity) -> bool:
    return outer != inner and outer.start <= inner.start and inner.end <= outer.end
