"""JSON read and written again without touching a number's text or kind.

Byte parity means bytes: `1` and `1.0`, `-0.0` and `0`, the last bit of a double are differences, so a number must
leave as it came. Two readers give the same bytes:

- `Plain` keeps each number's literal text (`Number`), with the standard library only.
- `Fast` uses orjson's compiled module, and is taken only when writing the parsed text again gives the very text.
"""

from __future__ import annotations

import json
from json.encoder import encode_basestring as quoted  # escapes as serde_json does: nothing beyond `"`, `\` and controls

TYPE_CHECKING = False  # `typing` itself would cost every replay some milliseconds
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType
    from typing import Any


class Number(str):
    """A number's literal text."""

    __slots__ = ()


class NotLossless(Exception):
    """The fast reader would change the text."""


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"the key {next(n for n in names if names.count(n) > 1)!r} is given twice in one object")
    return members


def _constant(text: str) -> None:
    raise ValueError(f"{text} is no JSON number")


def read(text: str) -> Any:
    """Parse `text`, numbers as `Number`. Raises `ValueError` for what is not JSON, a key given twice, or NaN."""
    return json.loads(text, parse_float=Number, parse_int=Number, parse_constant=_constant, object_pairs_hook=_object)


def write(value: Any) -> str:
    """`value` as compact JSON text, keys sorted at every level; `Number` and computed floats by their own text."""
    parts: list[str] = []
    _write(value, parts.append)
    return "".join(parts)


def _write(value: Any, put: Callable[[str], None]) -> None:
    if isinstance(value, Number):
        put(str(value))
    elif isinstance(value, str):
        put(quoted(value))
    elif value is None:
        put("null")
    elif value is True:
        put("true")
    elif value is False:
        put("false")
    elif isinstance(value, dict):
        separator = "{"
        for key in sorted(value):
            put(separator)
            put(quoted(key))
            put(":")
            _write(value[key], put)
            separator = ","
        put("}" if value else "{}")
    elif isinstance(value, (list, tuple)):
        separator = "["
        for item in value:
            put(separator)
            _write(item, put)
            separator = ","
        put("]" if value else "[]")
    elif isinstance(value, (int, float)):
        put(computed(value))
    else:
        raise TypeError(f"{type(value).__name__} has no JSON form")


def computed(value: float) -> str:
    """The text of a number made here: the shortest that reads back. Raises `ValueError` when it is not finite."""
    if value != value or value in (float("inf"), float("-inf")):
        raise ValueError("a figure is not finite")
    return repr(value)


class Plain:
    """Reader and writer with the standard library only."""

    def __init__(self, text: str) -> None:
        self.document: Any = read(text)

    def bytes(self, value: Any) -> bytes:
        """Compact, sorted, UTF-8."""
        return write(value).encode()

    def number(self, value: float) -> Any:
        """A computed number as a member of the document."""
        return Number(computed(value))


class Fast:
    """Reader and writer with orjson; raises `NotLossless` unless the text comes back unchanged."""

    def __init__(self, text: str, orjson: ModuleType) -> None:
        raw = text.encode()
        self.orjson = orjson
        self.document: Any = orjson.loads(raw)
        if orjson.dumps(self.document) != raw:
            raise NotLossless

    def bytes(self, value: Any) -> bytes:
        """Compact, sorted, UTF-8."""
        written: bytes = self.orjson.dumps(value, option=self.orjson.OPT_SORT_KEYS)
        return written

    def number(self, value: float) -> Any:
        """A computed number as a member of the document, written as `Plain` would."""
        return self.orjson.Fragment(computed(value))


def reader(text: str, orjson: ModuleType | None) -> Plain | Fast:
    """The fast reader where it is there and changes nothing, else the plain one."""
    if orjson is not None:
        try:
            return Fast(text, orjson)
        except (NotLossless, ValueError, UnicodeEncodeError):
            pass
    return Plain(text)
