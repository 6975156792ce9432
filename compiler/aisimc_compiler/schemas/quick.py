"""A yes or "not sure" about a document and its schema, without importing jsonschema.

A sound document is the common case, and importing the validator costs more than everything else that `check` does.
Whoever gets a no asks the validator, which also says what is wrong.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from aisimc_compiler.hints import Any

_ANNOTATIONS = frozenset({"$schema", "$id", "$defs", "title", "description", "examples", "default"})


class _Unsure(Exception):
    """The schema says something that is not known here."""


def accepts(schema: dict[str, Any], value: Any) -> bool:
    """True only if the value certainly fits the schema; False also where that is not known."""
    try:
        return _fits(schema, schema, value)
    except (_Unsure, RecursionError):
        return False


def _fits(root: dict[str, Any], schema: Any, value: Any) -> bool:
    if isinstance(schema, bool):
        return schema
    for keyword, wanted in schema.items():
        if keyword in _ANNOTATIONS:
            continue
        if keyword in _OF_SCHEMAS:
            if not _OF_SCHEMAS[keyword](root, schema, wanted, value):
                return False
        elif keyword in _OF_VALUES:
            if not _OF_VALUES[keyword](wanted, value):
                return False
        else:
            raise _Unsure(keyword)
    return True


def _ref(root: dict[str, Any], _schema: Any, wanted: str, value: Any) -> bool:
    if not wanted.startswith("#/$defs/"):
        raise _Unsure(wanted)
    return _fits(root, root["$defs"][wanted.removeprefix("#/$defs/")], value)


def _properties(root: dict[str, Any], _schema: Any, wanted: dict[str, Any], value: Any) -> bool:
    if not isinstance(value, dict):
        return True
    return all(_fits(root, inner, value[name]) for name, inner in wanted.items() if name in value)


def _additional(root: dict[str, Any], schema: Any, wanted: Any, value: Any) -> bool:
    if "patternProperties" in schema:
        raise _Unsure("patternProperties")
    if not isinstance(value, dict):
        return True
    known = schema.get("properties", {})
    return all(_fits(root, wanted, inner) for name, inner in value.items() if name not in known)


def _items(root: dict[str, Any], schema: Any, wanted: Any, value: Any) -> bool:
    if "prefixItems" in schema:
        raise _Unsure("prefixItems")
    return not isinstance(value, list) or all(_fits(root, wanted, item) for item in value)


def _any_of(root: dict[str, Any], _schema: Any, wanted: list[Any], value: Any) -> bool:
    return any(_fits(root, inner, value) for inner in wanted)


def _one_of(root: dict[str, Any], _schema: Any, wanted: list[Any], value: Any) -> bool:
    return sum(_fits(root, inner, value) for inner in wanted) == 1


def _type(wanted: str | list[str], value: Any) -> bool:
    return any(_is(kind, value) for kind in ([wanted] if isinstance(wanted, str) else wanted))


def _is(kind: str, value: Any) -> bool:
    if kind in ("integer", "number"):
        if isinstance(value, bool) or not isinstance(value, int | float):
            return False
        return kind == "number" or isinstance(value, int) or value.is_integer()
    kinds: dict[str, type] = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None)}
    if kind not in kinds:
        raise _Unsure(kind)
    return isinstance(value, kinds[kind])


def _same(one: Any, other: Any) -> bool:
    """Equality of JSON, in which `true` is not 1; containers are left to the validator."""
    if isinstance(one, dict | list) or isinstance(other, dict | list):
        raise _Unsure("equality of containers")
    return isinstance(one, bool) == isinstance(other, bool) and bool(one == other)


def _unique(wanted: bool, value: Any) -> bool:
    if not wanted or not isinstance(value, list):
        return True
    return not any(_same(one, other) for at, one in enumerate(value) for other in value[:at])


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


_OF_SCHEMAS: dict[str, Callable[[dict[str, Any], Any, Any, Any], bool]] = {
    "$ref": _ref,
    "properties": _properties,
    "additionalProperties": _additional,
    "items": _items,
    "anyOf": _any_of,
    "oneOf": _one_of,
}
_OF_VALUES: dict[str, Callable[[Any, Any], bool]] = {
    "type": _type,
    "const": _same,
    "enum": lambda wanted, value: any(_same(one, value) for one in wanted),
    "pattern": lambda wanted, value: not isinstance(value, str) or re.search(wanted, value) is not None,
    "minLength": lambda wanted, value: not isinstance(value, str) or len(value) >= wanted,
    "minimum": lambda wanted, value: not _number(value) or value >= wanted,
    "exclusiveMinimum": lambda wanted, value: not _number(value) or value > wanted,
    "minItems": lambda wanted, value: not isinstance(value, list) or len(value) >= wanted,
    "maxItems": lambda wanted, value: not isinstance(value, list) or len(value) <= wanted,
    "minProperties": lambda wanted, value: not isinstance(value, dict) or len(value) >= wanted,
    "maxProperties": lambda wanted, value: not isinstance(value, dict) or len(value) <= wanted,
    "required": lambda wanted, value: not isinstance(value, dict) or all(name in value for name in wanted),
    "uniqueItems": _unique,
}
