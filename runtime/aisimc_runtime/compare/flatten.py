"""A strict reader of one JSON value into (path, literal) leaves that keeps every literal as it was written.

It is the reference behind the fast path of `shape`: slow, but it sees duplicate keys, number spellings and escapes,
and it refuses what is not JSON (tokens such as NaN are kept and shown as tokens).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import NamedTuple

Segment = str | int
Path = tuple[Segment, ...]

HOLE = b"\x00"
"""Stands for a leaf in a skeleton; a NUL byte cannot stand in JSON text, so it cannot be mistaken for content."""

_STRING = rb'"[^"\\\x00-\x1f]*(?:\\.[^"\\\x00-\x1f]*)*"'
_TOKEN = re.compile(rb"\s*(?:(" + _STRING + rb")|([\[\]{}:,])|(\x00|[-+0-9A-Za-z.]+))")


class NotJson(ValueError):
    """The text is not one JSON value; `offset` is where reading it stopped."""

    def __init__(self, message: str, offset: int) -> None:
        super().__init__(message)
        self.offset = offset


class Leaf(NamedTuple):
    """One leaf: where it stands, and its literal (`{}` and `[]` for empty containers)."""

    path: Path
    literal: bytes


def pointer(path: Path) -> str:
    """The JSON pointer of a path (RFC 6901)."""
    return "".join("/" + str(segment).replace("~", "~0").replace("/", "~1") for segment in path)


def flatten(text: bytes, at: Path = ()) -> list[Leaf]:
    """All leaves of one JSON value in text order; the second of two equal keys is named `key (2)`.

    Raises NotJson.
    """
    tokens = _tokens(text)
    leaves: list[Leaf] = []
    first = next(tokens, None)
    if first is None:
        raise NotJson("no value", 0)
    try:
        _value(first, tokens, at, leaves)
    except RecursionError:
        raise NotJson("the value is nested too deeply to be read", 0) from None
    trailing = next(tokens, None)
    if trailing is not None:
        raise NotJson("text after the value", trailing[1])
    return leaves


_Token = tuple[bytes, int, bool]  # text, offset, whether it is punctuation


def _tokens(text: bytes) -> Iterator[_Token]:
    position, size = 0, len(text)
    while position < size:
        match = _TOKEN.match(text, position)
        if match is None:
            if text[position:].strip(b" \t\r\n") == b"":
                return
            raise NotJson("unexpected byte", position)
        yield match.group(match.lastindex or 0), match.start(match.lastindex or 0), match.lastindex == 2
        position = match.end()


def _next(tokens: Iterator[_Token]) -> _Token:
    token = next(tokens, None)
    if token is None:
        raise NotJson("the text ends early", -1)
    return token


def _value(token: _Token, tokens: Iterator[_Token], path: Path, leaves: list[Leaf]) -> None:
    text, offset, punctuation = token
    if not punctuation:
        leaves.append(Leaf(path, text))
    elif text == b"{":
        _members(tokens, path, leaves)
    elif text == b"[":
        _elements(tokens, path, leaves)
    else:
        raise NotJson(f"a value was expected, found {text.decode()!r}", offset)


def _members(tokens: Iterator[_Token], path: Path, leaves: list[Leaf]) -> None:
    token = _next(tokens)
    if token[0] == b"}" and token[2]:
        leaves.append(Leaf(path, b"{}"))
        return
    seen: dict[str, int] = {}
    while True:
        if token[2] or not token[0].startswith(b'"'):
            raise NotJson("a key was expected", token[1])
        key = json.loads(token[0])
        seen[key] = seen.get(key, 0) + 1
        name = key if seen[key] == 1 else f"{key} ({seen[key]})"
        colon = _next(tokens)
        if colon[0] != b":":
            raise NotJson("a colon was expected", colon[1])
        _value(_next(tokens), tokens, (*path, name), leaves)
        token = _next(tokens)
        if token[0] == b"}":
            return
        if token[0] != b",":
            raise NotJson("a comma or the end of the object was expected", token[1])
        token = _next(tokens)


def _elements(tokens: Iterator[_Token], path: Path, leaves: list[Leaf]) -> None:
    token = _next(tokens)
    if token[0] == b"]" and token[2]:
        leaves.append(Leaf(path, b"[]"))
        return
    index = 0
    while True:
        _value(token, tokens, (*path, index), leaves)
        token = _next(tokens)
        if token[0] == b"]":
            return
        if token[0] != b",":
            raise NotJson("a comma or the end of the array was expected", token[1])
        token = _next(tokens)
        index += 1
