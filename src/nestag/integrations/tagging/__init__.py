"""Exports: a corpus as another sequence labeling library wants it, and that library's predictions as entities.

A module in this folder offers its target as `TARGET`; nothing else has to know of it but the command line.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pkgutil import iter_modules

from nestag.integrations.tagging.target import Target


@cache
def available() -> dict[str, type[Target]]:
    """Every target by name.

    >>> sorted(available())
    ['conll', 'hf', 'machamp']
    """
    modules = (import_module(f"{__name__}.{module.name}") for module in iter_modules(__path__))
    return {module.TARGET.name: module.TARGET for module in modules if hasattr(module, "TARGET")}
