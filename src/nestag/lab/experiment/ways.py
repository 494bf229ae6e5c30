"""The ways in which an experiment decodes each model."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

from nestag.predictor import Settings

Way = Literal["greedy-first", "greedy-majority", "legal"]
"""The paper's text (first name of a node), the authors' code (most frequent name), and the best legal labels."""

_CHANGES: dict[Way, dict[str, Any]] = {
    "greedy-first": {"decoding": "greedy", "naming": "first"},
    "greedy-majority": {"decoding": "greedy", "naming": "majority"},
    "legal": {"decoding": "legal"},
}
WAYS: tuple[Way, ...] = tuple(_CHANGES)
GREEDY: tuple[Way, ...] = WAYS[:2]


def decoded(settings: Settings, way: Way) -> Settings:
    """The settings of a recognizer that decodes in a way.

    >>> decoded(Settings(), "greedy-majority").naming
    'majority'
    """
    return replace(settings, **_CHANGES[way])
