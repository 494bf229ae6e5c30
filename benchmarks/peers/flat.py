"""A flat tagger of transformers with the same encoder: what nested entities cost beside it, in one run.

    python benchmarks/peers/flat.py train FOLDER [--corpus genia] [--encoder minilm] [--epochs 7] [--learning-rate 2e-4]
    python benchmarks/peers/flat.py speed FOLDER MODEL [--corpus genia] [--times 10] [--write RESULTS.jsonl]

The flat tagger is `AutoModelForTokenClassification` with BIO labels of the outermost entities, trained by transformers'
own Trainer; MODEL is a folder of `nestag train` with the same encoder. Corpora are read from NESTAG_CORPORA. Three ways
are timed on the same test sentences, each the best of several rounds:

    pipeline        transformers' `pipeline("token-classification")`, batches of 32 texts
    plain batches   one call of the tokenizer, batches by length as nestag's, argmax on the device, BIO read in Python
    nestag          the engine, legal decoding

F1 is against all entities, so a flat tagger cannot reach 100; the second figure is against the outermost ones alone.
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from measuring import processor
from transformers import (
    AutoModelForTokenClassification,
    AutoTokenizer,
    DataCollatorForTokenClassification,
    Trainer,
    TrainingArguments,
    pipeline,
)

from nestag.corpora.formats import jsonl
from nestag.data import Entity, Sentence
from nestag.encoders import locate
from nestag.evaluation import score
from nestag.recognizer import NestedNER
from nestag.scorer import CPU_BATCH, GPU_BATCH, computing
from nestag.speed import best_of
from nestag.subwords import batches

IGNORED = -100


def corpus(name: str, split: str) -> list[Sentence]:
    """A split of a real corpus."""
    return list(jsonl.read(Path(os.environ["NESTAG_CORPORA"]) / name / f"{split}.jsonl.gz"))


def outermost(entities: Sequence[Entity]) -> list[Entity]:
    """The entities that stand in no other; of several over the same words, the first."""
    kept: list[Entity] = []
    for entity in sorted(entities, key=lambda entity: (entity.start, -entity.end)):
        if not kept or entity.start >= kept[-1].end:
            kept.append(entity)
    return kept


def to_bio(sentence: Sentence) -> list[str]:
    """One BIO label a word."""
    labels = ["O"] * len(sentence.tokens)
    for entity in outermost(sentence.entities):
        labels[entity.start : entity.end] = [f"I-{entity.type}"] * (entity.end - entity.start)
        labels[entity.start] = f"B-{entity.type}"
    return labels


def from_bio(labels: Sequence[str]) -> list[Entity]:
    """The entities of BIO labels; an I of another type than before it begins one."""
    found: list[Entity] = []
    start, kind = 0, ""
    for place, label in enumerate([*labels, "O"]):
        if kind and label != f"I-{kind}":
            found.append(Entity(start, place, kind))
            kind = ""
        if label != "O" and not kind:
            start, kind = place, label[2:]
    return found


def train(folder: Path, name: str, encoder: str, epochs: int, rate: float) -> None:
    """Train the flat tagger."""
    training, dev = corpus(name, "train"), corpus(name, "dev")
    names = sorted({label for sentence in training for label in to_bio(sentence)})
    number = {label: index for index, label in enumerate(names)}
    tokenizer = AutoTokenizer.from_pretrained(locate(encoder))
    model = AutoModelForTokenClassification.from_pretrained(
        locate(encoder), num_labels=len(names), id2label=dict(enumerate(names)), label2id=number
    )

    def rows(sentences: Sequence[Sentence]) -> list[dict[str, Any]]:
        encoded = tokenizer([list(s.tokens) for s in sentences], is_split_into_words=True, truncation=True)
        made = []
        for at, sentence in enumerate(sentences):
            labels, before, wanted = [], None, to_bio(sentence)
            for word in encoded.word_ids(at):
                known = word is not None and word != before and wanted[word] in number
                labels.append(number[wanted[word]] if known else IGNORED)  # the first subword of each word
                before = word
            made.append({"input_ids": encoded["input_ids"][at], "labels": labels})
        return made

    arguments = TrainingArguments(
        output_dir=str(folder / "checkpoints"),
        num_train_epochs=epochs,
        learning_rate=rate,
        per_device_train_batch_size=32,
        warmup_steps=100,
        bf16=torch.cuda.is_available(),
        save_strategy="no",
        report_to="none",
        disable_tqdm=True,
        seed=1,
    )
    trainer = Trainer(model, arguments, DataCollatorForTokenClassification(tokenizer), train_dataset=rows(training))
    trainer.train()
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    found = score([outermost(s.entities) for s in dev], list(plain(model.eval(), tokenizer, dev)))
    print(f"dev F1 against the outermost entities {100 * found.f1:.2f}")


@torch.inference_mode()
def plain(model: Any, tokenizer: Any, sentences: Sequence[Sentence]) -> Iterator[list[Entity]]:
    """Tag as a good engineer would with transformers alone."""
    device = model.device
    encoded = tokenizer([list(s.tokens) for s in sentences], is_split_into_words=True, truncation=True)
    sizes = np.array([len(ids) for ids in encoded["input_ids"]])
    labels: list[list[str]] = [[] for _ in sentences]
    budget = GPU_BATCH if device.type == "cuda" else CPU_BATCH
    for batch in batches(sizes, budget):
        padded = tokenizer.pad({"input_ids": [encoded["input_ids"][at] for at in batch]}, return_tensors="pt")
        with computing(device):
            best = model(**padded.to(device)).logits.argmax(-1).tolist()
        for at, row in zip(batch.tolist(), best, strict=True):
            before = None
            for word, label in zip(encoded.word_ids(at), row, strict=False):
                if word is not None and word != before:
                    labels[at].append(model.config.id2label[label])
                before = word
    return map(from_bio, labels)


def speed(folder: Path, nested: Path, name: str, times: int) -> dict[str, Any]:
    """All ways on the same sentences."""
    device = "cuda" if torch.cuda.is_available() else "cpu"
    test = [sentence for sentence in corpus(name, "test") if sentence.tokens]
    many = test * times
    model = AutoModelForTokenClassification.from_pretrained(folder).to(device).eval()
    tokenizer = AutoTokenizer.from_pretrained(folder)
    ner = NestedNER.from_pretrained(nested, device)
    texts = [" ".join(sentence.tokens) for sentence in test]  # the pipeline is slow enough for one time over
    tagger = pipeline("token-classification", model=model, tokenizer=tokenizer, device=device, batch_size=32)
    gold, outer = [s.entities for s in test], [outermost(s.entities) for s in test]
    flat, ours = list(plain(model, tokenizer, test)), ner.predict(test)
    seconds = {
        "pipeline": best_of(lambda: list(tagger(texts))) * times,
        "plain batches": best_of(lambda: list(plain(model, tokenizer, many))),
        "nestag": best_of(lambda: ner.predict(many)),
    }
    return {
        "corpus": name,
        "device": torch.cuda.get_device_name() if device == "cuda" else processor(),
        "threads": torch.get_num_threads(),
        "sentences": len(many),
        **{f"{way}, sentences/s": round(len(many) / taken, 1) for way, taken in seconds.items()},
        "nestag beside plain batches": round(seconds["plain batches"] / seconds["nestag"], 3),
        "flat F1": round(100 * score(gold, flat).f1, 2),
        "flat F1, outermost": round(100 * score(outer, flat).f1, 2),
        "nestag F1": round(100 * score(gold, ours).f1, 2),
        "nestag F1, outermost": round(100 * score(outer, [outermost(found) for found in ours]).f1, 2),
    }


def main() -> None:
    """Train or measure."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("what", choices=["train", "speed"])
    arguments.add_argument("folder", type=Path)
    arguments.add_argument("model", type=Path, nargs="?")
    arguments.add_argument("--corpus", default="genia")
    arguments.add_argument("--encoder", default="minilm")
    arguments.add_argument("--epochs", type=int, default=7)
    arguments.add_argument("--learning-rate", type=float, default=2e-4)
    arguments.add_argument("--times", type=int, default=1)
    arguments.add_argument("--write", type=Path)
    given = arguments.parse_args()
    if given.what == "train":
        train(given.folder, given.corpus, given.encoder, given.epochs, given.learning_rate)
        return
    found = speed(given.folder, given.model, given.corpus, given.times)
    print(json.dumps(found, indent=1))
    if given.write:
        with given.write.open("a", encoding="utf-8") as stream:
            stream.write(json.dumps(found) + "\n")


if __name__ == "__main__":
    main()
