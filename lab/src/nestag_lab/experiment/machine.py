"""The device of a run and the versions of its libraries."""

from __future__ import annotations

import importlib.metadata
import os
import platform

import nestag

LIBRARIES = ("torch", "transformers", "tokenizers", "accelerate", "numpy")


def on_gpu(cpu: bool) -> bool:
    """Whether a GPU is used."""
    import torch

    return not cpu and torch.cuda.is_available()


def device(cpu: bool) -> str:
    """The device in words."""
    import torch

    if on_gpu(cpu):
        return torch.cuda.get_device_name()
    return f"{platform.machine()} processor, {torch.get_num_threads()} of {os.cpu_count()} cores"


def versions(cpu: bool) -> dict[str, str]:
    """The versions of nestag, Python and the libraries that decide what comes out."""
    import torch

    found = {"nestag": nestag.__version__, "python": platform.python_version()}
    found |= {name: version for name in LIBRARIES if (version := _version(name))}
    if on_gpu(cpu) and torch.version.cuda:
        found["cuda"] = torch.version.cuda
    return found


def _version(library: str) -> str | None:
    """The version of a library, None if it is not installed or has no metadata."""
    try:
        return importlib.metadata.version(library)
    except importlib.metadata.PackageNotFoundError:
        return None


def prepare(cpu: bool) -> None:
    """Silence progress bars and notices, as cli/terminal.py does, and disable cuDNN's attention.

    cuDNN seems to plan anew for every shape of a batch, and batches by subwords have hundreds of shapes.
    """
    import torch
    from transformers.utils import logging

    logging.disable_progress_bar()
    logging.set_verbosity_error()
    if on_gpu(cpu):
        torch.backends.cuda.enable_cudnn_sdp(False)
