"""Grids: which corpora, encoders, encodings, recipes and seeds are to be tried with each other, as a TOML file.

    encodings = ["abs", "rel", "dyn", "4tg"]
    recipes = ["default", "my.toml"]        # names, or files next to the grid
    encoders = ["minilm"]                   # without it, and without encodings, those of the recipe
    decodings = ["greedy-first", "constrained"]   # every model is decoded so; without it also greedy-majority
    seeds = 3                               # 1, 2, 3; or a list
    keep_models = false                     # whether weights stay when a run is finished; predictions always stay

    [corpora.genia]
    folder = "$NESTAG_CORPORA/genia"        # or train, dev and test, each a file
    format = "brat"                         # and field, tokenizer, language ..., where it must be said, as in convert

    [settings]                              # changes to every recipe
    epochs = 8

Recipes can also be tables, each a recipe with changes:

    [recipes.default]

    [recipes.linear]
    base = "default"                        # without it, the recipe of that name
    lstm_size = 0

Only corpora are needed. Paths are relative to the grid; environment variables in them are replaced.
"""

from __future__ import annotations

import dataclasses
import os
import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from nestag.data.segment import Options
from nestag.data.validation import from_mapping, setting
from nestag.encodings import available
from nestag.errors import InputError, SettingError, UnknownNameError
from nestag.formats.files import is_stream
from nestag.formats.folders import ROLES, splits_in
from nestag.training.recipe import Recipe, load_recipe
from nestag_lab.experiment.result import Key
from nestag_lab.experiment.spec import WAYS, CorpusFiles, Spec, Way, folder_of

OPTIONS = tuple(field.name for field in dataclasses.fields(Options))
T = TypeVar("T")
_SAFE = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._+-]*")
_VARIABLE = re.compile(r"\$(?:(\w+)|\{(\w+)\})")


@dataclass(frozen=True)
class Grid:
    """What is to be tried."""

    corpora: tuple[CorpusFiles, ...]
    recipes: dict[str, Recipe]  # by name, with the grid's changes
    encoders: dict[str, str]  # by name, as a recipe has them; none for the recipes' own
    encodings: tuple[str, ...]  # none for the recipes' own
    decodings: tuple[Way, ...]
    seeds: tuple[int, ...]
    keep_models: bool
    source: str = "grid"  # the file

    def runs(self, root: str | Path) -> tuple[Spec, ...]:
        """Return every run, seed by seed, so that the first runs cover every combination."""
        return tuple(
            self._spec(Path(root), corpus, name, recipe, seed)
            for seed, (name, recipe), corpus in product(self.seeds, self._recipes(), self.corpora)
        )

    def _recipes(self) -> list[tuple[tuple[str, str], Recipe]]:
        """Return every recipe with every encoder and encoding, under the names of the recipe and the encoder."""
        found: list[tuple[tuple[str, str], Recipe]] = []
        for name, recipe in self.recipes.items():
            encoders = self.encoders or {encoder_name(recipe.encoder): recipe.encoder}
            for (called, encoder), encoding in product(encoders.items(), self.encodings or (recipe.encoding,)):
                found.append(((name, called), dataclasses.replace(recipe, encoder=encoder, encoding=encoding)))
        return found

    def _spec(self, root: Path, corpus: CorpusFiles, names: tuple[str, str], recipe: Recipe, seed: int) -> Spec:
        key = Key(corpus.name, names[1], recipe.encoding, names[0], seed)
        return Spec(key, corpus, recipe, self.decodings, self.keep_models, folder_of(root, key))


@dataclass(frozen=True)
class GridTable:
    """A grid as its file has it."""

    corpora: dict[str, dict[str, Any]] = setting(factory=dict)
    recipes: tuple[str, ...] | dict[str, dict[str, Any]] = ("default",)
    encoders: tuple[str, ...] = ()
    encodings: tuple[str, ...] = setting((), choices=available)
    decodings: tuple[Way, ...] = WAYS
    seeds: int | tuple[int, ...] = setting(1, minimum=0)
    keep_models: bool = False
    settings: dict[str, Any] = setting(factory=dict)


