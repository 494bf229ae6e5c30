"""Type names are unique in the package."""

import ast
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import nestag

SOURCES = Path(nestag.__file__).parent


def types_of(source: str) -> Iterator[str]:
    """The public classes and type aliases of a module, such as `Floats = NDArray[np.float64]`."""
    tree = ast.parse(source)
    yield from (node.name for node in tree.body if isinstance(node, ast.ClassDef) and node.name[0] != "_")
    for node in tree.body:
        targets = (
            node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
        )
        for target in targets:
            name = target.id if isinstance(target, ast.Name) else ""
            if name[:1].isupper() and (not name.isupper()):
                yield name


def test_type_names_of_a_module_are_collected() -> None:
    source = "X = 1\nLIMIT: int = 2\nFloats = list[float]\nGroup: TypeAlias = int\nclass Tally:\n    class _Row: ...\n"
    assert sorted(types_of(source)) == ["Floats", "Group", "Tally"]


def test_type_names_are_unique() -> None:
    places = defaultdict(set)
    for path in SOURCES.rglob("*.py"):
        for name in types_of(path.read_text()):
            places[name].add(path.relative_to(SOURCES).as_posix())
    assert {name: sorted(found) for name, found in places.items() if len(found) > 1} == {}
