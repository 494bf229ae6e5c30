"""A saved model is one thing: a manifest binds its files together, and nothing in it can run.

The manifest names every file with its sha256 and is written last. A folder without one is not a finished model; a file
that is missing or changed is refused. Settings may be edited by hand, which is said.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from nestag.errors import InputError
from nestag.files import read_text, writing, writing_together
from nestag.files.paths import refuse_empty
from nestag.hub import download

MANIFEST = "manifest.json"
SETTINGS = "nestag.json"
VOCABULARY = "vocabulary.json"
WEIGHTS = "model.safetensors"
GRAPH = "model.onnx"
SPAN_GRAPH = "spans.onnx"
CONFIG = "config.json"
CARD = "README.md"
ADAPTED = "adaptation.json"
"""What an adapted encoder has and a model has not."""

FORMAT = 1
"""The layout of the folder; one of another layout is refused."""

MOST_PARTS = 1_000
"""Layers, heads, labels and the like of a model; they are made before the weights can say that there are fewer."""

EDITABLE = (SETTINGS,)
REQUIRED = {CONFIG, VOCABULARY, SETTINGS, "tokenizer.json"}
LOADED_BY = {
    WEIGHTS: "torch; load it with nestag.NestedNER, or make one for onnxruntime with: nestag export onnx MODEL DIR",
    GRAPH: "onnxruntime; load it with nestag.runtime.OnnxNER",
}
"""What computes with each kind of weights, and how it is had; a model has one kind."""

_PLAIN = re.compile(r"[\w.-]+")
_PARTS = re.compile(r"num_\w*|n_layers?|\w*layers|inner_group_num|block_sizes")
"""Settings that say how many parts transformers makes."""
_RUNNABLE = {
    "auto_map", "custom_pipelines", "attn_implementation", "_attn_implementation", "kernel_config",
    "quantization_config", "backbone", "backbone_kwargs", "use_timm_backbone", "use_pretrained_backbone",
}  # fmt: skip
_LOADED_UNASKED = ("adapter_config.json", "model.safetensors.index.json")
"""Files that transformers would load too if they are there; the second may point out of the folder."""
_READ_WITH_TOKENIZER = {
    "tokenizer_config.json", "special_tokens_map.json", "added_tokens.json", "chat_template.json",
    "processor_config.json", "vocab.txt", "vocab.json", "merges.txt", "spiece.model", "sentencepiece.bpe.model",
    "tokenizer.model",
}  # fmt: skip
"""Files that transformers reads with a tokenizer if they are there."""


class EditedModelWarning(UserWarning):
    """Settings of a model were changed after it was saved."""


def local_folder(path: str, revision: str | None = None, token: str | None = None) -> Path:
    """The folder of a model: the path itself, or what the hub holds under that name."""
    refuse_empty(path)
    if Path(path).is_dir():
        return Path(path)
    if path.startswith((".", "/", "~")) or path.count("/") != 1:
        raise InputError(
            "there is no such folder; give a folder saved by training, or a hub name such as you/model", path
        )
    return download(path, revision, token)


def write_manifest(folder: Path) -> None:
    """Bind the files of a folder together; this makes it a finished model."""
    bound = [path for path in sorted(folder.iterdir()) if path.is_file() and _bound(path.name)]
    for path in bound:
        _sync(path)  # or the manifest could be on the disk before what it speaks for
    files = {path.name: _digest(path) for path in bound}
    with writing(folder / MANIFEST) as stream:
        stream.write(json.dumps({"format": FORMAT, "files": files}, indent=1) + "\n")


def copy_model(folder: Path, target: Path) -> None:
    """Copy the files that a manifest binds together, and the card; the manifest comes last."""
    names = [*_files(read_json(folder / MANIFEST), folder), CARD, MANIFEST]
    target.mkdir(parents=True, exist_ok=True)
    for name in names:
        if (folder / name).is_file():
            shutil.copyfile(folder / name, target / name)


def change_settings(folder: str | Path, values: Mapping[str, Any]) -> None:
    """Store other settings in a saved model, and their sha256 with them; unknown ones are refused when it is loaded."""
    place = Path(folder)
    refuse_unfinished(place)
    manifest = read_json(place / MANIFEST)
    _files(manifest, place)
    settings = {**read_json(place / SETTINGS), **values}
    with writing_together(place) as new:
        (new / SETTINGS).write_text(json.dumps(settings, indent=1) + "\n", encoding="utf-8")
        manifest["files"][SETTINGS] = _digest(new / SETTINGS)
        (new / MANIFEST).write_text(json.dumps(manifest, indent=1) + "\n", encoding="utf-8")


def is_finished(folder: Path) -> bool:
    """Whether a folder holds a model that was saved to the end."""
    return (folder / MANIFEST).is_file()


def refuse_unfinished(folder: Path) -> None:
    """Refuse a folder that holds no model, or one that was not saved to the end."""
    if not is_finished(folder):
        raise InputError(f"there is no {MANIFEST} in it; give a folder saved by training", str(folder))


def has_graph(folder: Path) -> bool:
    """Whether a folder holds a model for onnxruntime."""
    return is_finished(folder) and GRAPH in _files(read_json(folder / MANIFEST), folder)


def check_folder(folder: Path, weights: str = WEIGHTS) -> None:
    """Refuse a folder that is not what was saved; settings that were edited are only mentioned."""
    refuse_unfinished(folder)
    files = _files(read_json(folder / MANIFEST), folder)
    if weights not in files:
        raise InputError(f"it is a model for {LOADED_BY[GRAPH if GRAPH in files else WEIGHTS]}", str(folder))
    for name, digest in files.items():
        path = folder / name
        if not path.is_file():
            raise InputError(f"{name} is missing; copy the whole folder again, or train again", str(folder))
        _refuse_outside(path, folder)
        if _digest(path) != digest:
            if name not in EDITABLE:
                raise InputError(f"{name} is not the file that was saved; copy the folder again", str(folder))
            warnings.warn(f"{folder / name} was edited after the model was saved", EditedModelWarning, stacklevel=4)
    for name in _READ_WITH_TOKENIZER - set(files):
        if os.path.lexists(folder / name):
            raise InputError(f"{name} is not one of the files that were saved; remove it", str(folder))
    _refuse_code(folder)


def _refuse_outside(path: Path, folder: Path) -> None:
    """Refuse a link that leads out of the folder; those of the hub's own cache lead to its blobs."""
    real = folder.resolve()
    if path.resolve().parent not in (real, real.parent.parent / "blobs"):
        raise InputError(f"{path.name} is a link that leads out of the folder; copy the file itself", str(folder))


