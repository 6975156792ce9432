"""What a file on disk is: checksum, rows, and the checksum of one contiguous window of rows."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from aisimc_runtime.failures import Blocked
from aisimc_runtime.ports.named import why


@dataclass(frozen=True, slots=True)
class FileFacts:
    """A trace as it is."""

    sha256: str
    rows: int
    """Lines, as a run counts them."""
    slice_sha256: str | None
    """None where no window was asked for, or where the file ends before the window does."""
    place: str = "the file"
    """What a person would call the file."""


def sha256_of(path: Path) -> str:
    """The SHA-256 of a file's bytes. Raises `Blocked` when it cannot be read."""
    from aisimc_runtime.ports.files import sha256_file

    try:
        return sha256_file(path)
    except OSError as reason:
        raise Blocked(f"{path} cannot be read: {why(reason)}") from reason


def facts_of(path: Path, window: tuple[int, int] | None = None, place: str = "") -> FileFacts:
    """Read a trace once, as a run does: checksum of the whole, rows, and the checksum of rows `start … start+rows-1`.

    Raises `Blocked` when the file cannot be read, or has a blank line, which no run takes.
    """
    from aisimc_runtime.inputs.slices import cut

    start, rows = window or (0, 0)
    try:
        found = cut(path, start, rows)
    except OSError as reason:
        raise Blocked(f"{path} cannot be read: {why(reason)}") from reason
    if found.blank_line is not None:
        raise Blocked(
            f"{place or path}, line {found.blank_line}: the line is blank",
            help="engines skip it and name later requests differently; take the line out, then pin the file",
        )
    whole_window = window is not None and found.slice_rows == rows
    return FileFacts(found.sha256, found.rows, found.slice_sha256 if whole_window else None, place or str(path))
