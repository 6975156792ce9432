"""Number literals as bytes: their kind, their exact value, and how far two of them lie apart.

Byte parity means that `1` and `1.0`, `-0.0` and `0.0`, and the last bit of a double are differences. So numbers
are compared as the text they were written with, and interpreted only to say how large a difference is.
"""

from __future__ import annotations

import re
import struct
from enum import StrEnum
from typing import NamedTuple

LAST_BITS_ULPS = 64
"""Two doubles at most this many units in the last place apart differ in the last bits only: that is what summing
the same terms in another order gives (the published builds reach a relative distance of 4.4e-15, about 40 units)."""

_INTEGER = re.compile(rb"-?(?:0|[1-9][0-9]*)\Z")
_DECIMAL = re.compile(rb"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?\Z")


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
    first = literal[:1]
    if first == b'"':
        return "string"
    if literal in (b"true", b"false"):
        return "boolean"
    if literal == b"null":
        return "null"
    if literal in (b"{}", b"[]"):
        return "container"
    if _INTEGER.match(literal):
        return "integer"
    if _DECIMAL.match(literal):
        return "decimal"
    return "token"


def number(literal: bytes | None) -> float | None:
    """Value of a number literal as a double; None for everything else."""
    if literal is None or kind(literal) not in ("integer", "decimal"):
        return None
    return float(literal)


def ulps_between(a: float, b: float) -> int:
    """Number of representable doubles between two finite doubles (0 for equal ones and for -0.0 and 0.0)."""

    def ordinal(value: float) -> int:
        bits: int = struct.unpack("<q", struct.pack("<d", value))[0]
        return bits if bits >= 0 else -(bits & 0x7FFF_FFFF_FFFF_FFFF)

    return abs(ordinal(a) - ordinal(b))


def measure(a: bytes, b: bytes) -> Size:
    """Classify two different leaf literals; exact for integers of any size."""
    kind_a, kind_b = kind(a), kind(b)
    numeric = ("integer", "decimal")
    if kind_a in numeric and kind_b in numeric:
        return _measure_numbers(a, b, kind_a, kind_b)
    if kind_a != kind_b:
        return Size(Change.TYPE, None, None)
    return Size(Change.TEXT if kind_a == "string" else Change.VALUE, None, None)


def _measure_numbers(a: bytes, b: bytes, kind_a: str, kind_b: str) -> Size:
    if kind_a == kind_b == "integer":
        if a == b"-0" or b == b"-0":
            same = int(a) == int(b)
            return Size(Change.SIGNED_ZERO if same else Change.VALUE, float(int(b) - int(a)), None)
        return Size(Change.VALUE, _as_float(int(b) - int(a)), None)
    x, y = float(a), float(b)
    if kind_a != kind_b:
        equal = x == y and _exact(a, kind_a) == _exact(b, kind_b)
        return Size(Change.NUMBER_KIND if equal else Change.VALUE, y - x, None)
    if x == y:
        if x == 0 and a.startswith(b"-") != b.startswith(b"-"):
            return Size(Change.SIGNED_ZERO, 0.0, 0)
        return Size(Change.NUMBER_TEXT, 0.0, 0)
    if x in (float("inf"), float("-inf")) or y in (float("inf"), float("-inf")):
        return Size(Change.VALUE, None, None)
    ulps = ulps_between(x, y)
    return Size(Change.LAST_BITS if ulps <= LAST_BITS_ULPS else Change.VALUE, y - x, ulps)


def _exact(literal: bytes, of_kind: str) -> int | float:
    return int(literal) if of_kind == "integer" else float(literal)


def _as_float(value: int) -> float:
    try:
        return float(value)
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")
