"""The tagger: any pretrained encoder, word vectors, and one linear head each for n, c and u.

Tensors in, scores out; it knows nothing of files, words or labels. Options that stay linear in the sentence: how the
subwords of a word are pooled, an embedding of word shapes, and a BiLSTM layer over the words.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from transformers import AutoConfig, AutoModel, PretrainedConfig, PreTrainedModel

from nestag.batching import SHAPES
from nestag.encoders import locate, out_of_reach

IGNORED = -100


class TaggerConfig(PretrainedConfig):
    """What a tagger is made of."""

    model_type = "nestag"

    def __init__(
        self,
        encoder: dict[str, Any] | None = None,  # the encoder's own configuration
        sizes: tuple[int, int, int] = (1, 1, 1),  # of the tables of n, c and u
        pooling: str = "first",  # of a word's subwords: first, last or mean
        shape_size: int = 0,  # of the embedding of word shapes; 0 for none
        lstm_size: int = 0,  # of each direction of the BiLSTM over words; 0 for none
        dropout: float = 0.2,  # before the heads
        **rest: Any,
    ) -> None:
        self.encoder = encoder or {"model_type": "bert"}
        self.sizes = tuple(sizes)
        self.pooling = pooling
        self.shape_size = shape_size
        self.lstm_size = lstm_size
        self.dropout = dropout
        super().__init__(**rest)


class Scores(NamedTuple):
    """The three heads' scores for each word, and the loss if labels were given."""

    n: Tensor  # windows x words x size of the table
    c: Tensor
    u: Tensor
    loss: Tensor | None = None


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
        settings = dict(config.encoder)
        self.encoder: Any = encoder or AutoModel.from_config(
            AutoConfig.for_model(settings.pop("model_type"), **settings)
        )
        if getattr(self.encoder, "pooler", None) is not None:
            self.encoder.pooler = None  # made for whole sentences; nothing here reads it
        width: int = self.encoder.config.hidden_size  # type: ignore[union-attr, assignment]
        self.shapes = nn.Embedding(SHAPES, config.shape_size) if config.shape_size else None
        width += config.shape_size
        self.lstm = nn.LSTM(width, config.lstm_size, batch_first=True, bidirectional=True) if config.lstm_size else None
        width = 2 * config.lstm_size or width
        self.dropout = nn.Dropout(config.dropout)
        self.heads = nn.ModuleList(nn.Linear(width, size) for size in config.sizes)
        self.post_init()  # type: ignore[no-untyped-call]

    def _init_weights(self, module: nn.Module) -> None:
        """Fresh weights for our own layers alone: the encoder initializes its own, and keeps pretrained ones."""
        if isinstance(module, nn.Linear) and any(module is head for head in self.heads):
            nn.init.normal_(module.weight, std=0.02)
            nn.init.zeros_(module.bias)
        elif module is self.shapes:
            nn.init.normal_(module.weight, std=0.02)

    @classmethod
    def around(cls, encoder: str, **settings: Any) -> Tagger:
        """A tagger around a pretrained encoder, whose heads are still to be trained."""
        try:
            pretrained = AutoModel.from_pretrained(locate(encoder), trust_remote_code=False, dtype=torch.float32)
        except (OSError, ValueError) as error:
            raise out_of_reach(encoder, error) from None
        return cls(TaggerConfig(encoder=pretrained.config.to_dict(), **settings), pretrained)

    def forward(
        self,
        input_ids: Tensor,  # windows x subwords
        attention_mask: Tensor,  # windows x subwords
        word: Tensor,  # windows x subwords: which word of the window each is part of, -1 for none
        shape: Tensor,  # windows x words, -1 beyond the last one
        labels: Tensor | None = None,  # windows x words x 3, IGNORED where nothing is to be learned
    ) -> Scores:
        """Score every word of every window."""
        hidden = self.encoder(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state
        vectors = pooled(hidden, word, shape.shape[1], self.config.pooling)  # windows x words x width
        if self.shapes is not None:
            vectors = torch.cat([vectors, self.shapes(shape.clamp(min=0)).to(vectors.dtype)], dim=-1)
        vectors = self.dropout(vectors)
        if self.lstm is not None:
            vectors = self.dropout(self._over_words(vectors, (shape >= 0).sum(1)))
        n, c, u = (head(vectors) for head in self.heads)
        return Scores(n, c, u, None if labels is None else summed_loss((n, c, u), labels))

    def _over_words(self, vectors: Tensor, lengths: Tensor) -> Tensor:
        """The BiLSTM over the words that are there, not over the padding."""
        assert self.lstm is not None
        packed = nn.utils.rnn.pack_padded_sequence(vectors, lengths.cpu(), batch_first=True, enforce_sorted=False)
        output, _ = nn.utils.rnn.pad_packed_sequence(
            self.lstm(packed)[0], batch_first=True, total_length=vectors.shape[1]
        )
        return output


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
