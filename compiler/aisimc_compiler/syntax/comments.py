"""Comments as other languages write them: `// …` and `/* … */`, which lex as pointers here."""

from __future__ import annotations

from bisect import bisect_right

from aisimc_compiler.syntax.driver import END, Token
from aisimc_compiler.syntax.faults import Report


def drop_foreign_comments(report: Report, tokens: list[Token], kinds: dict[str, int]) -> list[Token]:
    """The tokens without those that stand in a foreign comment; each comment is reported.

    Only for texts in which something is wrong already: `//` may begin a pointer (to an empty key).
    """
    text, pointer = report.source.text, kinds["POINTER"]
    result: list[Token] = []
    ranges: list[tuple[int, int]] = []
    fixes: list[tuple[int, int, str] | None] = []
    ends = _Ends(text)
    index = 0
    while index < len(tokens):
        kind, start, end = tokens[index]
        stop = _comment_end(text, start, end, ends) if kind == pointer else -1
        if stop == -1:
            result.append(tokens[index])
            index += 1
            continue
        ranges.append((start, stop))
        fix = (start, start + 2, "#") if text[start + 1] == "/" else None
        fixes.append(fix)
        while tokens[index][0] != END and tokens[index][1] < stop:
            index += 1
    if ranges:
        _report(report, ranges, fixes)
    return result


def _report(report: Report, ranges: list[tuple[int, int]], fixes: list[tuple[int, int, str] | None]) -> None:
    """One error for each comment, in place of whatever the lexer found within."""
    starts = [start for start, _ in ranges]

    def inside(place: int) -> bool:
        at = bisect_right(starts, place) - 1
        return at >= 0 and place < ranges[at][1]

    report.diagnostics = [d for d in report.diagnostics if not inside(d.span.start)]
    for (start, _), fix in zip(ranges, fixes, strict=True):
        advice = "write `# …`, to the end of the line"
        report.error(start, start + 2, "a comment starts with `#`", help=advice, fix=fix)


class _Ends:
    """Finds the next line end and the next `*/` after a place; places come in order, so that each is found once."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._known = {"\n": -1, "*/": -1}

    def after(self, mark: str, place: int) -> int:
        """Where `mark` stands next, or the end of the text."""
        if self._known[mark] < place:
            at = self._text.find(mark, place)
            self._known[mark] = len(self._text) if at == -1 else at
        return self._known[mark]


def _comment_end(text: str, start: int, end: int, ends: _Ends) -> int:
    """Where the comment ends that a pointer at `start` really is, or -1."""
    line_end = ends.after("\n", end)
    after = text[end : min(line_end, end + 80)].strip()
    if text.startswith("//", start):
        return line_end if end == start + 2 or after[:1] not in ("", ",", "]", "}", "/", "#") else -1
    if text.startswith("/*", start) and text[start + 2 : start + 3] != "/":
        close = ends.after("*/", start + 2)
        return close + 2 if close < len(text) and after[:1] not in (",", "]") else -1
    return -1
