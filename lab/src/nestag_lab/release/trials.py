"""Try how a light model is best pretrained and distilled: many runs at once on one GPU, a line of JSON for each.

    python -m nestag_lab.release.trials PLAN RESULTS --data DATA --text TEXT --minilm FOLDER --work WORK --minutes 9

DATA has a folder for each corpus (litbank, gum, genia) with train, dev and test; TEXT has files such as novels.txt.xz,
a sentence a line. A job starts when the jobs that it needs are done. Finished jobs are skipped if their files are
still in WORK. A job that fails does not stop the others.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import sys
import time
import traceback
from collections.abc import Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from nestag.data.sentence import Sentence
from nestag.evaluation import score
from nestag.formats import jsonl
from nestag.formats.folders import SPLITS
from nestag_lab.corpora.split import subset
from nestag_lab.release.english import SENTENCES, STEPS, TEACHER, TEXT, SplitCorpora, corpora, joined
from nestag_lab.release.text import GENRES, read_texts

FREE = ("novels", *GENRES, "craft")
"""Texts in the public domain or under CC BY."""

OWN_TEXT = {"litbank": ("novels",), "gum": GENRES, "genia": ("craft",), "english": TEXT}
"""Text of the kind of each corpus."""


@dataclass(frozen=True)
class Job:
    """One run: pretrain an encoder, train a model, or distill one from a teacher."""

    name: str
    corpus: str = ""
    size: int = 0  # training sentences; 0 is all
    seed: int = 1
    recipe: str | None = None
    encoder: str = "light"  # the packaged one, minilm, untrained (the light encoder), or the name of a pretraining job
    settings: Mapping[str, Any] = field(default_factory=dict)
    teachers: tuple[str, ...] = ()  # names of jobs
    text: tuple[str, ...] = ()
    sentences: int | None = None  # of the text
    gold_repeats: int | None = None
    min_confidence: float = 0.0
    pretraining: Mapping[str, Any] | None = None  # options, if it pretrains

    @property
    def needs(self) -> tuple[str, ...]:
        """The jobs that come first."""
        return (
            *self.teachers,
            *(() if self.encoder in ("light", "minilm", "untrained") or self.pretraining else (self.encoder,)),
        )


@dataclass(frozen=True)
class Places:
    """The folders of the trials."""

    data: Path
    text: Path
    minilm: str
    work: Path

    def encoder(self, name: str) -> str:
        """Return the name of an encoder for nestag."""
        if name == "light":
            return name
        if name == "minilm":
            return self.minilm
        return f"light:{self.minilm}" if name == "untrained" else f"light:{self.work / name}"

    def splits(self, corpus: str) -> SplitCorpora:
        """Read a corpus, or both corpora of the English model."""
        if corpus == "english":
            return corpora(self.data / "litbank", self.data / "gum")
        folder = self.data / corpus
        return {corpus: {s: list(jsonl.read(folder / f"{s}.jsonl.gz")) for s in SPLITS}}

    def texts(self, names: tuple[str, ...]) -> Iterator[Sentence]:
        """Read raw texts, alternating between them."""
        return read_texts([self.text / f"{name}.txt.xz" for name in names])


def do(job: Job, places: Places) -> dict[str, Any]:
    """Run a job in a folder of its name."""
    import torch
    from transformers.utils import logging

    torch.set_num_threads(1)
    logging.disable_progress_bar()
    logging.set_verbosity_error()
    begun, folder = time.monotonic(), places.work / job.name
    if job.pretraining is not None:
        from nestag_lab.release.pretrain import Options, pretrain

        texts = [places.text / f"{name}.txt.xz" for name in job.text]
        made = pretrain(folder, texts, Options(**{"teacher": places.minilm, **job.pretraining}), job.sentences)
    else:
        made = _trained(job, places, folder)
    return {**asdict(job), **made, "seconds": round(time.monotonic() - begun, 1)}


def _trained(job: Job, places: Places, folder: Path) -> dict[str, Any]:
    from nestag.training.distillation import distill
    from nestag.training.run import train

    found = places.splits(job.corpus)
    gold, dev = subset(joined(found, "train"), job.size), joined(found, "dev")
    chosen: dict[str, Any] = {"seed": job.seed, "encoder": places.encoder(job.encoder), **job.settings}
    tagged: dict[str, Any] = {}
    if job.teachers:
        shared = places.work / f"tagged-{'+'.join(job.teachers)}"
        shared.mkdir(exist_ok=True)
        folder.mkdir(exist_ok=True)
        if not (folder / "tagged").exists():
            (folder / "tagged").symlink_to(shared)  # parts are named by their content
        done = distill(
            [places.work / name for name in job.teachers], places.texts(job.text), gold, dev, folder, job.recipe,
            gold_repeats=job.gold_repeats, min_confidence=job.min_confidence, max_sentences=job.sentences, **chosen,
        )  # fmt: skip
        run, tagged = done.run, {**asdict(done.text), "repeats": done.gold_repeats}
    else:
        run = train(gold, dev, folder, job.recipe, **chosen)
    tests = {name: splits["test"] for name, splits in found.items()}
    scores = {name: score([s.entities for s in test], run.recognizer.predict(test)) for name, test in tests.items()}
    return {
        "dev": round(100 * run.scores["dev"].f1, 2),
        "test": {name: round(100 * one.f1, 2) for name, one in scores.items()},
        "steps": run.plan.steps,
        "best_step": max(run.scorings, key=lambda scoring: scoring.rank).step,
        "tagged": tagged,
    }


def released() -> Iterator[Job]:
    """Yield the jobs that make the packaged encoder and English model, and the comparisons in lab/docs/light.md."""
    yield Job("base", pretraining={}, text=FREE)
    for corpus in ("english", "litbank", "gum", "genia"):
        yield Job(f"{corpus}-teacher", corpus, recipe=TEACHER, encoder="minilm")
    yield from distilled("english", "base", SENTENCES, {"steps": STEPS})
    for corpus in ("litbank", "gum", "genia"):
        yield from distilled(corpus, "base", 60_000, {"steps": 3_500})
    for encoder in ("untrained", "base"):
        for size in (400, 1_200, 0):
            for corpus in ("litbank", "gum", "genia"):
                yield Job(
                    f"{corpus}-{size}-{encoder}", corpus, size, encoder=encoder,
                    settings={"head_learning_rate": 1e-3},  # also for few sentences
                )  # fmt: skip
    yield from distilled("litbank", "base", 15_000)
    yield from distilled("litbank", "minilm", 60_000, {"steps": 3_000})


def small() -> Iterator[Job]:
    """Yield the jobs that train the packaged encoder on a part of each corpus, with three seeds."""
    for size in (400, 1_200):
        for seed in (1, 2, 3):
            for corpus in ("litbank", "gum", "genia"):
                yield Job(f"{corpus}-{size}-seed-{seed}", corpus, size, seed)


def distilled(corpus: str, encoder: str, sentences: int, settings: Mapping[str, Any] = {}) -> Iterator[Job]:
    """Yield the job of a student of a corpus's teacher."""
    yield Job(
        f"{corpus}-student-{encoder}-{sentences}", corpus, encoder=encoder, teachers=(f"{corpus}-teacher",),
        text=OWN_TEXT[corpus], sentences=sentences, settings=settings,
    )  # fmt: skip


