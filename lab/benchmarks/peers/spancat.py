"""SpaCy's SpanCategorizer on the same sentences as nestag: F1, seconds of training, words a second on one core.

    NESTAG_CORPORA=... OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 python lab/benchmarks/peers/spancat.py RESULTS.jsonl
        [--corpora litbank gum] [--sentences 250 500 0] [--seeds 0 1] [--set dropout=0.2 longest=12] [--dev-only]
        [--work FOLDER]

The pipeline is what `spacy init config --pipeline spancat --optimize efficiency` writes for a CPU: a convolutional
tok2vec, no vectors. What differs from it is a `Setting`; those in SETTINGS were chosen on dev. The tokens are those of
the corpus. A run trains on the first N sentences of a random order of train, which is the same in all runs. The best
step and the threshold are those with the best strict F1 on dev. Test is predicted with that threshold, and not at all
with --dev-only, which is for choosing settings.

Each run is a line of RESULTS.jsonl; runs that are there already are skipped. FOLDER keeps subsets, models and
predictions, and a run that was trained there is not trained again.

Everything runs in one thread. Seconds of training are those of spaCy's own loop with its evaluations on dev; words a
second are those from lists of words to entities. CPU seconds are the ones to compare: what else the machine does
matters less to them. Some of spaCy's defaults cost time without changing what is learned, and are changed here: BLIS
multiplies matrices (NumPy was two to three times as fast), 1,000 sentences are predicted at once (32 were faster), dev
is read from disk, and the untrained model is evaluated. `words_per_cpu_s_as_shipped` is the speed of prediction with
the first two as spaCy ships them.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import platform
import resource
import shutil
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, fields, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import spacy
from measuring import Seconds, Way, finished, gold_of, processor, shares
from spacy.cli.init_config import init_config
from spacy.language import Language
from spacy.tokens import Doc, Span
from spacy.training import Example
from spacy.training.initialize import init_nlp
from spacy.training.loop import train as spacy_train
from spacy.util import registry
from thinc.api import NumpyOps, set_current_ops

from nestag.data.sentence import Entity, Sentence
from nestag.evaluation import Score, score
from nestag.formats import jsonl
from nestag_lab.corpora.split import subset

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")
READER, SCORER = "nestag.jsonl", "nestag.strict"  # what spaCy's config calls our reader and our scorer
SPANS = "sc"  # where spaCy's config has the spans of a Doc
SIZES = (250, 500, 1_000, 4_000)
THRESHOLDS = (0.02, *(step / 20 for step in range(1, 15)))
BATCH, SHIPPED_BATCH = 32, 1_000  # sentences predicted at once, here and as spaCy ships
LANGUAGES = {"litbank": "en", "gum": "en", "germeval2014": "de", "genia": "en"}


@dataclass(frozen=True)
class Setting:
    """What a run changes in spaCy's config; the defaults here are spaCy's, but for `longest`."""

    longest: int  # tokens of the longest span suggested
    dropout: float = 0.1
    patience: int = 1_600  # steps without a better F1 on dev before training stops
    eval_frequency: int = 200  # steps from one evaluation on dev to the next
    max_steps: int = 20_000
    learn_rate: float = 0.001
    use_averages: bool = False
    batch_start: int = 100  # words of the first batch
    batch_stop: int = 1_000  # words of the largest batch
    width: int = 96
    depth: int = 4


SETTINGS = {
    corpus: Setting(longest, patience=1_000, batch_stop=300)
    for corpus, longest in (("litbank", 8), ("gum", 10), ("germeval2014", 4))
} | {"genia": Setting(6, batch_stop=300)}


class Guess(NamedTuple):
    """A predicted entity and its probability."""

    entity: Entity
    probability: float


def main() -> None:
    """Make every run that was asked for and is not there yet."""
    options = parsed()
    if any(os.environ.get(name) != "1" for name in THREADS):
        raise SystemExit(f"set {' and '.join(THREADS)} to 1: these are figures of one thread")
    register()
    for size in options.sentences:
        for corpus in options.corpora:
            for seed in options.seeds:
                setting = replace(SETTINGS[corpus], **dict(options.set))
                key = {"corpus": corpus, "sentences": size, "seed": seed, "setting": asdict(setting)}
                if not any(key.items() <= line.items() for line in finished(options.results)):
                    line = {**key, **measured(corpus, size, seed, setting, options.work, options.dev_only)}
                    print(json.dumps(line), flush=True)
                    with open(options.results, "a", encoding="utf-8") as stream:
                        stream.write(json.dumps(line) + "\n")


def parsed() -> argparse.Namespace:
    """The arguments of the command line."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("results", type=Path)
    arguments.add_argument("--corpora", nargs="+", default=["litbank", "gum", "germeval2014"], choices=list(SETTINGS))
    arguments.add_argument("--sentences", nargs="+", type=int, default=list(SIZES), help="0 is all of them")
    arguments.add_argument("--seeds", nargs="+", type=int, default=[0], help="of the weights; the subset stays")
    arguments.add_argument("--set", nargs="+", type=changed, default=[], metavar="FIELD=VALUE")
    arguments.add_argument("--dev-only", action="store_true")
    arguments.add_argument("--work", type=Path, default=Path("runs/spancat"))
    return arguments.parse_args()


