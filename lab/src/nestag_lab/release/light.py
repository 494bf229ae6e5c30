"""A pretrained light encoder as a folder: weights in int8, and a tokenizer."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file
from torch import Tensor

from nestag.model.pretrained import CONFIG, TABLE, WEIGHTS, LightEncoder

LOCAL_SETTINGS = ("is_local", "local_files_only", "max_length", "stride", "truncation_side", "truncation_strategy")
"""Settings of a tokenizer that say how it was loaded, or that nestag chooses."""


def save_light(folder: Path, weights: Mapping[str, Tensor], tokenizer: Any) -> None:
    """Save the weights of a light tagger without its heads as a pretrained encoder, in int8."""
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer.save_pretrained(folder)
    path = folder / "tokenizer_config.json"
    stored = json.loads(path.read_text(encoding="utf-8"))
    _write_json(path, {name: value for name, value in stored.items() if name not in LOCAL_SETTINGS})
    save_file(to_int8(weights), folder / WEIGHTS)
    rows, size = weights[TABLE].shape
    _write_json(folder / CONFIG, {"architectures": [LightEncoder.__name__], "vocab_size": rows, "hidden_size": size})
    shutil.copymode(folder / CONFIG, folder / WEIGHTS)  # safetensors lets only the owner read


def _write_json(path: Path, value: Mapping[str, Any]) -> None:
    path.write_text(json.dumps(value, indent=1) + "\n", encoding="utf-8")


def to_int8(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return matrices as int8 with a scale for each row, and vectors as they are.

    >>> {name: tensor.tolist() for name, tensor in to_int8({"a": torch.tensor([[127.0, -254.0]])}).items()}
    {'a': [[64, -127]], 'a.scale': [2.0]}
    """
    stored: dict[str, Tensor] = {}
    for name, tensor in tensors.items():
        stored[name] = tensor = tensor.detach().float().cpu().contiguous()
        if tensor.dim() > 1:
            rows = tensor.flatten(1)
            scale = (rows.abs().amax(1) / 127).clamp(min=1e-12)
            stored[name] = (rows / scale[:, None]).round().to(torch.int8).view(tensor.shape)
            stored[f"{name}.scale"] = scale
    return stored
