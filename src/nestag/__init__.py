"""nestag: find entities inside entities.

`__init__.pyi` lists the public API for type checkers and for the lazy imports here: each name is loaded when it is
first used, so `import nestag` is fast.
"""

from __future__ import annotations

import os
from importlib import import_module
from pathlib import Path
from typing import Any

from nestag.data.cores import usable_cores

__version__ = "0.1.0"

# OpenMP threads that wait by spinning slow each other down on a busy machine. OpenMP reads this when torch is imported.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
if (_cores := usable_cores()) < (os.cpu_count() or 1):  # OpenMP does not know the CPU limit of a container
    os.environ.setdefault("OMP_NUM_THREADS", str(_cores))

# The lines of the stub are `from MODULE import NAME as NAME`.
_STUB = Path(__file__).with_suffix(".pyi").read_text(encoding="utf-8").splitlines()
_MODULES = {line.split()[3]: line.split()[1] for line in _STUB if line.startswith("from ")}

__all__ = sorted(_MODULES)


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module 'nestag' has no attribute {name!r}")
    try:
        module = import_module(_MODULES[name])
        return getattr(module, name) if hasattr(module, name) else import_module(f"{_MODULES[name]}.{name}")
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] == "nestag":
            raise
        from nestag.errors import MissingExtraError

        raise MissingExtraError(f"{name} needs {error.name}", "model") from None


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
