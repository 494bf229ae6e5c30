"""A model folder: save it, check it, load it, describe it, change its settings.

A folder is untrusted. Its manifest has the sha256 of its files and is written last, so a folder without a manifest is
not a finished model. nestag opens only the files named here. Each JSON file is read once: its bytes are hashed, then
parsed. transformers never gets the path of the folder. All other files in it are ignored.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import shutil
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from nestag.data.validation import changed, from_mapping, to_mapping
from nestag.encodings.vocabulary import Vocabulary
from nestag.errors import InputError, MissingExtraError, UnknownNameError, as_input_error, either
from nestag.formats.files import reading, writing
from nestag.formats.files.sources import refuse_empty
from nestag.model.encoders import download
from nestag.model.predictor import PROBE, Predictor
from nestag.model.settings import Settings
from nestag.model.subwords import WordTokenizer

MANIFEST, CARD = "manifest.json", "README.md"
CONFIG, VOCABULARY, SETTINGS, TOKENIZER = "config.json", "vocabulary.json", "nestag.json", "tokenizer.json"
TOKENIZER_CONFIG, HISTORY, CLAIM = "tokenizer_config.json", "history.json", "run.json"
WEIGHTS, GRAPH = "model.safetensors", "model.onnx"
ADAPTED = "adaptation.json"  # in the folder of an adapted encoder, which is not a model

PACKAGED = {"english": Path(__file__).parent / "english"}
"""Models that come with nestag, by name."""

REQUIRED = (CONFIG, VOCABULARY, SETTINGS, TOKENIZER)
LARGE = (WEIGHTS, GRAPH)  # not held in memory
BOUND = (*REQUIRED, *LARGE, TOKENIZER_CONFIG, HISTORY, ADAPTED)  # the manifest has their sha256
FILES = (*BOUND, MANIFEST, CARD)
"""All files of a model. No other file is read, copied, uploaded or downloaded."""

FORMAT = 1  # the layout of the folder; other layouts are refused
LARGEST = 2**28  # bytes of a JSON file or of the card

LOADED_BY = {
    WEIGHTS: "torch; load it with nestag.load, or convert it for onnxruntime with: nestag export onnx MODEL DIR",
    GRAPH: "onnxruntime; load it with nestag.load",
}
"""The runtime of each kind of weights; a model has one kind."""


class EditedModelWarning(UserWarning):
    """The settings of a model were changed after it was saved."""


@dataclass(frozen=True)
class SavedModel:
    """An opened model folder: its checked content, its vocabulary, and the settings to use."""

    folder: Path
    files: tuple[str, ...]  # those that the manifest lists, which are neither links out of the folder nor changed
    content: Mapping[str, bytes]  # of all files but the large ones
    vocabulary: Vocabulary
    settings: Settings

    def json(self, name: str) -> Any:
        """Parse one of its JSON files."""
        return parse_json(self.content[name], str(self.folder / name))

    @property
    def card(self) -> str:
        """Its description in Markdown, empty if it has none."""
        return _read(self.folder, CARD).decode(errors="replace") if os.path.lexists(self.folder / CARD) else ""

    def tokenizer(self, special: Iterable[int] | None = None) -> WordTokenizer:
        """Load its tokenizer and try it on two words; without the ids of special tokens, look up their names."""
        with as_input_error("the tokenizer cannot be loaded", str(self.folder)):
            inner = import_module("tokenizers").Tokenizer.from_str(self.content[TOKENIZER].decode())
            if special is None:
                tokenizer = WordTokenizer.with_tokens(inner, self.json(TOKENIZER_CONFIG))
            else:
                tokenizer = WordTokenizer(inner, *special)
            tokenizer(PROBE, add_special_tokens=True)
        return tokenizer

    def check_labels(self, sizes: tuple[object, ...]) -> None:
        """Refuse weights whose numbers of labels differ from those of the vocabulary."""
        if sizes != self.vocabulary.sizes:
            raise InputError(
                f"its weights score {sizes} labels and its vocabulary has {self.vocabulary.sizes}", str(self.folder)
            )

    def check_spans(self, types: object) -> None:
        """Refuse to decode spans if the span grid does not score the types of the vocabulary."""
        if self.settings.decoding == "spans" and types != len(self.vocabulary.types):
            raise InputError(
                f"its span grid scores {types} types and its vocabulary has {len(self.vocabulary.types)};"
                ' load it with decoding="constrained"',
                str(self.folder),
            )


def load(
    path: str | Path,
    device: str | None = None,
    *,
    revision: str | None = None,
    token: str | None = None,
    **settings: Any,
) -> Predictor:
    """Load the recognizer of a folder or a hub name, with torch or onnxruntime; keyword arguments change its settings.

    `english` is the model that comes with nestag: `load("english")("The mayor of Utrecht resigned.")` finds entities.
    """
    folder = local_folder(str(path), revision, token)
    if GRAPH in _manifest(folder):
        from nestag.model.onnx_runtime import OnnxNER

        return OnnxNER.from_pretrained(folder, device, **settings)
    try:
        from nestag.model.recognizer import NestedNER
    except ModuleNotFoundError as error:
        raise MissingExtraError(f"the model needs {error.name}", "model") from None
    return NestedNER.from_pretrained(folder, device, **settings)


def open_model(
    path: str | Path,
    weights: str | None = None,
    changes: Mapping[str, Any] | None = None,
    revision: str | None = None,
    token: str | None = None,
) -> SavedModel:
    """Open a folder or a hub model that has this kind of weights, or any; `changes` replace stored settings."""
    folder = local_folder(str(path), revision, token)
    digests = _manifest(folder)
    if weights and weights not in digests:
        raise InputError(f"it is a model for {LOADED_BY[GRAPH if GRAPH in digests else WEIGHTS]}", str(folder))
    content = {name: _read(folder, name) for name in digests if name not in LARGE}
    for name, digest in digests.items():
        if digest == _sha256(content.get(name) or _inside(folder, name)):
            continue
        if name != SETTINGS:
            raise InputError(f"{name} is not the file that was saved; copy the folder again", str(folder))
        warnings.warn(f"{folder / name} was edited after the model was saved", EditedModelWarning, stacklevel=3)
    place = str(folder / SETTINGS)
    stored = from_mapping(Settings, parse_json(content[SETTINGS], place), place)
    settings = changed(stored, changes or {}, either("from_pretrained", "command line"))
    vocabulary = _vocabulary(content[VOCABULARY], str(folder / VOCABULARY))
    for kind in settings.thresholds:
        if kind not in vocabulary.types:
            raise UnknownNameError(f"no type is called {kind!r}; there are {', '.join(vocabulary.types)}")
    return SavedModel(folder, tuple(digests), content, vocabulary, settings)


def local_folder(path: str, revision: str | None = None, token: str | None = None) -> Path:
    """Return the folder of a model: one that comes with nestag, the path itself, or the download of that hub name.

    `english` comes with nestag; a folder of that name is `./english`.
    """
    refuse_empty(path)
    if path in PACKAGED:
        return PACKAGED[path]
    if Path(path).is_dir():
        return Path(path)
    if path.startswith((".", "/", "~")) or path.count("/") != 1:
        raise InputError(
            "there is no such folder; give english, a folder saved by training, or a hub name such as you/model", path
        )
    return download(path, FILES, revision, token)


def save_model(
    folder: Path, vocabulary: Vocabulary, settings: Settings, tokenizer: WordTokenizer, texts: Mapping[str, str]
) -> None:
    """Write all but the weights, with further files if their text is not empty; the manifest comes last."""
    files = {
        VOCABULARY: vocabulary.to_json(),
        SETTINGS: _json(to_mapping(settings)),
        TOKENIZER: tokenizer.inner.to_str(pretty=True),
        **texts,
    }
    for name, text in files.items():
        if text:
            _write(folder / name, text)
    write_manifest(folder)


def write_manifest(folder: Path) -> None:
    """Write the sha256 of the files of a folder, which makes it a finished model."""
    files = {}
    for name in sorted(name for name in BOUND if (folder / name).is_file()):
        with (folder / name).open("rb+") as stream:
            os.fsync(stream.fileno())  # or the manifest could reach the disk first
        files[name] = _sha256(folder / name)
    _write(folder / MANIFEST, _json({"format": FORMAT, "files": files}))


def copy_model(folder: Path, target: Path) -> None:
    """Copy the files that the manifest lists, and the card; the manifest comes last."""
    card = [CARD] if os.path.lexists(folder / CARD) else []
    target.mkdir(parents=True, exist_ok=True)
    for name in (*_manifest(folder), *card, MANIFEST):
        shutil.copyfile(_inside(folder, name), target / name)


def change_settings(folder: str | Path, values: Mapping[str, Any]) -> None:
    """Store other settings in a saved model, and their sha256; unknown ones are refused when it is loaded."""
    place = Path(folder)
    files = _manifest(place)
    text = _json({**read_json(place / SETTINGS), **values})
    _write(place / SETTINGS, text)
    _write(place / MANIFEST, _json({"format": FORMAT, "files": {**files, SETTINGS: _sha256(text.encode())}}))


def is_finished(folder: Path) -> bool:
    """Whether a folder holds a completely saved model."""
    return (folder / MANIFEST).is_file()


def saved_vocabulary(folder: Path) -> Vocabulary | None:
    """Read the vocabulary of a model without opening the rest; None if it has none."""
    if not (folder / VOCABULARY).is_file():
        return None
    return _vocabulary(_read(folder, VOCABULARY), str(folder / VOCABULARY))


def default_card(name: str, types: Sequence[str]) -> str:
    """Return a card for a model that has none: what it is, and how to load it."""
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


def read_json(path: Path) -> Any:
    """Read a JSON file of a model folder."""
    return parse_json(_read(path.parent, path.name), str(path))


def parse_json(data: bytes, source: str) -> Any:
    """Parse JSON strictly: UTF-8, finite numbers, no key twice."""
    try:
        value = json.loads(data.decode(), parse_constant=_finite, parse_float=_finite, object_pairs_hook=_table)
        json.dumps(value, ensure_ascii=False).encode()  # fails on lone surrogates, which cannot be printed
    except (ValueError, RecursionError) as error:
        raise InputError(f"cannot be read as JSON ({error}); copy the model again", source) from None
    return value


def _finite(text: str) -> float:
    if not math.isfinite(number := float(text)):
        raise ValueError(f"{text} is not a finite number")
    return number


def _table(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    table = dict(pairs)
    if len(table) < len(pairs):
        raise ValueError("a key appears twice")
    return table


def _json(value: Any) -> str:
    return json.dumps(value, indent=1) + "\n"


def _write(path: Path, text: str) -> None:
    with writing(path) as stream:
        stream.write(text)


def _manifest(folder: Path) -> Mapping[str, str]:
    """Return the sha256 of each file; names that nestag does not write are ignored."""
    if not is_finished(folder):
        raise InputError(f"there is no {MANIFEST} in it; give a folder saved by training", str(folder))
    manifest = read_json(folder / MANIFEST)
    version = manifest.get("format") if isinstance(manifest, dict) else None
    if version != FORMAT:
        raise InputError(f"the model has the format {version!r}, and this nestag reads {FORMAT}", str(folder))
    listed = manifest.get("files")
    files = {name: listed[name] for name in BOUND if name in listed} if isinstance(listed, dict) else {}
    if ADAPTED in files:
        raise InputError("it is an adapted encoder and not a model; train one: nestag train --encoder", str(folder))
    if not set(files) >= set(REQUIRED) or not set(files) & set(LOADED_BY):
        raise InputError(f"{MANIFEST} does not list the files of a model; copy the folder again", str(folder))
    return files


def _vocabulary(data: bytes, source: str) -> Vocabulary:
    parse_json(data, source)
    with as_input_error("the vocabulary cannot be read", source):
        try:
            return Vocabulary.from_json(data.decode())
        except ValueError as error:  # a LabelError has no place
            raise InputError(str(error), source) from None


def _inside(folder: Path, name: str) -> Path:
    """Return the path of a file, which must be in the folder itself or in the hub's cache."""
    path, real = folder / name, folder.resolve()
    if not path.is_file():
        raise InputError(f"{name} is missing; copy the whole folder again, or train again", str(folder))
    blobs = [real.parent.parent / "blobs"] if real.parent.name == "snapshots" else []
    if path.resolve().parent not in (real, *blobs):
        raise InputError(f"{name} is a link that leads out of the folder; copy the file itself", str(folder))
    return path


def _read(folder: Path, name: str) -> bytes:
    with reading(_inside(folder, name)) as stream:
        data = stream.read(LARGEST + 1)
    if len(data) > LARGEST:
        raise InputError(f"{name} has more than {LARGEST:,} bytes; was it saved by nestag?", str(folder))
    return data


def _sha256(source: bytes | Path) -> str:
    if isinstance(source, bytes):
        return hashlib.sha256(source).hexdigest()
    with source.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
