"""Models of either kind, loaded by whatever computes with them: torch, or onnxruntime if they were exported."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from nestag.errors import MissingExtraError
from nestag.model_folder import has_graph, local_folder
from nestag.predictor import Predictor


def load(
    path: str | Path,
    device: str | None = None,
    *,
    revision: str | None = None,
    token: str | None = None,
    **settings: Any,
) -> Predictor:
    """The recognizer of a folder or of a name on the hub; keyword arguments change its settings."""
    folder = local_folder(str(path), revision, token)
    if has_graph(folder):
        from nestag.runtime import OnnxNER

        return OnnxNER.from_pretrained(folder, device, **settings)
    try:
        from nestag.recognizer import NestedNER
    except ModuleNotFoundError as error:
        raise MissingExtraError(f"the model needs {error.name}", "model") from None
    return NestedNER.from_pretrained(folder, device, **settings)
