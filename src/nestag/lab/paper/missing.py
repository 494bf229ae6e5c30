"""What an experiment still lacks: runs that were asked for, or begun, and have no result."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from pathlib import Path

from nestag.lab.experiment.result import Key
from nestag.lab.experiment.wanted import read_wanted


def missing_runs(folder: str | Path, done: Collection[Key]) -> list[Key]:
    """Runs without a result: those that the grid asks for, and those that have a folder."""
    return sorted({*read_wanted(Path(folder)), *begun(folder)} - set(done))


def begun(folder: str | Path) -> list[Key]:
    """The runs that have a folder."""
    found = [path.parts[-5:] for path in Path(folder).glob("runs/*/*/*/*/*/") if path.name.isdecimal()]
    return [Key(corpus, encoder, encoding, recipe, int(seed)) for corpus, encoder, encoding, recipe, seed in found]


def missing_lines(keys: Iterable[Key]) -> list[str]:
    """Runs in words, those that differ by their seeds alone in one line.

    >>> missing_lines([Key("genia", "minilm", "4tg", "default", 2), Key("genia", "minilm", "4tg", "default", 3)])
    ['no result: genia minilm 4tg default, seeds 2, 3']
    """
    seeds: dict[tuple[str, ...], list[int]] = {}
    for *names, seed in sorted(keys):
        seeds.setdefault(tuple(map(str, names)), []).append(int(seed))
    return [
        f"no result: {' '.join(names)}, seed{'s' * (len(found) > 1)} {', '.join(map(str, found))}"
        for names, found in seeds.items()
    ]