def changed(text: str) -> tuple[str, Any]:
    """A field of Setting and its value.

    >>> changed("dropout=0.2")
    ('dropout', 0.2)
    """
    name, _, value = text.partition("=")
    if name not in {field.name for field in fields(Setting)}:
        raise argparse.ArgumentTypeError(f"{name!r} is no field of Setting")
    return name, json.loads(value)


def measured(corpus: str, size: int, seed: int, setting: Setting, work: Path, dev_only: bool) -> dict[str, Any]:
    """Train, choose the threshold on dev, predict test."""
    folder = Path(os.environ["NESTAG_CORPORA"]) / corpus
    train = subset(list(jsonl.read(folder / "train.jsonl.gz")), size)
    (work / "subsets").mkdir(parents=True, exist_ok=True)
    path = work / "subsets" / f"{corpus}-{size}.jsonl"
    jsonl.write(train, path)

    digest = hashlib.sha256(repr(setting).encode()).hexdigest()[:8]
    run = work / f"{corpus}-{size}-{seed}-{digest}"
    set_current_ops(NumpyOps(use_blis=False))
    training = trained(LANGUAGES[corpus], path, folder / "dev.jsonl.gz", setting, seed, run)
    log = [json.loads(line) for line in (run / "log.jsonl").read_text("utf-8").splitlines()]
    nlp = spacy.load(run / "model-best")
    dev = list(jsonl.read(folder / "dev.jsonl.gz"))
    on_dev = by_threshold(gold_of(dev), list(piped(nlp, dev)))
    threshold = max(on_dev, key=lambda threshold: on_dev[threshold].f1)
    lengths = [entity.end - entity.start for sentence in train for entity in sentence.entities]
    return {
        "suggested": round(sum(length <= setting.longest for length in lengths) / max(1, len(lengths)), 4),
        "steps": log[-1]["step"],
        "best_step": max(log, key=lambda line: line["score"])["step"],
        "threshold": threshold,
        "dev": shares(on_dev[threshold]),
        "dev_at_half": shares(on_dev[0.5]),
        "train_cpu_s": round(training.cpu, 1),
        "train_wall_s": round(training.wall, 1),
        **({} if dev_only else on_test(run, list(jsonl.read(folder / "test.jsonl.gz")), threshold)),
        "peak_memory_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
        "threads": 1,
        "processor": processor(),
        "versions": {"python": platform.python_version(), **{name: version(name) for name in ("spacy", "thinc")}},
    }


def on_test(run: Path, test: Sequence[Sentence], threshold: float) -> dict[str, Any]:
    """The scores and speeds of a trained model on test."""
    nlp = loaded(run, threshold)
    found = [[item.entity for item in some] for some in piped(nlp, test)]
    jsonl.write(map(Sentence.with_entities, test, found), run / "test.jsonl")
    fast = speed(nlp, test, BATCH)
    set_current_ops(NumpyOps(use_blis=True))
    return {
        "test": shares(score(gold_of(test), list(map(set, found)))),
        "words_per_cpu_s": fast,
        "words_per_cpu_s_as_shipped": speed(loaded(run, threshold), test, SHIPPED_BATCH),
    }


def loaded(run: Path, threshold: float) -> Language:
    """The trained model of a run, with another threshold; the one stored with it wins over a config given here."""
    nlp = spacy.load(run / "model-best")
    nlp.get_pipe("spancat").cfg["threshold"] = threshold  # type: ignore[attr-defined]
    return nlp


def trained(language: str, train: Path, dev: Path, setting: Setting, seed: int, run: Path) -> Seconds:
    """Train with spaCy's own loop, unless that was done; the model is in `run / "model-best"`."""
    done = run / "seconds.json"
    if not done.exists():
        shutil.rmtree(run, ignore_errors=True)
        run.mkdir(parents=True)
        start = Seconds.now()
        spacy_train(init_nlp(config(language, train, dev, setting, seed, run / "log.jsonl")), run)
        done.write_text(json.dumps(Seconds.now().since(start)), "utf-8")
    return Seconds(*json.loads(done.read_text("utf-8")))


def config(language: str, train: Path, dev: Path, setting: Setting, seed: int, log: Path) -> Any:
    """The config that spaCy writes for spancat on a CPU, with what the setting changes."""
    found = init_config(lang=language, pipeline=["spancat"], optimize="efficiency", gpu=False)
    for name, path in (("train", train), ("dev", dev)):
        found["corpora"][name] = {"@readers": READER, "path": str(path), "empty_once": name == "dev"}
    found["system"]["seed"] = seed
    found["nlp"]["batch_size"] = BATCH
    training, spancat = found["training"], found["components"]["spancat"]
    for name in ("dropout", "patience", "eval_frequency", "max_steps"):
        training[name] = getattr(setting, name)
    training["optimizer"].update(learn_rate=setting.learn_rate, use_averages=setting.use_averages)
    training["batcher"]["size"].update(start=setting.batch_start, stop=setting.batch_stop)
    training["logger"] = {"@loggers": "spacy.ConsoleLogger.v3", "output_file": str(log)}
    sizes = {"min_size": 1, "max_size": setting.longest}
    spancat["suggester"] = {"@misc": "spacy.ngram_range_suggester.v1", **sizes}
    spancat.update(threshold=min(THRESHOLDS), scorer={"@scorers": SCORER})
    found["components"]["tok2vec"]["model"]["encode"].update(width=setting.width, depth=setting.depth)
    return found


