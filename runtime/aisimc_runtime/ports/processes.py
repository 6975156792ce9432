"""Tools that the runtime starts (pip, git, cargo, tests): own session, bounded output, ended as a group.

Replays are not started here: the row runner has its own loop (`run/runner.py`).
"""

from __future__ import annotations

import contextlib
import os
import selectors
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, NamedTuple

GUARD = Path(__file__).with_name("guard.py")
LOOK_S = 0.1
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
        guarded: bool = False,
    ) -> Finished:
        """Run one tool to its end. At most `keep_bytes` of each stream are kept (the last of them), however much it
        writes; with `stdout` the whole of that stream goes into the file instead.

        With `guarded` the tool does not outlive this process even if that is killed; for tools that take long.
        Raises `FileNotFoundError` when the tool is not there, `OSError` when it cannot be started.
        """
        words = [str(part) for part in argv]
        if guarded:
            _present(words[0], cwd, env)
            words = [sys.executable, "-I", "-S", str(GUARD), *words]
        with self._lock:
            if self._ending:
                return Finished(-signal.SIGTERM, "", "not started: the campaign is ending")
            process = subprocess.Popen(
                words,
                cwd=cwd,
                env=None if env is None else dict(env),
                stdin=subprocess.DEVNULL if stdin is None else subprocess.PIPE,
                stdout=subprocess.PIPE if stdout is None else stdout,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
            self._running[process.pid] = process
        try:
            kept, timed_out = _follow(process, stdin, timeout_s, keep_bytes)
        finally:
            if process.poll() is None:
                end_group(process.pid)
                process.wait()
            for stream in (process.stdin, process.stdout, process.stderr):
                if stream is not None:
                    with contextlib.suppress(OSError):
                        stream.close()
            with self._lock:
                self._running.pop(process.pid, None)
        out, err = (bytes(one).decode("utf-8", "replace") for one in kept)
        return Finished(process.returncode, out, err, timed_out)

    def end_all(self) -> None:
        """End every tool that runs, with its children; nothing new is started after this."""
        with self._lock:
            self._ending = True
            for pid in list(self._running):
                end_group(pid)


def _follow(
    process: subprocess.Popen[bytes], stdin: bytes | None, timeout_s: float | None, keep_bytes: int
) -> tuple[tuple[bytearray, bytearray], bool]:
    """Read both streams until the tool has ended; the kept end of each, and whether the time ran out.

    Once the tool itself has ended, what its children still hold open is not waited for longer than a moment.
    """
    kept = (bytearray(), bytearray())
    deadline = None if timeout_s is None else time.monotonic() + timeout_s
    timed_out = False
    with selectors.DefaultSelector() as selector:
        for stream, into in ((process.stdout, kept[0]), (process.stderr, kept[1])):
            if stream is not None:
                selector.register(stream, selectors.EVENT_READ, into)
        if stdin is not None and process.stdin is not None:
            with contextlib.suppress(BrokenPipeError):
                process.stdin.write(stdin)
                process.stdin.close()
        while selector.get_map():
            for key, _ in selector.select(LOOK_S):
                chunk = os.read(key.fd, 65536)
                if not chunk:
                    selector.unregister(key.fileobj)
                key.data.extend(chunk)
                if len(key.data) > 2 * keep_bytes:
                    del key.data[:-keep_bytes]
            if deadline is not None and not timed_out and time.monotonic() > deadline:
                end_group(process.pid)
                timed_out = True
            if process.poll() is not None and not selector.select(LOOK_S):
                end_group(process.pid)
                break
    if not timed_out and deadline is not None:
        try:
            process.wait(max(0.0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            end_group(process.pid)
            timed_out = True
    process.wait()
    for one in kept:
        del one[:-keep_bytes]
    return kept, timed_out


def _present(tool: str, cwd: Path | None, env: Mapping[str, str] | None) -> None:
    """Raise `FileNotFoundError` as starting the tool without a guard would."""
    path = (os.environ if env is None else env).get("PATH", os.defpath)
    found = (Path(cwd or ".") / tool).exists() if "/" in tool else shutil.which(tool, path=path) is not None
    if not found:
        raise FileNotFoundError(2, os.strerror(2), tool)


def end_group(pid: int) -> None:
    """Kill the process group that `pid` leads; nothing happens when it is gone."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)
