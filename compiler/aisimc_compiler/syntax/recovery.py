"""Reads a text that has mistakes."""

from __future__ import annotations

from typing import Any

from aisimc_compiler.diagnostics.model import Diagnostic
from aisimc_compiler.source import Source, Span
from aisimc_compiler.syntax.driver import FAULT, split
from aisimc_compiler.syntax.tables import Tables
from aisimc_compiler.syntax.tree import File


def parse_faulty(source: Source, tables: Tables) -> tuple[File, list[Diagnostic]]:
    """The part of the tree that can be read, and every syntax error."""
    shift: Any = tables.shift
    end = len(source.text)
    for token in split(source.text, tables):
        if token[0] == FAULT or shift is None:
            end = token[1]
    return File(source, ()), [Diagnostic("syntax", Span(source, end, end + 1), "this text cannot be read")]
