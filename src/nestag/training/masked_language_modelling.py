"""Masked language modelling, as in BERT: text in windows of one width, and an encoder with a head for masked words.

The head is tied to the encoder's own subword vectors, so it works with any encoder, also one published without a head.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, gelu, linear

from nestag.data.document import document_of
from nestag.data.sentence import Sentence
from nestag.model.subwords import Layout, LayoutMaker, Subwords, joined, windows_of

CHUNK = 10_000
"""Sentences that are in memory at once while a text is read."""


class PackedText(NamedTuple):
    """A text in windows, and what tells it from others."""

    layout: Layout
    fingerprint: str


def packed(maker: LayoutMaker, sentences: Iterable[Sentence]) -> PackedText:
    """Sentences in windows of as many of one document as fit; of a stream, only their subwords are kept."""
    source, digest = iter(sentences), hashlib.sha256()
    parts = [maker.table.subwords([])]
    documents: list[int] = []  # a number for each sentence, another one where another document begins
    last: str | None = None
    while chunk := list(islice(source, CHUNK)):
        parts.append(maker.table.subwords([sentence.tokens for sentence in chunk]))
        for sentence in chunk:
            name = document_of(sentence)
            documents.append((documents[-1] if documents else 0) + (name != last))
            last = name
            digest.update(json.dumps([sentence.tokens, name]).encode())
    subwords = Subwords(*map(np.concatenate, zip(*parts, strict=True)))
    windows = windows_of(subwords, maker.max_length - 2, "disjoint")
    return PackedText(
        Layout(subwords, joined(windows, documents, maker.max_length - 2), maker.special), digest.hexdigest()
    )


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