def smoke() -> Iterator[Job]:
    """Yield one small job of each kind, which run in a minute on a CPU."""
    quick = {"steps": 20, "evaluations": 1}
    yield Job("tiny", pretraining={"epochs": 1, "batch_subwords": 2048}, text=("craft",), sentences=100)
    yield Job("gum-teacher", "gum", 100, recipe="light", encoder="untrained", settings=quick)
    yield Job("english-teacher", "english", 100, recipe="light", encoder="untrained", settings=quick)
    yield Job("gum-small", "gum", 100, encoder="tiny", settings=quick)
    for corpus in ("gum", "english"):
        yield from distilled(corpus, "tiny", 300, quick)


PLANS = {"released": released, "small": small, "smoke": smoke}


def main() -> None:
    """Run the jobs of a plan."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("plan", choices=PLANS)
    parser.add_argument("results", type=Path)
    for name in ("--data", "--text", "--work"):
        parser.add_argument(name, type=Path, required=True)
    parser.add_argument("--minilm", default="minilm")
    parser.add_argument("--at-once", type=int, default=14)
    parser.add_argument("--minutes", type=float, default=9.0)
    given = parser.parse_args()
    places = Places(given.data, given.text, given.minilm, given.work)
    given.work.mkdir(parents=True, exist_ok=True)
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    run_all(list(PLANS[given.plan]()), places, given.results, given.at_once, time.monotonic() + 60 * given.minutes)


def run_all(jobs: list[Job], places: Places, results: Path, at_once: int, deadline: float) -> None:
    """Run jobs in order, each as soon as the jobs that it needs are done. None starts after the deadline."""
    done = {job.name for job in jobs if (places.work / job.name / "done").exists()}
    waiting = [job for job in jobs if job.name not in done]
    running: dict[Future[dict[str, Any]], Job] = {}
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(at_once, mp_context=context) as pool:
        while waiting or running:
            ready = [job for job in waiting if done.issuperset(job.needs)]
            if time.monotonic() < deadline:
                for job in ready[: at_once - len(running)]:
                    running[pool.submit(do, job, places)] = job
                    waiting.remove(job)
            if not running:
                break
            finished, _ = wait(running, timeout=1, return_when=FIRST_COMPLETED)
            for future in finished:
                job = running.pop(future)
                if _record(job, future, results):
                    (places.work / job.name / "done").touch()
                    done.add(job.name)
    for job in waiting:
        sys.stdout.write(f"not done: {job.name}\n")


def _record(job: Job, future: Future[dict[str, Any]], results: Path) -> bool:
    """Add a line for a job; return False if it failed."""
    try:
        line = json.dumps(future.result())
    except Exception:  # noqa: BLE001 - a job fails alone
        sys.stdout.write(f"{job.name} failed:\n{traceback.format_exc()}")
        return False
    with results.open("a", encoding="utf-8") as stream:
        stream.write(line + "\n")
    sys.stdout.write(line + "\n")
    sys.stdout.flush()
    return True


if __name__ == "__main__":
    main()
