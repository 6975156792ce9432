"""One read of a trace: its SHA-256, its rows, and the contiguous window that a campaign replays."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from aisimc_runtime.ports.files import CHUNK_BYTES


@dataclass(frozen=True, slots=True)
class Cut:
    """What one read of a whole file found."""

    sha256: str
    rows: int
    """Lines; the last one counts without its newline too."""
    slice_sha256: str
    slice_rows: int
    blank_line: int | None
    """The first empty line's number (1-based): engines skip it and name later requests differently."""


def cut(path: Path, start: int, rows: int, sink: IO[bytes] | None = None) -> Cut:
    """Hash the file at `path`, count its rows and write lines `start..start+rows-1` to `sink`. Raises `OSError`.

    The bytes of the window go through as they are: no row is sampled, moved, repeated or written anew.
    """
    whole, window = hashlib.sha256(), hashlib.sha256()
    lines = 0
    blank: int | None = None
    last = b"\n"
    with path.open("rb", buffering=0) as stream:
        while chunk := stream.read(CHUNK_BYTES):
            whole.update(chunk)
            if blank is None and (b"\n\n" in chunk or (last == b"\n" and chunk[:1] == b"\n")):
                blank = lines + _blank_in(chunk, last)
            newlines = chunk.count(b"\n")
            if lines + newlines >= start and lines < start + rows:
                part = _window(chunk, lines, start, rows)
                window.update(part)
                if sink is not None:
                    sink.write(part)
            lines += newlines
            last = chunk[-1:]
    total = lines if last == b"\n" else lines + 1
    return Cut(whole.hexdigest(), total, window.hexdigest(), max(0, min(rows, total - start)), blank)


def _window(chunk: bytes, lines: int, start: int, rows: int) -> memoryview:
    """The part of a chunk inside the window; `lines` newlines came before it."""
    first = _after_newlines(chunk, start - lines)
    end = _after_newlines(chunk, start + rows - lines)
    return memoryview(chunk)[first:end]


def _after_newlines(chunk: bytes, count: int) -> int:
    """The index just behind the `count`-th newline, the chunk's length when it has fewer; 0 for none or less."""
    index = 0
    for _ in range(count):
        found = chunk.find(b"\n", index)
        if found < 0:
            return len(chunk)
        index = found + 1
    return index


def _blank_in(chunk: bytes, last: bytes) -> int:
    """How many lines into this chunk the first empty line is, counted from 1."""
    if last == b"\n" and chunk[:1] == b"\n":
        return 1
    return chunk[: chunk.find(b"\n\n") + 1].count(b"\n") + 1
