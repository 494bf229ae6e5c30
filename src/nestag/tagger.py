"""The tagger: any pretrained encoder, word vectors, and one linear head each for n, c and u.

Tensors in, scores out; it knows nothing of files, words or labels. Options, all linear in the sentence: how the
subwords of a word are pooled, an embedding of word shapes, convolutions over the words, and a head that judges given
spans, from which the encoder learns more while it is trained.
"""

from __future__ import annotations

from math import prod
from pathlib import Path
from typing import Any, NamedTuple

import torch
import transformers
from safetensors import safe_open
from torch import Tensor, nn
from transformers import AutoConfig, AutoModel, PretrainedConfig, PreTrainedModel
from transformers.models.auto.modeling_auto import (
    MODEL_FOR_MASKED_LM_MAPPING_NAMES,
    MODEL_FOR_TOKEN_CLASSIFICATION_MAPPING_NAMES,
)

from nestag.encoders import is_light, locate, out_of_reach
from nestag.errors import InputError
from nestag.light_encoder import SIZE, LightConfig, LightEncoder
from nestag.model_folder import WEIGHTS
from nestag.span_head import SpanHead
from nestag.subwords import SHAPES

IGNORED = -100
POOLINGS = ("first", "last", "mean")
WHOLE_MASKS = ("bert", "camembert", "electra", "roberta", "xlm-roberta")
"""Kinds of encoders whose every subword sees every other, and whose masks can have four dimensions."""

TEXT_ENCODERS = {*MODEL_FOR_MASKED_LM_MAPPING_NAMES, *MODEL_FOR_TOKEN_CLASSIFICATION_MAPPING_NAMES}
"""The kinds of encoders that a model may name; others might load more than their own weights."""

SPARE = 2**20
"""Numbers that a model may compute beyond its weights, such as the positions of subwords."""


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
        span_types: int = 0,  # types that the head for spans tells apart; 0 for no such head
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
        super().__init__(**rest)


class TaggerOutput(NamedTuple):
    """The three heads' scores for each word, and the loss if labels were given."""

    n: Tensor  # windows x words x size of the table
    c: Tensor
    u: Tensor
    loss: Tensor | None = None
    spans: Tensor | None = None  # spans x types, if spans were given
    vectors: Tensor | None = None  # windows x words x width: what all heads see


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
        self.encoder: Any = encoder or _encoder_of(dict(config.encoder))
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
        self.spans = SpanHead(width, config.span_types, config.dropout) if config.span_types else None
        self.mask_whole = _takes_whole_masks(self.encoder.config)
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

    @property
    def reach(self) -> int:
        """How many words on each side of a word are looked at above the encoder."""
        return sum(layer.reach for layer in self.convolutions if isinstance(layer, Convolution))

    @classmethod
    def around(cls, encoder: str, light_size: int = SIZE, **settings: Any) -> Tagger:
        """A tagger around a pretrained encoder, whose heads are still to be trained.

        The vectors of a light encoder get `light_size` numbers.
        """
        pretrained = load_encoder(encoder)
        if is_light(encoder):
            pretrained = LightEncoder.reduced(pretrained.get_input_embeddings().weight, light_size)
        return cls(TaggerConfig(encoder=pretrained.config.to_dict(), **settings), pretrained)

    @classmethod
    def loaded(cls, folder: Path) -> Tagger:
        """A tagger from a folder that `save_pretrained` made; weights that do not fit exactly are refused."""
        loading: Any = cls.from_pretrained
        options = {"use_safetensors": True, "local_files_only": True, "dtype": torch.float32}
        try:
            _refuse_more_than_stored(cls, folder)
            model, info = loading(str(folder), **options, output_loading_info=True)
        except (InputError, MemoryError):
            raise
        except Exception as error:  # noqa: BLE001 - a stranger's files can make transformers fail in any way
            reason = " ".join(str(error).split())[:300]
            raise InputError(f"the model cannot be loaded ({reason}); was it saved by nestag?", str(folder)) from None
        for what in ("missing_keys", "unexpected_keys", "mismatched_keys"):
            if info.get(what):
                names = ", ".join(sorted(map(str, info[what]))[:3])
                raise InputError(f"its weights do not fit: {what.replace('_', ' ')} {names}", str(folder))
        found: Tagger = model
        return found

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
        spans: Tensor | None = None,  # spans x 3: window, first word, last word
    ) -> TaggerOutput:
        """Score every word of every window, and spans if any are given."""
        vectors = self.word_vectors(self.encoded(input_ids, attention_mask), word, shape)
        n, c, u = (head(vectors) for head in self.heads)
        loss = None if labels is None else summed_loss((n, c, u), labels)
        judged = None
        if self.spans is not None and spans is not None:
            judged = self.spans.in_windows(vectors, shape >= 0, spans)
        return TaggerOutput(n, c, u, loss, judged, vectors)

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


def load_encoder(encoder: str) -> Any:
    """The pretrained encoder of a name or folder, in float32; one that is not whole or reads no text is refused."""
    where = locate(encoder)
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
    if (kind := pretrained.config.model_type) not in TEXT_ENCODERS:
        raise InputError(f"{kind!r} is no encoder of text; choose one such as bert or roberta", encoder)
    return pretrained


def _encoder_of(settings: dict[str, Any]) -> Any:
    """An encoder of a configured kind, with random weights."""
    kind = settings.pop("model_type")
    if kind == LightConfig.model_type:
        return LightEncoder(LightConfig(**settings))
    if kind not in TEXT_ENCODERS:
        raise ValueError(f"{kind!r} is no encoder of text that transformers has")
    return AutoModel.from_config(AutoConfig.for_model(kind, **settings), trust_remote_code=False)


def _takes_whole_masks(config: Any) -> bool:
    """Whether an encoder takes a mask of four dimensions, and means by it what it means by one of two."""
    if config.model_type == LightConfig.model_type:
        return True  # it looks at none
    recent = int(transformers.__version__.partition(".")[0]) >= 5
    return recent and config.model_type in WHOLE_MASKS and config._attn_implementation == "sdpa"


def _refuse_more_than_stored(cls: type[Tagger], folder: Path) -> None:
    """Refuse a configuration that asks for more weights than the file has, before memory is taken for them."""
    config = TaggerConfig.from_pretrained(str(folder), local_files_only=True)
    with torch.device("meta"):  # shapes alone
        planned = cls(config)
    asked = sum(tensor.numel() for tensor in (*planned.parameters(), *planned.buffers()))
    with safe_open(folder / WEIGHTS, "pt") as file:
        stored = sum(prod(file.get_slice(name).get_shape()) for name in file.keys())  # noqa: SIM118 - it is no mapping
    if asked > stored + SPARE:
        raise InputError(f"its configuration asks for {asked:,} weights and {WEIGHTS} has {stored:,}", str(folder))


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
