"""The wheel driver's modules, imported as they are when executed by path."""

from __future__ import annotations

import importlib
import sys
from functools import cache
from types import ModuleType

from aisimc_runtime.engines.wheel import DRIVER

NAMES = ("canonical", "config", "counters", "lossless", "module", "probe", "replay", "stable_request_identity")


@cache
def _all() -> dict[str, ModuleType]:
    """All of them, imported together so that they share their classes; the test process forgets their bare names."""
    sys.path.insert(0, str(DRIVER))
    try:
        return {name: importlib.import_module(name) for name in NAMES}
    finally:
        sys.path.remove(str(DRIVER))
        for name in NAMES:
            sys.modules.pop(name, None)


def load(name: str) -> ModuleType:
    """One module of the driver."""
    return _all()[name]
