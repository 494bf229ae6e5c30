"""A model on its way to the workers: the bytes of its files, so that no worker needs the folder it came from."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from nestag.files import reading
from nestag.model_folder import GRAPH, MANIFEST, has_graph, local_folder, read_json
from nestag.model_folder import WEIGHTS as TORCH
from nestag.predictor import Predictor
from nestag.saved_model import SavedModel

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
    folder = local_folder(path)
    saved = SavedModel.opened(folder, GRAPH if has_graph(folder) else TORCH, changes or {})
    _ = saved.settings.verified_by
    names = sorted([*read_json(folder / MANIFEST)["files"], MANIFEST])
    files = {name: _content(folder / name) for name in names}
    digests = "".join(f"{name} {hashlib.sha256(data).hexdigest()}\n" for name, data in files.items())
    return Packed(files, hashlib.sha256(digests.encode()).hexdigest())


def load(model: Packed, device: str, changes: dict[str, Any]) -> Predictor:
    """The recognizer that a packed model is."""
    with TemporaryDirectory(prefix="nestag-") as scratch:
        folder = Path(scratch)
        for name, data in model.files.items():
            (folder / name).write_bytes(data)
        if model.is_graph:
            from nestag.runtime import OnnxNER

            return OnnxNER.from_pretrained(folder, device, threads=THREADS, **changes)
        return _load_torch(folder, device, changes)


def _load_torch(folder: Path, device: str, changes: dict[str, Any]) -> Predictor:
    import torch
    from transformers.utils import logging

    from nestag.recognizer import NestedNER

    logging.disable_progress_bar()
    logging.set_verbosity_error()
    if device == "cpu":
        torch.set_num_threads(THREADS)
    return NestedNER.from_pretrained(folder, device, **changes)


def _content(path: Path) -> bytes:
    with reading(path) as stream:
        return stream.read()