def read_json(path: Path) -> Any:
    """A JSON file of a model."""
    try:
        return json.loads(read_text(path))
    except (ValueError, RecursionError) as error:
        raise InputError(f"cannot be read as JSON ({error}); copy the model again", str(path)) from None


def _files(manifest: Any, folder: Path) -> Mapping[str, str]:
    """The files of a manifest, all of them plain names in the folder itself."""
    version = manifest.get("format") if isinstance(manifest, dict) else None
    if version != FORMAT:
        raise InputError(f"the model has the format {version!r}, and this nestag reads {FORMAT}", str(folder))
    files = manifest.get("files")
    if isinstance(files, dict) and ADAPTED in files:
        raise InputError("it is an adapted encoder and not a model; make one: nestag train --encoder", str(folder))
    if not isinstance(files, dict) or not set(files) >= REQUIRED or not set(files) & set(LOADED_BY):
        raise InputError(f"{MANIFEST} does not list the files of a model; copy the folder again", str(folder))
    for name, digest in files.items():
        if not _PLAIN.fullmatch(name) or not isinstance(digest, str):
            raise InputError(f"{MANIFEST} lists {name!r}, which is no file of a model", str(folder))
    return files


def _refuse_code(folder: Path) -> None:
    """Refuse configurations that name code to be loaded with the model, and files that no model of ours has."""
    for name in _LOADED_UNASKED:
        if (folder / name).exists():
            raise InputError(f"{name} is no file of a model of nestag; remove it", str(folder))
    for name in (CONFIG, "tokenizer_config.json"):
        if (folder / name).is_file():
            for key, value in _entries(read_json(folder / name)):
                _refuse_entry(key, value, folder / name)


def _refuse_entry(key: str, value: Any, path: Path) -> None:
    if key in _RUNNABLE:
        raise InputError(f"{key!r} names code that would run with the model; nestag never runs it", str(path))
    for number in value if isinstance(value, list) else [value]:
        if _PARTS.fullmatch(key) and isinstance(number, int | float) and number > MOST_PARTS:
            raise InputError(f"{key} is {number!r}, more than {MOST_PARTS:,}; was it saved by nestag?", str(path))


def _entries(value: Any) -> Iterator[tuple[str, Any]]:
    """Every key of JSON with its value, however deep."""
    left = [value]
    while left:
        inner = left.pop()
        if isinstance(inner, dict):
            yield from inner.items()
        left += inner.values() if isinstance(inner, dict) else inner if isinstance(inner, list) else ()


def _bound(name: str) -> bool:
    """Whether a file is part of the model: not the card, not what hides, not what training left."""
    return (
        not name.startswith(".")
        and name.endswith((".json", ".safetensors", ".onnx", ".txt", ".model"))
        and name
        not in (
            MANIFEST,
            "run.json",
        )
    )


def _sync(path: Path) -> None:
    with path.open("rb+") as stream:
        os.fsync(stream.fileno())


def _digest(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
