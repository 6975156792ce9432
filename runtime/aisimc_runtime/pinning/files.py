"""What a file on disk is: checksum, rows, and the checksum of one contiguous window of rows."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

from aisimc_runtime.failures import Blocked


@dataclass(frozen=True, slots=True)
class FileFacts:
    """`rows` counts the lines that hold something; `slice_sha256` is None where no window was asked for."""

    sha256: str
    rows: int
    slice_sha256: str | None


def sha256_of(path: Path) -> str:
    """The SHA-256 of a file's bytes. Raises `Blocked` when it cannot be read."""
    try:
        with path.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as reason:
        raise Blocked(f"{path} cannot be read: {reason.strerror}") from reason


def facts_of(path: Path, window: tuple[int, int] | None = None) -> FileFacts:
    """Read a trace once: checksum of the whole, number of rows, and the checksum of rows `start … start+rows-1`.

    Raises `Blocked` when the file cannot be read or is shorter than the window.
    """
    whole, part = hashlib.sha256(), hashlib.sha256()
    rows = 0
    start, stop = (window[0], window[0] + window[1]) if window else (0, 0)
    try:
        with path.open("rb") as stream:
            for line in stream:
                whole.update(line)
                if not line.strip():
                    continue
                if start <= rows < stop:
                    part.update(line)
                rows += 1
    except OSError as reason:
        raise Blocked(f"{path} cannot be read: {reason.strerror}") from reason
    if rows < stop:
        raise Blocked(f"{path} has {rows} rows, so rows {start} to {stop - 1} are not all there")
    return FileFacts(whole.hexdigest(), rows, part.hexdigest() if window else None)
