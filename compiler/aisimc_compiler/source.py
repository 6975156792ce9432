"""Source texts and the spans that point into them."""

from __future__ import annotations

from bisect import bisect_right

from aisimc_compiler.records import NamedTuple


class Source:
    """One file's text with its line index. Offsets are in code points, lines and columns count from 1."""

    __slots__ = ("_line_starts", "name", "text")

    def __init__(self, name: str, text: str) -> None:
        self.name = name
        self.text = text
        self._line_starts: list[int] | None = None

    def position(self, offset: int) -> tuple[int, int]:
        """Line and column (both from 1) of a code-point offset; the end of the text is a valid place."""
        starts = self._starts()
        line = bisect_right(starts, offset)
        return line, offset - starts[line - 1] + 1

    def line(self, number: int) -> str:
        """The text of one line (from 1), without its line end."""
        starts = self._starts()
        end = starts[number] if number < len(starts) else len(self.text)
        return self.text[starts[number - 1] : end].rstrip("\r\n")

    def _starts(self) -> list[int]:
        if self._line_starts is None:
            starts = [0]
            find = self.text.find
            at = find("\n")
            while at != -1:
                starts.append(at + 1)
                at = find("\n", at + 1)
            self._line_starts = starts
        return self._line_starts


class Span(NamedTuple):
    """A half-open range `[start, end)` of one source."""

    source: Source
    start: int
    end: int

    def to(self, other: Span) -> Span:
        """From the start of this span to the end of the other."""
        return Span(self.source, self.start, other.end)
