"""The tokenizer of a model: one of the library `tokenizers`, without transformers."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from nestag.errors import as_input_error

SPECIAL = {
    "cls_token": ("cls_token", "bos_token"),
    "sep_token": ("sep_token", "eos_token"),
    "pad_token": ("pad_token",),
    "unk_token": ("unk_token",),
    "mask_token": ("mask_token",),
}
"""The special tokens that are used, each with the names that transformers has for it; the first one wins."""


class WordTokenizer:
    """A tokenizer of sentences that are split into words, with the interface of transformers."""

    bos_token_id = eos_token_id = None  # cls and sep replace them

    def __init__(
        self, inner: Any, cls: int | None, sep: int | None, pad: int | None, unk: int | None, mask: int | None = None
    ) -> None:
        """Wrap a `tokenizers.Tokenizer` with the ids of its special tokens; padding and truncation are switched off."""
        inner.no_padding()
        inner.no_truncation()
        self.inner = inner
        self.cls_token_id, self.sep_token_id, self.pad_token_id = cls, sep, pad
        self.unk_token_id, self.mask_token_id = unk, mask

    @classmethod
    def of(cls, tokenizer: Any) -> WordTokenizer:
        """Wrap what is inside a fast tokenizer of transformers."""
        return cls.with_tokens(tokenizer.backend_tokenizer, tokenizer.special_tokens_map)

    @classmethod
    def with_tokens(cls, inner: Any, names: Mapping[str, Any]) -> WordTokenizer:
        """Look up the ids of special tokens that are named as in a `tokenizer_config.json`."""
        return cls(inner, *(_id(inner, [names.get(alias) for alias in aliases]) for aliases in SPECIAL.values()))

    def tokenizer_config(self) -> str:
        """Return a `tokenizer_config.json`, with which transformers can load the tokenizer too."""
        tokens = {name: getattr(self, f"{name}_id") for name in SPECIAL}
        names = {name: self.inner.id_to_token(number) for name, number in tokens.items() if number is not None}
        return json.dumps({"tokenizer_class": "PreTrainedTokenizerFast", **names}, indent=1) + "\n"

    def __call__(self, text: Any, *, is_split_into_words: bool = True, add_special_tokens: bool = False) -> Encoded:
        """Tokenize the words of a sentence, or of several."""
        assert is_split_into_words
        single = isinstance(text[0], str)
        with as_input_error("a sentence cannot be tokenized", "tokenizer.json"):
            encodings = self.inner.encode_batch(
                [text] if single else text, is_pretokenized=True, add_special_tokens=add_special_tokens
            )
        return Encoded(encodings, single)


class Encoded:
    """The result of a tokenizer, with the interface of transformers."""

    def __init__(self, encodings: Sequence[Any], single: bool) -> None:
        self._encodings, self._single = encodings, single  # single: of one sentence instead of a list

    def __getitem__(self, name: Literal["input_ids"]) -> Any:
        ids = [encoding.ids for encoding in self._encodings]
        return ids[0] if self._single else ids

    def word_ids(self) -> list[int | None]:
        """Return the word of each subword of the first sentence."""
        ids: list[int | None] = self._encodings[0].word_ids
        return ids


def _id(inner: Any, names: Sequence[Any]) -> int | None:
    """Return the id of the first name that is not None; transformers 4 writes some names as tables."""
    texts = (name.get("content") if isinstance(name, Mapping) else name for name in names if name)
    return next((inner.token_to_id(str(text)) for text in texts), None)
