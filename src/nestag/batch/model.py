"""A model for workers: the bytes of its files, so that workers need no access to its folder."""

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
"""Threads of a worker on a CPU: workers run in parallel, and with one thread the bits do not depend on the machine."""


@dataclass(frozen=True)
class ModelFiles:
    """The files of a model by name, and a hash of all of them."""

    files: dict[str, bytes]
    hash: str

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return sum(map(len, self.files.values()))

    @property
    def is_onnx(self) -> bool:
        """Whether onnxruntime runs the model."""
        return GRAPH in self.files

    def check_libraries(self) -> None:
        """Raise an error if a library that runs the model is missing here."""
        extra, names = ("onnx", ("onnxruntime", "tokenizers")) if self.is_onnx else ("model", ("torch", "transformers"))
        for name in names:
            if find_spec(name) is None:
                raise MissingExtraError(f"the model needs {name}", extra)

    def load(self, device: str, changes: Mapping[str, Any]) -> Predictor:
        """Load the recognizer; on a CPU it uses one thread."""
        with TemporaryDirectory(prefix="nestag-") as scratch:
            folder = Path(scratch)
            for name, data in self.files.items():
                (folder / name).write_bytes(data)
            if self.is_onnx:
                return load(folder, device, threads=THREADS, **changes)
            if device == "cpu":
                import torch

                torch.set_num_threads(THREADS)
            return load(folder, device, **changes)


def read_model(path: str, changes: Mapping[str, Any] | None = None) -> ModelFiles:
    """Read and check a model in a folder or on the hub; refuse settings that it cannot have."""
    saved = open_model(path, changes=changes)
    files = {name: (saved.folder / name).read_bytes() for name in sorted([*saved.files, MANIFEST])}
    digests = "".join(f"{name} {hashlib.sha256(data).hexdigest()}\n" for name, data in files.items())
    return ModelFiles(files, hashlib.sha256(digests.encode()).hexdigest())
