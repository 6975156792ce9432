"""A row's results as one folder: whole under its name, or not there.

The node writes the files under a temporary name on the shared file system, syncs them, lists them with their digests,
and renames the folder. A rename onto a folder that holds something fails, so of two attempts that both get that far
(a node that was given up but still ran) the first one's result stands, whole, and is never mixed with the other's.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import shutil
from pathlib import Path
from typing import Any, NamedTuple

from aisimc_runtime.ports.files import CHUNK_BYTES, copy_hashing, sha256_file, sync_folder

BUNDLE_SCHEMA = "aisimc.bundle/1"
MANIFEST = "manifest.json"


class Checked(NamedTuple):
    """A bundle whose files all are what its manifest says."""

    manifest: dict[str, Any]
    digest: str


class Broken(NamedTuple):
    """A bundle that stands under its name and does not hold."""

    reason: str


def publish(source: Path, target: Path, partial: Path, facts: dict[str, Any]) -> bool:
    """Copy the files under `source` to `target`, whole. False when another attempt's result stands there already.

    `partial` is this attempt's own name beside `target`, on the same file system. Raises `OSError`.
    """
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    files: dict[str, Any] = {}
    for path in sorted(path for path in source.rglob("*") if path.is_file() and not path.is_symlink()):
        name = path.relative_to(source).as_posix()
        (partial / name).parent.mkdir(parents=True, exist_ok=True)
        files[name] = _copy_synced(path, partial / name)
    manifest = {**facts, "schema": BUNDLE_SCHEMA, "files": files, "digest": files_digest(files)}
    _write_synced(partial / MANIFEST, json.dumps(manifest, sort_keys=True, indent=1).encode() + b"\n")
    for folder in sorted((path for path in partial.rglob("*") if path.is_dir()), reverse=True):
        sync_folder(folder)
    sync_folder(partial)
    try:
        partial.rename(target)
    except OSError as error:
        if error.errno in (errno.ENOTEMPTY, errno.EEXIST):
            return False
        raise
    sync_folder(target.parent)
    return True


def check_bundle(folder: Path) -> Checked | Broken | None:
    """The bundle at `folder` with every digest recomputed; None when there is none. Raises `OSError`."""
    try:
        raw = (folder / MANIFEST).read_bytes()
    except FileNotFoundError:
        return Broken(f"{folder} has no manifest") if folder.is_dir() and any(folder.iterdir()) else None
    try:
        manifest = json.loads(raw)
        files, digest = manifest["files"], manifest["digest"]
        known = manifest["schema"] == BUNDLE_SCHEMA and files_digest(files) == digest
    except (ValueError, KeyError, TypeError, AttributeError):
        known = False
    if not known:
        return Broken(f"{folder / MANIFEST} is not a manifest of this version, or was changed")
    present = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()} - {MANIFEST}
    for name in sorted(present ^ set(files)):
        return Broken(f"{name} is {'missing' if name in files else 'not in the manifest'}")
    for name, entry in files.items():
        found = sha256_file(folder / name)
        if found != entry["sha256"]:
            return Broken(f"{name} hashes to {found[:12]}…, not to {entry['sha256'][:12]}… as the node had it")
    return Checked(manifest, digest)


def files_digest(files: dict[str, Any]) -> str:
    """One digest over names, sizes and digests of all files."""
    return hashlib.sha256(json.dumps(files, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def _copy_synced(source: Path, target: Path) -> dict[str, Any]:
    with source.open("rb") as read, target.open("xb", buffering=CHUNK_BYTES) as write:
        digest, length = copy_hashing(read, write)
        write.flush()
        os.fsync(write.fileno())
    return {"sha256": digest, "size_bytes": length}


def _write_synced(path: Path, data: bytes) -> None:
    with path.open("xb") as stream:
        stream.write(data)
        stream.flush()
        os.fsync(stream.fileno())
