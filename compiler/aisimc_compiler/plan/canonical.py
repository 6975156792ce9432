"""Canonical JSON and its digest: sorted keys, no spaces, UTF-8, one newline at the end.

The standard library's encoder writes a double as the shortest text that reads back to it, on every Python version;
keys sort by code point. NaN and infinities are a ValueError.
"""

from __future__ import annotations

import json
from hashlib import sha256
from typing import Any


def canonical_bytes(value: Any) -> bytes:
    """The canonical bytes of a JSON value. Raises ValueError for what JSON does not have."""
    text = json.dumps(
        value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False, check_circular=False
    )
    return text.encode() + b"\n"


def digest_of(data: bytes) -> str:
    """SHA-256 of exactly these bytes."""
    return sha256(data).hexdigest()
