"""Diagnostics as workflow commands, which GitHub shows beside the changed lines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from aisimc_compiler.diagnostics.model import Diagnostic
from aisimc_compiler.diagnostics.render.display import one_line
from aisimc_compiler.diagnostics.render.text import CodeOf


def render(diagnostics: Iterable[Diagnostic], code_of: CodeOf) -> Iterator[str]:
    """One `::error …::message` line for each diagnostic."""
    for diagnostic in diagnostics:
        span = diagnostic.span
        line, column = span.source.position(span.start)
        end_line, end_column = span.source.position(span.end)
        title = f"{code_of(diagnostic.rule)} {diagnostic.rule}".strip()
        properties = {"file": span.source.name, "line": line, "endLine": end_line, "title": title}
        if line == end_line:  # GitHub drops columns of annotations that run over several lines
            properties |= {"col": column, "endColumn": max(end_column - 1, column)}
        shown = ",".join(f"{key}={_property(str(value))}" for key, value in properties.items())
        parts = [diagnostic.message, *diagnostic.notes]
        if diagnostic.help:
            parts.append(f"help: {diagnostic.help}")
        yield f"::{diagnostic.severity} {shown}::{_data(chr(10).join(map(one_line, parts)))}\n"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(one_line(text)).replace(":", "%3A").replace(",", "%2C")
