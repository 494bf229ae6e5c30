"""Encoders with their weights: a pretrained one, or the light one, which is a table of subword vectors for CPUs.

The light encoder has no attention and no positions, so a window can be as long as a sentence. The tagger's convolutions
over the words see the neighbours of a word. Its folder has weights for both, which were trained together to predict
the word vectors of a larger encoder. Without such a folder, the table starts as the principal components of the subword
vectors of another encoder.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import torch
import transformers
from safetensors.torch import load_file, save_file
from torch import Tensor, nn
from transformers import CONFIG_MAPPING, AutoConfig, AutoModel, PretrainedConfig, PreTrainedModel
from transformers.modeling_outputs import BaseModelOutput
from transformers.models.auto.modeling_auto import (
    MODEL_FOR_MASKED_LM_MAPPING_NAMES,
    MODEL_FOR_TOKEN_CLASSIFICATION_MAPPING_NAMES,
)

from nestag.errors import InputError, SettingError, as_input_error
from nestag.model.encoders import fetch, out_of_reach

WHOLE_MASKS = ("bert", "camembert", "electra", "roberta", "xlm-roberta")
"""Kinds of encoders whose every subword sees every other, and whose masks can have four dimensions."""

REFUSED = {"mra", "yoso", "reformer"}
"""For the first two, transformers downloads code on GPUs if `kernels` is installed; no weights limit the third."""

TEXT_ENCODERS = {*MODEL_FOR_MASKED_LM_MAPPING_NAMES, *MODEL_FOR_TOKEN_CLASSIFICATION_MAPPING_NAMES} - REFUSED
"""The kinds of encoders that a model may name; others might load more than their own weights."""

MORE_SETTINGS = {
    "attention_head_size", "conv_act", "conv_groups", "conv_kernel_size", "embedding_size",
    "global_attn_every_n_layers", "global_rope_theta", "head_dim", "local_rope_theta", "norm_rel_ebd", "pad_token_id",
    "partial_rotary_factor", "position_buckets", "rope_scaling", "rope_theta", "rotary_emb_base", "rotary_pct",
    "share_att_key", "talking_head",
}  # fmt: skip
"""What encoders read from their configuration, in one version of transformers or another, without a default there."""

LIMITS = {"layer": 1_000, "window": 1_024, "block": 1_024}
"""Largest numbers in settings with these words: no weights limit shared layers, and windows that are padded."""

SIZE = 192
"""Numbers in a vector; 30,522 subwords of MiniLM are 5.9 million numbers."""

WEIGHTS = "model.safetensors"
TABLE = "encoder.embeddings.weight"
"""The table of subword vectors, as a tagger calls it."""


class LightConfig(PretrainedConfig):
    """The shape of a light encoder."""

    model_type = "nestag-light"

    def __init__(self, vocab_size: int = 1, hidden_size: int = SIZE, **rest: Any) -> None:
        self.vocab_size = vocab_size
        self.hidden_size = hidden_size
        super().__init__(**rest)


class LightEncoder(PreTrainedModel):
    """A table of subword vectors that is called as any encoder is."""

    config_class = LightConfig

    def __init__(self, config: LightConfig) -> None:
        super().__init__(config)
        self.embeddings = nn.Embedding(config.vocab_size, config.hidden_size)
        self.post_init()  # type: ignore[no-untyped-call]

    @classmethod
    def reduced(cls, table: Tensor, size: int) -> LightEncoder:
        """One whose vectors are the principal components of those of another encoder."""
        vectors = principal_components(table.detach(), size)
        encoder = cls(LightConfig(*vectors.shape))
        encoder.embeddings.weight.data.copy_(vectors)
        return encoder

    def get_input_embeddings(self) -> nn.Module:
        """The table."""
        return self.embeddings

    def forward(self, input_ids: Tensor, attention_mask: Tensor | None = None) -> BaseModelOutput:
        """The vectors of subwords: windows x subwords x size."""
        return BaseModelOutput(last_hidden_state=self.embeddings(input_ids))


class LightStart(NamedTuple):
    """Where training a light tagger starts."""

    encoder: LightEncoder
    layers: dict[str, Tensor]  # pretrained weights of the tagger's own layers, by name; empty if there are none


def load_light(encoder: str, size: int = SIZE) -> LightStart:
    """Load a pretrained light encoder, or make one whose vectors have `size` numbers from another encoder's table."""
    folder = Path(fetch(encoder))
    if not _is_pretrained_light(folder):
        return LightStart(LightEncoder.reduced(load_encoder(encoder).get_input_embeddings().weight, size), {})
    with as_input_error("the light encoder cannot be loaded", str(folder)):
        layers = from_int8(load_file(folder / WEIGHTS))
        table = layers.pop(TABLE)
    if table.shape[1] != size:
        raise SettingError(
            f"light_size is {size}, and the pretrained vectors have {table.shape[1]} numbers; leave it out,"
            " or use light:minilm",
            encoder,
        )
    light = LightEncoder(LightConfig(*table.shape))
    light.embeddings.weight.data.copy_(table)
    return LightStart(light, layers)


def save_light(folder: Path, weights: Mapping[str, Tensor], tokenizer: Any) -> None:
    """Save the weights of a light tagger without its heads as a pretrained encoder, in int8."""
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer.save_pretrained(folder)
    _forget_origin(folder / "tokenizer_config.json")
    save_file(to_int8(weights), folder / WEIGHTS)
    rows, size = weights[TABLE].shape
    settings = {"architectures": [LightEncoder.__name__], "vocab_size": rows, "hidden_size": size}
    (folder / "config.json").write_text(json.dumps(settings, indent=1) + "\n", encoding="utf-8")
    shutil.copymode(folder / "config.json", folder / WEIGHTS)  # safetensors lets only the owner read


