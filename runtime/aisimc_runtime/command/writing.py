"""What several verbs share: failing with one clear line, printing JSON, and writing a file whole or not at all."""

from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path
from typing import Any, NoReturn

import click

from aisimc_runtime.failures import Blocked, Failure, Refused


def fail(failure: Failure) -> NoReturn:
    """Show a failure's line and its mend, and end with its exit status."""
    click.echo(failure.text(), err=True, nl=False)
    raise SystemExit(int(failure.exit))


def print_json(document: Any) -> None:
    """Print a document for programs, on standard output."""
    import orjson

    click.echo(orjson.dumps(document, option=orjson.OPT_INDENT_2).decode())


def write_new_file(path: Path, content: str) -> None:
    """Write a file that must not exist yet. Raises `Refused` when it does, `Blocked` when it cannot be written."""
    if path.exists():
        raise Refused(f"{path} exists already", help="choose another name with -o, or move it away")
    replace_file(path, content)


def replace_file(path: Path, content: str) -> None:
    """Write a file through a temporary name beside it, synced, then renamed; its mode is kept. Raises `Blocked`."""
    target = path.resolve()
    if path.exists() and not path.is_file():
        _write_through(path, content)
        return
    try:
        handle, temporary = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
        try:
            with os.fdopen(handle, "w", encoding="utf-8", newline="") as stream:
                stream.write(content)
                stream.flush()
                os.fsync(stream.fileno())
            Path(temporary).chmod(target.stat().st_mode & 0o7777 if target.exists() else 0o644)
            Path(temporary).replace(target)
        except BaseException:
            with contextlib.suppress(OSError):
                Path(temporary).unlink()
            raise
    except OSError as reason:
        raise Blocked(f"{path} cannot be written: {(reason.strerror or str(reason)).lower()}") from reason


def _write_through(path: Path, content: str) -> None:
    """Write into what is no regular file (`/dev/stdout`, a pipe): a rename would put a file in its place."""
    try:
        with path.open("w", encoding="utf-8", newline="") as stream:
            stream.write(content)
    except OSError as reason:
        raise Blocked(f"{path} cannot be written: {(reason.strerror or str(reason)).lower()}") from reason
