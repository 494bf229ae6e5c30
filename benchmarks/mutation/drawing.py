"""Draw the mutants of a room with a fixed seed.

The choice depends on each line alone, so that a mutant stays in the sample while other lines change.
"""

from __future__ import annotations

import ast
import difflib
import hashlib
import importlib
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from mutation.rooms import ROOMS, ROOT

SEED = 1


class Mutant(NamedTuple):
    """A module with one change."""

    room: str
    module: str
    line: int
    before: str
    after: str
    code: str

    @property
    def change(self) -> tuple[str, str, str]:
        """The key in the list of equivalent mutants, which does not depend on the line number."""
        return self.module, self.before, self.after


class Place(NamedTuple):
    """A place in a module that can be changed, and how: pairs of an operator and the number of its change."""

    path: Path
    line: str
    choices: list[tuple[Any, int]]


Results = dict[tuple[str, ...], bool]
"""Whether each change was killed."""


def drawn(name: str, most: int, known: Results) -> list[Mutant]:
    """Draw up to `most` mutants of a room: known ones that still exist, one for each place, then further ones."""
    order = places_of(name)
    found = {mutant.change: mutant for mutant in made_again(name, order, known)}
    while order and len(found) < most:
        for place in order:
            if len(found) < most and (mutant := next_of(name, place)):
                found.setdefault(mutant.change, mutant)
        order = [place for place in order if place.choices]
    return list(found.values())


def places_of(name: str) -> list[Place]:
    """Return the places of a room, first one in each module."""
    found: dict[str, Place] = {}
    for path in ROOMS[name].paths():
        source = path.read_text()
        lines = source.splitlines()
        for (start, end), operator, occurrence in changes(source):
            line = lines[start[0] - 1]
            alike = lines[: start[0]].count(line)
            key = f"{SEED} {path.name} {alike} {line} {start[1]} {end[1]}"
            found.setdefault(hashed(key), Place(path, line, [])).choices.append((operator, occurrence))
    for key, place in found.items():
        place.choices.sort(key=lambda choice: hashed(f"{key} {type(choice[0]).__name__}"))
    shuffled = [found[key] for key in sorted(found)]
    first: dict[Path, Place] = {}
    for place in shuffled:
        if place.path not in first and next_of(name, copy_of(place)):
            first[place.path] = place
    return sorted(shuffled, key=lambda place: place is not first.get(place.path))


def hashed(text: str) -> str:
    """Hash a text."""
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()


def made_again(name: str, places: Iterable[Place], known: Results) -> Iterator[Mutant]:
    """Make the mutants of known changes again."""
    lines = {before for _, before, _ in known}
    for place in places:
        line = " ".join(place.line.split())
        if line and any(before.startswith(line) for before in lines):
            copy = copy_of(place)
            yield from (mutant for mutant in iter(lambda: next_of(name, copy), None) if mutant.change in known)  # noqa: B023


def copy_of(place: Place) -> Place:
    """Copy a place, because `next_of` removes its choices."""
    return place._replace(choices=[*place.choices])


def next_of(name: str, place: Place) -> Mutant | None:
    """Return the next mutant of a place that changes the program."""
    from cosmic_ray.mutating import mutate_code

    source = place.path.read_text()
    while place.choices:
        code = mutate_code(source, *place.choices.pop())
        if code and program(code) not in (None, program(source)):
            return mutant_of(name, place.path.relative_to(ROOT / "src").as_posix(), source, code)
    return None


def changes(source: str) -> Iterator[tuple[Any, Any, int]]:
    """Yield each possible change: its place, the operator, and the number of the change."""
    importlib.import_module("parso")  # cosmic-ray finds its operators only after it
    from cosmic_ray.ast import ast_nodes, get_ast
    from cosmic_ray.plugins import get_operator, operator_names

    nodes = list(ast_nodes(get_ast(source)))
    for name in operator_names():
        if "Variable" in name:  # these need settings of their own
            continue
        operator = get_operator(name)()
        positions = [place for node in nodes for place in operator.mutation_positions(node)]
        for occurrence, position in enumerate(positions):
            yield position, operator, occurrence


def program(code: str) -> str | None:
    """Return the syntax tree of a module without annotations, or None for a syntax error."""
    try:
        tree = ast.parse(code)
    except SyntaxError:
        return None
    for node in ast.walk(tree):
        if isinstance(node, ast.arg):
            node.annotation = None
        elif isinstance(node, ast.FunctionDef):
            node.returns = None
        elif isinstance(node, ast.AnnAssign):
            node.annotation = ast.Constant(None)
    return ast.dump(tree)


def mutant_of(room: str, module: str, source: str, code: str) -> Mutant:
    """Describe a mutant by the lines that differ."""
    one, two = source.splitlines(), code.splitlines()
    _, first, last, start, end = next(
        step for step in difflib.SequenceMatcher(None, one, two, autojunk=False).get_opcodes() if step[0] != "equal"
    )
    before, after = (" ".join(" ".join(lines).split()) for lines in (one[first:last], two[start:end]))
    return Mutant(room, module, first + 1, before, re.sub(r"(?<=[(\[:]) +", "", after), code)
