"""The tagger: any pretrained encoder, word vectors, and one linear head each for n, c and u.

Tensors in, scores out. It knows nothing of files, words or labels. Its options take time linear in the sentence: how
the subwords of a word are pooled, an embedding of word shapes, convolutions over the words, and a span grid, which
finds more entities than the labels and improves the encoder.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import asdict, dataclass, fields
from itertools import count
from pathlib import Path
from threading import get_ident
from typing import Any, NamedTuple, Self

import torch
from safetensors.torch import load_file
from torch import Tensor, nn
from torch.nn.modules.module import (
    register_module_buffer_registration_hook,
    register_module_module_registration_hook,
    register_module_parameter_registration_hook,
)
from transformers import PretrainedConfig, PreTrainedModel

from nestag.data.validation import from_mapping, setting
from nestag.errors import InputError, as_input_error
from nestag.model.encoders import is_light
from nestag.model.layers import Convolution, SpanGrid, pool_subwords, remaining_words
from nestag.model.pretrained import (
    SIZE,
    known_settings,
    load_encoder,
    load_light,
    quiet_transformers,
    random_encoder,
    takes_whole_masks,
)
from nestag.model.settings import LayerSettings
from nestag.model.subwords import SHAPES

IGNORED = -100  # the label of words to skip in training
LARGEST = 2**22  # in a configuration; no vocabulary is that large
SPARE, SPARE_PARTS = 2**20, 1_000  # numbers that a model computes, such as positions, and modules without weights
REGISTRATIONS = (
    register_module_module_registration_hook,
    register_module_parameter_registration_hook,
    register_module_buffer_registration_hook,
)


@dataclass(frozen=True)
class TaggerSettings(LayerSettings):
    """What a tagger needs besides its encoder."""

    sizes: tuple[int, int, int] = setting((1, 1, 1), minimum=0)  # of the tables of n, c and u
    span_types: int = setting(0, minimum=0)  # types of the span grid; 0 for no grid
    span_width: int = setting(16, minimum=1, maximum=64)  # maximum words of a span in the grid


class TaggerConfig(PretrainedConfig):
    """The configuration of a tagger: that of its encoder, and the TaggerSettings."""

    model_type = "nestag"

    def __init__(self, encoder: dict[str, Any] | None = None, **settings: Any) -> None:
        own = {field.name: settings.pop(field.name) for field in fields(TaggerSettings) if field.name in settings}
        self.encoder = encoder or {"model_type": "bert"}
        vars(self).update(asdict(from_mapping(TaggerSettings, own, "config.json")))
        super().__init__(**settings)

    @classmethod
    def from_stored(cls, stored: Any) -> TaggerConfig:
        """Read the configuration of a model folder; unknown keys are ignored."""
        _refuse_large(stored)
        own = {field.name: stored[field.name] for field in fields(TaggerSettings) if field.name in stored}
        return cls(known_settings(stored["encoder"]), **own)


class TaggerOutput(NamedTuple):
    """The logits of the three heads for each word, and the loss if there are labels."""

    n: Tensor  # windows x words x size of the table
    c: Tensor
    u: Tensor
    loss: Tensor | None = None
    spans: Tensor | None = None  # windows x words x span width x types, if there is a span grid


class Tagger(PreTrainedModel):
    """An encoder with three heads."""

    config_class = TaggerConfig
    base_model_prefix = "encoder"
    _supports_sdpa = True
    _supports_flash_attn = True
    _supports_flash_attn_2 = True

    def __init__(self, config: TaggerConfig, encoder: nn.Module | None = None) -> None:
        super().__init__(config)
        self.encoder: Any = encoder or random_encoder(dict(config.encoder))
        if getattr(self.encoder, "pooler", None) is not None:
            self.encoder.pooler = None  # for whole sentences; nothing here reads it
        width: int = self.encoder.config.hidden_size  # type: ignore[union-attr, assignment]
        self.shapes = nn.Embedding(SHAPES, config.shape_size) if config.shape_size else None
        width += config.shape_size
        self.narrow = nn.Linear(width, config.conv_size) if config.conv_size else None
        width = config.conv_size or width
        layers = config.conv_layers if config.conv_size else 0
        self.convolutions = nn.ModuleList(Convolution(width) for _ in range(layers))
        self.width = width  # of the vectors of words
        self.dropout = nn.Dropout(config.dropout)
        self.heads = nn.ModuleList(nn.Linear(width, size) for size in config.sizes)
        self.spans = (
            SpanGrid(width, config.span_types, config.span_width, config.span_size, config.span_layers, config.dropout)
            if config.span_types
            else None
        )
        self.pretrained_layers: frozenset[str] = frozenset()  # names of weights above the encoder
        self.mask_whole = takes_whole_masks(self.encoder.config)
        self.post_init()  # type: ignore[no-untyped-call]
        super().train(self.training)  # a loaded encoder has its dropout switched off

    def _init_weights(self, module: nn.Module) -> None:
        """Initialize our own layers alone; the encoder initializes its own, or keeps pretrained ones."""
        if isinstance(module, nn.Linear) and any(module is head for head in self.heads):
            nn.init.normal_(module.weight, std=0.02)
            nn.init.zeros_(module.bias)
        elif module is self.shapes:
            nn.init.normal_(module.weight, std=0.02)

    def reset_heads(self) -> None:
        """Initialize the heads as nn.Linear does."""
        for head in self.heads:
            head.reset_parameters()  # type: ignore[operator]

    def drop_span_grid(self) -> None:
        """Remove the span grid."""
        self.spans, self.config.span_types = None, 0

    @property
    def reach(self) -> int:
        """The number of words on each side that influence a word above the encoder."""
        return len(self.convolutions)

    @classmethod
    def around(cls, encoder: str, light_size: int = SIZE, **settings: Any) -> Tagger:
        """Build a tagger with new heads on a pretrained encoder; vectors of a light one have `light_size` numbers."""
        pretrained, layers = load_light(encoder, light_size) if is_light(encoder) else (load_encoder(encoder), {})
        tagger = cls(TaggerConfig(encoder=known_settings(pretrained.config.to_dict()), **settings), pretrained)
        own = tagger.state_dict()
        fitting = {name: layer for name, layer in layers.items() if name in own and own[name].shape == layer.shape}
        tagger.load_state_dict(fitting, strict=False)
        tagger.pretrained_layers = frozenset(fitting)
        return tagger

    @classmethod
    def load(cls, stored: Any, weights: Path) -> Self:
        """Load a tagger from a stored configuration and a file of weights, which must fit exactly.

        transformers gets tensors and no path, so it cannot look for other files.
        """
        place = str(weights.parent)
        with as_input_error("the model cannot be loaded", place), quiet_transformers():
            config = TaggerConfig.from_stored(stored)
            tensors = {name: tensor.to(torch.float32, copy=True) for name, tensor in load_file(weights).items()}
            _refuse_more_than_stored(cls, config, tensors, place)
            from_pretrained: Any = super().from_pretrained
            model, info = from_pretrained(None, config=config, state_dict=tensors, output_loading_info=True)
            for what in ("missing_keys", "unexpected_keys", "mismatched_keys"):
                if info.get(what):
                    names = ", ".join(sorted(map(str, info[what]))[:3])
                    raise InputError(f"its weights do not fit: {what.replace('_', ' ')} {names}", place)
        tagger: Self = model
        return tagger

    def train(self, mode: bool = True) -> Tagger:
        """Switch dropout on or off, in every module if the mode changes."""
        return self if self.training == mode else super().train(mode)

    def forward(
        self,
        input_ids: Tensor,  # windows x subwords
        attention_mask: Tensor,  # windows x subwords
        word: Tensor,  # windows x subwords: which word of the window each is part of, -1 for none
        shape: Tensor,  # windows x words, -1 beyond the last one
        labels: Tensor | None = None,  # windows x words x 3, IGNORED to skip a word
    ) -> TaggerOutput:
        """Score every word of every window, and every span if there is a grid."""
        vectors = self.word_vectors(self.encode(input_ids, attention_mask), word, shape)
        n, c, u = (head(vectors) for head in self.heads)
        loss = None if labels is None else sum_losses((n, c, u), labels)
        spans = None if self.spans is None else self.spans(vectors, remaining_words(shape >= 0))
        return TaggerOutput(n, c, u, loss, spans)

    def word_vectors(self, hidden: Tensor, word: Tensor, shape: Tensor) -> Tensor:
        """Return the input of all heads from the encoder's vectors of subwords: windows x words x width."""
        vectors = pool_subwords(hidden, word, shape.shape[1], self.config.pooling)
        if self.shapes is not None:
            vectors = torch.cat([vectors, self.shapes(shape.clamp(min=0)).to(vectors.dtype)], dim=-1)
        if self.narrow is not None:
            vectors, present = self.narrow(self.dropout(vectors)), (shape >= 0)[..., None]
            for convolution in self.convolutions:
                vectors = convolution(vectors, present)
        dropped: Tensor = self.dropout(vectors)
        return dropped

    def encode(self, input_ids: Tensor, attention_mask: Tensor) -> Tensor:
        """Return the encoder's vectors of subwords: windows x subwords x width.

        transformers waits for a GPU to see whether a mask of two dimensions masks anything; it takes one of four
        dimensions as it is.
        """
        if self.mask_whole and attention_mask.is_cuda:
            attention_mask = attention_mask[:, None, None, :].bool()
        hidden: Tensor = self.encoder(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state
        return hidden


def _refuse_large(value: Any) -> None:
    """Refuse absurd numbers, which would exhaust the memory."""
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        _refuse_large(inner)
    if isinstance(value, int) and abs(value) > LARGEST:
        raise ValueError(f"{value:.3g} is too large a number")


def _refuse_more_than_stored(cls: type[Tagger], config: TaggerConfig, stored: Mapping[str, Tensor], place: str) -> None:
    """Refuse a configuration of more modules or weights than the file of weights has, before allocating many."""
    most, parts, thread = SPARE_PARTS + 10 * len(stored), count(1), get_ident()
    available, allocated = sum(tensor.numel() for tensor in stored.values()), 0

    def refuse_weights(needed: int) -> None:
        if needed > available + SPARE:
            raise InputError(
                f"its configuration asks for {needed:,} weights and the file of weights has {available:,}", place
            )

    def refuse_more(_: nn.Module, __: str, part: nn.Module | Tensor | None) -> None:
        nonlocal allocated
        if get_ident() != thread:
            return
        if next(parts) > most:
            raise InputError(f"its configuration asks for more than {most:,} modules and weights", place)
        if isinstance(part, Tensor) and not part.is_meta:  # a few encoders take memory even now
            allocated += part.numel()
            refuse_weights(allocated)

    with ExitStack() as hooks:
        for register in REGISTRATIONS:
            hooks.callback(register(refuse_more).remove)
        with torch.device("meta"):  # shapes alone
            tagger = cls(config)
    refuse_weights(sum(tensor.numel() for tensor in (*tagger.parameters(), *tagger.buffers())))


def sum_losses(scores: tuple[Tensor, Tensor, Tensor], labels: Tensor) -> Tensor:
    """Return the sum of the heads' cross-entropies, each the mean over its labelled words."""
    total = labels.new_zeros((), dtype=torch.float32)
    for head, score in enumerate(scores):
        target = labels[..., head].flatten()
        loss = nn.functional.cross_entropy(score.flatten(0, 1).float(), target, ignore_index=IGNORED, reduction="sum")
        total = total + loss / (target != IGNORED).sum().clamp(min=1)
    return total
