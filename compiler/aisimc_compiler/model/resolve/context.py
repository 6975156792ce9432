"""What the resolver carries along: the files read, the diagnostics found, and the only way to read a file."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable

from aisimc_compiler.diagnostics.model import Diagnostic
from aisimc_compiler.source import Source, Span

LARGEST_FILE_BYTES = 64 * 1024 * 1024

Reader = Callable[[str], bytes]


def read_file(path: str) -> bytes:
    """The bytes of a regular file of bearable size.

    Raises OSError with a reason to show, also for folders, devices and pipes (which could block) and huge files.
    """
    status = os.stat(path)  # noqa: PTH116 - pathlib would cost every check its import
    if stat.S_ISDIR(status.st_mode):
        raise OSError(0, "it is a folder")
    if not stat.S_ISREG(status.st_mode):
        raise OSError(0, "it is not a regular file")
    if status.st_size > LARGEST_FILE_BYTES:
        raise OSError(0, f"it is larger than {LARGEST_FILE_BYTES // 1024 // 1024} MiB")
    with open(path, "rb") as file:  # noqa: PTH123 - as above
        return file.read()


class Context:
    """The state of one resolution; lives only as long as it."""

    __slots__ = ("_tears", "diagnostics", "folder", "prefix", "root", "sources")

    def __init__(self, source: Source, path: str) -> None:
        self.sources: list[Source] = [source]
        self.diagnostics: list[Diagnostic] = []
        self.folder = os.path.dirname(path) or "."  # noqa: PTH120
        """The campaign's folder as the user wrote it; imports and files may not leave it."""
        self.prefix = os.path.dirname(source.name)  # noqa: PTH120
        self.root = os.path.realpath(self.folder)
        self._tears: list[Span] = []

    def report(self, diagnostic: Diagnostic) -> None:
        """Keeps a finding."""
        self.diagnostics.append(diagnostic)

    def syntax(self, diagnostics: list[Diagnostic]) -> None:
        """Keeps the parser's findings, and where the text is torn."""
        self.diagnostics.extend(diagnostics)
        self._tears.extend(diagnostic.span for diagnostic in diagnostics if diagnostic.severity == "error")

    def torn(self, span: Span | None = None) -> bool:
        """Whether text in this span (or anywhere) could not be read, so that an absence there proves nothing."""
        if not self._tears:
            return False
        if span is None:
            return True
        source, start, end = span
        return any(tear.source is source and start <= tear.start <= end for tear in self._tears)

    def place(self, relative: str) -> str:
        """The file-system path of a path relative to the campaign's folder."""
        return os.path.join(self.folder, relative)  # noqa: PTH118

    def shown(self, relative: str) -> str:
        """How a file is named to the user: beside the first file as the user named that."""
        return f"{self.prefix}/{relative}" if self.prefix else relative

    def inside(self, relative: str) -> bool:
        """Whether a path, its symbolic links followed, still lies in the campaign's folder."""
        real = os.path.realpath(self.place(relative))
        return real == self.root or real.startswith(self.root.rstrip("/") + "/")
