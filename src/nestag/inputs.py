"""Windows -> tensors for the tagger, and a tokenizer with what it says about itself."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor
from transformers import AutoTokenizer, PretrainedConfig, PreTrainedTokenizerBase

from nestag.batching import Subwords, Window, subwords, windows, with_context
from nestag.encoders import locate, out_of_reach
from nestag.errors import UnknownNameError
from nestag.model import IGNORED
from nestag.vocabulary import LabelIds


@dataclass(frozen=True)
class Reading:
    """Sentences as subwords, and the windows in which they are read."""

    texts: list[Subwords]
    windows: list[Window]


@dataclass(frozen=True)
class Reader:
    """A tokenizer, and how its subwords are put before an encoder."""

    tokenizer: Any  # a fast tokenizer of transformers
    window: int  # subwords an encoder reads at once, special ones included
    context: int = 0  # subwords up to which neighbouring sentences are added; 0 for none

    @property
    def _room(self) -> int:
        return self.window - 2

    def read(self, sentences: Sequence[Sequence[str]], documents: Sequence[str] | None = None) -> Reading:
        """Cut sentences into windows; with their documents' names, neighbours can be context."""
        texts = subwords(sentences, self.tokenizer, self._room)
        found = [window for number, text in enumerate(texts) for window in windows(number, text, self._room)]
        if self.context and documents is not None:
            found = list(with_context(found, texts, documents, min(self.context, self.window) - 2))
        return Reading(texts, [replace(window, size=window.size + 2) for window in found])

    def tensors(
        self, reading: Reading, batch: Sequence[Window], labels: Sequence[LabelIds] | None = None
    ) -> dict[str, Tensor]:
        """The inputs of `Tagger.forward` for some windows."""
        length = max(window.size for window in batch)
        count = max(window.last - window.first for window in batch)
        pad = self.tokenizer.pad_token_id or 0
        input_ids = torch.full((len(batch), length), pad)
        word = torch.full((len(batch), length), -1)
        attention = torch.zeros((len(batch), length), dtype=torch.long)
        shape = torch.full((len(batch), count), -1)
        wanted = torch.full((len(batch), count, 3), IGNORED)
        for row, window in enumerate(batch):
            text = reading.texts[window.sentence]
            ids, of = self._line(text, window)
            input_ids[row, : len(ids)] = torch.tensor(ids)
            word[row, : len(of)] = torch.tensor(of)
            attention[row, : len(ids)] = 1
            shape[row, : window.last - window.first] = torch.tensor(text.shapes[window.first : window.last])
            if labels is not None:
                kept = torch.tensor([part[window.keep_first : window.keep_last] for part in labels[window.sentence]])
                wanted[row, window.keep_first - window.first : window.keep_last - window.first] = kept.T
        inputs = {"input_ids": input_ids, "attention_mask": attention, "word": word, "shape": shape}
        return inputs if labels is None else {**inputs, "labels": wanted}

    def _line(self, text: Subwords, window: Window) -> tuple[list[int], list[int]]:
        """The subwords of a window with context and special ones, and the word that each belongs to."""
        begin, end = _edges(self.tokenizer)
        ids, of = [begin, *window.left], [-1] * (1 + len(window.left))
        for place, word in enumerate(text.words[window.first : window.last]):
            ids += word
            of += [place] * len(word)
        ids += [*window.right, end]
        return ids, of + [-1] * (len(window.right) + 1)


def _edges(tokenizer: Any) -> tuple[int, int]:
    """The special subwords before and after a text, whatever the tokenizer calls them."""
    begin = tokenizer.cls_token_id if tokenizer.cls_token_id is not None else tokenizer.bos_token_id
    end = tokenizer.sep_token_id if tokenizer.sep_token_id is not None else tokenizer.eos_token_id
    pad = tokenizer.pad_token_id or 0
    return (pad if begin is None else begin), (pad if end is None else end)


def load_tokenizer(encoder: str, config: PretrainedConfig | None = None) -> PreTrainedTokenizerBase:
    """The fast tokenizer of an encoder; a folder whose kind of model transformers does not know needs its config."""
    try:
        tokenizer = AutoTokenizer.from_pretrained(
            locate(encoder), config=config, trust_remote_code=False, add_prefix_space=True
        )
    except (OSError, ValueError) as error:
        raise out_of_reach(encoder, error) from None
    if not tokenizer.is_fast:
        raise UnknownNameError(f"the tokenizer of {encoder!r} cannot align words; use an encoder with a tokenizer.json")
    return tokenizer


def longest_window(config: Any, most: int) -> int:
    """How many subwords an encoder reads at once, at most `most`; RoBERTa's kind loses two positions to padding."""
    positions = int(getattr(config, "max_position_embeddings", 0) or most)
    if positions in (514, 1026, 4098):
        positions -= 2
    return min(most, positions)


def chunked(items: Iterator[Any] | Sequence[Any], size: int) -> Iterator[list[Any]]:
    """The items in lists of at most `size`."""
    chunk: list[Any] = []
    for item in items:
        chunk.append(item)
        if len(chunk) == size:
            yield chunk
            chunk = []
    if chunk:
        yield chunk
