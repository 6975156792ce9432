"""A trace found by its content: in the store, beside the campaign, or in a folder named by AISIMC_INPUTS."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from aisimc_runtime.ports.files import CHUNK_BYTES, sha256_file

SUFFIXES = ("", ".jsonl", ".ndjson", ".json", ".txt")
DEPTH = 3
SMALLEST_ROW_BYTES = 60
LARGEST_ROW_BYTES = 1 << 16
"""A Mooncake row of a million tokens is near 20 KB; files outside rows × these bounds are not opened."""


class Near(NamedTuple):
    """A file that looked right and is not: worth a word when nothing else is found."""

    path: Path
    rows: int
    why: str


def input_folders() -> tuple[Path, ...]:
    """The folders named by AISIMC_INPUTS that exist."""
    named = os.environ.get("AISIMC_INPUTS", "").split(os.pathsep)
    return tuple(Path(name).expanduser() for name in named if name and Path(name).expanduser().is_dir())


def search(folders: Sequence[Path], sha256: str, rows: int | None, name: str) -> tuple[Path | None, list[Near]]:
    """The file of that SHA-256, and files called `name` that are not it.

    Sizes and row counts are compared first, so that few files are hashed; with `rows` None every file that may be a
    trace is. Files called `name` come first.
    """
    near: list[Near] = []
    for path in sorted(_candidates(folders, rows), key=lambda path: (path.name != name, str(path))):
        try:
            found = count_rows(path)
            if rows in (None, found) and sha256_file(path) == sha256:
                return path, near
        except OSError:
            continue
        if path.name == name:
            why = f"has {found} rows, not {rows}" if rows not in (None, found) else "has other bytes"
            near.append(Near(path, found, why))
    return None, near


def called(folders: Sequence[Path], name: str) -> list[Path]:
    """The files of that very name in the folders and below, those of the first folder first."""
    return [path for path in _files(folders) if path.name == name and path.is_file()]


def count_rows(path: Path) -> int:
    """Lines of a file; the last one counts without its newline too. Raises `OSError`."""
    rows, last = 0, b"\n"
    with path.open("rb", buffering=0) as stream:
        while chunk := stream.read(CHUNK_BYTES):
            rows += chunk.count(b"\n")
            last = chunk[-1:]
    return rows if last == b"\n" else rows + 1


def _candidates(folders: Sequence[Path], rows: int | None) -> Iterator[Path]:
    for path in _files(folders):
        if path.suffix in SUFFIXES and not path.name.startswith(".") and _size_fits(path, rows):
            yield path


def _files(folders: Sequence[Path]) -> Iterator[Path]:
    for folder in folders:
        for root, below, names in os.walk(folder):
            depth = len(Path(root).relative_to(folder).parts)
            below[:] = sorted(d for d in below if not d.startswith(".")) if depth < DEPTH else []
            yield from (Path(root, name) for name in sorted(names))


def _size_fits(path: Path, rows: int | None) -> bool:
    try:
        size = path.stat().st_size
    except OSError:
        return False
    fits = rows is None or rows * SMALLEST_ROW_BYTES // 2 <= size <= rows * LARGEST_ROW_BYTES
    return fits and path.is_file()
