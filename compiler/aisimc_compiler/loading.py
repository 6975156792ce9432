"""The only place where the compiler reads files: the spec, its imports, and the frozen and golden files it names."""

from __future__ import annotations

import os
import stat

from aisimc_compiler.records import NamedTuple
from aisimc_compiler.source import Source

MAX_FILE_BYTES = 64 * 1024 * 1024
"""Larger files are refused unread: the largest spec that makes sense has a few megabytes."""


class Unreadable(NamedTuple):
    """Why a file could not be read: `reason` ends the sentence "X cannot be read: …"."""

    name: str
    reason: str
    absent: bool = False
    """There is no such file; another may have been meant."""


class Loader:
    """Reads files below one folder, each once.

    Names are POSIX paths relative to `folder` (the first file's), except where a caller passes an absolute one.
    `sources` holds every text that was read, in the order of reading.
    """

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.sources: dict[str, Source] = {}
        self._bytes: dict[str, bytes | Unreadable] = {}

    def path(self, name: str) -> str:
        """Where the file called `name` lies."""
        return os.path.join(self.folder, name)  # noqa: PTH118 - pathlib costs start-up time

    def data(self, name: str) -> bytes | Unreadable:
        """The bytes of a file."""
        if name not in self._bytes:
            self._bytes[name] = read_bytes(self.path(name), name)
        return self._bytes[name]

    def source(self, name: str, shown: str = "") -> Source | Unreadable:
        """The text of a file; its Source is called `shown` (default: its path)."""
        if name in self.sources:
            return self.sources[name]
        data = self.data(name)
        if isinstance(data, Unreadable):
            return data
        source = decode(data, shown or self.path(name))
        if isinstance(source, Source):
            self.sources[name] = source
        return source


def read_bytes(path: str, name: str) -> bytes | Unreadable:
    """The bytes of a regular file, or why not."""
    try:
        # O_NONBLOCK: a named pipe must be refused, not waited for.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError) as error:
        return Unreadable(name, _reason(error), isinstance(error, FileNotFoundError))
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            return Unreadable(name, "it is a folder" if stat.S_ISDIR(status.st_mode) else "it is not a regular file")
        if status.st_size > MAX_FILE_BYTES:
            return Unreadable(name, f"it is larger than {MAX_FILE_BYTES // 2**20} MiB")
        return _read_all(descriptor, status.st_size)
    except OSError as error:
        return Unreadable(name, _reason(error))
    finally:
        os.close(descriptor)


def _read_all(descriptor: int, size: int) -> bytes:
    pieces: list[bytes] = []
    while piece := os.read(descriptor, max(size + 1, 65_536)):
        pieces.append(piece)
    return b"".join(pieces)


def _reason(error: OSError | ValueError) -> str:
    if isinstance(error, FileNotFoundError):
        return "there is no such file"
    if isinstance(error, IsADirectoryError):
        return "it is a folder"
    if isinstance(error, OSError) and error.strerror:
        return error.strerror[0].lower() + error.strerror[1:]
    return "its name is not a file name"


def decode(data: bytes, name: str) -> Source | Unreadable:
    """A text from UTF-8 bytes, or where they cease to be that."""
    try:
        return Source(name, data.decode("utf-8"))
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        return Unreadable(
            name,
            f"it is not UTF-8 text: the byte 0x{data[error.start]:02x} at offset {error.start} (line {line}) "
            f"begins no character",
        )
