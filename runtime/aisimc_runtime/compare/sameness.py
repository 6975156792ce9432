"""Whether two files hold the same bytes, and the digest of one, without reading a whole file into memory."""

from __future__ import annotations

import hashlib
from pathlib import Path

_CHUNK_BYTES = 1 << 20


def equal_bytes(a: Path, b: Path) -> bool:
    """Whether two files are byte for byte the same. Raises OSError."""
    if a.stat().st_size != b.stat().st_size:
        return False
    with a.open("rb") as left, b.open("rb") as right:
        while chunk := left.read(_CHUNK_BYTES):
            if chunk != right.read(_CHUNK_BYTES):
                return False
    return True


def sha256(path: Path) -> str:
    """SHA-256 of a file, in hexadecimal. Raises OSError."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
