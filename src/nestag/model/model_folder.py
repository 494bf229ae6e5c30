"""The model folder: saving, checking and loading it, and changing its settings.

A folder is untrusted. Its manifest has the sha256 of its files and is written last, so a folder without a manifest is
not a finished model. nestag opens only the files named here and ignores all others. Each JSON file is read once: its
bytes are hashed, then parsed. transformers never gets the path of the folder.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import shutil
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from nestag.data.validation import changed, from_mapping, to_mapping
from nestag.encodings.vocabulary import Vocabulary
from nestag.errors import InputError, MissingExtraError, UnknownNameError, as_input_error, either, named
from nestag.formats.files import reading, writing
from nestag.formats.files.sources import refuse_empty
from nestag.model.encoders import download
from nestag.model.predictor import Predictor
from nestag.model.settings import Settings
from nestag.model.subwords import WordTokenizer

MANIFEST, CARD = "manifest.json", "README.md"
CONFIG, VOCABULARY, SETTINGS, TOKENIZER = "config.json", "vocabulary.json", "nestag.json", "tokenizer.json"
TOKENIZER_CONFIG, HISTORY, CLAIM = "tokenizer_config.json", "history.json", "run.json"
WEIGHTS, GRAPH = "model.safetensors", "model.onnx"
ADAPTED = "adaptation.json"  # in the folder of an adapted encoder, which is not a model

PACKAGED = {"english": Path(__file__).parent / "english"}  # models that come with nestag

REQUIRED = (CONFIG, VOCABULARY, SETTINGS, TOKENIZER)
LARGE = (WEIGHTS, GRAPH)  # not held in memory
HASHED = (*REQUIRED, *LARGE, TOKENIZER_CONFIG, HISTORY, ADAPTED)  # in the manifest
FILES = (*HASHED, MANIFEST, CARD)  # no other file is read, copied, uploaded or downloaded
FORMAT = 1  # the layout of the folder; other layouts are refused
LARGEST = 2**28  # bytes of a JSON file or of the card
PROBE = ["a", "☃"]  # words that every tokenizer must be able to read

LOADED_BY = {  # a model has one kind of weights
    WEIGHTS: "torch; load it with nestag.load, or convert it for onnxruntime with: nestag export onnx MODEL DIR",
    GRAPH: "onnxruntime; give the folder that it was exported from, which has torch's weights, or use nestag.load",
}


class EditedModelWarning(UserWarning):
    """The settings of a model were changed after it was saved."""


@dataclass(frozen=True)
class SavedModel:
    """A checked model folder: its content, its vocabulary, and the settings to use."""

    folder: Path
    files: tuple[str, ...]  # listed in the manifest, unchanged, and not links out of the folder
    content: Mapping[str, bytes]  # of all but the large files
    vocabulary: Vocabulary
    settings: Settings

    def json(self, name: str) -> Any:
        """Parse one of its JSON files."""
        return parse_json(self.content[name], str(self.folder / name))

    @property
    def card(self) -> str:
        """The description in Markdown, or an empty text."""
        return _read(self.folder, CARD).decode(errors="replace") if os.path.lexists(self.folder / CARD) else ""

    def tokenizer(self, special: Iterable[int] | None = None) -> WordTokenizer:
        """Load the tokenizer and try it on two words; without the ids of special tokens, look up their names."""
        with as_input_error("the tokenizer cannot be loaded", str(self.folder)):
            inner = import_module("tokenizers").Tokenizer.from_str(self.content[TOKENIZER].decode())
            if special is None:
                tokenizer = WordTokenizer.with_tokens(inner, self.json(TOKENIZER_CONFIG))
            else:
                tokenizer = WordTokenizer(inner, *special)
            tokenizer.encode([PROBE], add_special_tokens=True)
        return tokenizer

    def check_sizes(self, labels: tuple[object, ...], span_types: object) -> None:
        """Refuse weights that do not score the labels of the vocabulary, or its types if spans are decoded."""
        place, types = str(self.folder), len(self.vocabulary.types)
        if labels != self.vocabulary.sizes:
            raise InputError(f"its weights score {labels} labels and its vocabulary has {self.vocabulary.sizes}", place)
        if self.settings.decoding == "spans" and span_types != types:
            grid = (
                f"a span grid for {span_types} types, and its vocabulary has {types}" if span_types else "no span grid"
            )
            raise InputError(f"it has {grid}; use {named('decoding', 'constrained')}", place)


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
    """Check a folder or a hub model, which must have this kind of `weights`; `changes` replace stored settings."""
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
    """Return the folder of a model: `english`, which comes with nestag, a path, or the download of a hub name."""
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
    """Write all but the weights: also `texts` that are not empty, and the manifest last."""
    files = {
        VOCABULARY: vocabulary.to_json(),
        SETTINGS: to_json(to_mapping(settings)),
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
    for name in sorted(name for name in HASHED if (folder / name).is_file()):
        with (folder / name).open("rb+") as stream:
            os.fsync(stream.fileno())  # or the manifest could reach the disk first
        files[name] = _sha256(folder / name)
    _write(folder / MANIFEST, to_json({"format": FORMAT, "files": files}))


def copy_model(folder: Path, target: Path) -> None:
    """Copy the files that the manifest lists, and the card; the manifest comes last."""
    card = [CARD] if os.path.lexists(folder / CARD) else []
    target.mkdir(parents=True, exist_ok=True)
    for name in (*_manifest(folder), *card, MANIFEST):
        shutil.copyfile(_inside(folder, name), target / name)


def change_settings(folder: str | Path, values: Mapping[str, Any]) -> None:
    """Change settings of a saved model and update the manifest; unknown settings are refused on loading."""
    place = Path(folder)
    files = _manifest(place)
    text = to_json({**read_json(place / SETTINGS), **values})
    _write(place / SETTINGS, text)
    _write(place / MANIFEST, to_json({"format": FORMAT, "files": {**files, SETTINGS: _sha256(text.encode())}}))


def is_finished(folder: Path) -> bool:
    """Return whether a folder holds a completely saved model."""
    return (folder / MANIFEST).is_file()


def saved_vocabulary(folder: Path) -> Vocabulary | None:
    """Read the vocabulary of a model without opening the rest; None if it has none."""
    if not (folder / VOCABULARY).is_file():
        return None
    return _vocabulary(_read(folder, VOCABULARY), str(folder / VOCABULARY))


def read_json(path: Path) -> Any:
    """Read a JSON file of a model folder."""
    return parse_json(_read(path.parent, path.name), str(path))


def parse_json(data: bytes, source: str) -> Any:
    """Parse JSON strictly: UTF-8, finite numbers, no key twice."""
    try:
        numbers: Any = {"parse_constant": _finite, "parse_float": _finite, "parse_int": _whole}
        value = json.loads(data.decode(), object_pairs_hook=_table, **numbers)
        json.dumps(value, ensure_ascii=False).encode()  # fails on lone surrogates, which cannot be printed
    except (ValueError, RecursionError) as error:
        raise InputError(f"cannot be read as JSON ({error}); copy the model again", source) from None
    return value


def _finite(text: str) -> float:
    if not math.isfinite(number := float(text)):
        raise ValueError(f"{text} is not a finite number")
    return number


def _whole(text: str) -> int:
    _finite(text)
    return int(text)


def _table(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    table = dict(pairs)
    if len(table) < len(pairs):
        raise ValueError("a key appears twice")
    return table


def to_json(value: Any) -> str:
    """Return a value as the text of a JSON file."""
    return json.dumps(value, indent=1) + "\n"


def _write(path: Path, text: str) -> None:
    with writing(path) as stream:
        stream.write(text)


def _manifest(folder: Path) -> Mapping[str, str]:
    """Return the sha256 of each file; unknown names are ignored."""
    if not is_finished(folder):
        raise InputError(f"there is no {MANIFEST} in it; give a folder saved by training", str(folder))
    manifest = read_json(folder / MANIFEST)
    version = manifest.get("format") if isinstance(manifest, dict) else None
    if version != FORMAT:
        raise InputError(f"the model has the format {version!r}, and this nestag reads {FORMAT}", str(folder))
    listed = manifest.get("files")
    files = {name: listed[name] for name in HASHED if name in listed} if isinstance(listed, dict) else {}
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
