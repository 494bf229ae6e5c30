"""The plan of an experiment: which runs of a grid are finished, and which are left to do in its folder.

What lies in the folder must be of the same grid: a run with other settings, or a corpus with other files, is refused
rather than mixed with the rest.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from nestag.errors import InputError
from nestag.training.recipe import Recipe
from nestag_lab.experiment.facts import facts_file, fingerprints, read_facts
from nestag_lab.experiment.grid import Grid
from nestag_lab.experiment.result import RESULT, RunResult, read_result
from nestag_lab.experiment.spec import CorpusFiles, Spec


@dataclass(frozen=True)
class ExperimentPlan:
    """The runs of a grid."""

    root: Path
    specs: tuple[Spec, ...]

    @property
    def corpora(self) -> tuple[CorpusFiles, ...]:
        """Those that the runs are done on."""
        return tuple(dict.fromkeys(spec.corpus for spec in self.specs))

    @property
    def finished(self) -> tuple[Spec, ...]:
        """Finished runs."""
        return tuple(spec for spec in self.specs if spec.finished)

    @property
    def interrupted(self) -> tuple[Spec, ...]:
        """Interrupted runs."""
        return tuple(spec for spec in self.specs if spec.interrupted)

    @property
    def left(self) -> tuple[Spec, ...]:
        """Runs without a result."""
        return tuple(spec for spec in self.specs if not spec.finished)

    def results(self) -> list[RunResult]:
        """Return the finished results."""
        return [read_result(spec.folder / RESULT) for spec in self.finished]


def plan_of(grid: Grid, root: str | Path, only: str = "") -> ExperimentPlan:
    """Return the runs of a grid whose titles contain all words of `only`."""
    specs = grid.runs(root)
    chosen = tuple(spec for spec in specs if set(only.split()) <= set(spec.title.split()))
    if not chosen:
        raise InputError(f"no run has all words of {only!r}; they are called e.g. {specs[0].title!r}", grid.source)
    for spec in chosen:
        _refuse_changed(spec)
    for corpus in dict.fromkeys(spec.corpus for spec in chosen):
        refuse_changed_corpus(corpus, Path(root))
    return ExperimentPlan(Path(root), chosen)


def _refuse_changed(spec: Spec) -> None:
    """Refuse a run that was begun with other settings."""
    if spec.finished:
        result = read_result(spec.folder / RESULT)
        # The encoder may lie elsewhere on another machine; its name is the folder's.
        _refuse_other_settings(spec, {**_with_defaults(result.settings), "encoder": spec.recipe.encoder})
        missing = [name for name in spec.decodings if name not in result.evaluations.get("test", {})]
        if missing:
            raise InputError(
                f"{spec.title} was not decoded {missing[0]}; delete its folder to do it again, or choose another folder"
                " for the experiment",
                str(spec.folder),
            )
    elif spec.interrupted:
        _refuse_other_settings(spec, _claimed(spec.model / "run.json"))


def _claimed(file: Path) -> dict[str, Any]:
    """Return the recipe of an interrupted run."""
    try:
        recipe: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))["recipe"]
        return _with_defaults(recipe)
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise InputError(f"not the record of a run ({error}); delete its folder to start again", str(file)) from None


def _with_defaults(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of a run; those that did not exist then have their defaults."""
    return {**asdict(Recipe()), **settings}


def _refuse_other_settings(spec: Spec, before: Mapping[str, Any]) -> None:
    changed = [
        f"{name} was {before.get(name)!r} and is {value!r}"
        for name, value in spec.settings.items()
        if before.get(name) != value
    ]
    if changed:
        raise InputError(
            f"{spec.title} was begun with other settings ({', '.join(changed)}); delete its folder to do it again,"
            " or choose another folder for the experiment",
            str(spec.folder),
        )


def refuse_changed_corpus(corpus: CorpusFiles, root: Path) -> None:
    """Refuse a corpus whose files have changed since the experiment began."""
    file = facts_file(root, corpus.name)
    if not file.exists():
        return
    before = read_facts(file).fingerprints
    for split, found in fingerprints(corpus).items():
        if found != before.get(split):
            raise InputError(
                f"{corpus.files[split]} is not the {split} split that runs on {corpus.name} were done with; choose"
                " another folder for the experiment, or delete this file and these runs",
                str(file),
            )
