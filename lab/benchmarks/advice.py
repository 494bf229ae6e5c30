"""Does the advice that `nestag train` gives help? Runs that get each piece of it, and runs that follow it.

    NESTAG_CORPORA=... python lab/benchmarks/advice.py lab/results/advice.jsonl [--only NAME]

All runs train MiniLM on sentences of GUM with seed 1, are scored on 100 sentences of dev, and differ from `default`
only in what `AdviceTrial` says. Each is a line of the file; runs that have one are not done again.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

from nestag_lab.corpora.split import subset

DEV = 100
"""Sentences that are scored."""


class AdviceTrial(NamedTuple):
    """One run."""

    sentences: int
    steps: int
    evaluations: int


TRIALS = {
    "ten steps": AdviceTrial(100, 10, 2),
    "sixty steps": AdviceTrial(100, 60, 4),
    "six hundred steps": AdviceTrial(100, 600, 8),
    "few sentences": AdviceTrial(20, 90, 2),
    "more sentences": AdviceTrial(60, 90, 2),
}


def tried(trial: AdviceTrial) -> dict[str, Any]:
    """Train, and say what the advice was and how good the model is."""
    from nestag.formats import jsonl
    from nestag.training.run import train

    folder = Path(os.environ["NESTAG_CORPORA"]) / "gum"
    whole, dev = (list(jsonl.read(folder / f"{split}.jsonl.gz")) for split in ("train", "dev"))
    dev = subset(dev, DEV)
    begin = time.process_time()
    with tempfile.TemporaryDirectory() as place:
        run = train(
            subset(whole, trial.sentences), dev, f"{place}/model", "default",
            encoder="minilm", steps=trial.steps, evaluations=trial.evaluations,
        )  # fmt: skip
    return {
        **trial._asdict(),
        "advice": list(run.advice),
        "dev": round(100 * run.dev.f1, 2),
        "cpu_seconds": round(time.process_time() - begin),
    }


def main() -> None:
    """Do what is not done yet."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("results", type=Path)
    arguments.add_argument("--only", choices=list(TRIALS))
    options = arguments.parse_args()
    lines = options.results.read_text("utf-8").splitlines() if options.results.exists() else []
    done = {json.loads(line)["name"] for line in lines}
    for name, trial in TRIALS.items():
        if name not in done and options.only in (None, name):
            line = json.dumps({"name": name, **tried(trial)})
            print(line, flush=True)
            with open(options.results, "a", encoding="utf-8") as stream:
                stream.write(line + "\n")


if __name__ == "__main__":
    main()
