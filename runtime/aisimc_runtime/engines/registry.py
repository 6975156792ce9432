"""The engines by the source of a revision. A new engine is one module and one line here."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, cast

from aisimc_runtime.failures import Refused

if TYPE_CHECKING:
    from aisimc_runtime.engines.base import Engine

ENGINES: dict[str, tuple[str, str]] = {
    # source of a revision: (module, class); imported when a plan names it
    "wheel": ("aisimc_runtime.engines.wheel", "WheelEngine"),
    "checkout": ("aisimc_runtime.engines.checkout", "CheckoutEngine"),
    "embedded": ("aisimc_runtime.engines.embedded", "EmbeddedEngine"),
}


def engine_for(source: str) -> Engine:
    """The engine that answers to `source`. Raises `Refused` for a source that no engine knows."""
    if source not in ENGINES:
        raise Refused(f"no engine answers to revisions from `{source}`", help="known: " + ", ".join(ENGINES))
    module, name = ENGINES[source]
    return cast("Engine", getattr(importlib.import_module(module), name)())
