"""A model on its way to the workers: the bytes of its files, so that no worker needs the folder it came from."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from nestag.errors import MissingExtraError
from nestag.model.model_folder import GRAPH, MANIFEST, load, open_model
from nestag.model.predictor import Predictor

THREADS = 1
"""Threads of a worker on a processor: workers run side by side, and one thread gives the same bits everywhere."""


@dataclass(frozen=True)
class Packed:
    """The files of a model by name, and one hash of them all."""

    files: dict[str, bytes]
    hash: str

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return sum(map(len, self.files.values()))

    @property
    def is_graph(self) -> bool:
        """Whether onnxruntime runs it."""
        return GRAPH in self.files


def pack(path: str, changes: Mapping[str, Any] | None = None) -> Packed:
    """A model of a folder or of a name on the hub, checked; settings that it cannot have are refused too."""
    saved = open_model(path, changes=changes)
    files = {name: (saved.folder / name).read_bytes() for name in sorted([*saved.files, MANIFEST])}
    digests = "".join(f"{name} {hashlib.sha256(data).hexdigest()}\n" for name, data in files.items())
    return Packed(files, hashlib.sha256(digests.encode()).hexdigest())


def refuse_missing_library(model: Packed) -> None:
    """Raise an error if a library that runs the model is missing here."""
    extra, names = ("onnx", ("onnxruntime", "tokenizers")) if model.is_graph else ("model", ("torch", "transformers"))
    for name in names:
        if find_spec(name) is None:
            raise MissingExtraError(f"the model needs {name}", extra)


def unpack(model: Packed, device: str, changes: dict[str, Any]) -> Predictor:
    """Load the recognizer of a packed model, to compute with one thread."""
    with TemporaryDirectory(prefix="nestag-") as scratch:
        folder = Path(scratch)
        for name, data in model.files.items():
            (folder / name).write_bytes(data)
        if model.is_graph:
            return load(folder, device, threads=THREADS, **changes)
        if device == "cpu":
            import torch

            torch.set_num_threads(THREADS)
        return load(folder, device, **changes)
