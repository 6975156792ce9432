"""The list of every kept file with its digest, so that one changed byte is found: `manifest.json`."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson

from aisimc_runtime.ports.files import sha256_file, write_atomic

SCHEMA = "aisimc.manifest/1"
NAME = "manifest.json"

_PASSING = (".tmp", ".partial", ".lock")
"""Endings of files that come and go."""


def kept_files(folder: Path) -> Iterator[Path]:
    """Every regular file of a run folder that is kept, relative, in order; links to elsewhere are not followed."""
    for root, folders, files in os.walk(folder):
        folders.sort()
        for name in sorted(files):
            path = Path(root) / name
            relative = path.relative_to(folder)
            if str(relative) != NAME and not name.endswith(_PASSING) and not path.is_symlink():
                yield relative


def write_manifest(folder: Path) -> None:
    """Write the manifest of a finished run folder. Raises Blocked when the disk refuses."""
    files = {
        relative.as_posix(): {"sha256": sha256_file(folder / relative), "bytes": (folder / relative).stat().st_size}
        for relative in kept_files(folder)
    }
    write_atomic(folder / NAME, encode(files))


def encode(files: dict[str, Any]) -> bytes:
    """The bytes of a manifest over so many files."""
    document = {"schema": SCHEMA, "files": files, "digest": files_digest(files)}
    return orjson.dumps(document, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


def files_digest(files: dict[str, Any]) -> str:
    """SHA-256 over the canonical JSON of the list itself."""
    return hashlib.sha256(orjson.dumps(files, option=orjson.OPT_SORT_KEYS)).hexdigest()
