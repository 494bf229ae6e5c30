"""A saved model as every recognizer reads it, whichever library computes its scores."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from nestag.arguments import either
from nestag.corpora.labelling import read_vocabulary
from nestag.errors import InputError, UnknownNameError
from nestag.model_folder import SETTINGS, VOCABULARY, check_folder, local_folder, read_json
from nestag.predictor import PROBE, Settings
from nestag.subwords.words import Tokenizer
from nestag.validation import changed, from_mapping
from nestag.vocabulary import Vocabulary

T = TypeVar("T", bound=Tokenizer)


class SavedModel(NamedTuple):
    """The folder of a model, whose files are those that were saved, its vocabulary, and the settings to use."""

    folder: Path
    vocabulary: Vocabulary
    settings: Settings

    @classmethod
    def opened(
        cls,
        path: str | Path,
        weights: str,
        changes: Mapping[str, Any],
        revision: str | None = None,
        token: str | None = None,
    ) -> SavedModel:
        """One with this file of weights, from a folder or the hub; `changes` replace stored settings."""
        folder = local_folder(str(path), revision, token)
        check_folder(folder, weights)
        stored = from_mapping(Settings, read_json(folder / SETTINGS), str(folder / SETTINGS))
        settings = changed(stored, changes, either("from_pretrained", "command line"))
        vocabulary = read_vocabulary(folder / VOCABULARY)
        for kind in settings.thresholds:
            if kind not in vocabulary.types:
                raise UnknownNameError(f"no type is called {kind!r}; there are {', '.join(vocabulary.types)}")
        return cls(folder, vocabulary, settings)

    def tokenizer(self, load: Callable[[Path], T]) -> T:
        """Its tokenizer, tried on two words; whatever is wrong with its files is an InputError."""
        try:
            tokenizer = load(self.folder)
            tokenizer(PROBE, is_split_into_words=True, add_special_tokens=True)
        except MemoryError:
            raise
        except Exception as error:  # noqa: BLE001 - a stranger's files can make a library fail in any way
            reason = " ".join(str(error).split())[:300]
            raise InputError(
                f"the tokenizer cannot be loaded ({reason}); copy the model again", str(self.folder)
            ) from None
        return tokenizer

    def check_labels(self, scored: tuple[int, ...]) -> None:
        """Refuse weights that score other numbers of labels than the vocabulary has."""
        if scored != self.vocabulary.sizes:
            raise InputError(
                f"its weights score {scored} labels and its vocabulary has {self.vocabulary.sizes}", str(self.folder)
            )

    def check_verifier(self, types: int) -> None:
        """Refuse to verify where it cannot be done; `types` are those that the head for spans judges, 0 without one."""
        if self.settings.verified_by is not None and types != len(self.vocabulary.types):
            raise InputError(
                f"its head for spans judges {types} types and its vocabulary has {len(self.vocabulary.types)};"
                " load it with verifier=False",
                str(self.folder),
            )
