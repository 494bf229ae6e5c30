"""Graphs of fewer, larger operations: attention as one, and norms and activations with what stands before them.

They are operations of onnxruntime, which runs the graphs of nestag anyway. Written out, attention alone is a dozen
operations in each layer, most of which only copy.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from nestag.light_encoder import LightConfig
from nestag.runtime import installed

NAME = "nestag_one_operation"
HIDDEN = -10_000.0
"""Added to the score of a subword that is not to be seen; its weight is zero then."""


@contextmanager
def attention_as_one(encoder: Any, plain_masks: bool) -> Iterator[None]:
    """Let an encoder be exported with one operation for attention, if its masks say no more than what is padding."""
    recent = hasattr(torch.onnx, "ops")  # torch 2.8 or later
    if not (recent and plain_masks) or encoder.config.model_type == LightConfig.model_type:
        yield
        return
    import_module("transformers").AttentionInterface.register(NAME, _attention)
    import_module("transformers.masking_utils").AttentionMaskInterface.register(NAME, _mask)
    before = encoder.config._attn_implementation
    encoder.set_attn_implementation(NAME)
    try:
        yield
    finally:
        encoder.set_attn_implementation(before)


def _attention(
    module: Any, query: Tensor, key: Tensor, value: Tensor, mask: Tensor, scaling: float, **_: Any
) -> tuple[Tensor, None]:
    """A place for the operation: windows x heads x subwords x size -> windows x subwords x heads x size."""
    windows, heads, subwords, size = query.shape
    flat = [part.transpose(1, 2).reshape(windows, -1, heads * size) for part in (query, key, value)]
    found = torch.onnx.ops.symbolic(
        "com.microsoft::MultiHeadAttention",
        (*flat, None, mask.to(torch.int32)),
        {"num_heads": heads, "scale": scaling, "mask_filter_value": HIDDEN},
        dtype=query.dtype,
        shape=(windows, subwords, heads * size),
        version=1,
    )
    return found.view(windows, subwords, heads, size), None


def _mask(*_: Any, attention_mask: Tensor, **__: Any) -> Tensor:
    """The mask as it was given: windows x subwords."""
    return attention_mask


def fuse(path: Path) -> None:
    """Join norms with the sums before them, and activations with biases, in the graph of a file."""
    optimizer = installed("onnxruntime.transformers.optimizer")
    options = installed("onnxruntime.transformers.fusion_options").FusionOptions("bert")
    options.enable_attention = False  # it is one operation already, or of a kind that is not known there
    joined = optimizer.optimize_model(str(path), model_type="bert", optimization_options=options, opt_level=0)
    joined.save_model_to_file(str(path))
