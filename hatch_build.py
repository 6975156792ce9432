"""Build hook: makes the parser tables from the grammar, for wheels and editable installs alike.

Importing Lark costs more than a whole `aisimc check` may, so the process that checks must not need it. For an
editable install the sources are byte-compiled too, as pip does for a wheel: where Python may not write bytecode
(PYTHONDONTWRITEBYTECODE, read-only checkouts), compiling at each start would cost as much again.
"""

from __future__ import annotations

import compileall
import importlib.util
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class TablesHook(BuildHookInterface):  # type: ignore[type-arg,misc]
    """Writes `_tables.py` beside the grammar before files are collected."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Called by hatchling before a wheel is built; `version` is "standard" or "editable"."""
        syntax = Path(self.root) / "compiler" / "aisimc_compiler" / "syntax"
        spec = importlib.util.spec_from_file_location("aisimc_generate_tables", syntax / "generate.py")
        if spec is None or spec.loader is None:
            raise RuntimeError(f"{syntax / 'generate.py'} cannot be loaded")
        generate = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(generate)
        generate.write(syntax / "grammar.lark", syntax / "_tables.py")
        if version == "editable":
            for package in ("compiler", "runtime"):
                compileall.compile_dir(Path(self.root) / package, quiet=2)
