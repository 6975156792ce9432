"""From a token to the value that it writes down."""

from __future__ import annotations

from sys import intern

from aisimc_compiler.source import Source, Span
from aisimc_compiler.syntax.tree import Value, ValueKind

Token = tuple[int, int, int]

MAX_NUMBER_LENGTH = 400
"""A longer number is a mistake, and a slow one: Python's own limit for integers lies at 4,300 digits."""

_ESCAPES = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}


class BadLiteral(Exception):
    """A token that has the form of a value, but no value: `start` and `end` are offsets into the text."""

    def __init__(self, start: int, end: int, message: str, label: str, note: str) -> None:
        super().__init__(message)
        self.start, self.end = start, end
        self.message, self.label, self.note = message, label, note


def scalar(source: Source, text: str, token: Token, kind: ValueKind | str) -> Value:
    """The value of one token of `text`; `kind` is the terminal's name in lower case.

    Raises BadLiteral where a number is out of range or a string escapes half a surrogate pair.
    """
    _, start, end = token
    raw = text[start:end]
    span: Span = tuple.__new__(Span, (source, start, end))
    if kind == "name":
        raw = intern(raw)
        if raw == "true" or raw == "false":
            return Value("boolean", raw == "true", raw, span)
        return tuple.__new__(Value, ("word", raw, raw, span, ""))
    if kind == "string":
        inside = raw[1:-1]
        return tuple.__new__(Value, ("string", unescape(inside, start + 1) if "\\" in raw else inside, raw, span, ""))
    if kind == "integer":
        return tuple.__new__(Value, ("integer", _integer(raw, start), raw, span, ""))
    if kind == "decimal":
        return Value("decimal", _decimal(raw, start), raw, span)
    if kind == "quantity":
        return _quantity(source, span, raw)
    if kind == "range":
        return _range(source, span, raw)
    return Value("pointer", raw, raw, span)


def number(raw: str, span: Span) -> Value:
    """An integer or a decimal, whichever is written there."""
    start = span.start
    if raw.lstrip("-").replace("_", "").isdigit():
        return Value("integer", _integer(raw, start), raw, span)
    return Value("decimal", _decimal(raw, start), raw, span)


def _integer(raw: str, start: int) -> int:
    _check_length(raw, start)
    return int(raw)


def _decimal(raw: str, start: int) -> float:
    _check_length(raw, start)
    value = float(raw)
    if value - value != 0.0:
        raise BadLiteral(
            start,
            start + len(raw),
            "this number is out of range",
            "further from zero than 1.8e308",
            "decimals are kept as IEEE 754 doubles, as in JSON",
        )
    return value


def _check_length(raw: str, start: int) -> None:
    if len(raw) > MAX_NUMBER_LENGTH:
        raise BadLiteral(
            start,
            start + len(raw),
            f"this number is {len(raw):,} characters long",
            f"at most {MAX_NUMBER_LENGTH} are read",
            "no count, size or time of a campaign comes near it",
        )


def _quantity(source: Source, span: Span, raw: str) -> Value:
    # A unit is letters, and a slash in a rate; a number ends with a digit.
    digits = len(raw)
    while not ("0" <= raw[digits - 1] <= "9"):
        digits -= 1
    unit = raw[digits:].lstrip(" \t")
    return Value("quantity", number(raw[:digits], Span(source, span.start, span.start + digits)), raw, span, unit)


def _range(source: Source, span: Span, raw: str) -> Value:
    dots = raw.index("..")
    low_end = span.start + len(raw[:dots].rstrip(" \t"))
    high_start = span.end - len(raw[dots + 2 :].lstrip(" \t"))
    low, high = Span(source, span.start, low_end), Span(source, high_start, span.end)
    ends = (number(raw[: low_end - span.start], low), number(raw[high_start - span.start :], high))
    return Value("range", ends, raw, span)


def unescape(text: str, offset: int) -> str:
    """Resolve JSON's escapes in the inside of a string that starts at `offset`; the lexer has checked their form."""
    parts: list[str] = []
    at = 0
    while True:
        slash = text.find("\\", at)
        if slash == -1:
            parts.append(text[at:])
            return "".join(parts)
        parts.append(text[at:slash])
        escape = text[slash + 1]
        if escape != "u":
            parts.append(_ESCAPES.get(escape, escape))
            at = slash + 2
            continue
        code, at = _code_point(text, slash)
        if 0xD800 <= code <= 0xDFFF:
            raise BadLiteral(
                offset + slash,
                offset + at,
                f"`{text[slash:at]}` is half of a surrogate pair",
                "no character of its own",
                "characters beyond U+FFFF are written as they are, or as two escapes: `\\ud83d\\ude00`",
            )
        parts.append(chr(code))


def _code_point(text: str, slash: int) -> tuple[int, int]:
    """The code point escaped at `slash`, and where its escape ends: one `\\uXXXX`, or a pair of them."""
    code, end = int(text[slash + 2 : slash + 6], 16), slash + 6
    if 0xD800 <= code <= 0xDBFF and text[end : end + 2] == "\\u":
        low = int(text[end + 2 : end + 6], 16)
        if 0xDC00 <= low <= 0xDFFF:
            return 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00), end + 6
    return code, end
