"""Encoders with their weights: pretrained ones, and the light encoder, a table of subword vectors for CPUs.

The light encoder has no attention and no positions, so a window can be as long as a sentence. The tagger's convolutions
over the words see the neighbours of a word. The pretrained light encoder comes with weights for both, trained together
to predict the word vectors of a larger encoder. An untrained table starts as the principal components of the subword
vectors of another encoder.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import torch
import transformers
from safetensors.torch import load_file
from torch import Tensor, nn
from transformers import CONFIG_MAPPING, AutoConfig, AutoModel, PretrainedConfig, PreTrainedModel
from transformers.modeling_outputs import BaseModelOutput
from transformers.models.auto.modeling_auto import (
    MODEL_FOR_MASKED_LM_MAPPING_NAMES,
    MODEL_FOR_TOKEN_CLASSIFICATION_MAPPING_NAMES,
)
from transformers.utils import logging

from nestag.errors import InputError, SettingError, as_input_error
from nestag.model.encoders import fetch, out_of_reach

# Kinds of encoders that attend to every subword and take masks of four dimensions.
WHOLE_MASKS = ("bert", "camembert", "electra", "roberta", "xlm-roberta")
# For the first two, transformers downloads code on GPUs if `kernels` is installed; no weights limit the third.
REFUSED = {"mra", "yoso", "reformer"}
# The kinds of encoders that a model may name; others might load more than their own weights.
TEXT_ENCODERS = {*MODEL_FOR_MASKED_LM_MAPPING_NAMES, *MODEL_FOR_TOKEN_CLASSIFICATION_MAPPING_NAMES} - REFUSED
# Settings that encoders read in some version of transformers without having a default for them.
MORE_SETTINGS = {
    "attention_head_size", "conv_act", "conv_groups", "conv_kernel_size", "embedding_size",
    "global_attn_every_n_layers", "global_rope_theta", "head_dim", "local_rope_theta", "norm_rel_ebd", "pad_token_id",
    "partial_rotary_factor", "position_buckets", "rope_scaling", "rope_theta", "rotary_emb_base", "rotary_pct",
    "share_att_key", "talking_head",
}  # fmt: skip
# Maximum of settings whose names have these words; the size of the weights does not limit them.
LIMITS = {"layer": 1_000, "window": 1_024, "block": 1_024}

SIZE = 192  # of a subword vector; 5.9 million numbers for the 30,522 subwords of MiniLM
WEIGHTS, CONFIG = "model.safetensors", "config.json"
TABLE = "encoder.embeddings.weight"  # the subword vectors in the weights of a tagger


class LightConfig(PretrainedConfig):
    """The configuration of a light encoder."""

    model_type = "nestag-light"

    def __init__(self, vocab_size: int = 1, hidden_size: int = SIZE, **rest: Any) -> None:
        self.vocab_size = vocab_size
        self.hidden_size = hidden_size
        super().__init__(**rest)


class LightEncoder(PreTrainedModel):
    """A table of subword vectors with the interface of an encoder."""

    config_class = LightConfig

    def __init__(self, config: LightConfig) -> None:
        super().__init__(config)
        self.embeddings = nn.Embedding(config.vocab_size, config.hidden_size)
        self.post_init()  # type: ignore[no-untyped-call]

    @classmethod
    def from_table(cls, table: Tensor) -> LightEncoder:
        """Build an encoder from subword vectors: subwords x size."""
        encoder = cls(LightConfig(*table.shape))
        encoder.embeddings.weight.data.copy_(table)
        return encoder

    def get_input_embeddings(self) -> nn.Module:
        """Return the table."""
        return self.embeddings

    def forward(self, input_ids: Tensor, attention_mask: Tensor | None = None) -> BaseModelOutput:
        """Look up the vectors of subwords: windows x subwords x size."""
        return BaseModelOutput(last_hidden_state=self.embeddings(input_ids))


class LightStart(NamedTuple):
    """The weights from which the training of a light tagger starts."""

    encoder: LightEncoder
    layers: dict[str, Tensor]  # of the tagger, pretrained, by name; may be empty


def load_light(encoder: str, size: int = SIZE) -> LightStart:
    """Load a pretrained light encoder, or build one with vectors of `size` numbers from another encoder's table."""
    folder = Path(fetch(encoder))
    if not _is_pretrained_light(folder):
        table = load_encoder(encoder).get_input_embeddings().weight.detach()
        return LightStart(LightEncoder.from_table(principal_components(table, size)), {})
    with as_input_error("the light encoder cannot be loaded", str(folder)):
        layers = from_int8(load_file(folder / WEIGHTS))
        table = layers.pop(TABLE)
    if table.shape[1] != size:
        raise SettingError(
            f"light_size is {size}, and the pretrained vectors have {table.shape[1]} numbers; leave it out,"
            " or use light:minilm",
            encoder,
        )
    return LightStart(LightEncoder.from_table(table), layers)


