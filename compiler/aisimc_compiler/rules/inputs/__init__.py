"""Inputs: where a trace comes from, what it must be, and which window of it is replayed."""

from __future__ import annotations

from aisimc_compiler.rules.inputs import contents, sources, windows
from aisimc_compiler.rules.inputs.sources import SOURCES, file_fault
from aisimc_compiler.rules.inputs.windows import beyond
from aisimc_compiler.rules.language import Rule

__all__ = ["CHECKS", "SOURCES", "beyond", "file_fault"]

CHECKS: tuple[tuple[str, Rule], ...] = (
    ("input.format", contents.format_),
    ("input.upstream", sources.source),
    ("input.checksum", contents.checksum),
    ("input.slice", windows.slice_),
    ("input.long", windows.long),
)
