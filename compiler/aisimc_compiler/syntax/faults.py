"""Collects syntax errors, up to a bound that keeps a hopeless file cheap."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

from aisimc_compiler.diagnostics.model import Diagnostic, Label, Replacement
from aisimc_compiler.source import Source, Span

MAX_ERRORS = 20_000
"""After so many syntax errors the rest of a file is not read: it is some other file."""


_STRETCH = 200


class Enough(Exception):
    """`MAX_ERRORS` is reached."""


class Report:
    """The syntax errors of one source."""

    __slots__ = ("_starts", "diagnostics", "source")

    def __init__(self, source: Source) -> None:
        self.source = source
        self.diagnostics: list[Diagnostic] = []
        self._starts: set[int] = set()

    def span(self, start: int, end: int) -> Span:
        """A span of this source."""
        return Span(self.source, start, end)

    def reported_between(self, start: int, end: int) -> bool:
        """Whether an error was reported in this stretch of a line."""
        return any(place in self._starts for place in range(start, min(end, start + _STRETCH)))

    def error(
        self,
        start: int,
        end: int,
        message: str,
        *,
        rule: str = "syntax",
        label: str = "",
        note: str = "",
        help: str = "",
        fix: tuple[int, int, str] | None = None,
        applicable: bool = True,
        secondary: tuple[tuple[int, int, str], ...] = (),
    ) -> None:
        """Add one error, of another rule than `syntax` where that says more; `fix` is (start, end, text).

        A second one at the same place is a consequence of the first, and left out. Raises Enough.
        """
        if start in self._starts:
            return
        self._starts.add(start)
        if len(self.diagnostics) >= MAX_ERRORS:
            self.diagnostics.append(
                Diagnostic(
                    "syntax", self.span(start, end), f"more than {MAX_ERRORS:,} syntax errors: the rest is not read"
                )
            )
            raise Enough
        self.diagnostics.append(
            Diagnostic(
                rule,
                self.span(start, end),
                message,
                label,
                _notes(rule, note),
                help,
                Replacement(self.span(fix[0], fix[1]), fix[2], applicable) if fix else None,
                tuple(Label(self.span(a, b), text) for a, b, text in secondary),
            )
        )


def outside_of(source: Source, faults: Sequence[Diagnostic], found: Sequence[Diagnostic]) -> list[Diagnostic]:
    """The findings that are not about a token in which a syntax error of the same source stands."""
    starts = sorted(fault.span.start for fault in faults)

    def torn(span: Span) -> bool:
        at = bisect_left(starts, span.start)
        within = span.source is source and at < len(starts) and starts[at] < span.end
        return within and "\n" not in source.text[span.start : span.end]

    return [diagnostic for diagnostic in found if not torn(diagnostic.span)]


def _notes(rule: str, note: str) -> tuple[str, ...]:
    if rule == "syntax":
        return (note,) if note else ()
    from aisimc_compiler.rules.registry import RULES

    return (*((note,) if note else ()), RULES[rule].reason)
