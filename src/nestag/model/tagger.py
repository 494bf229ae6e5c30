"""The tagger: any pretrained encoder, word vectors, and one linear head each for n, c and u.

Tensors in, scores out; it knows nothing of files, words or labels. Options, all linear in the sentence: how the
subwords of a word are pooled, an embedding of word shapes, convolutions over the words, and a span grid, which finds
more entities than the labels and improves the encoder.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from inspect import signature
from itertools import count
from pathlib import Path
from threading import get_ident
from typing import Any, NamedTuple, Self

import torch
from safetensors.torch import load_file
from torch import Tensor, nn
from torch.nn.modules.module import register_module_module_registration_hook
from transformers import PretrainedConfig, PreTrainedModel
from transformers.utils import logging

from nestag.errors import InputError, as_input_error
from nestag.model.encoders import is_light
from nestag.model.pretrained import SIZE, known_settings, load_encoder, load_light, random_encoder, takes_whole_masks
from nestag.model.span_grid import SpanGrid, remaining_words
from nestag.model.subwords import SHAPES

IGNORED = -100
POOLINGS = ("first", "last", "mean")
LARGEST = 2**22
"""The largest whole number in a configuration; no vocabulary is that large."""

SPARE, SPARE_MODULES = 2**20, 1_000
"""Numbers that a model may compute beyond its weights, such as positions, and modules that need not have weights."""


class TaggerConfig(PretrainedConfig):
    """What a tagger is made of."""

    model_type = "nestag"

    def __init__(
        self,
        encoder: dict[str, Any] | None = None,  # the encoder's own configuration
        sizes: tuple[int, int, int] = (1, 1, 1),  # of the tables of n, c and u
        pooling: str = "first",  # of a word's subwords: first, last or mean
        shape_size: int = 0,  # of the embedding of word shapes; 0 for none
        conv_size: int = 0,  # channels of the convolutions over words; 0 for none
        conv_layers: int = 2,  # how many of them
        dropout: float = 0.2,  # before the heads
        span_types: int = 0,  # types of the span grid; 0 for no grid
        span_width: int = 16,  # maximum words of a span in the grid
        span_size: int = 128,  # channels of the grid
        span_layers: int = 3,  # convolutions over the grid
        **rest: Any,
    ) -> None:
        self.encoder = encoder or {"model_type": "bert"}
        self.sizes = tuple(sizes)
        self.pooling = pooling
        self.shape_size = shape_size
        self.conv_size = conv_size
        self.conv_layers = conv_layers
        self.dropout = dropout
        self.span_types = span_types
        self.span_width = span_width
        self.span_size = span_size
        self.span_layers = span_layers
        super().__init__(**rest)

    @classmethod
    def of_stored(cls, stored: Any) -> TaggerConfig:
        """Return one of what a model folder has; keys that nestag does not know are ignored."""
        _refuse_large(stored)
        own = set(signature(cls.__init__).parameters) - {"self", "rest"}
        settings = {name: value for name, value in stored.items() if name in own}
        return cls(**{**settings, "encoder": known_settings(stored["encoder"])})


class TaggerOutput(NamedTuple):
    """The three heads' scores for each word, and the loss if labels were given."""

    n: Tensor  # windows x words x size of the table
    c: Tensor
    u: Tensor
    loss: Tensor | None = None
    spans: Tensor | None = None  # windows x words x span width x types, if there is a span grid


