"""Diagnostics as one JSON object, for programs (language.md: What the compiler says)."""

from __future__ import annotations

from collections.abc import Iterable
from json import dumps
from typing import Any

from aisimc_compiler.diagnostics.model import Diagnostic
from aisimc_compiler.diagnostics.render.text import CodeOf
from aisimc_compiler.source import Span


def render(diagnostics: Iterable[Diagnostic], code_of: CodeOf) -> str:
    """`{"diagnostics": [...]}` and a newline. Lines and columns count from 1, columns in code points."""
    return dumps({"diagnostics": [as_object(d, code_of) for d in diagnostics]}, indent=2) + "\n"


def as_object(diagnostic: Diagnostic, code_of: CodeOf) -> dict[str, Any]:
    """One diagnostic. `replacement` is the text to put at `replacement_range` (null: there is none)."""
    replacement = diagnostic.replacement
    return {
        "code": code_of(diagnostic.rule),
        "rule": diagnostic.rule,
        "severity": diagnostic.severity,
        "message": diagnostic.message,
        **place(diagnostic.span),
        "label": diagnostic.label,
        "notes": list(diagnostic.notes),
        "help": diagnostic.help,
        "replacement": None if replacement is None else replacement.text,
        "replacement_range": None if replacement is None else place(replacement.span),
        "replacement_is_safe": bool(replacement and replacement.applicable),
        "related": [{**place(label.span), "message": label.message} for label in diagnostic.secondary],
    }


def place(span: Span) -> dict[str, Any]:
    """File, line and column of both ends of a span."""
    line, column = span.source.position(span.start)
    end_line, end_column = span.source.position(span.end)
    return {"file": span.source.name, "line": line, "column": column, "end_line": end_line, "end_column": end_column}
