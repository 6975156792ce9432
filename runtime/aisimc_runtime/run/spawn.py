"""One fresh process for one replay: own session, pinned and limited before it executes, its files hashed first.

Written with `fork` and `exec` by hand, because all of that has to happen between the two. The row runner has one
thread and is small, so forking it is safe and takes well under a millisecond.
"""

from __future__ import annotations

import ctypes
import os
import resource
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple, NoReturn

from aisimc_runtime.engines.base import PinnedFile
from aisimc_runtime.ports.files import sha256_file

PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36
LIBC = ctypes.CDLL(None, use_errno=True)


class Child(NamedTuple):
    """A process that was forked; what its `setup` pipe says until it closes is why it could not execute."""

    pid: int
    setup: int
    stdout: int
    stderr: int


class Order(NamedTuple):
    """What to execute and under which rules."""

    argv: Sequence[str]
    cwd: Path
    environment: dict[str, str]
    cpus: Sequence[int] | None
    """None: left where the runner itself may run."""
    files: Sequence[PinnedFile]
    """Hashed in the new process, on its own CPUs, before it executes."""
    memory_bytes: int | None = None
    file_bytes: int | None = None


def adopt_orphans() -> None:
    """Make this process the parent of descendants whose own parent ended, so that none gets away."""
    LIBC.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def spawn(order: Order) -> Child:
    """Fork and execute. Raises `OSError` when no process can be made; other trouble is told on `setup`."""
    setup_read, setup_write = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
    out_read, out_write = os.pipe2(os.O_CLOEXEC)
    err_read, err_write = os.pipe2(os.O_CLOEXEC)
    sys.stdout.flush()
    parent = os.getpid()
    try:
        pid = os.fork()
    except OSError:
        for end in (setup_read, setup_write, out_read, out_write, err_read, err_write):
            os.close(end)
        raise
    if pid == 0:
        _become(order, parent, setup_write, out_write, err_write)
    for end in (setup_write, out_write, err_write):
        os.close(end)
    for end in (out_read, err_read):
        os.set_blocking(end, False)
    return Child(pid, setup_read, out_read, err_read)


def _become(order: Order, parent: int, setup: int, out: int, err: int) -> NoReturn:
    """The child's side: never returns."""
    try:
        os.setsid()
        LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != parent:
            os._exit(125)
        signal.set_wakeup_fd(-1)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGCHLD, signal.SIGPIPE, signal.SIGXFSZ):
            signal.signal(number, signal.SIG_DFL)
        if order.cpus is not None:
            os.sched_setaffinity(0, order.cpus)
        for file in order.files:
            found = sha256_file(file.path)
            if found != file.sha256:
                raise ValueError(f"{file.path} has changed: it hashes to {found}, pinned is {file.sha256}")
        _limit(order)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(out, 1)
        os.dup2(err, 2)
        os.chdir(order.cwd)
        os.execve(order.argv[0], list(order.argv), order.environment)
    except BaseException as error:
        os.write(setup, str(error).encode("utf-8", "replace")[:4000])
    os._exit(126)


def _limit(order: Order) -> None:
    """Limits that the kernel itself holds; the finer ones are watched (`run/watch.py`)."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if order.memory_bytes is not None:
        # address space is always more than what is resident: this only stops a runaway between two looks
        resource.setrlimit(resource.RLIMIT_AS, _within(resource.RLIMIT_AS, 2 * order.memory_bytes + (1 << 30)))
    if order.file_bytes is not None:
        resource.setrlimit(resource.RLIMIT_FSIZE, _within(resource.RLIMIT_FSIZE, order.file_bytes))


def _within(kind: int, wanted: int) -> tuple[int, int]:
    """`wanted`, but never above the hard limit that is already in force."""
    _, hard = resource.getrlimit(kind)
    value = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    return value, value
