"""NestedNER, the recognizer that users load, call and save."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch
from transformers import AutoTokenizer, PreTrainedTokenizerBase

from nestag.encodings.vocabulary import Vocabulary
from nestag.errors import InputError, SettingError, UnknownNameError, as_input_error
from nestag.model.encoders import fetch, longest_window, out_of_reach, upload
from nestag.model.model_folder import (
    CARD,
    CONFIG,
    FILES,
    TOKENIZER_CONFIG,
    WEIGHTS,
    SavedModel,
    open_model,
    save_model,
)
from nestag.model.predictor import Predictor
from nestag.model.scorer import TaggerScorer
from nestag.model.settings import Settings
from nestag.model.subwords import WordTokenizer
from nestag.model.tagger import Tagger


class NestedNER(Predictor):
    """A trained recognizer of nested entities."""

    def __init__(
        self,
        model: Tagger,
        tokenizer: WordTokenizer,
        vocabulary: Vocabulary,
        settings: Settings = Settings(),  # noqa: B008
        card: str = "",
    ) -> None:
        """Combine a model, its tokenizer and its vocabulary; `card` describes it in Markdown."""
        self.model, self.card = model, card
        self.tokenizer, self.vocabulary, self.settings = tokenizer, vocabulary, settings

    @classmethod
    def from_pretrained(
        cls,
        path: str | Path,
        device: str | None = None,
        *,
        revision: str | None = None,
        token: str | None = None,
        **settings: Any,
    ) -> NestedNER:
        """Load it from a folder or the hub; keyword arguments change its settings, e.g. `decoding="greedy"`."""
        saved = open_model(path, WEIGHTS, settings, revision, token)
        model = Tagger.load(saved.json(CONFIG), saved.folder / WEIGHTS)
        model.to(choose_device(device))  # type: ignore[arg-type]
        model.train(False)
        return cls._combine(model, saved)

    @classmethod
    def around(cls, model: Tagger, path: str | Path, **settings: Any) -> NestedNER:
        """Combine a loaded model with the rest of the folder that it was saved in."""
        return cls._combine(model, open_model(path, WEIGHTS, settings))

    @classmethod
    def _combine(cls, model: Tagger, saved: SavedModel) -> NestedNER:
        place, max_length = str(saved.folder), saved.settings.max_length
        saved.check_sizes(model.config.sizes, model.config.span_types)
        tokenizer = saved.tokenizer()
        rows = model.encoder.get_input_embeddings().weight.shape[0]
        largest = max(tokenizer.inner.get_vocab().values(), default=0)
        if largest >= rows:
            raise InputError(f"its tokenizer has a subword number {largest:,} and its encoder {rows:,} of them", place)
        with as_input_error("the maximum window size cannot be read", place):
            longest = longest_window(model.encoder.config, max_length)
        if max_length > longest:
            raise SettingError(f"max_length is {max_length:,}; the encoder takes {longest:,} at most", place)
        return cls(model, tokenizer, saved.vocabulary, saved.settings, saved.card)

    def save_pretrained(self, path: str | Path) -> None:
        """Save it as a folder of safetensors and JSON, without code. The manifest is written last."""
        folder = Path(path)
        folder.mkdir(parents=True, exist_ok=True)
        self.model.save_pretrained(folder, max_shard_size="1000GB")  # always one file
        shutil.copymode(folder / CONFIG, folder / WEIGHTS)  # safetensors lets only the owner read
        texts = {TOKENIZER_CONFIG: self.tokenizer.tokenizer_config(), CARD: self.card}
        save_model(folder, self.vocabulary, self.settings, self.tokenizer, texts)

    @property
    def size(self) -> str:
        """The encoder and its size, in words."""
        parameters = sum(parameter.numel() for parameter in self.model.parameters())
        return f"{self.model.config.encoder['model_type']} encoder, {parameters / 1e6:.1f}M parameters"

    def scorer(self) -> TaggerScorer:
        """Return the scorer with the current settings."""
        return TaggerScorer(self.model, self.settings)

    def push_to_hub(
        self, name: str, *, private: bool = True, token: str | None = None, revision: str | None = None
    ) -> str:
        """Upload it with its card to the hub, under a name such as `you/model`, and return the address."""
        with TemporaryDirectory() as scratch:
            card = self.card or _default_card(name, self.vocabulary.types)
            NestedNER(self.model, self.tokenizer, self.vocabulary, self.settings, card).save_pretrained(scratch)
            return upload(Path(scratch), FILES, name, private=private, token=token, revision=revision)


def _default_card(name: str, types: Sequence[str]) -> str:
    """Return a model card that says what the model is and how to load it."""
    return f"""---
library_name: nestag
tags: [nested-ner, token-classification]
---
# {name}

A recognizer of nested named entities, trained with nestag.

    import nestag
    nestag.load("{name}")("A text.")

Types: {", ".join(types)}.
"""


def choose_device(name: str | None) -> str:
    """Return a device that works: the named one, or by default a GPU if there is one."""
    chosen = name or ("cuda" if torch.cuda.is_available() else "cpu")
    try:
        torch.zeros(1, device=chosen)
    except (RuntimeError, AssertionError) as error:
        reason = " ".join(str(error).split())[:100]
        raise UnknownNameError(f"the device {chosen!r} cannot be used ({reason}); try cpu") from None
    return chosen


def load_tokenizer(encoder: str) -> PreTrainedTokenizerBase:
    """Load the fast tokenizer of an encoder."""
    try:
        tokenizer = AutoTokenizer.from_pretrained(fetch(encoder), trust_remote_code=False, add_prefix_space=True)
    except (OSError, ValueError) as error:
        raise out_of_reach(encoder, error) from None
    if not tokenizer.is_fast:
        raise UnknownNameError(f"the tokenizer of {encoder!r} cannot align words; use an encoder with a tokenizer.json")
    return tokenizer