def from_int8(stored: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Multiply the rows of int8 matrices by their scales; vectors are stored in float32.

    >>> from_int8({"a": torch.tensor([[64, -127]], dtype=torch.int8), "a.scale": torch.tensor([2.0])})["a"].tolist()
    [[128.0, -254.0]]
    """
    tensors: dict[str, Tensor] = {}
    for name, tensor in stored.items():
        if not name.endswith(".scale"):
            scale = stored.get(f"{name}.scale", torch.ones(len(tensor)))
            tensors[name] = tensor.float() * scale.view(-1, *[1] * (tensor.dim() - 1))
    return tensors


def _is_pretrained_light(folder: Path) -> bool:
    """Return whether a folder has the weights of a light tagger, in int8, instead of another encoder."""
    path = folder / CONFIG
    if not path.is_file():
        return False
    with as_input_error("cannot be read", str(path)):
        return LightEncoder.__name__ in (json.loads(path.read_bytes()).get("architectures") or ())


def principal_components(table: Tensor, size: int) -> Tensor:
    """Return the rows of a table in the `size` dimensions of most variance, scaled to a mean square of 1.

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
    """Load a pretrained encoder in float32; refuse one with missing weights or not of text."""
    folder = fetch(encoder)
    try:
        config = AutoConfig.from_pretrained(folder, trust_remote_code=False)
        if "/" in str(config._attn_implementation or ""):
            raise InputError(f"{config._attn_implementation} names code that would run; nestag never runs it", encoder)
        pretrained, info = AutoModel.from_pretrained(
            folder, config=config, trust_remote_code=False, dtype=torch.float32, output_loading_info=True
        )
    except (OSError, ValueError) as error:
        raise out_of_reach(encoder, error) from None
    if missing := [name for name in sorted(info["missing_keys"]) if not name.startswith("pooler.")]:
        raise InputError(f"{len(missing)} of its weights are missing, e.g. {missing[0]}; get it again", encoder)
    if not _is_text_encoder(kind := pretrained.config.model_type):
        raise InputError(f"{kind!r} is not an encoder of text; choose one such as bert or roberta", encoder)
    return pretrained


def random_encoder(settings: dict[str, Any]) -> Any:
    """Build an encoder of a configured kind with random weights."""
    kind = settings.pop("model_type")
    if kind == LightConfig.model_type:
        return LightEncoder(LightConfig(**settings))
    return AutoModel.from_config(AutoConfig.for_model(kind, **settings), trust_remote_code=False)


def takes_whole_masks(config: Any) -> bool:
    """Return whether an encoder treats a mask of four dimensions as one of two."""
    if config.model_type == LightConfig.model_type:
        return True  # it ignores masks
    recent = int(transformers.__version__.partition(".")[0]) >= 5
    return recent and config.model_type in WHOLE_MASKS and config._attn_implementation == "sdpa"


@contextmanager
def quiet_transformers() -> Iterator[None]:
    """Silence transformers' progress bars and notices, which quote settings of untrusted models."""
    level, has_bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(level)
        if has_bars:
            logging.enable_progress_bar()


def known_settings(stored: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings that an encoder of its kind has, so that none can name code or a file."""
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
    """Return whether a kind is an encoder of text without models inside, whose settings could name anything."""
    return kind in TEXT_ENCODERS and not getattr(CONFIG_MAPPING[kind], "sub_configs", None)
