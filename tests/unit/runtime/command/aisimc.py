"""Runs the command in a child process, as a user does."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple


class Done(NamedTuple):
    """How a command ended."""

    status: int
    out: str
    err: str


def aisimc(*arguments: str, stdin: str | bytes = b"", cwd: Path | None = None, **environment: str) -> Done:
    """`python -m aisimc_runtime ARGUMENTS`, without colours of the terminal it is run from."""
    data = stdin.encode() if isinstance(stdin, str) else stdin
    done = subprocess.run(
        [sys.executable, "-m", "aisimc_runtime", *arguments],
        input=data,
        cwd=cwd,
        env={**os.environ, **environment},
        capture_output=True,
        check=False,
        timeout=120,
    )
    return Done(done.returncode, done.stdout.decode(), done.stderr.decode())
