"""Number literals as bytes: their kind, their exact value, and how far two of them lie apart.

Byte parity means that `1` and `1.0`, `-0.0` and `0.0`, and the last bit of a double are differences. So numbers
are compared as the text they were written with, and interpreted only to say how large a difference is.
"""

from __future__ import annotations

import math
import re
import struct
from enum import StrEnum
from typing import NamedTuple

LAST_BITS_ULPS = 64
"""Two doubles at most this many units in the last place apart differ in the last bits only: that is what summing
the same terms in another order gives (the published builds reach a relative distance of 4.4e-15, about 40 units)."""

_INTEGER = re.compile(rb"-?(?:0|[1-9][0-9]*)\Z")
_DECIMAL = re.compile(rb"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?\Z")


_TWO_DOUBLES, _TWO_ORDINALS = struct.Struct("<dd"), struct.Struct("<qq")
_MAGNITUDE = 0x7FFF_FFFF_FFFF_FFFF
_ZERO = ord("0")
_ZEROS = frozenset({b"0", b"-0"})
_LONGEST_INTEGER = 4_000
"""Python converts integers of at most 4,300 digits: longer ones take time that grows with the square."""

_NUMERIC = frozenset({"integer", "decimal"})


class Change(StrEnum):
    """What kind of difference one place shows."""

    VALUE = "value"
    LAST_BITS = "last bits only"
    NUMBER_KIND = "integer or decimal"
    SIGNED_ZERO = "sign of zero"
    NUMBER_TEXT = "spelling of a number"
    TEXT = "text"
    TYPE = "type"
    ADDED = "added"
    REMOVED = "removed"
    ORDER = "order"


class Size(NamedTuple):
    """How two literals differ; `delta` is b - a where both are numbers, `ulps` where both are finite doubles."""

    change: Change
    delta: float | None
    ulps: int | None


def kind(literal: bytes) -> str:
    """JSON type of a leaf: integer, decimal, string, true/false (boolean), null, container or token."""
    if literal.isdigit():
        return "integer" if literal[0] != _ZERO or len(literal) == 1 else "token"
    if literal[:1] == b'"':
        return "string"
    if literal in (b"true", b"false"):
        return "boolean"
    if literal == b"null":
        return "null"
    if literal in (b"{}", b"[]"):
        return "container"
    if _DECIMAL.match(literal):
        return "integer" if _INTEGER.match(literal) else "decimal"
    return "token"


def number(literal: bytes | None) -> float | None:
    """Value of a number literal as a double; None for everything else."""
    if literal is None or kind(literal) not in _NUMERIC:
        return None
    return float(literal)


def ulps_between(a: float, b: float) -> int:
    """Number of representable doubles between two finite doubles (0 for equal ones and for -0.0 and 0.0)."""

    ordinals: tuple[int, int] = _TWO_ORDINALS.unpack(_TWO_DOUBLES.pack(a, b))
    low, high = ordinals
    return abs((low if low >= 0 else -(low & _MAGNITUDE)) - (high if high >= 0 else -(high & _MAGNITUDE)))


def measure(a: bytes, b: bytes) -> Size:
    """Classify two different leaf literals; exact for integers of any size."""
    kind_a, kind_b = kind(a), kind(b)
    if kind_a in _NUMERIC and kind_b in _NUMERIC:
        return _measure_numbers(a, b, kind_a, kind_b)
    if kind_a != kind_b:
        return Size(Change.TYPE, None, None)
    return Size(Change.TEXT if kind_a == "string" else Change.VALUE, None, None)


def _measure_numbers(a: bytes, b: bytes, kind_a: str, kind_b: str) -> Size:
    if kind_a == kind_b == "integer":
        if a == b"-0" or b == b"-0":
            same = a in _ZEROS and b in _ZEROS
            return Size(Change.SIGNED_ZERO if same else Change.VALUE, _apart(a, b), None)
        return Size(Change.VALUE, _apart(a, b), None)
    x, y = float(a), float(b)
    if kind_a != kind_b:
        equal = x == y and _exact(a, kind_a) == _exact(b, kind_b)
        return Size(Change.NUMBER_KIND if equal else Change.VALUE, y - x, None)
    delta = y - x
    if delta == 0:
        if x == 0 and a.startswith(b"-") != b.startswith(b"-"):
            return Size(Change.SIGNED_ZERO, 0.0, 0)
        return Size(Change.NUMBER_TEXT, 0.0, 0)
    if not math.isfinite(delta):  # an infinity, or two doubles too far apart for a double
        return Size(Change.NUMBER_TEXT if x == y else Change.VALUE, None, None)
    ulps = ulps_between(x, y)
    return Size(Change.LAST_BITS if ulps <= LAST_BITS_ULPS else Change.VALUE, delta, ulps)


def _exact(literal: bytes, of_kind: str) -> int | float:
    if of_kind == "integer" and len(literal) <= _LONGEST_INTEGER:
        return int(literal)
    return float(literal)


def _apart(a: bytes, b: bytes) -> float:
    """b - a of two integers; beyond the digits that Python converts, as doubles (both may be infinite: 0)."""
    if max(len(a), len(b)) <= _LONGEST_INTEGER:
        return _as_float(int(b) - int(a))
    x, y = float(a), float(b)
    return y - x if x != y else 0.0


def _as_float(value: int) -> float:
    try:
        return float(value)
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")
