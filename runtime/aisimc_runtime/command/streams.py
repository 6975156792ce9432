"""The standard streams of the command line: there even where they were closed, and patient with a reader who leaves.

Whoever reads may have seen enough (`| head -1`). What a verb then still has to say goes nowhere, its work and its exit
status stay what they are: a pass must not read as something else, nor anything else as a pass.
"""

from __future__ import annotations

import io
import os
import sys

TYPE_CHECKING = False  # `--version` and `--help` import nothing that they can do without, `typing` least of all
if TYPE_CHECKING:
    from typing import IO


def prepare() -> None:
    """Make standard input, output and error what every verb may count on."""
    _open_closed()
    for name in ("stdout", "stderr"):
        setattr(sys, name, _patient(getattr(sys, name)))


def discard_output() -> None:
    """Send to nowhere what standard output still holds, so that Python does not complain when it closes it."""
    _to_nowhere(sys.stdout.fileno())


class _Patient(io.FileIO):
    """A stream to which writing goes on, into nothing, once its reader has gone."""

    def write(self, data: object) -> int:
        try:
            return super().write(data)  # type: ignore[arg-type]
        except BrokenPipeError:
            _to_nowhere(self.fileno())
            return super().write(data)  # type: ignore[arg-type]


def _to_nowhere(descriptor: int) -> None:
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, descriptor)
    os.close(null)


def _patient(stream: IO[str]) -> IO[str]:
    """The stream over again; what its encoding lacks is shown escaped, because it must not end in an exception."""
    stream.flush()
    raw = _Patient(stream.fileno(), "wb", closefd=False)
    return io.TextIOWrapper(
        io.BufferedWriter(raw),
        encoding=stream.encoding,  # type: ignore[attr-defined]
        errors="backslashreplace",
        line_buffering=stream.line_buffering or stream.write_through,  # type: ignore[attr-defined]
    )


def _open_closed() -> None:
    """Give a process that was started with closed streams (`>&-`) the null device in their place."""
    for name, descriptor in (("stdin", 0), ("stdout", 1), ("stderr", 2)):
        if getattr(sys, name) is not None:
            continue
        opened = os.open(os.devnull, os.O_RDWR)
        if opened != descriptor:
            # A file that a verb opens must not get the number of a standard stream and what children write to it.
            os.dup2(opened, descriptor)
            os.close(opened)
        setattr(sys, name, os.fdopen(descriptor, "r" if name == "stdin" else "w", encoding="utf-8", closefd=False))
