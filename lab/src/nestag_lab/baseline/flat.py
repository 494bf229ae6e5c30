"""A flat tagger: transformers' own token classification with BIO labels of the outermost entities."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch.optim import AdamW
from torch.optim.lr_scheduler import LambdaLR
from transformers import AutoModelForTokenClassification, AutoTokenizer

from nestag.data.sentence import Entity, Sentence
from nestag.evaluation import score
from nestag.model.encoders import locate
from nestag.model.windows import batches
from nestag.training.plan import plan_for
from nestag.training.recipe import load_recipe
from nestag_lab.baseline.cnn_ner import linear
from nestag_lab.baseline.inference import BATCH, Ints, computing

IGNORED = -100
LEARNING_RATE = 2e-4


def outermost(entities: Sequence[Entity]) -> list[Entity]:
    """Return the entities inside no other one; of several over the same words, the first."""
    kept: list[Entity] = []
    for entity in sorted(entities, key=lambda entity: (entity.start, -entity.end)):
        if not kept or entity.start >= kept[-1].end:
            kept.append(entity)
    return kept


def to_bio(sentence: Sentence) -> list[str]:
    """Return a BIO label for each word.

    >>> to_bio(Sentence(["the", "USA", "won"], [Entity(0, 2, "GPE"), Entity(1, 2, "GPE")]))
    ['B-GPE', 'I-GPE', 'O']
    """
    labels = ["O"] * len(sentence.tokens)
    for entity in outermost(sentence.entities):
        labels[entity.start : entity.end] = [f"I-{entity.type}"] * (entity.end - entity.start)
        labels[entity.start] = f"B-{entity.type}"
    return labels


def from_bio(labels: Sequence[str]) -> list[Entity]:
    """Return the entities of BIO labels; an I of another type than before begins an entity.

    >>> from_bio(["I-X", "I-Y", "I-Y"])
    [Entity(start=0, end=1, type='X'), Entity(start=1, end=3, type='Y')]
    """
    entities: list[Entity] = []
    start, kind = 0, ""
    for place, label in enumerate([*labels, "O"]):
        if kind and label != f"I-{kind}":
            entities.append(Entity(start, place, kind))
            kind = ""
        if label != "O" and not kind:
            start, kind = place, label[2:]
    return entities


class FlatTagger:
    """A model of token classification with its tokenizer; the first subword of a word has its label."""

    def __init__(self, encoder: str, labels: Sequence[str]) -> None:
        self.labels = labels
        self.tokenizer = AutoTokenizer.from_pretrained(locate(encoder), trust_remote_code=False, add_prefix_space=True)
        self.model: Any = AutoModelForTokenClassification.from_pretrained(
            locate(encoder), num_labels=len(labels), trust_remote_code=False, dtype=torch.float32
        ).to("cuda" if torch.cuda.is_available() else "cpu")

    def encode(self, sentences: Sequence[Sentence]) -> Any:
        """Return the subwords of sentences."""
        words = [list(sentence.tokens) for sentence in sentences]
        return self.tokenizer(words, is_split_into_words=True, truncation=True, max_length=512)

    def pad(self, encoded: Any, batch: Ints) -> Any:
        """Return some of them as tensors on the device of the model."""
        rows = {"input_ids": [encoded["input_ids"][row] for row in batch]}
        return self.tokenizer.pad(rows, return_tensors="pt").to(self.model.device)

    @torch.inference_mode()
    def predict(self, sentences: Sequence[Sentence]) -> list[list[Entity]]:
        """Return the entities of each sentence."""
        self.model.eval()
        encoded = self.encode(sentences)
        labels = [["O"] * len(sentence.tokens) for sentence in sentences]
        for batch in batches(sizes_of(encoded), BATCH[self.model.device.type][0]):
            with computing(self.model.device):
                best = self.model(**self.pad(encoded, batch)).logits.argmax(-1).tolist()
            for row, predicted in zip(batch.tolist(), best, strict=True):
                for place, word in first_subwords(encoded.word_ids(row)):
                    labels[row][word] = self.labels[predicted[place]]
        return list(map(from_bio, labels))


def sizes_of(encoded: Any) -> Ints:
    """Return the number of subwords of each sentence."""
    return np.array([len(ids) for ids in encoded["input_ids"]], dtype=np.int64)


def first_subwords(word_ids: Sequence[int | None]) -> list[tuple[int, int]]:
    """Return the place of the first subword of each word, and the word.

    >>> first_subwords([None, 0, 0, 1, None])
    [(1, 0), (3, 1)]
    """
    pairs = zip([None, *word_ids], word_ids, strict=False)
    return [(place, word) for place, (before, word) in enumerate(pairs) if word is not None and word != before]


def train(training: Sequence[Sentence], dev: Sequence[Sentence], encoder: str, seed: int) -> FlatTagger:
    """Train for as many epochs as nestag's plan has, in batches of the same size, and keep the epoch best on dev."""
    torch.manual_seed(seed)
    rng = random.Random(seed)  # noqa: S311 - an order, not a secret
    tagger = FlatTagger(encoder, sorted({label for sentence in training for label in to_bio(sentence)}))
    encoded = tagger.encode(training)
    gold = [[tagger.labels.index(label) for label in to_bio(sentence)] for sentence in training]
    plan = plan_for(load_recipe("default"), sizes_of(encoded), dev_subwords=0)
    epochs = math.ceil(plan.epochs)
    optimizer = AdamW(tagger.model.parameters(), lr=LEARNING_RATE)
    scheduler = LambdaLR(optimizer, lambda step: linear(step, plan))
    best, best_weights = -1.0, tagger.model.state_dict()
    for _ in range(epochs):
        tagger.model.train()
        for batch in batches(sizes_of(encoded), plan.batch_subwords, rng=rng):
            padded = tagger.pad(encoded, batch)
            labels = np.full(padded["input_ids"].shape, IGNORED)
            for at, row in enumerate(batch.tolist()):
                for place, word in first_subwords(encoded.word_ids(row)):
                    labels[at, place] = gold[row][word]
            with computing(tagger.model.device):
                loss = tagger.model(**padded, labels=torch.from_numpy(labels).to(tagger.model.device)).loss
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(tagger.model.parameters(), 1.0)
            optimizer.step()
            scheduler.step()
        f1 = score([sentence.entities for sentence in dev], tagger.predict(dev)).f1
        if f1 > best:
            best = f1
            best_weights = {name: weight.clone() for name, weight in tagger.model.state_dict().items()}
    tagger.model.load_state_dict(best_weights)
    return tagger