@dataclass(frozen=True)
class CorpusTable:
    """A corpus of a grid, without the options for reading."""

    folder: str | None = None
    train: str | None = None
    dev: str | None = None
    test: str | None = None
    format: str | None = None


def load_grid(path: str | Path) -> Grid:
    """Return the grid of a file; an InputError says what is wrong with it."""
    try:
        values = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InputError("there is no such file; give the TOML file of a grid", str(path)) from None
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror})", str(path)) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InputError(f"not TOML ({error})", str(path)) from None
    return _Parser(Path(path), values).grid()


class _Parser:
    """A parsed file -> a grid."""

    def __init__(self, path: Path, values: Mapping[str, Any]) -> None:
        self.path = path
        self.table = from_mapping(GridTable, values, str(path))
        for name, value in values.items():
            if value in ([], {}) and name != "settings":
                self._fail(f"{name} is empty; name one or leave it out")

    def grid(self) -> Grid:
        """Return the grid."""
        table = self.table
        encoders = [self._encoder(text) for text in self._once("encoders", table.encoders)]
        found = Grid(
            corpora=self._corpora(),
            recipes=self._recipes(),
            encoders=self._by_name("encoders", encoders, encoder_name, str),
            encodings=self._once("encodings", table.encodings),
            decodings=self._once("decodings", table.decodings),
            seeds=self._seeds(),
            keep_models=table.keep_models,
            source=str(self.path),
        )
        if not encoders:  # those of the recipes get folders too
            own = dict.fromkeys(recipe.encoder for recipe in found.recipes.values())
            self._by_name("encoders of recipes", list(own), encoder_name, str)
        return found

    def _fail(self, message: str) -> NoReturn:
        raise InputError(message, str(self.path))

    def _once(self, key: str, entries: tuple[T, ...]) -> tuple[T, ...]:
        """Return the entries; duplicates are refused."""
        for entry in entries:
            if entries.count(entry) > 1:
                self._fail(f"{key} has {entry!r} twice; name it once")
        return entries

    def _by_name(
        self, key: str, entries: Sequence[str], name_of: Callable[[str], str], value_of: Callable[[str], Any]
    ) -> dict[str, Any]:
        """Entries under the names of their folders; two that would share one are refused."""
        found: dict[str, str] = {}
        for entry in entries:
            name = self._safe(name_of(entry), key)
            if name.lower() in map(str.lower, found):
                self._fail(f"{key}: {found.get(name, name)!r} and {entry!r} would both be called {name!r}; rename one")
            found[name] = entry
        return {name: value_of(entry) for name, entry in found.items()}

    def _safe(self, name: str, key: str) -> str:
        """Return the name of a folder, or an InputError."""
        if not _SAFE.fullmatch(name):
            self._fail(f"{key}: {name!r} cannot be the name of a folder; use letters, digits and . _ + -")
        return name

    def _expanded(self, text: str, key: str) -> str:
        """Return a text with environment variables replaced; one that is not set is an InputError."""

        def value(match: re.Match[str]) -> str:
            name = match[1] or match[2]
            if not os.environ.get(name):
                self._fail(
                    f"{key} is {text!r}, but the environment variable {name} is not set; set it: export {name}=..."
                )
            return os.environ[name]

        return _VARIABLE.sub(value, text)

    def _file(self, text: str, key: str) -> str:
        """Return a path relative to the grid, or to the working directory if the grid is a pipe."""
        folder = Path() if is_stream(self.path) else self.path.parent
        return str(folder / Path(self._expanded(text, key)).expanduser())

    def _encoder(self, text: str) -> str:
        """Return an absolute path, or the name of an encoder unchanged."""
        expanded = self._expanded(text, "encoders")
        if text.startswith((".", "~", "/", "$")):
            return str(Path(self._file(expanded, "encoders")).absolute())
        return expanded

    def _recipes(self) -> dict[str, Recipe]:
        """Return the recipes by name, from a list of names or from tables of changes."""
        given = self.table.recipes
        if not isinstance(given, dict):
            return self._by_name("recipes", self._once("recipes", given), _recipe_name, self._recipe)
        return self._by_name("recipes", list(given), str, lambda name: self._variant(name, given[name]))

    def _variant(self, name: str, table: Mapping[str, Any]) -> Recipe:
        """Return a recipe with the changes of its table."""
        own = {key: value for key, value in table.items() if key != "base"}
        return self._changed(self._recipe(str(table.get("base", name))), own, f"recipes.{name}")

    def _recipe(self, text: str) -> Recipe:
        """Return a recipe with the grid's changes."""
        try:
            recipe = load_recipe(self._file(text, "recipes") if text.endswith(".toml") else text)
        except UnknownNameError as error:
            self._fail(f"recipes: {error}")
        return self._changed(recipe, self.table.settings, "settings")

    def _changed(self, recipe: Recipe, changes: Mapping[str, Any], where: str) -> Recipe:
        """Return a recipe with changes that a table names."""
        for name in ("encoder", "encoding"):
            if name in changes:
                self._fail(f'{where} has {name}; write {name}s = ["{changes[name]}"] above the tables')
        try:
            return recipe.changed(changes, where)
        except (UnknownNameError, SettingError) as error:
            self._fail(str(error))

    def _seeds(self) -> tuple[int, ...]:
        given = self.table.seeds
        found = tuple(range(1, given + 1)) if isinstance(given, int) else given
        if not found:
            self._fail(f"seeds is {given!r}; give their number, or a list of whole numbers")
        return self._once("seeds", found)

    def _corpora(self) -> tuple[CorpusFiles, ...]:
        if not self.table.corpora:
            self._fail('it names no corpus; add [corpora.NAME] with folder = "..."')
        names = self._by_name("corpora", list(self.table.corpora), str, str)
        return tuple(self._corpus(name, self.table.corpora[name]) for name in names)

    def _corpus(self, name: str, values: Mapping[str, Any]) -> CorpusFiles:
        where = f"corpora.{name}"
        place = f"{self.path}: {where}"
        options = from_mapping(Options, {key: values[key] for key in OPTIONS if key in values}, place)
        table = from_mapping(CorpusTable, {key: values[key] for key in values if key not in OPTIONS}, place)
        files: dict[str, str] = {}
        if table.folder:
            folder = self._file(table.folder, f"{where}: folder")
            if not Path(folder).is_dir():
                self._fail(f"{where}: there is no folder {folder}; check the path")
            left = [role for role in ROLES if role not in values]
            files = {role: path for role, path in splits_in(folder, _REMEDY).items() if role in left}
        files |= {role: self._file(values[role], f"{where}: {role}") for role in ROLES if role in values}
        for role in ROLES:
            if role not in files:
                self._fail(f"{where} has no {role} split; name its file with {role} = ..., or put it into the folder")
            if not Path(files[role]).exists():
                self._fail(f"{where}: there is no file {files[role]}; check the path")
        paths = {role: str(Path(path).absolute()) for role, path in files.items()}
        return CorpusFiles(name, **paths, format=table.format, options=options)


_REMEDY = "name train, dev and test in the grid instead of the folder"


def encoder_name(encoder: str) -> str:
    """Return what the folder of an encoder is called.

    >>> encoder_name("minilm"), encoder_name("thenlper/gte-small"), encoder_name("/data/encoders/bert")
    ('minilm', 'thenlper--gte-small', 'bert')
    """
    if encoder.startswith((".", "~", "/")) or encoder.count("/") > 1:
        return Path(encoder).name
    return encoder.replace("/", "--")


def _recipe_name(recipe: str) -> str:
    return Path(recipe).stem if recipe.endswith(".toml") else recipe
