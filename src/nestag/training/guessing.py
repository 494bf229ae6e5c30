"""Guessing hidden words: what an encoder learns from text without entities, as BERT did.

The head is tied to the encoder's own subwords, so that any encoder can guess, also one whose head was not published.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, gelu, linear

HIDDEN = 0.2
"""Share of the words that is to be guessed."""

MASKED, REPLACED = 0.8, 0.1
"""Of those, the share that is masked, and that is replaced by any other subword; the rest stays as it is."""


class Guess(NamedTuple):
    """How a batch was guessed."""

    loss: Tensor
    right: Tensor  # subwords
    asked: Tensor  # subwords


class Guesser(nn.Module):
    """An encoder, and a head that guesses hidden subwords."""

    def __init__(self, encoder: Any, mask: int) -> None:
        super().__init__()
        self.encoder, self.mask = encoder, mask
        subwords, size = encoder.get_input_embeddings().weight.shape
        self.narrow = nn.Linear(encoder.config.hidden_size, size)
        nn.init.normal_(self.narrow.weight, std=0.02)
        nn.init.zeros_(self.narrow.bias)
        self.norm = nn.LayerNorm(size)
        self.bias = nn.Parameter(torch.zeros(subwords))

    @property
    def head(self) -> list[nn.Parameter]:
        """The weights that are new."""
        return [*self.narrow.parameters(), *self.norm.parameters(), self.bias]

    def forward(self, input_ids: Tensor, attention_mask: Tensor, word: Tensor) -> Guess:
        """Hide words and guess them."""
        shown, asked = hidden(input_ids, word, self.mask, len(self.bias))
        vectors = self.encoder(input_ids=shown, attention_mask=attention_mask).last_hidden_state[asked]
        subwords = self.encoder.get_input_embeddings().weight
        scores = linear(self.norm(gelu(self.narrow(vectors))), subwords, self.bias).float()
        right, wanted = (scores.argmax(-1) == input_ids[asked]).sum(), asked.sum()
        loss = cross_entropy(scores, input_ids[asked], reduction="sum") / wanted.clamp(min=1)
        return Guess(loss, right, wanted)


def hidden(input_ids: Tensor, word: Tensor, mask: int, subwords: int) -> tuple[Tensor, Tensor]:
    """Subwords with some whole words hidden, and which of them are to be guessed."""
    chosen = torch.rand(input_ids.shape, device=input_ids.device) < HIDDEN  # by the number of the word
    asked = chosen.gather(1, word.clamp(min=0)) & (word >= 0)
    fate = torch.rand(input_ids.shape, device=input_ids.device)
    shown = torch.where(asked & (fate < MASKED), mask, input_ids)
    any_other = torch.randint_like(input_ids, subwords)
    return torch.where(asked & (fate >= 1 - REPLACED), any_other, shown), asked
