"""Documents held against the schemas that `aisimc schema` prints."""

from __future__ import annotations

from functools import cache
from typing import Any

from jsonschema import Draft202012Validator

from aisimc_runtime.schemas.catalogue import bundled


@cache
def validator(name: str) -> Draft202012Validator:
    """The validator of one schema, as a user makes it from what the command prints."""
    return Draft202012Validator(bundled(name))


def problems(name: str, document: Any) -> list[str]:
    """What is wrong with a document, with places; the innermost trouble where there are alternatives."""
    return [_said(error) for error in validator(name).iter_errors(document)]


def _said(error: Any) -> str:
    while error.context:
        error = max(error.context, key=lambda inner: len(inner.absolute_path))
    return f"{error.json_path}: {error.message}"