def examples_of(path: str, empty_once: bool) -> Callable[[Language], Iterator[Example]]:
    """A reader of JSON Lines for spaCy; it reads the file once, where spaCy's own reads it at each evaluation.

    `empty_once` spares the evaluation before the first step, when almost every span is taken for an entity.
    """
    references: list[Doc] = []
    calls = 0

    def examples(nlp: Language) -> Iterator[Example]:
        nonlocal calls
        calls += 1
        if empty_once and calls == 1:
            return
        if not references:
            references.extend(reference(nlp, sentence) for sentence in jsonl.read(path))
        for doc in references:
            yield Example(Doc(nlp.vocab, words=[token.text for token in doc]), doc)

    return examples


def strict_scorer() -> Callable[..., dict[str, float]]:
    """The F1 of the best threshold, by which spaCy chooses the best step."""

    def best_score(examples: Iterable[Example], **_: object) -> dict[str, float]:
        pairs = [({item.entity for item in rated(e.reference)}, rated(e.predicted)) for e in examples]
        found = max(by_threshold([gold for gold, _ in pairs], [some for _, some in pairs]).values(), key=f1)
        return {"spans_sc_p": found.precision, "spans_sc_r": found.recall, "spans_sc_f": found.f1}

    return best_score


def reference(nlp: Language, sentence: Sentence) -> Doc:
    """A sentence with its entities, as spaCy learns from it."""
    doc = Doc(nlp.vocab, words=list(sentence.tokens))
    doc.spans[SPANS] = [Span(doc, start, end, label=kind) for start, end, kind in sentence.entities]
    return doc


def rated(doc: Doc) -> list[Guess]:
    """The entities of a Doc with their probabilities; gold ones have 1."""
    spans = doc.spans.get(SPANS, ())
    scores = spans.attrs.get("scores", [1.0] * len(spans)) if spans else ()
    entities = (Entity(span.start, span.end, span.label_) for span in spans)
    return [Guess(entity, float(p)) for entity, p in zip(entities, scores, strict=True)]


def piped(nlp: Language, sentences: Iterable[Sentence], batch: int = BATCH) -> Iterator[list[Guess]]:
    """What spaCy finds in each sentence."""
    docs = (Doc(nlp.vocab, words=list(sentence.tokens)) for sentence in sentences)
    return map(rated, nlp.pipe(docs, batch_size=batch))


def by_threshold(gold: Sequence[set[Entity]], found: Sequence[list[Guess]]) -> dict[float, Score]:
    """What each threshold gives."""
    return {
        threshold: score(gold, [{entity for entity, p in some if p >= threshold} for some in found])
        for threshold in THRESHOLDS
    }


def f1(found: Score) -> float:
    """The F1, to compare by."""
    return found.f1


SMALL = Setting(longest=8, patience=600, eval_frequency=100, max_steps=1_500, batch_stop=300)
"""For some hundred sentences of GENIA."""


def register() -> None:
    """Tell spaCy of our reader and our scorer, which its configuration names."""
    registry.readers.register(READER, func=examples_of)
    registry.scorers.register(SCORER, func=strict_scorer)


def train_small(folder: Path, data: Path) -> None:
    """Train on a folder of JSON Lines, and keep the threshold that is best on dev."""
    register()
    set_current_ops(NumpyOps(use_blis=False))
    trained("en", data / "train.jsonl", data / "dev.jsonl", SMALL, 0, folder)
    dev = list(jsonl.read(data / "dev.jsonl"))
    found = by_threshold(gold_of(dev), list(piped(spacy.load(folder / "model-best"), dev)))
    (folder / "threshold.json").write_text(json.dumps(max(found, key=lambda threshold: found[threshold].f1)), "utf-8")


def load_small(folder: Path) -> Way:
    """Tag with what `train_small` made."""
    register()
    set_current_ops(NumpyOps(use_blis=False))
    nlp = loaded(folder, json.loads((folder / "threshold.json").read_text("utf-8")))
    return lambda sentences: [[guess.entity for guess in found] for found in piped(nlp, sentences)]


def speed(nlp: Language, sentences: Sequence[Sentence], batch: int) -> int:
    """Words a CPU second from lists of words to entities."""
    start = Seconds.now()
    deque(piped(nlp, sentences, batch), maxlen=0)
    return round(sum(map(len, sentences)) / Seconds.now().since(start).cpu)


if __name__ == "__main__":
    main()
