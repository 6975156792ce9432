"""One file's lines with what is to be seen in them underlined."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from aisimc_compiler.diagnostics.render.display import expand, one_line, width
from aisimc_compiler.records import NamedTuple
from aisimc_compiler.source import Source

Paint = Callable[[str, str], str]

_CONTEXT = 60  # characters before and after a token, where its line is too long to be shown
_LONG = 140


class Mark(NamedTuple):
    """A place to underline: offsets into the source, the line character, the label, the style."""

    start: int
    end: int
    line: str
    label: str
    style: str


class _Placed(NamedTuple):
    start: int  # display columns
    end: int
    mark: Mark


class _Line(NamedTuple):
    number: int
    text: str
    marks: list[_Placed]


def snippet(source: Source, marks: Sequence[Mark], gutter: int, paint: Paint) -> list[str]:
    """The lines of a source in which marks stand, with their underlines; `gutter` is the width of line numbers."""
    by_line: dict[int, list[Mark]] = {}
    for mark in sorted(marks, key=lambda m: (m.start, m.end)):
        by_line.setdefault(source.position(mark.start)[0], []).append(mark)
    bar = paint("gutter", "|")
    rows: list[str] = []
    previous = 0
    for number in sorted(by_line):
        if previous and number == previous + 2:
            between, _ = expand(_whole_line(source, number - 1))
            rows.append(f"{paint('gutter', str(number - 1).rjust(gutter))} {bar} {between}".rstrip())
        elif previous and number > previous + 2:
            rows.append(paint("gutter", "..."))
        line = _lay_out(source, number, by_line[number])
        rows.append(f"{paint('gutter', str(number).rjust(gutter))} {bar} {line.text}".rstrip())
        rows += [f"{' ' * gutter} {bar} {row}".rstrip() for row in _underlines(line.marks, paint)]
        previous = number
    return rows


def _whole_line(source: Source, number: int) -> str:
    text = source.line(number)
    return text if len(text) <= _LONG else text[: _LONG - 1] + "…"


def _lay_out(source: Source, number: int, marks: list[Mark]) -> _Line:
    """The line, or what is around the marks where it is too long."""
    text = source.text
    line_start = marks[0].start - source.position(marks[0].start)[1] + 1
    limit = max(marks[-1].end, marks[-1].start) + _LONG
    line_end = text.find("\n", line_start, limit)
    whole = line_end != -1 or limit >= len(text)
    line_end = line_end if line_end != -1 else min(limit, len(text))
    if text[line_start:line_end].endswith("\r"):
        line_end -= 1
    left, right = line_start, line_end
    if not whole or line_end - line_start > _LONG:
        left = max(line_start, marks[0].start - _CONTEXT)
        right = min(line_end, max(marks[0].start + _LONG, min(marks[-1].end, marks[-1].start + _LONG)) + _CONTEXT)
        right = min(right, left + 2 * _LONG)
    body, columns = expand(text[left:right])
    before = "…" if left > line_start else ""
    after = "…" if right < line_end or not whole else ""
    shift = len(before)
    placed = []
    for mark in marks:
        start = min(max(mark.start, left), right) - left
        end = min(max(mark.end, mark.start, left), right) - left
        column = columns[start] + shift
        placed.append(_Placed(column, max(columns[end] + shift, column + 1), mark))
    return _Line(number, before + body + after, placed)


def _underlines(placed: list[_Placed], paint: Paint) -> list[str]:
    """The underline, the label of the last mark beside it, and those of the others below, hanging from their marks."""
    row, column = "", 0
    for at in placed:
        if at.end <= column:
            continue
        start = max(at.start, column)
        row += " " * (start - column) + paint(at.mark.style, at.mark.line * (at.end - start))
        column = at.end
    last = placed[-1]
    rows = [f"{row} {paint(last.mark.style, one_line(last.mark.label))}" if last.mark.label else row]
    hanging = [at for at in placed[:-1] if at.mark.label]
    while hanging:
        at = hanging.pop()
        before = ""
        column = 0
        for other in hanging:
            if column <= other.start < at.start:
                before += " " * (other.start - column) + paint(other.mark.style, "|")
                column = other.start + 1
        rows.append(before + " " * (at.start - column) + paint(at.mark.style, one_line(at.mark.label)))
    return rows


def changed_lines(source: Source, start: int, end: int, text: str) -> tuple[int, list[str], list[str]] | None:
    """The lines that a replacement changes: number of the first, lines before, lines after; None where too long."""
    first, column = source.position(start)
    line_start = start - column + 1
    line_end = source.text.find("\n", end, end + 4 * _LONG)
    if line_end == -1:
        line_end = min(len(source.text), end + 4 * _LONG)
    if line_end - line_start > 4 * _LONG or end - start > 4 * _LONG:
        return None
    head, tail = source.text[line_start:start], source.text[end:line_end]
    before = (head + source.text[start:end] + tail).split("\n")
    after = (head + text + tail).split("\n")
    if not (head + text + tail).strip():
        after = []
    return (
        first,
        [expand(line.removesuffix("\r"))[0] for line in before],
        [expand(line.removesuffix("\r"))[0] for line in after],
    )


def widest(numbers: Sequence[int]) -> int:
    """Columns that the widest of some line numbers takes."""
    return max((width(str(number)) for number in numbers), default=1)
