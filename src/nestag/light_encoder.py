"""The light encoder, for CPUs: a table of subword vectors and nothing else.

The vectors are those with which a pretrained encoder begins, reduced to their principal components. There is no
attention and no position, so a window may be as long as a sentence is. What stands around a word is seen by the
convolutions of the tagger, which come after the subwords of a word have become one vector.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from transformers import PretrainedConfig, PreTrainedModel
from transformers.modeling_outputs import BaseModelOutput

SIZE = 192
"""Numbers in a vector; 30,522 subwords of MiniLM are 5.9 million numbers."""


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
