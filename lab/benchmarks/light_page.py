"""The tables of docs/results/light.md, made again from lab/results.

    python lab/benchmarks/light_page.py [--results lab/results] [--page docs/results/light.md]

F1 of the light encoder (light.jsonl) stands beside that of spaCy's spancat (spancat.jsonl), speed and size
(light-speed.json) beside those of MiniLM. A table is put where the page has `<!-- NAME -->` and `<!-- end -->`.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from light import CORPORA, SIZES
from training_runs import read

from nestag.evaluation.result import over_seeds
from nestag.formats.files import writing

Record = dict[str, Any]

SHOWN = ("light", "six layers", "deep")
"""The variants that stand beside spaCy."""

LAB = Path(__file__).parents[1]
BLOCK = re.compile(r"(<!-- ([\w ]+) -->\n)(.*?)(<!-- end -->)", re.DOTALL)
NONE = "–"


def at(records: Sequence[Record], corpus: str, size: int) -> list[Record]:
    """The records of a corpus and a number of sentences."""
    return [one for one in records if (one["corpus"], one["sentences"]) == (corpus, size)]


def f1(records: Sequence[Record], peers: Sequence[Record]) -> Iterator[str]:
    """Dev and test for each corpus and size, beside spaCy's."""
    titles = [f"{name}, {split}" for split in ("dev", "test") for name in ("spancat", *SHOWN)]
    yield f"| corpus | sentences | {' | '.join(titles)} | seeds |"
    yield f"|---|---:|{'---:|' * (len(titles) + 1)}"
    for corpus in CORPORA:
        for size in SIZES:
            peer, here = at(peers, corpus, size), at(records, corpus, size)
            cells = []
            for split in ("dev", "test"):
                cells.append(f"{peer[0][split]['f1']:.2f}" if peer else NONE)
                cells += [mean(here, variant, split) for variant in SHOWN]
            seeds = max((sum(one["variant"] == variant for one in here) for variant in SHOWN), default=0)
            yield f"| {corpus} | {size or 'all'} | {' | '.join(cells)} | {seeds} |"


def mean(records: Sequence[Record], variant: str, split: str) -> str:
    """The mean of a variant over its seeds."""
    found = [one[split] for one in records if one["variant"] == variant]
    return str(over_seeds(found)) if found else NONE


def variants(records: Sequence[Record]) -> Iterator[str]:
    """Dev of all that was tried, with what it changes."""
    points = [(corpus, size) for corpus in CORPORA for size in SIZES]
    titles = [f"{corpus}, {size or 'all'}" for corpus, size in points]
    yield f"| | changed | {' | '.join(titles)} |"
    yield f"|---|---|{'---:|' * len(points)}"
    for variant in dict.fromkeys(one["variant"] for one in records):
        same = [one for one in records if one["variant"] == variant]
        changed = ", ".join(f"`{name}={value}`" for name, value in same[0]["settings"].items())
        cells = [mean(at(same, *point), variant, "dev") for point in points]
        yield f"| {variant} | {changed} | {' | '.join(cells)} |"


def speed(found: Record) -> Iterator[str]:
    """Words a second and size, beside MiniLM."""
    base = next(one["words_per_s"] for one in found["models"] if (one["model"], one["way"]) == ("minilm", "torch"))
    threads = list(base)
    heads = [f"words/s, {n} thread{'s'[: int(n) > 1]} | times MiniLM" for n in threads]
    yield f"| | computed by | {' | '.join(heads)} | MB | test F1 |"
    yield f"|---|---|{'---:|' * (2 * len(threads) + 2)}"
    for one in found["models"]:
        same = next(other for other in found["models"] if (other["model"], other["way"]) == ("minilm", one["way"]))[
            "words_per_s"
        ]
        cells = [f"{one['words_per_s'][n]:,} | {one['words_per_s'][n] / same[n]:.1f}" for n in threads]
        f1 = f"{one['test']:.2f}" if "test" in one else NONE
        yield f"| {one['model']} | {one['way']} | {' | '.join(cells)} | {one['megabytes']:.1f} | {f1} |"
    yield (
        f"\n{found['words']:,} words of {found['corpus']}'s test set, the best of {found['rounds']} rounds;"
        f" {found['machine']}. Each is compared with MiniLM computed in the same way."
    )


def page(text: str, tables: dict[str, Callable[[], Iterator[str]]]) -> str:
    """A page whose blocks are filled."""

    def filled(block: re.Match[str]) -> str:
        made = tables.get(block[2])
        return block[0] if made is None else block[1] + "\n".join(made()) + "\n" + block[4]

    return BLOCK.sub(filled, text)


def main() -> None:
    """Write the page."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--results", type=Path, default=LAB / "results")
    arguments.add_argument("--page", type=Path, default=LAB.parent / "docs/results/light.md")
    given = arguments.parse_args()
    folder = given.results
    runs, peers = read(folder / "light.jsonl"), read(folder / "spancat.jsonl")
    tables: dict[str, Callable[[], Iterator[str]]] = {
        "f1": lambda: f1(runs, peers),
        "variants": lambda: variants(runs),
    }
    if (folder / "light-speed.json").exists():
        timed = json.loads((folder / "light-speed.json").read_text("utf-8"))
        tables["speed"] = lambda: speed(timed)
    text = given.page.read_text("utf-8")
    with writing(given.page) as stream:
        stream.write(page(text, tables))


if __name__ == "__main__":
    main()
