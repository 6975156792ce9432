"""Compiled modules loaded by path: nothing is installed, nothing else of a wheel is imported."""

from __future__ import annotations

import importlib.machinery
import importlib.util

TYPE_CHECKING = False  # `typing` itself would cost every replay some milliseconds
if TYPE_CHECKING:
    from types import ModuleType


def load(name: str, path: str) -> ModuleType:
    """The extension module at `path`, whatever the file is called. Raises `ImportError`."""
    loader = importlib.machinery.ExtensionFileLoader(name, path)
    spec = importlib.util.spec_from_file_location(name, path, loader=loader)
    if spec is None:
        raise ImportError(f"{path} cannot be loaded")
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


def runtime(options: dict[str, str]) -> ModuleType:
    """The wheel's runtime. Raises `ValueError` when the file is not one."""
    try:
        module = load("_runtime", options["--runtime"])
    except ImportError as error:
        raise ValueError(f"the wheel's runtime cannot be loaded: {error}") from error
    if not hasattr(module, "run_replay_json"):
        raise ValueError("the wheel's runtime has no run_replay_json")
    return module


def orjson(options: dict[str, str]) -> ModuleType | None:
    """orjson's compiled module, or None: without it reading is slower and gives the same bytes."""
    path = options.get("--orjson")
    if not path:
        return None
    try:
        found = load("orjson", path)
    except ImportError:
        return None
    return found if hasattr(found, "Fragment") else None


def revision(options: dict[str, str]) -> str:
    """The wheel's version and hash, as counters and `--describe` name the revision."""
    return f"aisimulate=={options.get('--wheel-version', '')} sha256:{options.get('--wheel-sha256', '')}"
