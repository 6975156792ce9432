"""Paths that a user named, before anything is opened at them."""

from __future__ import annotations

from pathlib import Path

from aisimc_runtime.failures import Refused


def regular(path: Path, what: str) -> Path:
    """The path, unless something else than a file stands there. Raises `Refused`.

    A pipe would be waited for, and a device may never end. What is not there, or cannot be reached, is for whoever
    opens it to say.
    """
    try:
        strange = path.exists() and not path.is_file()
    except OSError:
        return path
    if strange:
        raise Refused(f"{what} cannot be read: it is {'a folder' if path.is_dir() else 'not a regular file'}")
    return path


def recordable(path: Path, what: str) -> Path:
    """The path, unless its name is no UTF-8 text: runs and stores note their places in JSON. Raises `Refused`."""
    try:
        str(path).encode()
    except UnicodeEncodeError:
        shown = str(path).encode(errors="backslashreplace").decode()
        raise Refused(f"{what} cannot be at {shown}: the name is not UTF-8 text", help="name another folder") from None
    return path
