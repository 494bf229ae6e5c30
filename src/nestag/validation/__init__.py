"""Validation: dataclasses made from TOML, JSON or text, with every key and value checked.

    @dataclass(frozen=True)
    class Recipe:
        epochs: int = setting(12, minimum=1, help="passes over the training corpus")

    from_mapping(Recipe, {"epochs": 3}, "my.toml")        values as TOML and JSON have them
    from_text(Recipe, {"epochs": "3"}, "--set")           values as a command line has them
    changed(recipe, {"epochs": 3}, "train()")             a copy with other values
    to_mapping(recipe)                                    values as TOML and JSON have them

The annotation of a field says what it takes: int, float, str, bool, Literal, `X | None`, tuple, list, dict, Counter,
a NamedTuple (as a list or a table) or another dataclass (as a table). Limits are given with `setting`; those of a tuple
or dict hold for each of its values. NaN and infinity are refused everywhere.
"""

from nestag.validation.dataclass import (
    Described,
    changed,
    described,
    from_mapping,
    from_text,
    setting,
    to_mapping,
    validate,
)

__all__ = ["Described", "changed", "described", "from_mapping", "from_text", "setting", "to_mapping", "validate"]
