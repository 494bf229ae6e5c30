"""One table of nestag and other models: trained on the same sentences, scored and timed in one run.

    python -m nestag_lab.baseline.compare CORPUS RESULTS.jsonl --encoder FOLDER --models default,accurate,cnn-ner
        --sentences 500,2000,0 --seeds 1,2,3
    python -m nestag_lab.baseline.compare CORPUS RESULTS.jsonl --table

CORPUS is a folder with train, dev and test files. Each finished run is a line of RESULTS.jsonl. Runs that have a line
are skipped, so the same command resumes. The last command prints the table of all lines of this corpus.
"""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import torch
import typer

from nestag.data.sentence import Entity, Sentence
from nestag.evaluation import score
from nestag.formats.corpus import read_corpus
from nestag.formats.folders import splits_in
from nestag.inspect.tables import over_seeds
from nestag.training.recipe import load_recipe
from nestag_lab.baseline import cnn_ner, flat, spancat
from nestag_lab.corpora.split import subset

Predict = Callable[[Sequence[Sentence]], Sequence[Sequence[Entity]]]
ROUNDS = 3
"""Speed is the best of so many rounds."""


class Run(NamedTuple):
    """What identifies a run."""

    corpus: str
    sentences: int  # of the training corpus; 0 for all
    model: str
    seed: int
    device: str


class Task(NamedTuple):
    """What a model is trained with."""

    training: Sequence[Sentence]
    dev: Sequence[Sentence]
    encoder: str
    seed: int
    folder: Path  # for files of the model


def train_nestag(task: Task, recipe: str) -> Predict:
    """Train nestag with a recipe; the recipe `light` has its encoder built in."""
    from nestag.training.run import train

    settings: dict[str, Any] = {} if recipe == "light" else {"encoder": task.encoder}
    return train(task.training, task.dev, task.folder, recipe, seed=task.seed, **settings).recognizer.predict


def train_cnn_ner(task: Task) -> Predict:
    """Train CNN-NER."""
    recipe = load_recipe("accurate").changed({"encoder": task.encoder})
    recognizer = cnn_ner.train(task.training, task.dev, recipe, task.seed).recognizer
    return lambda sentences: recognizer.predict([sentence.tokens for sentence in sentences])


MODELS: dict[str, Callable[[Task], Predict]] = {
    "light": partial(train_nestag, recipe="light"),
    "default": partial(train_nestag, recipe="default"),
    "accurate": partial(train_nestag, recipe="accurate"),
    "cnn-ner": train_cnn_ner,
    "flat tagger": lambda task: flat.train(task.training, task.dev, task.encoder, task.seed).predict,
    "spancat": lambda task: spancat.train(task.training, task.dev, task.folder, task.seed).predict,
}


def measure(model: str, task: Task, test: Sequence[Sentence], times: int) -> dict[str, Any]:
    """Train a model, score it on dev and test, and time it on test repeated `times` times."""
    begun = time.monotonic()
    predict = MODELS[model](task)
    seconds = time.monotonic() - begun
    scores = {
        name: cnn_ner.figures(score([one.entities for one in gold], predict(gold)))
        for name, gold in (("dev", task.dev), ("test", test))
    }
    sentences, rounds = [*test] * times, []
    for _ in range(ROUNDS):
        begun = time.perf_counter()
        predict(sentences)
        rounds.append(time.perf_counter() - begun)
    return {**scores, "seconds": round(seconds, 1), "sentences_per_second": round(len(sentences) / min(rounds), 1)}


def read_lines(results: Path) -> list[dict[str, Any]]:
    """Return the finished runs."""
    return list(map(json.loads, results.read_text("utf-8").splitlines())) if results.exists() else []


def table(lines: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Return the lines of a table in Markdown: means and sample deviations over seeds."""
    yield "| sentences | model | seeds | dev F1 | test F1 | precision | recall | sentences/s | training, s |"
    yield "|---:|---|---:|---:|---:|---:|---:|---:|---:|"
    order = {name: place for place, name in enumerate(MODELS)}
    groups = {(line["sentences"], line["model"]) for line in lines}
    for size, model in sorted(groups, key=lambda group: (group[0] or float("inf"), order[group[1]])):
        same = [line for line in lines if (line["sentences"], line["model"]) == (size, model)]
        f1 = [over_seeds(line[split]["f1"] for line in same) for split in ("dev", "test")]
        test = [sum(line["test"][name] for line in same) / len(same) for name in ("precision", "recall")]
        fastest, seconds = max(line["sentences_per_second"] for line in same), min(line["seconds"] for line in same)
        cells = [*map(str, f1), *(f"{value:.2f}" for value in test), f"{fastest:,.0f}", f"{seconds:,.0f}"]
        yield f"| {size or 'all'} | {model} | {len(same)} | {' | '.join(cells)} |"


def main(
    corpus: Annotated[Path, typer.Argument(help="folder with train, dev and test")],
    results: Annotated[Path, typer.Argument(help="JSON Lines file, a line for each run")],
    encoder: Annotated[str, typer.Option(help="folder or name of the pretrained encoder")] = "minilm",
    models: Annotated[str, typer.Option(help=f"of {', '.join(MODELS)}")] = ",".join(MODELS),
    sentences: Annotated[str, typer.Option(help="training sentences; 0 for all")] = "0",
    seeds: Annotated[str, typer.Option(help="random seeds")] = "1",
    times: Annotated[int, typer.Option(help="how often test is repeated to measure speed")] = 10,
    show_table: Annotated[bool, typer.Option("--table", help="only print the table")] = False,
) -> None:
    """Train, score and time models under the same conditions."""
    name = corpus.resolve().name
    device = torch.cuda.get_device_name() if torch.cuda.is_available() else f"CPU, {torch.get_num_threads()} threads"
    splits = {} if show_table else {role: read_corpus(path) for role, path in splits_in(str(corpus)).items()}
    runs = [
        Run(name, int(size), model, int(seed), device)
        for size in sentences.split(",")
        for seed in seeds.split(",")
        for model in models.split(",")
    ]
    for run in () if show_table else runs:
        if any(run._asdict().items() <= line.items() for line in read_lines(results)):
            continue
        with tempfile.TemporaryDirectory() as folder:
            training = subset(splits["train"], run.sentences)
            task = Task(training, splits["dev"], encoder, run.seed, Path(folder) / "model")
            measured = measure(run.model, task, splits["test"], times)
        line = {**run._asdict(), "encoder": Path(encoder).name, **measured}
        with results.open("a", encoding="utf-8") as stream:
            stream.write(json.dumps(line) + "\n")
    typer.echo("\n".join(table([line for line in read_lines(results) if line["corpus"] == name])))


if __name__ == "__main__":
    typer.run(main)
