"""What the resolver carries along: the loader, the diagnostics found, and where the text could not be read."""

from __future__ import annotations

import os
from bisect import bisect_left
from collections.abc import Sequence

from aisimc_compiler.diagnostics.model import Diagnostic
from aisimc_compiler.loading import Loader
from aisimc_compiler.source import Source, Span

SUGGESTIONS = 100
"""Nearest names that are looked for in one run: nobody reads more, and among many names each takes its time."""


class Context:
    """The state of one resolution; lives only as long as it."""

    __slots__ = (
        "_seen",
        "_suggested",
        "_tears",
        "diagnostics",
        "fragment",
        "loader",
        "refused",
        "source",
        "strangers",
        "unread",
    )

    def __init__(self, source: Source, loader: Loader, syntax: Sequence[Diagnostic]) -> None:
        self.source = source
        self.loader = loader
        self.diagnostics: list[Diagnostic] = []
        self.fragment = False
        self.refused: dict[str, set[str]] = {}
        """Keyword → names of blocks that were refused whole: who refers to one of them makes no mistake of his own."""
        self.strangers = 0
        """Unknown blocks at the top of a file: each may be one that is missing."""
        self.unread = False
        """Whether an import could not be read: what is missing or unknown may stand there."""
        self._tears: dict[Source, list[int]] = {}
        self._suggested = 0
        self._seen: set[tuple[str, Source, int]] = set()
        self.tear(syntax)

    def remember_refused(self, keyword: str, name: str = "") -> None:
        """Keeps the name of a block that was refused, so that those who refer to it are not refused as well.

        No name stands for one that is not known: the block has none, or that of another, and should have its own.
        """
        self.refused.setdefault("row" if keyword == "fixture" else keyword, set()).add(name)

    def refers_to_refused(self, noun: str, name: str) -> bool:
        """Whether a reference may be to a block that was refused: one of that name, or one whose name is missing."""
        return not self.refused.get(noun, set()).isdisjoint((name, ""))

    def may_suggest(self) -> bool:
        """Whether one more nearest name is worth looking for; the first hundred are."""
        self._suggested += 1
        return self._suggested <= SUGGESTIONS

    def report(self, diagnostic: Diagnostic, *, apart: str = "") -> None:
        """Keeps a finding; a family's mistake is kept once, however many rows take it over.

        `apart` sets a finding apart from others of its rule at the same place.
        """
        key = (diagnostic.rule + apart, diagnostic.span.source, diagnostic.span.start)
        if key not in self._seen and not self._debris(diagnostic):
            self._seen.add(key)
            self.diagnostics.append(diagnostic)

    def _debris(self, diagnostic: Diagnostic) -> bool:
        """Whether it is about what a syntax error in its token, or earlier in the line, has left over."""
        source, start, end = diagnostic.span
        if source not in self._tears:
            return False
        last = start if "\n" in source.text[start:end] else max(start, end - 1)
        return self._torn_between(source, source.text.rfind("\n", 0, start) + 1, last)

    def tear(self, diagnostics: Sequence[Diagnostic]) -> None:
        """Remembers where the text could not be read."""
        for diagnostic in diagnostics:
            if diagnostic.severity == "error":
                self._tears.setdefault(diagnostic.span.source, []).append(diagnostic.span.start)
        for starts in self._tears.values():
            starts.sort()

    def torn(self, span: Span | None = None) -> bool:
        """Whether text in this span (or anywhere) could not be read, so that an absence there proves nothing."""
        if span is None:
            return self.unread or bool(self._tears)
        if not self._tears:
            return False
        source, start, end = span
        return source in self._tears and self._torn_between(source, start, end)

    def _torn_between(self, source: Source, start: int, end: int) -> bool:
        starts = self._tears[source]
        at = bisect_left(starts, start)
        return at < len(starts) and starts[at] <= end

    def inside(self, relative: str) -> bool:
        """Whether a path, its symbolic links followed, still lies in the campaign's folder."""
        root = os.path.realpath(self.loader.folder)
        real = os.path.realpath(self.loader.path(relative))
        return real == root or real.startswith(root.rstrip("/") + "/")
