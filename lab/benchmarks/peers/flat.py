"""A flat tagger of transformers with the same encoder: what nested entities cost beside it, in one run.

    python lab/benchmarks/peers/flat.py FLAT MODEL [--corpus genia] [--times 10] [--epochs 7] [--write RESULTS.jsonl]

FLAT is a folder for the flat tagger and MODEL one of `nestag train`; what is not there yet is trained first, both with
the encoder `--encoder`. The corpus is a folder, or a name in NESTAG_CORPORA. The flat tagger is
`AutoModelForTokenClassification` with BIO labels of the outermost entities, trained by transformers' own Trainer. Three
ways take turns on the same test sentences, on a processor a hundred at a time because its speed may change from one
minute to the next, and of several rounds the best of each counts:

    pipeline        transformers' `pipeline("token-classification")`, batches of 32 texts
    plain batches   one call of the tokenizer, batches by length as nestag's, argmax on the device, BIO read in Python
    nestag          the engine, constrained decoding

F1 is against all entities, so a flat tagger cannot reach 100; the second figure is against the outermost ones alone.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers
from measuring import Way, characters_to_words, corpus, processor
from transformers import (
    AutoModelForTokenClassification,
    AutoTokenizer,
    DataCollatorForTokenClassification,
    Trainer,
    TrainingArguments,
    pipeline,
)

import nestag
from nestag.data.sentence import Entity, Sentence
from nestag.evaluation import score
from nestag.model.benchmark import best_in_turn
from nestag.model.encoders import locate
from nestag.model.recognizer import NestedNER
from nestag.model.scorer import CPU_BATCH, GPU_BATCH, computing
from nestag.model.subwords import batches

IGNORED = -100
ROUNDS, PART = 5, 100
"""How often each way takes its turn, and on how many sentences if a processor computes."""

BAR = 0.9
"""How fast nestag is to be beside plain batches: the price of a tagger."""


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


def train(folder: Path, training: Sequence[Sentence], encoder: str, epochs: int, rate: float) -> None:
    """Train the flat tagger and write it to a folder."""
    names = sorted({label for sentence in training for label in to_bio(sentence)})
    tokenizer = AutoTokenizer.from_pretrained(locate(encoder))
    model = AutoModelForTokenClassification.from_pretrained(
        locate(encoder),
        num_labels=len(names),
        id2label=dict(enumerate(names)),
        label2id={label: number for number, label in enumerate(names)},
        dtype=torch.float32,  # whatever the weights are stored in
    )
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
    rows = _rows(tokenizer, training, names)
    Trainer(model, arguments, DataCollatorForTokenClassification(tokenizer), train_dataset=rows).train()
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def _rows(tokenizer: Any, sentences: Sequence[Sentence], names: Sequence[str]) -> list[dict[str, Any]]:
    """What a Trainer learns from: the first subword of each word has the label of the word."""
    encoded = tokenizer([list(s.tokens) for s in sentences], is_split_into_words=True, truncation=True)
    rows = []
    for at, sentence in enumerate(sentences):
        wanted, words = to_bio(sentence), encoded.word_ids(at)
        begins = [word is not None and word != before for before, word in zip([None, *words], words, strict=False)]
        labels = [names.index(wanted[word]) if new else IGNORED for word, new in zip(words, begins, strict=True)]
        rows.append({"input_ids": encoded["input_ids"][at], "labels": labels})
    return rows


def plain(folder: Path, device: str) -> Way:
    """Tag as a good engineer would with transformers alone."""
    model = AutoModelForTokenClassification.from_pretrained(folder).to(device).eval()
    tokenizer = AutoTokenizer.from_pretrained(folder)
    return lambda sentences: list(map(from_bio, _labels(model, tokenizer, sentences)))


@torch.inference_mode()
def _labels(model: Any, tokenizer: Any, sentences: Sequence[Sentence]) -> list[list[str]]:
    """The best label of the first subword of each word."""
    encoded = tokenizer([list(s.tokens) for s in sentences], is_split_into_words=True, truncation=True)
    sizes = np.array([len(ids) for ids in encoded["input_ids"]])
    labels: list[list[str]] = [[] for _ in sentences]
    names = model.config.id2label
    for batch in batches(sizes, GPU_BATCH if model.device.type == "cuda" else CPU_BATCH):
        padded = tokenizer.pad({"input_ids": [encoded["input_ids"][at] for at in batch]}, return_tensors="pt")
        with computing(model.device):
            best = model(**padded.to(model.device)).logits.argmax(-1).tolist()
        for at, row in zip(batch.tolist(), best, strict=True):
            before = None
            for word, label in zip(encoded.word_ids(at), row, strict=False):
                if word is not None and word != before:
                    labels[at].append(names[label])
                before = word
    return labels


def piped(folder: Path, device: str) -> Way:
    """Tag with a pipeline of transformers: texts in, characters out, which are turned into words again."""
    tagger: Any = pipeline(
        "token-classification", model=str(folder), device=device, batch_size=32, aggregation_strategy="first"
    )

    def way(sentences: Sequence[Sentence]) -> list[list[Entity]]:
        texts = [" ".join(sentence.tokens) for sentence in sentences]
        return [
            list(characters_to_words(sentence, ((one["start"], one["end"], one["entity_group"]) for one in found)))
            for sentence, found in zip(sentences, tagger(texts), strict=True)
        ]

    return way


def nested(folder: Path, device: str) -> Way:
    """Tag with nestag."""
    return NestedNER.from_pretrained(folder, device).predict


WAYS: dict[str, Callable[[Path, str], Way]] = {"pipeline": piped, "plain batches": plain, "nestag": nested}


def measured(folders: dict[str, Path], name: str, times: int) -> dict[str, Any]:
    """All ways on the same sentences, in turns."""
    device = "cuda" if torch.cuda.is_available() else "cpu"
    test = [sentence for sentence in corpus(name, "test") if sentence.tokens]
    gold, outer = [s.entities for s in test], [outermost(s.entities) for s in test]
    ways = {way: make(folders[way], device) for way, make in WAYS.items()}
    found: dict[str, Any] = {
        "corpus": name,
        "device": torch.cuda.get_device_name() if device == "cuda" else processor(),
        "threads": torch.get_num_threads(),
        "versions": {"torch": torch.__version__, "transformers": transformers.__version__},
        "sentences": times * len(test),
    }
    for way, tag in ways.items():
        tagged = tag(test)
        found[f"{way}, F1"] = round(100 * score(gold, tagged).f1, 2)
        found[f"{way}, F1 of the outermost"] = round(100 * score(outer, [outermost(one) for one in tagged]).f1, 2)
    parts = [test * times] if device == "cuda" else [test[at : at + PART] for at in range(0, len(test), PART)] * times
    seconds = dict.fromkeys(ways, 0.0)
    for part in parts:
        taken = best_in_turn([partial(tag, part) for tag in ways.values()], ROUNDS)
        seconds = {way: seconds[way] + one for way, one in zip(ways, taken, strict=True)}
    for way, sum_of_parts in seconds.items():
        found[f"{way}, sentences/s"] = round(times * len(test) / sum_of_parts, 1)
    return {**found, **price(seconds)}


def price(seconds: Mapping[str, float]) -> dict[str, Any]:
    """How fast nestag is beside plain batches, and whether that is fast enough."""
    share = seconds["plain batches"] / seconds["nestag"]
    return {"nestag beside plain batches": round(share, 3), f"at least {BAR}": "yes" if share >= BAR else "no"}


def main() -> None:
    """Train what is not there, and measure."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("flat", type=Path)
    arguments.add_argument("model", type=Path)
    arguments.add_argument("--corpus", default="genia")
    arguments.add_argument("--encoder", default="minilm")
    arguments.add_argument("--epochs", type=int, default=7)
    arguments.add_argument("--learning-rate", type=float, default=2e-4)
    arguments.add_argument("--times", type=int, default=1)
    arguments.add_argument("--write", type=Path)
    given = arguments.parse_args()
    if not (given.flat / "config.json").exists():
        train(given.flat, corpus(given.corpus, "train"), given.encoder, given.epochs, given.learning_rate)
    if not (given.model / "manifest.json").exists():
        nestag.train(corpus(given.corpus, "train"), corpus(given.corpus, "dev"), given.model, encoder=given.encoder)
    folders = {"pipeline": given.flat, "plain batches": given.flat, "nestag": given.model}
    found = measured(folders, given.corpus, given.times)
    print(json.dumps(found, indent=1))
    if given.write:
        with given.write.open("a", encoding="utf-8") as stream:
            stream.write(json.dumps(found) + "\n")


if __name__ == "__main__":
    main()
