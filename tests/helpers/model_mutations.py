"""Model folders changed as an attacker would, and a record of the files opened meanwhile."""

from __future__ import annotations

import ctypes
import json
import os
import shutil
import sys
import sysconfig
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from nestag.model.model_folder import MANIFEST, write_manifest

OUTSIDE = "../outside/secret"
JSON = ("config.json", "nestag.json", "vocabulary.json", "tokenizer.json", "tokenizer_config.json")
BYTES = ("model.safetensors", "model.onnx", "spans.onnx", "tokenizer.json")
VALUES = (
    None, True, False, -1, 0, 1, 3, 10**6, 2**31, 2**63, 10**30, 0.5, -1e308, 1e308, 1e-308, float("nan"), float("inf"),
    "", "x", "\ud800", "x" * 10_000, OUTSIDE, "evil/kernel", [], [1, 1, 1], ["x"], [[[]]], {}, {"x": {"x": 1}},
    [OUTSIDE], {"x": OUTSIDE},
)  # fmt: skip
KEYS = (
    "transformers_weights", "configuration_files", "fast_tokenizer_files", "attn_implementation", "auto_map",
    "_attn_implementation", "quantization_config", "backbone", "_name_or_path", "num_labels", "num_hidden_layers",
    "return_dict", "output_attentions", "is_decoder", "dtype", "id2label", "tokenizer_file", "vocab_file", "backend",
    "chat_template", "experts_implementation", "kernel_config", "rope_scaling", "position_buckets", "layer_types", "x",
)  # fmt: skip
NAMES = (
    "README.md", "chat_template.jinja", "added_tokens.json", "special_tokens_map.json", "config.4.0.0.json",
    "tokenizer.4.0.0.json", "adapter_config.json", "model.safetensors.index.json", "generation_config.json",
    "processor_config.json", "vocab.txt", "pytorch_model.bin", "history.json", *JSON, *BYTES,
)  # fmt: skip


def mutate(folder: Path, data: st.DataObject) -> None:
    """Change a folder in a few ways and write its manifest anew, then perhaps change that too."""
    kinds = st.sampled_from([_edit_json] * 4 + [_flip_bits, _cut, _plant])
    for change in data.draw(st.lists(kinds, min_size=1, max_size=3)):
        change(folder, data.draw)
    write_manifest(folder)
    if data.draw(st.integers(0, 19)) == 0:
        _edit(folder / MANIFEST, data.draw)


def _edit_json(folder: Path, draw: Callable[..., Any]) -> None:
    _edit(draw(st.sampled_from(_regular(folder, JSON))), draw)


def _edit(path: Path, draw: Callable[..., Any]) -> None:
    """Delete, replace, add or double a value at any depth."""
    try:
        value = json.loads(path.read_bytes())
    except ValueError:
        return
    parent, key = None, None
    inner = value
    while isinstance(inner, dict | list) and inner and (parent is None or draw(st.booleans())):
        parent = inner
        key = draw(st.sampled_from(sorted(inner) if isinstance(inner, dict) else range(len(inner))))
        inner = parent[key]
    what = draw(st.sampled_from(["delete", "replace", "replace", "add", "double"]))
    new = draw(st.sampled_from(VALUES))
    if parent is None or key is None:
        value = new
    elif what == "delete":
        del parent[key]
    elif what == "add" and isinstance(parent, dict):
        parent[draw(st.sampled_from(KEYS))] = new
    else:
        parent[key] = new
    text = json.dumps(value)
    if what == "double" and isinstance(value, dict) and value:
        text = f'{{"{next(iter(value))}": {json.dumps(new)}, {text[1:]}'
    path.write_text(text, encoding="utf-8")


def _flip_bits(folder: Path, draw: Callable[..., Any]) -> None:
    path = draw(st.sampled_from(_regular(folder, BYTES)))
    content = bytearray(path.read_bytes())
    for _ in range(draw(st.integers(1, 4)) if content else 0):
        near = draw(st.sampled_from([64, 4096, len(content)]))  # headers come first
        content[draw(st.integers(0, min(near, len(content)) - 1))] ^= 1 << draw(st.integers(0, 7))
    path.write_bytes(content)


def _cut(folder: Path, draw: Callable[..., Any]) -> None:
    path = draw(st.sampled_from(_regular(folder, BYTES)))
    content = path.read_bytes()
    at = draw(st.integers(0, len(content)))
    path.write_bytes(content[:at] + draw(st.binary(max_size=16)))


def _plant(folder: Path, draw: Callable[..., Any]) -> None:
    """Put a link to the outside, a pipe or a folder where a file may be looked for."""
    path = folder / draw(st.sampled_from(NAMES))
    if path.is_dir():
        return
    path.unlink(missing_ok=True)
    what = draw(st.sampled_from(["link", "pipe", "folder"]))
    if what == "link":
        path.symlink_to(OUTSIDE)
    elif what == "pipe":
        os.mkfifo(path)
    else:
        path.mkdir()


def _regular(folder: Path, names: tuple[str, ...]) -> list[Path]:
    paths = [folder / name for name in names if (folder / name).is_file() and not (folder / name).is_symlink()]
    return paths or [folder.parent / "spare.json"]


def fresh_copy(model: Path, work: Path) -> Path:
    """Copy a model into a folder whose neighbours must not be opened."""
    shutil.rmtree(work, ignore_errors=True)
    (work / "outside").mkdir(parents=True)
    (work / "spare.json").write_text("{}")
    shutil.copyfile(model / "config.json", work / "outside" / "secret")
    return Path(shutil.copytree(model, work / "model"))


class Watch:
    """Lists files that Python opens, and those of a folder that anything opens."""

    def __init__(self) -> None:
        self.opened: list[str] | None = None
        sys.addaudithook(self._note)  # for good; it notes something only while it is asked to
        places = [sysconfig.get_path("stdlib"), sysconfig.get_path("purelib"), sys.prefix, sys.base_prefix]
        self.allowed = (*places, "/proc", "/sys", "/dev/null", str(Path(__file__).parents[2]))

    def _note(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open" and self.opened is not None and isinstance(arguments[0], str | bytes | os.PathLike):
            self.opened.append(os.fsdecode(arguments[0]))

    @contextmanager
    def __call__(self, folder: Path, outside: Path) -> Iterator[None]:
        """Fail if anything but the folder and the installation was opened in the block."""
        events = _inotify(outside)
        self.opened = []
        try:
            yield
        finally:
            opened, self.opened = self.opened, None
        allowed = (str(folder), *self.allowed)
        assert [path for path in opened if not os.path.realpath(path).startswith(allowed)] == []
        if events is not None:
            try:
                assert os.read(events, 4096) == b""
            except BlockingIOError:
                pass
            finally:
                os.close(events)


def _inotify(folder: Path) -> int | None:
    """A descriptor from which Linux reports the files of a folder that any library opens."""
    if sys.platform != "linux":
        return None
    libc = ctypes.CDLL(None)
    descriptor: int = libc.inotify_init1(os.O_NONBLOCK)
    assert libc.inotify_add_watch(descriptor, os.fsencode(folder), 0x20) > 0  # IN_OPEN
    return descriptor
