"""The executors by name. A new executor is one module and one line here."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, cast

from aisimc_runtime.failures import Refused

if TYPE_CHECKING:
    from aisimc_runtime.executors.base import Executor

EXECUTORS: dict[str, tuple[str, str]] = {
    # name in a profile: (module, class); imported when a profile names it
    "local": ("aisimc_runtime.executors.local", "LocalExecutor"),
    "slurm": ("aisimc_runtime.executors.slurm", "SlurmExecutor"),
}


def executor_for(name: str) -> Executor:
    """The executor of that name. Raises `Refused` for a name that none answers to."""
    if name not in EXECUTORS:
        raise Refused(f"no executor is called `{name}`", help="known: " + ", ".join(EXECUTORS))
    module, cls = EXECUTORS[name]
    return cast("Executor", getattr(importlib.import_module(module), cls)())
