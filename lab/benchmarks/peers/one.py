"""One of the recognizers a user could pick, trained or measured in a process of its own (beside.py calls it).

    python lab/benchmarks/peers/one.py train PEER WORK [--epochs 6]
    python lab/benchmarks/peers/one.py measure PEER WORK [--threads 2]

WORK/corpus has train, dev and test as JSON Lines; the model is written to WORK/PEER. What is measured is printed as a
line of JSON: sentences a second from words to entities, the peak memory of the process, and F1.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.metadata
import json
import os
import resource
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from measuring import Seconds, Way, corpus, processor

from nestag.data.sentence import Sentence
from nestag.evaluation import score

EPOCHS = "epochs.txt"
"""The file in a peer's folder that says how long it was trained."""

WARM = 32
"""Sentences that are tagged before the clock runs."""


class Peer(NamedTuple):
    """A recognizer: how it is trained, how a trained one tags, and what a user types for both."""

    folder: str
    done: str  # the file that is written last when it is trained
    train: Callable[[Path, Path, int], None]
    load: Callable[[Path], Way]
    typed: str
    packages: tuple[str, ...]
    share: float = 1  # of the epochs; less where they take far longer


def _train_nested(folder: Path, data: Path, epochs: int) -> None:
    import nestag

    nestag.train(_split(data, "train"), _split(data, "dev"), folder, epochs=epochs, evaluations=3)


def _load_nested(folder: Path) -> Way:
    from nestag.model.recognizer import NestedNER

    return NestedNER.from_pretrained(folder, "cpu").predict


def _train_flat(folder: Path, data: Path, epochs: int) -> None:
    importlib.import_module("flat").train(folder, _split(data, "train"), "minilm", epochs, 2e-4)


def _load_plain(folder: Path) -> Way:
    way: Way = importlib.import_module("flat").plain(folder, "cpu")
    return way


def _load_piped(folder: Path) -> Way:
    way: Way = importlib.import_module("flat").piped(folder, "cpu")
    return way


def _train_spancat(folder: Path, data: Path, epochs: int) -> None:
    importlib.import_module("spancat").train_small(folder, data)


def _load_spancat(folder: Path) -> Way:
    way: Way = importlib.import_module("spancat").load_small(folder)
    return way


def _train_gliner(folder: Path, data: Path, epochs: int) -> None:
    importlib.import_module("gliner_spans").train(folder, _split(data, "train"), epochs)


def _load_gliner(folder: Path) -> Way:
    way: Way = importlib.import_module("gliner_spans").load(folder)
    return way


def _split(data: Path, name: str) -> list[Sentence]:
    return [sentence for sentence in corpus(str(data), name) if sentence.tokens]


PEERS = {
    "nestag": Peer(
        "nestag",
        "manifest.json",
        _train_nested,
        _load_nested,
        'NestedNER.from_pretrained("model").predict(sentences)',
        ("torch",),
    ),
    "flat tagger, plain batches": Peer(
        "flat",
        "tokenizer_config.json",
        _train_flat,
        _load_plain,
        "AutoModelForTokenClassification, batches by length",
        ("transformers",),
    ),
    "flat tagger, pipeline": Peer(
        "flat",
        "tokenizer_config.json",
        _train_flat,
        _load_piped,
        'pipeline("token-classification", batch_size=32)(texts)',
        ("transformers",),
    ),
    "spaCy SpanCategorizer, CNN": Peer(
        "spancat",
        "threshold.json",
        _train_spancat,
        _load_spancat,
        'spacy.load("model").pipe(docs, batch_size=32)',
        ("spacy",),
    ),
    "GLiNER's architecture": Peer(
        "gliner",
        "types.txt",
        _train_gliner,
        _load_gliner,
        "model.inference(texts, types, flat_ner=False)",
        ("gliner",),
        1 / 3,
    ),
}


def measured(peer: Peer, work: Path) -> dict[str, Any]:
    """Speed, memory and F1 on test."""
    test = _split(work / "corpus", "test")
    way = peer.load(work / peer.folder)
    way(test[:WARM])
    start = Seconds.now()
    found = way(test)
    taken = Seconds.now().since(start)
    result = score([sentence.entities for sentence in test], [sorted(set(some)) for some in found])
    return {
        "sentences/s": len(test) / taken.wall,
        "memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "f1": 100 * result.f1,
        "epochs": (work / peer.folder / EPOCHS).read_text("utf-8"),
        "processor": processor(),
        "versions": {name: importlib.metadata.version(name) for name in peer.packages},
    }


def main(given: Sequence[str]) -> None:
    """Train or measure."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("what", choices=["train", "measure"])
    arguments.add_argument("peer", choices=list(PEERS))
    arguments.add_argument("work", type=Path)
    arguments.add_argument("--epochs", type=int, default=6)
    arguments.add_argument("--threads", type=int, default=2)
    options = arguments.parse_args(given)
    os.environ["OMP_NUM_THREADS"] = str(options.threads)
    peer = PEERS[options.peer]
    if options.what == "train":
        epochs = max(1, round(peer.share * options.epochs))
        peer.train(options.work / peer.folder, options.work / "corpus", epochs)
        (options.work / peer.folder / EPOCHS).write_text(str(epochs), "utf-8")
    else:
        print(json.dumps(measured(peer, options.work)))


if __name__ == "__main__":
    main(sys.argv[1:])
