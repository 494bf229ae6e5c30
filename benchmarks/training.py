"""How fast a recognizer learns: milliseconds a step and sentences a second, after the first steps.

    python benchmarks/training.py CORPUS [--recipe default] [--encoder minilm] [--steps 500] [--set KEY=VALUE]

CORPUS is a folder with train and dev.jsonl.gz. The first steps are left out, because on a GPU each shape of a batch is
recorded when it comes the second time. Dev is scored once, at the end, which is not counted.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

import torch

import nestag
from nestag.training.plan import Progress
from nestag.training.recipe import load_recipe


def main() -> None:
    """Train for some steps and print how long they took."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("corpus", type=Path)
    arguments.add_argument("--recipe", default="default")
    arguments.add_argument("--encoder", default="minilm")
    arguments.add_argument("--steps", type=int, default=500)
    arguments.add_argument("--warm", type=int, default=150, help="steps that are not counted")
    arguments.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", dest="settings")
    given = arguments.parse_args()
    if not 0 < given.warm < given.steps:
        arguments.error("--warm must be above 0 and below --steps")
    training, dev = (nestag.read_corpus(given.corpus / f"{split}.jsonl.gz") for split in ("train", "dev"))
    times: dict[int, float] = {}

    def watch(progress: Progress) -> None:
        if progress.step in (given.warm, given.steps) and progress.step not in times:
            if torch.cuda.is_available():
                torch.cuda.synchronize()
            times[progress.step] = time.perf_counter()

    settings = dict(one.partition("=")[::2] for one in given.settings)
    recipe = load_recipe(given.recipe).changed(settings, "--set", text=True)
    with tempfile.TemporaryDirectory() as folder:
        run = nestag.train(
            training, dev[:200], Path(folder) / "model", recipe, encoder=given.encoder, steps=given.steps,
            evaluations=1, watch=watch,
        )  # fmt: skip
    step = (times[given.steps] - times[given.warm]) / (given.steps - given.warm)
    batch = run.plan.sentences / run.plan.epoch_steps
    print(f"{given.recipe}: {1000 * step:.2f} ms a step of {batch:.0f} sentences, {batch / step:,.0f} sentences/s")
    if torch.cuda.is_available():
        print(f"{torch.cuda.get_device_name()}: {torch.cuda.max_memory_allocated() / 2**20:,.0f} MiB at most")


if __name__ == "__main__":
    main()
