"""Files written so that a reader sees the whole of one or nothing, and bytes hashed as they stream."""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
from pathlib import Path
from typing import IO

from aisimc_runtime.failures import Blocked

CHUNK_BYTES = 512 * 1024  # hashing is fastest between 256 KiB and 1 MiB a read (benchmarks, section 8)


def sync_folder(folder: Path) -> None:
    """Make a rename in `folder` survive a power cut."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    except OSError as error:  # some network file systems cannot sync a folder; the rename is still atomic there
        if error.errno not in (errno.EINVAL, errno.EROFS, errno.ENOTSUP):
            raise
    finally:
        os.close(handle)


def write_atomic(path: Path, data: bytes, *, mode: int = 0o644, sync: bool = True) -> None:
    """Write `data` under a temporary name, sync it, rename it into place. Raises `Blocked` when the disk refuses.

    Without `sync` a power cut may lose the file, never show half of it where the reader checks it by content.
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with temporary.open("wb") as stream:
            stream.write(data)
            stream.flush()
            if sync:
                os.fsync(stream.fileno())
        temporary.chmod(mode)
        temporary.replace(path)
        if sync:
            sync_folder(path.parent)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        error.filename = None  # the temporary name tells nobody anything
        raise explain(error, f"cannot write {path}") from error


def sha256_file(path: Path) -> str:
    """SHA-256 of a file's bytes, streaming. Raises `OSError`."""
    digest = hashlib.sha256()
    with path.open("rb", buffering=0) as stream:
        while chunk := stream.read(CHUNK_BYTES):
            digest.update(chunk)
    return digest.hexdigest()


def sha256_bytes(data: bytes) -> str:
    """SHA-256 of `data`, in hex."""
    return hashlib.sha256(data).hexdigest()


def link_or_copy(source: Path, target: Path) -> None:
    """Give `source` a second name; copy where the file systems differ or links are not allowed. Raises `Blocked`."""
    target.unlink(missing_ok=True)
    try:
        os.link(source, target)
        return
    except OSError:
        pass
    try:
        with source.open("rb") as read, target.open("xb") as write:
            shutil.copyfileobj(read, write, CHUNK_BYTES)
        target.chmod(0o444)
    except OSError as error:
        target.unlink(missing_ok=True)
        raise explain(error, f"cannot place {target.name} beside its configuration") from error


def copy_hashing(read: IO[bytes], write: IO[bytes]) -> tuple[str, int]:
    """Copy one stream into another; SHA-256 and length in bytes of what went through."""
    digest = hashlib.sha256()
    length = 0
    while chunk := read.read(CHUNK_BYTES):
        digest.update(chunk)
        write.write(chunk)
        length += len(chunk)
    return digest.hexdigest(), length


def explain(error: OSError, what: str) -> Blocked:
    """`error` as one clear line that says what to do about it."""
    where = f" ({error.filename})" if error.filename and str(error.filename) not in what else ""
    help_ = {
        errno.ENOSPC: "make room, or set AISIMC_STORE and --runs to folders on a larger disk; then run again",
        errno.EDQUOT: "the quota is used up: `aisimc store gc` frees what no run needs",
        errno.EROFS: "the folder is on a read-only file system; set AISIMC_STORE or --runs to a writable one",
        errno.EACCES: "you may not write there; set AISIMC_STORE or --runs to a folder of your own",
        errno.EPERM: "you may not write there; set AISIMC_STORE or --runs to a folder of your own",
    }.get(error.errno or 0, "")
    reason = os.strerror(error.errno).lower() if error.errno else str(error)
    return Blocked(f"{what}: {reason}{where}", help=help_)
