"""Diagnostics as a SARIF 2.1.0 log, for code-scanning services."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from json import dumps
from typing import Any
from urllib.parse import quote

from aisimc_compiler.diagnostics.model import Diagnostic
from aisimc_compiler.source import Span

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"

# name -> (code, title, reason)
Describe = Callable[[str], tuple[str, str, str]]


def render(diagnostics: Iterable[Diagnostic], describe: Describe, version: str) -> str:
    """One log with one run; rules are described once and referred to by their index."""
    found = list(diagnostics)
    names = sorted({diagnostic.rule for diagnostic in found})
    index = {name: number for number, name in enumerate(names)}
    driver = {
        "name": "aisimc",
        "version": version,
        "rules": [_rule(name, *describe(name)) for name in names],
    }
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "results": [_result(d, describe(d.rule)[0], index[d.rule]) for d in found],
    }
    return dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2) + "\n"


def _rule(name: str, code: str, title: str, reason: str) -> dict[str, Any]:
    return {
        "id": code or name,
        "name": name,
        "shortDescription": {"text": title or name},
        "fullDescription": {"text": reason or title or name},
    }


def _result(diagnostic: Diagnostic, code: str, rule_index: int) -> dict[str, Any]:
    text = diagnostic.message
    if diagnostic.help:
        text += f" (help: {diagnostic.help})"
    result: dict[str, Any] = {
        "ruleId": code or diagnostic.rule,
        "ruleIndex": rule_index,
        "level": diagnostic.severity,
        "message": {"text": text},
        "locations": [_location(diagnostic.span)],
    }
    if diagnostic.secondary:
        result["relatedLocations"] = [
            {"id": number, **_location(label.span), "message": {"text": label.message}}
            for number, label in enumerate(diagnostic.secondary, start=1)
        ]
    if diagnostic.replacement is not None:
        span = diagnostic.replacement.span
        change = {"deletedRegion": _region(span), "insertedContent": {"text": diagnostic.replacement.text}}
        changes = [{"artifactLocation": {"uri": _uri(span)}, "replacements": [change]}]
        result["fixes"] = [{"description": {"text": diagnostic.help or "mend"}, "artifactChanges": changes}]
    return result


def _location(span: Span) -> dict[str, Any]:
    return {"physicalLocation": {"artifactLocation": {"uri": _uri(span)}, "region": _region(span)}}


def _region(span: Span) -> dict[str, int]:
    line, column = span.source.position(span.start)
    end_line, end_column = span.source.position(span.end)
    return {"startLine": line, "startColumn": column, "endLine": end_line, "endColumn": end_column}


def _uri(span: Span) -> str:
    name = span.source.name
    path = quote(name, safe="/", errors="replace")
    return f"file://{path}" if name.startswith("/") else path
