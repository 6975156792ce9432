"""What the resolver carries along: the loader, the diagnostics found, and where the text could not be read."""

from __future__ import annotations

import os
from collections.abc import Sequence

from aisimc_compiler.diagnostics.model import Diagnostic
from aisimc_compiler.loading import Loader
from aisimc_compiler.source import Source, Span


class Context:
    """The state of one resolution; lives only as long as it."""

    __slots__ = ("_seen", "_tears", "diagnostics", "fragment", "loader", "source")

    def __init__(self, source: Source, loader: Loader, syntax: Sequence[Diagnostic]) -> None:
        self.source = source
        self.loader = loader
        self.diagnostics: list[Diagnostic] = []
        self.fragment = False
        self._tears: list[Span] = []
        self._seen: set[tuple[str, Source, int]] = set()
        self.tear(syntax)

    def report(self, diagnostic: Diagnostic) -> None:
        """Keeps a finding; a family's mistake is kept once, however many rows take it over."""
        key = (diagnostic.rule, diagnostic.span.source, diagnostic.span.start)
        if key not in self._seen and not self._debris(diagnostic):
            self._seen.add(key)
            self.diagnostics.append(diagnostic)

    def _debris(self, diagnostic: Diagnostic) -> bool:
        """Whether it is about what a syntax error earlier in the line has left over."""
        source, start, _ = diagnostic.span
        line = source.text.rfind("\n", 0, start) + 1
        return any(tear.source is source and line <= tear.start <= start for tear in self._tears)

    def tear(self, diagnostics: Sequence[Diagnostic]) -> None:
        """Remembers where the text could not be read."""
        self._tears.extend(diagnostic.span for diagnostic in diagnostics if diagnostic.severity == "error")

    def torn(self, span: Span | None = None) -> bool:
        """Whether text in this span (or anywhere) could not be read, so that an absence there proves nothing."""
        if not self._tears:
            return False
        if span is None:
            return True
        source, start, end = span
        return any(tear.source is source and start <= tear.start <= end for tear in self._tears)

    def inside(self, relative: str) -> bool:
        """Whether a path, its symbolic links followed, still lies in the campaign's folder."""
        root = os.path.realpath(self.loader.folder)
        real = os.path.realpath(self.loader.path(relative))
        return real == root or real.startswith(root.rstrip("/") + "/")
