"""Find the members and the per-request records of a canonical record without reading it into objects.

A canonical record is one JSON object of some ten megabytes, nearly all of it in the array `per_request`. The file is
mapped, the members of the outer object are found by their brackets, and the records by the text between them, so that
one record at a time is decoded. Works for any compact JSON object; others are made compact first.
"""

from __future__ import annotations

import json
import mmap
import re
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Self

import orjson

from aisimc_runtime.compare.flatten import NotJson
from aisimc_runtime.compare.shape import compact

RECORDS = "per_request"
"""The member whose elements are records, one for each request."""

_KEY = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"')
_BRACKET = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"|[\[\]{}]')
_SCALAR = re.compile(rb"[^,\]}\s]+")

Buffer = bytes | mmap.mmap


class Span(NamedTuple):
    """Offsets of one value in the file."""

    start: int
    end: int


class Document:
    """One canonical record or report on disk, mapped; a context manager.

    Raises NotJson from every method when the text is not one JSON object.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        with path.open("rb") as file:
            size = file.seek(0, 2)
            self._map = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) if size else None
        self._buffer: Buffer = self._map if self._map is not None else b""
        if _spaced(self._buffer):
            self._buffer = compact(bytes(self._buffer))
        self.members, self.records = _outline(self._buffer)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Give the mapping back."""
        self._buffer = b""
        if self._map is not None:
            self._map.close()

    def read(self, span: Span) -> bytes:
        """The text of one value."""
        return bytes(self._buffer[span.start : span.end])

    def member(self, name: str) -> bytes | None:
        """The text of a member of the outer object (the first one of that name), or None."""
        for key, span in self.members:
            if key == name:
                return self.read(span)
        return None

    def each_record(self) -> Iterator[bytes]:
        """The text of each per-request record, in the order of the file."""
        for span in self.records:
            yield self.read(span)


def _spaced(buffer: Buffer) -> bool:
    """Whether the text has white space between tokens, judged at its start and by raw line breaks."""
    start = bytes(buffer[:512])
    match = re.match(rb'\s*\{\s*"[^"\\]*(?:\\.[^"\\]*)*"\s*:\s*', start)
    if match and re.search(rb"\s", match.group().replace(_key_of(match.group()), b"")):
        return True
    return -1 < buffer.find(b"\n") < len(buffer) - 1


def _key_of(text: bytes) -> bytes:
    key = _KEY.search(text)
    return key.group() if key else b""


def _outline(buffer: Buffer) -> tuple[list[tuple[str, Span]], list[Span]]:
    members: list[tuple[str, Span]] = []
    records: list[Span] = []
    position = _expect(buffer, 0, b"{")
    if buffer[position : position + 1] == b"}":
        _only_line_end(buffer, position + 1)
        return members, records
    while True:
        key = _KEY.match(buffer, position)
        if key is None:
            raise NotJson("a key was expected", position)
        start = _expect(buffer, key.end(), b":")
        name = str(json.loads(key.group()))
        if name == RECORDS and not records and buffer[start : start + 1] == b"[":
            records, end = _elements(buffer, start)
        else:
            end = _value_end(buffer, start)
        members.append((name, Span(start, end)))
        after = buffer[end : end + 1]
        if after == b"}":
            _only_line_end(buffer, end + 1)
            return members, records
        position = _expect(buffer, end, b",")


def _expect(buffer: Buffer, position: int, byte: bytes) -> int:
    if buffer[position : position + 1] != byte:
        raise NotJson(f"{byte.decode()!r} was expected", position)
    return position + 1


def _only_line_end(buffer: Buffer, position: int) -> None:
    if bytes(buffer[position : position + 64]).strip() != b"":
        raise NotJson("text after the object (only the first line of a file is a record)", position)


def _elements(buffer: Buffer, start: int) -> tuple[list[Span], int]:
    quick = _elements_by_separator(buffer, start)
    return quick if quick is not None else _elements_by_bracket(buffer, start)


def _elements_by_separator(buffer: Buffer, start: int) -> tuple[list[Span], int] | None:
    """Records lie between occurrences of `},{"first key":`; None where that cannot be trusted."""
    key = _KEY.match(buffer, start + 2)
    if buffer[start + 1 : start + 2] != b"{" or key is None:
        return None
    separator = b"},{" + key.group() + b":"
    spans: list[Span] = []
    begin = start + 1
    while (found := buffer.find(separator, begin)) >= 0:
        spans.append(Span(begin, found + 1))
        begin = found + 2
    end = _value_end(buffer, begin)
    spans.append(Span(begin, end))
    if buffer[end : end + 1] != b"]" or not all(_is_value(buffer[a:b]) for a, b in spans):
        return None
    return spans, end + 1


def _is_value(text: bytes) -> bool:
    """Whether the text is one JSON value by itself: then the separators around it were real ones."""
    try:
        orjson.loads(text)
    except orjson.JSONDecodeError:
        return False
    return True


def _elements_by_bracket(buffer: Buffer, start: int) -> tuple[list[Span], int]:
    spans: list[Span] = []
    position = start + 1
    if buffer[position : position + 1] == b"]":
        return spans, position + 1
    while True:
        end = _value_end(buffer, position)
        spans.append(Span(position, end))
        if buffer[end : end + 1] == b"]":
            return spans, end + 1
        position = _expect(buffer, end, b",")


def _value_end(buffer: Buffer, start: int) -> int:
    first = buffer[start : start + 1]
    if first == b'"':
        key = _KEY.match(buffer, start)
        if key is None:
            raise NotJson("a string does not end", start)
        return key.end()
    if first not in (b"{", b"["):
        scalar = _SCALAR.match(buffer, start)
        if scalar is None:
            raise NotJson("a value was expected", start)
        return scalar.end()
    depth = 0
    for match in _BRACKET.finditer(buffer, start):
        token = match.group()
        if token in (b"{", b"["):
            depth += 1
        elif token in (b"}", b"]"):
            depth -= 1
            if depth == 0:
                return match.end()
    raise NotJson("the text ends early", len(buffer))
