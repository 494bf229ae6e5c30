"""NestedNER: what a user loads, calls and saves. Training makes one (training/run.py)."""

from __future__ import annotations

import shutil
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
    default_card,
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
        """Put a model, its tokenizer and its vocabulary together; `card` describes it, in Markdown."""
        self.model = model
        self.tokenizer = tokenizer
        self.vocabulary = vocabulary
        self.settings = settings
        self.card = card

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
        """Load one from a folder or the hub; keyword arguments change its settings, e.g. `decoding="greedy"`."""
        saved = open_model(path, WEIGHTS, settings, revision, token)
        model = Tagger.load(saved.json(CONFIG), saved.folder / WEIGHTS)
        model.to(_device(device))  # type: ignore[arg-type]
        model.train(False)
        return cls._of(model, saved)

    @classmethod
    def around(cls, model: Tagger, path: str | Path, **settings: Any) -> NestedNER:
        """One around a model that is loaded already, with everything else from the folder that it was saved in."""
        return cls._of(model, open_model(path, WEIGHTS, settings))

    @classmethod
    def _of(cls, model: Tagger, saved: SavedModel) -> NestedNER:
        used, place = saved.settings, str(saved.folder)
        saved.check_labels(model.config.sizes)
        saved.check_spans(model.config.span_types)
        tokenizer = saved.tokenizer()
        _refuse_unknown_subwords(tokenizer, model, place)
        with as_input_error("the longest window cannot be told", place):
            longest = longest_window(model.encoder.config, used.max_length)
        if used.max_length > longest:
            raise SettingError(f"max_length is {used.max_length:,}; the encoder takes {longest:,} at most", place)
        return cls(model, tokenizer, saved.vocabulary, used, saved.card)

    def save_pretrained(self, path: str | Path) -> None:
        """Save it as a folder: safetensors and JSON, nothing that could run. The manifest is written last."""
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
        """What scores words, with the current settings."""
        settings = self.settings
        return TaggerScorer(self.model, settings.batch_subwords, settings.precision, settings.least_span_logit)

    def push_to_hub(
        self, name: str, *, private: bool = True, token: str | None = None, revision: str | None = None
    ) -> str:
        """Upload it with its card to the hub, under a name such as `you/model`, and return where it is."""
        with TemporaryDirectory() as scratch:
            card = self.card or default_card(name, self.vocabulary.types)
            described = NestedNER(self.model, self.tokenizer, self.vocabulary, self.settings, card)
            described.save_pretrained(scratch)
            return upload(Path(scratch), FILES, name, private=private, token=token, revision=revision)


def _refuse_unknown_subwords(tokenizer: WordTokenizer, model: Tagger, place: str) -> None:
    """Refuse a tokenizer that makes subwords which the encoder has no vector for."""
    rows = model.encoder.get_input_embeddings().weight.shape[0]
    largest = max(tokenizer.inner.get_vocab().values(), default=0)
    if largest >= rows:
        raise InputError(f"its tokenizer has a subword number {largest:,} and its encoder {rows:,} of them", place)


def _device(name: str | None) -> str:
    """The device to use: the one named, or a GPU if there is one."""
    chosen = name or ("cuda" if torch.cuda.is_available() else "cpu")
    try:
        torch.zeros(1, device=chosen)
    except (RuntimeError, AssertionError) as error:
        reason = " ".join(str(error).split())[:100]
        raise UnknownNameError(f"the device {chosen!r} cannot be used ({reason}); try cpu") from None
    return chosen


def load_tokenizer(encoder: str) -> PreTrainedTokenizerBase:
    """The fast tokenizer of an encoder."""
    try:
        tokenizer = AutoTokenizer.from_pretrained(fetch(encoder), trust_remote_code=False, add_prefix_space=True)
    except (OSError, ValueError) as error:
        raise out_of_reach(encoder, error) from None
    if not tokenizer.is_fast:
        raise UnknownNameError(f"the tokenizer of {encoder!r} cannot align words; use an encoder with a tokenizer.json")
    return tokenizer
