"""The encodings by name: `encode` and `decode` for one sentence.

Another package calls `register`, or names its encoding as an entry point of the group `nestag.encodings`, which is
looked up when a name is unknown:

    [project.entry-points."nestag.encodings"]
    mine = "my_package.mine:MyEncoding"         # the class, which is made without arguments
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import entry_points

from nestag.data.sentence import Entity, Sentence
from nestag.data.tree import Name, Tree
from nestag.encodings.base import Absolute, Encoding, Label, Naming
from nestag.encodings.depth import AbsoluteDepth, DynamicDepth, RelativeDepth
from nestag.encodings.tetra import TetraTagging
from nestag.errors import LabelError, UnknownNameError

__all__ = [
    "Absolute",
    "Encoding",
    "Label",
    "Name",
    "Naming",
    "available",
    "decode",
    "encode",
    "encoding",
    "register",
    "repairs",
]

ENTRY_POINTS = "nestag.encodings"
_PACKAGED: dict[str, Encoding] = {
    encoding.name: encoding for encoding in (AbsoluteDepth(), RelativeDepth(), DynamicDepth(), TetraTagging())
}
_registered: dict[str, Encoding] = {}


def available() -> dict[str, Encoding]:
    """Return every encoding by name, those of this package first.

    >>> sorted(available())
    ['4tg', 'abs', 'dyn', 'rel']
    """
    return {**_PACKAGED, **_registered}


def register(new: Encoding) -> None:
    """Make an encoding known by its name; an earlier one of that name is replaced."""
    if new.name in _PACKAGED:
        raise LabelError(f"nestag has an encoding called {new.name!r}; give yours another name")
    _registered[new.name] = new


def encoding(name: str | Encoding) -> Encoding:
    """Return the encoding of that name; an encoding itself is returned as it is.

    >>> encoding("bio")
    Traceback (most recent call last):
    nestag.errors.UnknownNameError: no encoding is called 'bio'; there are 4tg, abs, dyn, rel
    """
    if isinstance(name, Encoding):
        return name
    if isinstance(name, str) and name not in available():
        for point in entry_points(group=ENTRY_POINTS, name=name):
            register(point.load()())
    try:
        return available()[name]
    except (KeyError, TypeError):
        raise UnknownNameError(
            f"no encoding is called {name!r}; there are {', '.join(sorted(available()))}."
            " If it is your own, import the module that registers it"
        ) from None


def encode(sentence: Sentence, by: str | Encoding, order: Sequence[str] = ()) -> list[Label]:
    """Return one label for each token; types over the same tokens follow `order` (a vocabulary's), else their names.

    >>> encode(Sentence(["the", "USA"], [Entity(0, 2, "GPE")]), "rel")[0]
    Label(n=2, c=Name(types=('GPE',), root=True, prime=False), u=())
    """
    return encoding(by).encode(Tree.from_entities(len(sentence), sentence.entities, order))


def decode(labels: Sequence[Label], by: str | Encoding, naming: Naming = "first") -> tuple[Entity, ...]:
    """Return the entities that the labels describe, in canonical order; any well-formed labels are repaired.

    >>> decode([Label(1, Name((), root=True), ("PER",)), Label(-9, Name(("ORG",)), ())], "rel")
    (Entity(start=0, end=1, type='PER'),)
    """
    return encoding(by).decode(labels, naming).entities()


def repairs(labels: Sequence[Label], by: str | Encoding, naming: Naming = "first") -> int:
    """Return how many labels differ from those of the entities that they decode to; 0 if no repair was needed.

    >>> repairs([Label(1, Name((), root=True), ()), Label(-9, Name((), root=True), ())], "rel")
    1
    """
    chosen = encoding(by)
    repaired = chosen.encode(chosen.decode(labels, naming))
    return sum(label != right for label, right in zip(labels, repaired, strict=True))