def _forget_origin(path: Path) -> None:
    """Remove from a tokenizer's configuration how it was loaded here, and how texts were cut, which nestag decides."""
    own = ("is_local", "local_files_only", "max_length", "stride", "truncation_side", "truncation_strategy")
    stored = json.loads(path.read_text(encoding="utf-8"))
    kept = {name: value for name, value in stored.items() if name not in own}
    path.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")


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


def from_int8(stored: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Invert `to_int8`, up to rounding."""
    tensors: dict[str, Tensor] = {}
    for name, tensor in stored.items():
        if not name.endswith(".scale"):
            scale = stored.get(f"{name}.scale", torch.ones(len(tensor)))
            tensors[name] = tensor.float() * scale.view(-1, *[1] * (tensor.dim() - 1))
    return tensors


def _is_pretrained_light(folder: Path) -> bool:
    """Return whether a folder holds what `save_light` saved."""
    if not (folder / "config.json").is_file():
        return False
    with as_input_error("cannot be read", str(folder / "config.json")):
        config = json.loads((folder / "config.json").read_bytes())
        return LightEncoder.__name__ in (config.get("architectures") or ())


def principal_components(table: Tensor, size: int) -> Tensor:
    """The rows of a table in as many dimensions as keep most of their variance, which is 1 on average.

    >>> table = torch.tensor([[0.0, 1.0], [0.0, 5.0], [0.0, 3.0]])
    >>> [round(value, 2) for value in principal_components(table, 1).flatten().abs().tolist()]
    [1.22, 1.22, 0.0]
    """
    centred = (table - table.mean(0)).double()
    _, vectors = torch.linalg.eigh(centred.T @ centred)  # from the smallest variance to the largest
    largest = vectors[:, -size:].flip(1)
    signs = largest.gather(0, largest.abs().argmax(0, keepdim=True)).sign()  # so that all machines agree
    reduced: Tensor = centred @ (largest * signs)
    scale = reduced.square().mean().sqrt().clamp(min=1e-12)
    return (reduced / scale).float()


def load_encoder(encoder: str) -> Any:
    """The pretrained encoder of a name or folder, in float32; one that is not whole or reads no text is refused."""
    where = fetch(encoder)
    try:
        config = AutoConfig.from_pretrained(where, trust_remote_code=False)
        if "/" in str(config._attn_implementation or ""):
            raise InputError(f"{config._attn_implementation} names code that would run; nestag never runs it", encoder)
        pretrained, info = AutoModel.from_pretrained(
            where, config=config, trust_remote_code=False, dtype=torch.float32, output_loading_info=True
        )
    except (OSError, ValueError) as error:
        raise out_of_reach(encoder, error) from None
    if missing := [name for name in sorted(info["missing_keys"]) if not name.startswith("pooler.")]:
        raise InputError(f"{len(missing)} of its weights are missing, e.g. {missing[0]}; get it again", encoder)
    if not _is_text_encoder(kind := pretrained.config.model_type):
        raise InputError(f"{kind!r} is not an encoder of text; choose one such as bert or roberta", encoder)
    return pretrained


def random_encoder(settings: dict[str, Any]) -> Any:
    """An encoder of a configured kind, with random weights."""
    kind = settings.pop("model_type")
    if kind == LightConfig.model_type:
        return LightEncoder(LightConfig(**settings))
    return AutoModel.from_config(AutoConfig.for_model(kind, **settings), trust_remote_code=False)


def takes_whole_masks(config: Any) -> bool:
    """Whether an encoder takes a mask of four dimensions, and means by it what it means by one of two."""
    if config.model_type == LightConfig.model_type:
        return True  # it looks at none
    recent = int(transformers.__version__.partition(".")[0]) >= 5
    return recent and config.model_type in WHOLE_MASKS and config._attn_implementation == "sdpa"


def known_settings(stored: Mapping[str, Any]) -> dict[str, Any]:
    """Return those settings of an encoder that its kind has; nothing in them can name code or a file."""
    kind = stored["model_type"]
    if kind == LightConfig.model_type:
        known = {"vocab_size", "hidden_size"}
    elif _is_text_encoder(kind):
        known = {*AutoConfig.for_model(kind).to_dict()} - {*PretrainedConfig().to_dict()} | MORE_SETTINGS
    else:
        raise ValueError(f"{kind!r} is not an encoder of text that nestag takes")
    settings = {name: value for name, value in stored.items() if name in known}
    for name, value in settings.items():
        numbers = [number for number in (value if isinstance(value, list) else [value]) if isinstance(number, int)]
        limit = min((limit for word, limit in LIMITS.items() if word in name), default=max(numbers, default=0))
        if max(numbers, default=0) > limit:
            raise InputError(
                f"its encoder's {name} is {max(numbers):,}; the largest that nestag takes is {limit:,}", kind
            )
    return {"model_type": kind, **settings}


def _is_text_encoder(kind: Any) -> bool:
    """Whether a kind can be named: one that has no further models inside, whose settings could name anything."""
    return kind in TEXT_ENCODERS and not getattr(CONFIG_MAPPING[kind], "sub_configs", None)
