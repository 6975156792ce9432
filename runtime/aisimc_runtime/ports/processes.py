"""Tools that the runtime starts (pip, git, cargo, tests): own session, bounded output, ended as a group.

Replays are not started here: the row runner has its own loop (`run/runner.py`).
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, NamedTuple

KEPT_VARIABLES = ("LD_LIBRARY_PATH",)
"""What an interpreter or a binary may need to start at all; nothing else of the environment reaches a replay."""


def bare_environment() -> dict[str, str]:
    """The environment of every replay and of every artifact that is asked something."""
    kept = {name: os.environ[name] for name in KEPT_VARIABLES if name in os.environ}
    return {"PATH": os.defpath, "LC_ALL": "C.UTF-8", **kept}


class Finished(NamedTuple):
    """How a tool ended."""

    status: int
    """Exit status; negative for a signal, as `subprocess` has it."""
    stdout: str
    stderr: str
    timed_out: bool = False


class Processes:
    """The tools that are running now, so that `end_all` leaves none behind. Safe to use from several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running: dict[int, subprocess.Popen[bytes]] = {}
        self._ending = False

    def run(
        self,
        argv: Sequence[str | Path],
        *,
        cwd: Path | None = None,
        env: Mapping[str, str] | None = None,
        stdin: bytes | None = None,
        timeout_s: float | None = None,
        stdout: IO[bytes] | None = None,
        keep_bytes: int = 1 << 20,
    ) -> Finished:
        """Run one tool to its end. At most `keep_bytes` of each stream are kept (the last of them);
        with `stdout` the whole of that stream goes into the file instead.

        Raises `FileNotFoundError` when the tool is not there, `OSError` when it cannot be started.
        """
        with self._lock:
            if self._ending:
                return Finished(-signal.SIGTERM, "", "not started: the campaign is ending")
            process = subprocess.Popen(
                [str(part) for part in argv],
                cwd=cwd,
                env=None if env is None else dict(env),
                stdin=subprocess.DEVNULL if stdin is None else subprocess.PIPE,
                stdout=subprocess.PIPE if stdout is None else stdout,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
            self._running[process.pid] = process
        try:
            out, err = process.communicate(stdin, timeout=timeout_s)
            timed_out = False
        except subprocess.TimeoutExpired:
            end_group(process.pid)
            out, err = process.communicate()
            timed_out = True
        finally:
            if process.poll() is None:
                end_group(process.pid)
                process.wait()
            with self._lock:
                self._running.pop(process.pid, None)
        return Finished(process.returncode, _text(out or b"", keep_bytes), _text(err, keep_bytes), timed_out)

    def end_all(self) -> None:
        """End every tool that runs, with its children; nothing new is started after this."""
        with self._lock:
            self._ending = True
            for pid in list(self._running):
                end_group(pid)


def end_group(pid: int) -> None:
    """Kill the process group that `pid` leads; nothing happens when it is gone."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)


def _text(data: bytes, keep_bytes: int) -> str:
    return data[-keep_bytes:].decode("utf-8", "replace")
