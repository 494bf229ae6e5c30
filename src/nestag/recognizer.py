"""NestedNER: what a user loads, calls and saves. Training makes one (training/run.py)."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch
from transformers import AutoTokenizer, PretrainedConfig, PreTrainedTokenizerBase

from nestag.corpora.labelling import write_vocabulary
from nestag.encoders import locate, longest_window, out_of_reach
from nestag.errors import InputError, SettingError, UnknownNameError
from nestag.files import read_text, writing
from nestag.hub import plain_card, upload
from nestag.model_folder import CARD, SETTINGS, VOCABULARY, WEIGHTS, write_manifest
from nestag.predictor import Predictor, Settings
from nestag.saved_model import SavedModel
from nestag.scorer import TaggerScorer
from nestag.tagger import Tagger
from nestag.validation import to_mapping
from nestag.vocabulary import Vocabulary


class NestedNER(Predictor):
    """A trained recognizer of nested entities."""

    def __init__(
        self,
        model: Tagger,
        tokenizer: PreTrainedTokenizerBase,
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
        saved = SavedModel.opened(path, WEIGHTS, settings, revision, token)
        model = Tagger.loaded(saved.folder)
        model.to(_device(device))  # type: ignore[arg-type]
        model.train(False)
        return cls._of(model, saved)

    @classmethod
    def around(cls, model: Tagger, path: str | Path, **settings: Any) -> NestedNER:
        """One around a model that is loaded already, with everything else from the folder that it was saved in."""
        return cls._of(model, SavedModel.opened(path, WEIGHTS, settings))

    @classmethod
    def _of(cls, model: Tagger, saved: SavedModel) -> NestedNER:
        folder, vocabulary, used = saved
        saved.check_labels(model.config.sizes)
        saved.check_verifier(model.config.span_types)
        tokenizer = saved.tokenizer(lambda place: load_tokenizer(str(place), model.config))
        _refuse_unknown_subwords(tokenizer, model, folder)
        if used.max_length > (longest := longest_window(model.encoder.config, used.max_length)):
            raise SettingError(f"max_length is {used.max_length:,}; the encoder takes {longest:,} at most", str(folder))
        return cls(model, tokenizer, vocabulary, used, _card(folder))

    def save_pretrained(self, path: str | Path) -> None:
        """Save it as a folder: safetensors and JSON, nothing that could run. The manifest is written last."""
        folder = Path(path)
        folder.mkdir(parents=True, exist_ok=True)
        self.model.save_pretrained(folder)
        self.tokenizer.save_pretrained(folder)
        write_vocabulary(self.vocabulary, folder / VOCABULARY)
        with writing(folder / SETTINGS) as stream:
            stream.write(json.dumps(to_mapping(self.settings), indent=1) + "\n")
        if self.card:
            with writing(folder / CARD) as stream:
                stream.write(self.card)
        shutil.copymode(folder / SETTINGS, folder / WEIGHTS)  # safetensors lets nobody but the owner read
        write_manifest(folder)

    def scorer(self) -> TaggerScorer:
        """What scores words, with the current settings."""
        settings = self.settings
        return TaggerScorer(self.model, settings.batch_subwords, settings.precision, settings.verified_by is not None)

    def push_to_hub(
        self, name: str, *, private: bool = True, token: str | None = None, revision: str | None = None
    ) -> str:
        """Upload it with its card to the hub, under a name such as `you/model`, and return where it is."""
        with TemporaryDirectory() as scratch:
            self.save_pretrained(scratch)
            with writing(Path(scratch) / CARD) as stream:
                stream.write(self.card or plain_card(name, self.vocabulary.types))
            return upload(Path(scratch), name, private=private, token=token, revision=revision)


def _card(folder: Path) -> str:
    """The card of a saved model, empty if it has none."""
    return read_text(folder / CARD) if (folder / CARD).is_file() else ""


def _refuse_unknown_subwords(tokenizer: PreTrainedTokenizerBase, model: Tagger, folder: Path) -> None:
    """Refuse a tokenizer that makes subwords which the encoder has no vector for."""
    rows = model.encoder.get_input_embeddings().weight.shape[0]
    largest = max(tokenizer.get_vocab().values(), default=0)
    if largest >= rows:
        raise InputError(
            f"its tokenizer has a subword number {largest:,} and its encoder {rows:,} of them", str(folder)
        )


def _device(name: str | None) -> str:
    """The device to use: the one named, or a GPU if there is one."""
    chosen = name or ("cuda" if torch.cuda.is_available() else "cpu")
    try:
        torch.zeros(1, device=chosen)
    except (RuntimeError, AssertionError) as error:
        reason = " ".join(str(error).split())[:100]
        raise UnknownNameError(f"the device {chosen!r} cannot be used ({reason}); try cpu") from None
    return chosen


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