class Convolution(nn.Module):
    """A gated residual convolution over neighbouring words; words beyond the last count as zero."""

    def __init__(self, size: int, kernel: int = 3) -> None:
        super().__init__()
        self.reach = kernel // 2
        self.norm = nn.LayerNorm(size)
        self.conv = nn.Conv1d(size, 2 * size, kernel, padding=kernel // 2)

    def forward(self, vectors: Tensor, present: Tensor) -> Tensor:
        """Mix the vectors of neighbouring words.

        It is one multiplication of matrices, because convolutions of PyTorch take longer on a CPU.
        """
        inner = nn.functional.pad(self.norm(vectors) * present, (0, 0, self.reach, self.reach))
        words = vectors.shape[1]
        seen = torch.cat([inner[:, at : at + words] for at in range(2 * self.reach + 1)], dim=-1)
        weight = self.conv.weight.transpose(1, 2).flatten(1)  # 2 size x kernel size
        mixed = nn.functional.linear(seen, weight, self.conv.bias)  # windows x words x 2 size
        added: Tensor = vectors + nn.functional.glu(mixed, dim=-1)
        return added


class Tagger(PreTrainedModel):
    """An encoder with three heads."""

    config_class = TaggerConfig
    base_model_prefix = "encoder"
    _supports_sdpa = True
    _supports_flash_attn = True
    _supports_flash_attn_2 = True

    def __init__(self, config: TaggerConfig, encoder: nn.Module | None = None) -> None:
        """Build it with an encoder of the configured kind, or around one that exists."""
        super().__init__(config)
        if config.pooling not in POOLINGS:
            raise ValueError(f"pooling is {config.pooling!r}; it takes {', '.join(POOLINGS)}")
        self.encoder: Any = encoder or random_encoder(dict(config.encoder))
        if getattr(self.encoder, "pooler", None) is not None:
            self.encoder.pooler = None  # made for whole sentences; nothing here reads it
        width: int = self.encoder.config.hidden_size  # type: ignore[union-attr, assignment]
        self.shapes = nn.Embedding(SHAPES, config.shape_size) if config.shape_size else None
        width += config.shape_size
        self.narrow = nn.Linear(width, config.conv_size) if config.conv_size else None
        width = config.conv_size or width
        layers = config.conv_layers if config.conv_size else 0
        self.convolutions = nn.ModuleList(Convolution(width) for _ in range(layers))
        self.width = width  # of the vectors that all heads see
        self.dropout = nn.Dropout(config.dropout)
        self.heads = nn.ModuleList(nn.Linear(width, size) for size in config.sizes)
        self.spans = (
            SpanGrid(width, config.span_types, config.span_width, config.span_size, config.span_layers, config.dropout)
            if config.span_types
            else None
        )
        self.mask_whole = takes_whole_masks(self.encoder.config)
        self.post_init()  # type: ignore[no-untyped-call]
        super().train(self.training)  # an encoder that was loaded has its dropout switched off

    def _init_weights(self, module: nn.Module) -> None:
        """Fresh weights for our own layers alone: the encoder initializes its own, and keeps pretrained ones."""
        if isinstance(module, nn.Linear) and any(module is head for head in self.heads):
            nn.init.normal_(module.weight, std=0.02)
            nn.init.zeros_(module.bias)
        elif module is self.shapes:
            nn.init.normal_(module.weight, std=0.02)

    def reset_heads(self) -> None:
        """Give the heads the weights that nn.Linear begins with."""
        for head in self.heads:
            head.reset_parameters()  # type: ignore[operator]

    def drop_span_grid(self) -> None:
        """Remove the span grid."""
        self.spans, self.config.span_types = None, 0

    @property
    def reach(self) -> int:
        """How many words on each side of a word are looked at above the encoder."""
        return sum(layer.reach for layer in self.convolutions if isinstance(layer, Convolution))

    @classmethod
    def around(cls, encoder: str, light_size: int = SIZE, **settings: Any) -> Tagger:
        """A tagger around a pretrained encoder, whose heads are still to be trained.

        The vectors of a light encoder get `light_size` numbers.
        """
        pretrained, layers = load_light(encoder, light_size) if is_light(encoder) else (load_encoder(encoder), {})
        tagger = cls(TaggerConfig(encoder=known_settings(pretrained.config.to_dict()), **settings), pretrained)
        own = tagger.state_dict()
        fitting = {name: layer for name, layer in layers.items() if name in own and own[name].shape == layer.shape}
        tagger.load_state_dict(fitting, strict=False)
        return tagger

    @classmethod
    def loaded(cls, stored: Any, weights: Path) -> Self:
        """Build a tagger from a stored configuration and a file of weights; weights must fit exactly.

        transformers gets what was read and no path, so it cannot look for other files.
        """
        place = str(weights.parent)
        with as_input_error("the model cannot be loaded", place), _quiet():
            config = TaggerConfig.of_stored(stored)
            tensors = {name: tensor.to(torch.float32, copy=True) for name, tensor in load_file(weights).items()}
            _refuse_more_than_stored(cls, config, tensors, place)
            loading: Any = super().from_pretrained
            model, info = loading(None, config=config, state_dict=tensors, output_loading_info=True)
            for what in ("missing_keys", "unexpected_keys", "mismatched_keys"):
                if info.get(what):
                    names = ", ".join(sorted(map(str, info[what]))[:3])
                    raise InputError(f"its weights do not fit: {what.replace('_', ' ')} {names}", place)
        loaded: Self = model
        return loaded

    def train(self, mode: bool = True) -> Tagger:
        """Switch dropout on or off; what is so already is not looked at module by module."""
        return self if self.training == mode else super().train(mode)

    def forward(
        self,
        input_ids: Tensor,  # windows x subwords
        attention_mask: Tensor,  # windows x subwords
        word: Tensor,  # windows x subwords: which word of the window each is part of, -1 for none
        shape: Tensor,  # windows x words, -1 beyond the last one
        labels: Tensor | None = None,  # windows x words x 3, IGNORED where nothing is to be learned
    ) -> TaggerOutput:
        """Score every word of every window, and every span if there is a grid."""
        vectors = self.word_vectors(self.encoded(input_ids, attention_mask), word, shape)
        n, c, u = (head(vectors) for head in self.heads)
        loss = None if labels is None else summed_loss((n, c, u), labels)
        spans = None if self.spans is None else self.spans(vectors, remaining_words(shape >= 0))
        return TaggerOutput(n, c, u, loss, spans)

    def word_vectors(self, hidden: Tensor, word: Tensor, shape: Tensor) -> Tensor:
        """What all heads see, from the encoder's vectors of subwords: windows x words x width."""
        vectors = pooled(hidden, word, shape.shape[1], self.config.pooling)
        if self.shapes is not None:
            vectors = torch.cat([vectors, self.shapes(shape.clamp(min=0)).to(vectors.dtype)], dim=-1)
        if self.narrow is not None:
            vectors, present = self.narrow(self.dropout(vectors)), (shape >= 0)[..., None]
            for convolution in self.convolutions:
                vectors = convolution(vectors, present)
        dropped: Tensor = self.dropout(vectors)
        return dropped

    def encoded(self, input_ids: Tensor, attention_mask: Tensor) -> Tensor:
        """The encoder's vectors of subwords: windows x subwords x width.

        Given a mask of two dimensions, transformers looks whether it masks anything, for which a GPU has to be waited
        for; a mask of four dimensions is taken as it is.
        """
        whole = (
            attention_mask[:, None, None, :].bool() if self.mask_whole and attention_mask.is_cuda else attention_mask
        )
        hidden: Tensor = self.encoder(input_ids=input_ids, attention_mask=whole).last_hidden_state
        return hidden


def _refuse_large(value: Any) -> None:
    """Refuse absurd numbers, for which a configuration or its model would take memory without end."""
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        _refuse_large(inner)
    if isinstance(value, int) and abs(value) > LARGEST:
        raise ValueError(f"{value:.3g} is too large a number")


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep transformers' progress bar and notices off the error stream: they quote settings as they are.

    The tagger checks its weights itself.
    """
    level, bar = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(level)
        if bar:
            logging.enable_progress_bar()


def _refuse_more_than_stored(cls: type[Tagger], config: TaggerConfig, stored: Mapping[str, Tensor], place: str) -> None:
    """Refuse a configuration that asks for more than the file of weights has, before memory is taken for it."""
    most, modules, thread = SPARE_MODULES + 10 * len(stored), count(1), get_ident()

    def refuse_more(*_: Any) -> None:
        if get_ident() == thread and next(modules) > most:
            raise InputError(f"its configuration asks for more than {most:,} modules", place)

    hook = register_module_module_registration_hook(refuse_more)
    try:
        with torch.device("meta"):  # shapes alone
            planned = cls(config)
    finally:
        hook.remove()
    asked = sum(tensor.numel() for tensor in (*planned.parameters(), *planned.buffers()))
    has = sum(tensor.numel() for tensor in stored.values())
    if asked > has + SPARE:
        raise InputError(f"its configuration asks for {asked:,} weights and the file of weights has {has:,}", place)


def pooled(hidden: Tensor, word: Tensor, words: int, pooling: str) -> Tensor:
    """One vector for each word of its subwords' vectors; subwords of no word (-1) go to a row that is dropped."""
    batch, length, width = hidden.shape
    target = torch.where(word < 0, words, word)  # windows x subwords
    if pooling == "mean":
        total = hidden.new_zeros(batch, words + 1, width).scatter_add_(1, target[..., None].expand_as(hidden), hidden)
        count = hidden.new_zeros(batch, words + 1).scatter_add_(1, target, torch.ones_like(target, dtype=hidden.dtype))
        return total[:, :words] / count[:, :words, None].clamp(min=1)
    place = torch.arange(length, device=word.device).expand_as(word)
    if pooling == "first":
        at = place.new_full((batch, words + 1), length - 1).scatter_reduce_(1, target, place, "amin")
    else:
        at = place.new_zeros(batch, words + 1).scatter_reduce_(1, target, place, "amax")
    return hidden.gather(1, at[:, :words, None].expand(-1, -1, width))


def summed_loss(scores: tuple[Tensor, Tensor, Tensor], labels: Tensor) -> Tensor:
    """The three heads' cross-entropies, added, each the mean over the words to be learned."""
    total = labels.new_zeros((), dtype=torch.float32)
    for head, score in enumerate(scores):
        wanted = labels[..., head].flatten()
        loss = nn.functional.cross_entropy(score.flatten(0, 1).float(), wanted, ignore_index=IGNORED, reduction="sum")
        total = total + loss / (wanted != IGNORED).sum().clamp(min=1)
    return total
