"""What an experiment still lacks: runs that were asked for and have no result, corpora without facts."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from itertools import product
from pathlib import Path

from nestag.errors import InputError
from nestag.experiment.grid import load_grid
from nestag.experiment.result import Key


def missing_runs(folder: str | Path, done: Collection[Key]) -> list[Key]:
    """Runs without a result, by the grid in the folder; if that cannot be read here, by what the other runs have.

    A grid names corpora and recipes that need not be on this machine. Then every corpus, encoder, encoding, recipe and
    seed that some run has, finished or only begun, is taken to be wanted with every other.
    """
    try:
        wanted = {spec.key for spec in load_grid(Path(folder) / "grid.toml").runs(folder)}
    except InputError:
        wanted = _every_combination([*done, *begun(folder)])
    return sorted(wanted - set(done))


def begun(folder: str | Path) -> list[Key]:
    """The runs that have a folder."""
    found = [path.parts[-5:] for path in Path(folder).glob("runs/*/*/*/*/*/") if path.name.isdecimal()]
    return [Key(corpus, encoder, encoding, recipe, int(seed)) for corpus, encoder, encoding, recipe, seed in found]


def _every_combination(keys: Sequence[Key]) -> set[Key]:
    """Keys with every value that some key has.

    >>> len(_every_combination([Key("a", "e", "abs", "r", 1), Key("b", "e", "rel", "r", 2)]))
    8
    """
    return {Key(*values) for values in product(*(set(column) for column in zip(*keys, strict=True)))} if keys else set()


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
