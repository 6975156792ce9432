"""A value of another kind than its attribute takes (`type.mismatch`), in words.

Only imported when something is wrong.
"""

from __future__ import annotations

from typing import Any

from aisimc_compiler.diagnostics.model import Diagnostic
from aisimc_compiler.model.vocabulary import (
    BOOLEAN,
    DECIMAL,
    INTEGER,
    LIST,
    QUANTITY,
    RANGE,
    STRING,
    UNITS,
    WORD,
    WORD_OR_LIST,
    WORD_OR_STRING,
    Attribute,
)
from aisimc_compiler.rules.refusal import listed, refuse
from aisimc_compiler.source import Span
from aisimc_compiler.syntax import tree

KINDS = {
    "string": "a string",
    "integer": "an integer",
    "decimal": "a decimal",
    "word": "a bare word",
    "boolean": "a boolean",
    "list": "a list",
    "range": "a range",
    "quantity": "a number with a unit",
    "pointer": "a pointer",
}
_BASE_UNIT = {"time": "ms", "size": "B", "rate": "GB/s"}


def wanted(attribute: Attribute) -> str:
    """What an attribute takes, in words."""
    kind = attribute.kind
    if kind == STRING:
        return "a string in double quotes"
    if kind == WORD and attribute.words:
        return f"{'one of the words' if len(attribute.words) > 1 else 'the word'} {listed(attribute.words)}"
    if kind == WORD:
        return "a bare word"
    if kind == INTEGER:
        return "an integer"
    if kind == DECIMAL:
        return "a number"
    if kind == BOOLEAN:
        return "`true` or `false`"
    if kind == LIST:
        return f"a list of {_items(attribute)}"
    if kind == RANGE:
        return "a range such as `1..3`"
    if kind == QUANTITY:
        return f"a number with a unit: {listed(tuple(UNITS[attribute.dimension]))}"
    if kind == WORD_OR_STRING:
        return f"{listed(attribute.words)}, or a string in double quotes"
    if kind == WORD_OR_LIST:
        return f"{listed(attribute.words)}, or a list of {_items(attribute)}"
    return "a pointer such as `/summary/duration_ms`"


def _items(attribute: Attribute) -> str:
    return {"string": "strings", "integer": "integers", "pointer": "pointers", "word": "names"}[attribute.item]


def wrong_kind(attribute: Attribute, name: tree.Name, value: tree.Value) -> Diagnostic:
    """`type.mismatch`: a value of another kind than its attribute takes."""
    if attribute.ruled and attribute.kind in (LIST, STRING) and _wildcard(value):
        from aisimc_compiler.rules.pinning.building import wildcard_feature

        return wildcard_feature(value.span, str(value.value))
    value = _with_rest(value)
    text, applicable = _in_kind(attribute, value)
    return refuse(
        "type.mismatch",
        value.span,
        f"{_subject(attribute, name)} {wanted(attribute)}, not {_described(value)}",
        label=f"this is {_described(value)}",
        help=f"write `{text}`" if text is not None else "",
        replace=text,
        applicable=applicable,
    )


def _subject(attribute: Attribute, name: tree.Name) -> str:
    """An element of a list has no description of its own."""
    return f"`{name.text}` takes" if attribute.doc else f"an element of `{name.text}` is"


def _with_rest(value: tree.Value) -> tree.Value:
    """A word together with what stands directly behind it: `traces/a.jsonl` is a word and a pointer to the parser."""
    source, start, end = value.span
    if value.kind != "word" or not source.text.startswith("/", end):
        return value
    while end < len(source.text) and source.text[end] not in ' \t\r\n,{}[]#"':
        end += 1
    text = source.text[start:end]
    return value._replace(value=text, raw=text, span=Span(source, start, end))


def _described(value: tree.Value) -> str:
    if value.kind == "quantity":
        return f"a number with the unit `{value.unit}`"
    return KINDS.get(value.kind, "that")


def _wildcard(value: tree.Value) -> bool:
    from aisimc_compiler.rules.pinning.building import is_wildcard

    return value.kind in ("word", "string") and is_wildcard(str(value.value))


