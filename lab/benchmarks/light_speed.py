"""How fast, small and exact models with the light encoder are beside one with MiniLM, all in one run.

    export NESTAG_CORPORA=...
    python lab/benchmarks/light_speed.py train WORK MODEL [--few] [--corpus genia] [--sentences 0] [--encoder minilm]
    python lab/benchmarks/light_speed.py measure WORK lab/results/light-speed.json [--threads 1 2] [--rounds 3]

MODEL is a variant of light.py, or `minilm`: the recipe `default`. With `--few` it is trained for a few steps
alone and only timed (a model that finds nothing is decoded a little faster). `train` makes WORK/MODEL and the same
exported in eight bits. `measure` takes all that are there: on the same test sentences, from words to entities, they
take turns, and of several rounds the best counts. F1 is that of the torch model and of eight bits on all of test.
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Iterator, Sequence
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import torch
from light import VARIANTS
from transformers.utils import logging

from nestag.data.sentence import Sentence
from nestag.evaluation import score
from nestag.formats import jsonl
from nestag.model.benchmark import best_in_turn, machine_name
from nestag.model.encoders import LIGHT
from nestag.model.model_folder import HISTORY, read_json
from nestag.model.onnx_export import export
from nestag.model.onnx_runtime import OnnxNER
from nestag.model.predictor import Predictor
from nestag.model.recognizer import NestedNER
from nestag.training.run import train
from nestag_lab.corpora.split import subset

MINILM = "minilm"
FEW_STEPS = 30
TORCH, INT8 = "torch", "int8"
SMALL = "-int8"
"""After the name of a model: the folder of its export."""


class Kind(NamedTuple):
    """A model and what computes it."""

    model: str
    way: str


def corpus(name: str, split: str) -> list[Sentence]:
    """A split of a corpus under NESTAG_CORPORA."""
    return list(jsonl.read(Path(os.environ["NESTAG_CORPORA"]) / name / f"{split}.jsonl.gz"))


def make(work: Path, model: str, name: str, sentences: int, encoder: str, few: bool = False) -> None:
    """Train a model on so many sentences, and export it in eight bits."""
    dev = corpus(name, "dev")
    settings: dict[str, Any] = VARIANTS.get(model, {})
    if few:
        dev, settings = dev[:100], {**settings, "steps": FEW_STEPS, "epochs": "auto", "evaluations": 1}
    recipe = "default" if model == MINILM else "light"
    encoder = encoder if model == MINILM else f"{LIGHT}:{encoder}"
    training = subset(corpus(name, "train"), sentences)
    run = train(training, dev, work / model, recipe, encoder=encoder, **settings)
    recognizer = NestedNER.from_pretrained(work / model, "cpu")
    exported = export(recognizer, work / f"{model}{SMALL}", dev, int8=True, gold=True, max_loss=100)
    print(model, run.dev, exported)


def loaded(work: Path, kind: Kind, threads: int) -> Predictor:
    """A model, ready to tag."""
    if kind.way == INT8:
        return OnnxNER.from_pretrained(work / f"{kind.model}{SMALL}", threads=threads)
    return NestedNER.from_pretrained(work / kind.model, "cpu")


def kinds(work: Path) -> Iterator[Kind]:
    """What WORK has, MiniLM first."""
    for model in (MINILM, *VARIANTS):
        if (work / f"{model}{SMALL}").is_dir():
            yield from (Kind(model, TORCH), Kind(model, INT8))


def speeds(
    work: Path, found: Sequence[Kind], sentences: Sequence[Sentence], threads: int, rounds: int
) -> dict[Kind, float]:
    """Words a second of each kind, which take turns."""
    torch.set_num_threads(threads)
    ready = {kind: loaded(work, kind, threads) for kind in found}
    for recognizer in ready.values():
        recognizer.predict(sentences[:20])
    best = best_in_turn([partial(recognizer.predict, sentences) for recognizer in ready.values()], rounds)
    return {kind: sum(map(len, sentences)) / seconds for kind, seconds in zip(ready, best, strict=True)}


def measured(work: Path, name: str, threads: Sequence[int], rounds: int, most: int) -> dict[str, Any]:
    """Everything about all models."""
    test, found = corpus(name, "test"), list(kinds(work))
    some = subset(test, most)
    by_threads = {str(number): speeds(work, found, some, number, rounds) for number in threads}
    gold = [sentence.entities for sentence in test]
    models: list[dict[str, Any]] = []
    for kind in found:
        folder = work / (f"{kind.model}{SMALL}" if kind.way == INT8 else kind.model)
        files = [file for file in folder.iterdir() if file.suffix in (".onnx", ".safetensors") or "token" in file.name]
        line = {**kind._asdict(), "words_per_s": {at: round(one[kind]) for at, one in by_threads.items()}}
        line["megabytes"] = round(sum(file.stat().st_size for file in files) / 1e6, 2)
        if read_json(work / kind.model / HISTORY)["plan"]["steps"] > FEW_STEPS:
            line["test"] = round(100 * score(gold, loaded(work, kind, 2).predict(test)).f1, 2)
        models.append(line)
    machine = f"{machine_name(torch.device('cpu')).partition(',')[0]}, torch {torch.__version__}"
    machine += f", onnxruntime {version('onnxruntime')}"
    return {"corpus": name, "words": sum(map(len, some)), "rounds": rounds, "machine": machine, "models": models}


def main() -> None:
    """Train or measure."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("what", choices=["train", "measure"])
    arguments.add_argument("work", type=Path)
    arguments.add_argument("which", help="the model to train, or the file for what is measured")
    arguments.add_argument("--corpus", default="genia")
    arguments.add_argument("--sentences", type=int, default=0, help="to train on; 0 is all of them")
    arguments.add_argument("--few", action="store_true", help="train for a few steps alone")
    arguments.add_argument("--encoder", default=MINILM, help="MiniLM, as a name or a folder")
    arguments.add_argument("--threads", nargs="+", type=int, default=[1, 2])
    arguments.add_argument("--rounds", type=int, default=3)
    arguments.add_argument("--test", type=int, default=600, help="test sentences that are timed")
    given = arguments.parse_args()
    logging.disable_progress_bar()
    logging.set_verbosity_error()
    if given.what == "train":
        make(given.work, given.which, given.corpus, given.sentences, given.encoder, given.few)
        return
    line = json.dumps(measured(given.work, given.corpus, given.threads, given.rounds, given.test))
    print(line)
    Path(given.which).write_text(line + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
