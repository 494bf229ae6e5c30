"""A weak tagger that trains in seconds on a CPU: scores to compare ways to decode with, where no model is at hand.

    export NESTAG_CORPORA=...
    python benchmarks/hashed.py CORPUS ENCODING --write docs/results/searches.jsonl [--sentences 4000] [--seed 1]

Words, their neighbours, pairs, beginnings and endings are hashed, embedded and added up; a hidden layer sees three
words, and three linear heads give n, c and u. It measures the same as `searches.py`, on dev, into the same file.
"""

from __future__ import annotations

import argparse
import json
import os
import zlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import searches
import torch
from numpy.typing import NDArray

from nestag.corpora.formats import jsonl
from nestag.data import Sentence
from nestag.vocabulary import UNSEEN, Vocabulary

BUCKETS = 2**18
EPOCHS, BATCH, SIZE, HIDDEN = 3, 512, 64, 96


def main() -> None:
    """Train, score dev, and measure every way that has no line yet."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("corpus")
    arguments.add_argument("encoding")
    arguments.add_argument("--write", type=Path, required=True)
    arguments.add_argument("--sentences", type=int, default=4_000)
    arguments.add_argument("--seed", type=int, default=1)
    options = arguments.parse_args()
    folder = Path(os.environ["NESTAG_CORPORA"]) / options.corpus
    train = list(jsonl.read(folder / "train.jsonl.gz"))[: options.sentences]
    dev = sorted(jsonl.read(folder / "dev.jsonl.gz"), key=len)
    vocabulary = Vocabulary.learn(train, options.encoding)
    torch.manual_seed(options.seed)
    heads = scores(train, dev, vocabulary)
    key = {"model": f"hashed, seed {options.seed}", "corpus": options.corpus, "split": "dev"}
    blocks = list(blocks_of(dev, heads))
    for way in searches.WAYS:
        line = {**key, "encoding": options.encoding, "way": way}
        if any(line.items() <= old.items() for old in searches.lines_of(options.write)):
            continue
        line |= searches.measured(vocabulary, blocks, way)
        with options.write.open("a", encoding="utf-8") as stream:
            stream.write(json.dumps(line) + "\n")
        print(json.dumps(line), flush=True)


class Tagger(torch.nn.Module):
    """Embedded features, a hidden layer over three words, three heads."""

    def __init__(self, sizes: Sequence[int]) -> None:
        super().__init__()
        self.sizes = list(sizes)
        self.embedding = torch.nn.EmbeddingBag(BUCKETS, SIZE, mode="sum", sparse=True)
        self.hidden = torch.nn.Linear(3 * SIZE, HIDDEN)
        self.heads = torch.nn.Linear(HIDDEN, sum(sizes))
        torch.nn.init.normal_(self.embedding.weight, 0, 0.05)

    def forward(self, features: torch.Tensor) -> tuple[torch.Tensor, ...]:
        """The log-probabilities of the three heads: words x labels."""
        word = self.embedding(features)  # words x size
        around = torch.cat([torch.roll(word, 1, 0), word, torch.roll(word, -1, 0)], 1)
        outputs = self.heads(torch.relu(self.hidden(around)))
        return tuple(torch.log_softmax(head, 1) for head in outputs.split(self.sizes, 1))


def scores(train: Sequence[Sentence], dev: Sequence[Sentence], vocabulary: Vocabulary) -> list[NDArray[np.float32]]:
    """What a tagger trained on some sentences says of others."""
    tagger = Tagger(list(vocabulary.sizes))
    dense = [*tagger.hidden.parameters(), *tagger.heads.parameters()]
    sparse = torch.optim.SparseAdam(tagger.embedding.parameters(), 3e-3)
    optimizers: tuple[torch.optim.Optimizer, ...] = (sparse, torch.optim.Adam(dense, 2e-3))
    ids = [vocabulary.ids(vocabulary.encode(sentence)) for sentence in train]
    gold = [torch.tensor([label for one in ids for label in one[head]]) for head in range(3)]
    words = features(train)
    for first in [*range(0, len(words), BATCH)] * EPOCHS:
        found = tagger(words[first : first + BATCH])
        losses = [
            torch.nn.functional.nll_loss(head, labels[first : first + BATCH], ignore_index=UNSEEN)
            for head, labels in zip(found, gold, strict=True)
        ]
        tagger.zero_grad()
        torch.stack(losses).sum().backward()  # type: ignore[no-untyped-call]
        for optimizer in optimizers:
            optimizer.step()
    with torch.no_grad():
        return [head.numpy() for head in tagger(features(dev))]


def features(sentences: Sequence[Sentence]) -> torch.Tensor:
    """The hashed features of every word: words x features."""
    return torch.tensor([row for sentence in sentences for row in features_of(sentence)])


def features_of(sentence: Sentence) -> list[list[int]]:
    """What is seen of each word."""
    padded = ["<"] * 3 + list(sentence.tokens) + [">"] * 3
    rows = []
    for i in range(3, len(padded) - 3):
        seen = [f"{k}{padded[i + k]}" for k in range(-3, 4)]
        seen += [f"l{k}{padded[i + k].lower()}" for k in (-1, 0, 1, 2)]
        seen += [f"b{k}{padded[i + k]} {padded[i + k + 1]}" for k in (-1, 0, 1)]
        seen += [f"a{k}{padded[i + k][-3:]}" for k in (0, 1)] + [f"p{k}{padded[i + k][:3]}" for k in (0, 1)]
        rows.append([zlib.crc32(text.encode()) % BUCKETS for text in seen])
    return rows


def blocks_of(sentences: Sequence[Sentence], heads: Sequence[NDArray[np.float32]]) -> list[searches.Block]:
    """The scores of sentences that stand one after the other, some at a time."""
    found, at = [], 0
    for first in range(0, len(sentences), searches.AT_ONCE):
        some = list(sentences[first : first + searches.AT_ONCE])
        lengths = [len(sentence) for sentence in some]
        n, c, u = (head[at : at + sum(lengths)] for head in heads)
        found.append(searches.Block(some, n, c, u, lengths))
        at += sum(lengths)
    return found


if __name__ == "__main__":
    main()