def _in_kind(attribute: Attribute, value: tree.Value) -> tuple[str | None, bool]:
    """The value rewritten in the kind that is wanted, when that is obvious, and whether it can be put in unasked."""
    kind, raw = attribute.kind, value.value
    if kind in (STRING, WORD_OR_STRING) and value.kind == "word":
        return f'"{raw}"', True
    if kind == WORD and value.kind == "string" and is_name(str(raw)):
        return (str(raw), True) if not attribute.words or raw in attribute.words else (None, False)
    if kind == INTEGER:
        return _as_integer(value)
    if kind == DECIMAL and value.kind == "string" and _is_number(str(raw)):
        return str(raw), True
    if kind == DECIMAL and value.kind == "quantity" and value.unit == "ms" and isinstance(raw, tree.Value):
        return raw.raw, True
    if kind == BOOLEAN and str(raw).lower() in ("true", "false", "yes", "no", "on", "off", "1", "0"):
        return ("true" if str(raw).lower() in ("true", "yes", "on", "1") else "false"), False
    if kind == LIST and value.kind == attribute.item:
        words = str(raw).split()
        if value.kind == "string" and len(words) > 1 and not set(str(raw)) & set("\"'\\$`"):
            return "[" + ", ".join(f'"{word}"' for word in words) + "]", False
        return f"[{value.raw}]", True
    if kind == WORD_OR_LIST and value.kind == attribute.item:
        return f"[{value.raw}]", True
    if kind == RANGE and value.kind == "integer":
        return f"{raw}..{raw}", False
    if kind == QUANTITY and value.kind in ("integer", "decimal"):
        return f"{value.raw} {_BASE_UNIT[attribute.dimension]}", False
    if kind == "pointer" and value.kind == "string" and str(raw).startswith("/") and " " not in str(raw):
        return str(raw), True
    return None, False


def _as_integer(value: tree.Value) -> tuple[str | None, bool]:
    raw: Any = value.value
    if value.kind == "decimal" and raw == raw and abs(raw) < 2**53 and raw == int(raw):
        return str(int(raw)), "e" not in value.raw.lower()
    if value.kind == "string" and raw.isascii() and raw.isdigit() and len(raw) < 19:
        return str(int(raw)), True
    return None, False


def is_name(text: str) -> bool:
    plain = text.replace("_", "a").replace("-", "a")
    return text.isascii() and plain.isalnum() and text[0].isalpha()


def _is_number(text: str) -> bool:
    try:
        return text.isascii() and text == text.strip() and float(text) - float(text) == 0 and "_" not in text
    except ValueError:
        return False


def bad_number(attribute: Attribute, name: tree.Name, value: tree.Value) -> Diagnostic:
    """`type.mismatch`: a number, range or quantity that is no value of its kind."""
    if value.kind == "range":
        return _bad_range(name, value)
    if value.kind == "quantity" and value.unit not in UNITS[attribute.dimension]:
        units = tuple(UNITS[attribute.dimension])
        return refuse(
            "type.mismatch",
            value.span,
            f"`{name.text}` is a {attribute.dimension}, and `{value.unit}` is no unit of it",
            label=f"takes {listed(units)}",
            help=_unit_help(attribute, value, units),
        )
    if value.kind == "quantity" and attribute.dimension == "size":
        message = f"`{name.text}` is a whole number of bytes, and `{value.raw}` is not"
    elif attribute.kind == INTEGER or isinstance(value.value, int):
        message = f"`{name.text}` does not fit in 64 bits"
    else:
        message = f"`{name.text}` is not a finite number"
    return refuse("type.mismatch", value.span, message, label="out of the range of its kind")


_RATE = "a bandwidth is in GB/s, 10⁹ bytes in a second"


def _unit_help(attribute: Attribute, value: tree.Value, units: tuple[str, ...]) -> str:
    fold = {unit.lower(): unit for unit in units}
    unit = fold.get(value.unit.lower())
    if attribute.dimension == "rate" and value.unit.endswith("b/s") and isinstance(value.value, tree.Value):
        return f"`b` is a bit: {value.value.raw} {value.unit} are an eighth of that in GB/s" if unit else _RATE
    if unit and isinstance(value.value, tree.Value):
        return f"write `{value.value.raw} {unit}`"
    if attribute.dimension == "rate":
        return _RATE
    return f"convert it to {listed(units)}"


def _bad_range(name: tree.Name, value: tree.Value) -> Diagnostic:
    low, high = value.value if isinstance(value.value, tuple) else (value, value)
    whole = low.kind == high.kind == "integer"
    if whole and low.value > high.value:
        return refuse(
            "type.mismatch",
            value.span,
            f"the range of `{name.text}` is empty: {low.raw} is more than {high.raw}",
            label="no number lies in it",
            help=f"write `{high.raw}..{low.raw}`",
            replace=f"{high.raw}..{low.raw}",
        )
    message = f"both ends of `{name.text}` are integers" if not whole else f"`{name.text}` does not fit in 64 bits"
    return refuse("type.mismatch", value.span, message, label="takes a range such as `1..3`")
