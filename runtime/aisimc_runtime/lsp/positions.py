"""Between the compiler's offsets (code points) and the protocol's positions (UTF-16 by default)."""

from __future__ import annotations

from lsprotocol import types

from aisimc_compiler.source import Source, Span

Encoding = types.PositionEncodingKind | str


def units(text: str, encoding: Encoding) -> int:
    """The length of a text in the units of an encoding."""
    if encoding == types.PositionEncodingKind.Utf32 or text.isascii():
        return len(text)
    if encoding == types.PositionEncodingKind.Utf8:
        return len(text.encode("utf-8", "surrogatepass"))
    return len(text) + sum(character > "\uffff" for character in text)


def position(source: Source, offset: int, encoding: Encoding) -> types.Position:
    """The protocol's position of an offset."""
    line, column = source.position(offset)
    head = source.text[offset - column + 1 : offset]
    return types.Position(line - 1, units(head, encoding))


def span_range(span: Span, encoding: Encoding) -> types.Range:
    """The protocol's range of a span."""
    return types.Range(position(span.source, span.start, encoding), position(span.source, span.end, encoding))


def offset(source: Source, place: types.Position, encoding: Encoding) -> int:
    """The offset of a position; one behind the line's or the text's end is taken for that end."""
    start = 0
    for _ in range(place.line):
        end = source.text.find("\n", start)
        if end == -1:
            return len(source.text)
        start = end + 1
    end = source.text.find("\n", start)
    line = source.text[start : len(source.text) if end == -1 else end]
    if encoding == types.PositionEncodingKind.Utf32 or line.isascii():
        return start + min(place.character, len(line))
    taken = 0
    for at, character in enumerate(line):
        if taken >= place.character:
            return start + at
        taken += units(character, encoding)
    return start + len(line)
