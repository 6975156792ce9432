"""One fresh process on a fixed set of CPUs, and what the kernel says of it before it is reaped.

The child inherits its CPUs from the thread that starts it, so it never runs anywhere else, not even before
`exec`; the harness then leaves those CPUs. It is waited for without reaping (`WNOWAIT`): as a zombie it still
shows its CPUs, the CPU it last ran on, and how long it was runnable without running, to the nanosecond.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import time
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from aisimc_runtime.ports.processes import bare_environment
from aisimc_runtime.run.spawn import LIBC, PR_SET_PDEATHSIG

STDERR_BYTES = 2000


@dataclass(frozen=True, slots=True)
class Finished:
    """How one process ended and what it took."""

    exit_status: int | None
    signal: int | None
    timed_out: bool
    wall_ms: float
    cpu_ms: float
    run_delay_ms: float | None
    """Runnable and kept waiting, by whatever else was on its CPUs."""
    voluntary_switches: int
    involuntary_switches: int
    minor_faults: int
    major_faults: int
    max_rss_bytes: int
    affinity_at_start: tuple[int, ...] | None
    affinity_at_end: tuple[int, ...] | None
    last_cpu: int | None
    stderr: str

    def to_json(self) -> dict[str, Any]:
        """The record without what is not known."""
        return {key: value for key, value in asdict(self).items() if value not in (None, "")}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Finished:
        """Read back what `to_json` wrote."""
        known: dict[str, Any] = dict.fromkeys(cls.__slots__)
        known |= {"stderr": ""} | data
        for key in ("affinity_at_start", "affinity_at_end"):
            known[key] = None if known[key] is None else tuple(known[key])
        return cls(**known)


def run_pinned(
    argv: Sequence[str],
    *,
    cwd: Path,
    cpus: Iterable[int],
    harness_cpus: Iterable[int],
    time_limit_s: float,
    stderr: Path,
) -> Finished:
    """Run `argv` on `cpus` to its end or limit, in a session of its own and with no environment to speak of.

    Raises `OSError` when it cannot be started. Whatever interrupts the wait ends the process first.
    """
    with stderr.open("wb") as sink:
        started = time.perf_counter()
        child = _start_on(argv, cwd, frozenset(cpus), frozenset(harness_cpus), sink.fileno())
    pid = child.pid
    try:
        at_start = _affinity(pid)
        timed_out = not _ended_within(pid, time_limit_s)
        if timed_out:
            os.killpg(pid, signal.SIGKILL)
            _ended_within(pid, None)
        wall_ms = (time.perf_counter() - started) * 1000
    except BaseException:
        _end(pid)
        os.waitpid(pid, 0)
        child.returncode = -signal.SIGKILL
        raise
    at_end, last_cpu, run_delay_ms = _affinity(pid), _last_cpu(pid), _run_delay_ms(pid)
    _end(pid)  # before it is reaped: until then its group's number cannot be another's
    _, status, usage = os.wait4(pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)  # reaped here, so `subprocess` must not wait again
    return Finished(
        exit_status=child.returncode if child.returncode >= 0 else None,
        signal=-child.returncode if child.returncode < 0 else None,
        timed_out=timed_out,
        wall_ms=round(wall_ms, 3),
        cpu_ms=round((usage.ru_utime + usage.ru_stime) * 1000, 3),
        run_delay_ms=run_delay_ms,
        voluntary_switches=usage.ru_nvcsw,
        involuntary_switches=usage.ru_nivcsw,
        minor_faults=usage.ru_minflt,
        major_faults=usage.ru_majflt,
        max_rss_bytes=usage.ru_maxrss * 1024,
        affinity_at_start=at_start,
        affinity_at_end=at_end,
        last_cpu=last_cpu,
        stderr=_tail(stderr),
    )


def _start_on(
    argv: Sequence[str], cwd: Path, cpus: frozenset[int], harness_cpus: frozenset[int], stderr: int
) -> subprocess.Popen[bytes]:
    """Start the child from this thread while the thread itself is on `cpus`, then leave them."""
    os.sched_setaffinity(0, cpus)
    try:
        return subprocess.Popen(
            argv,
            cwd=cwd,
            env=bare_environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=stderr,
            start_new_session=True,
            # One thread, one child at a time: nothing else holds a lock that this copy of us could need.
            preexec_fn=die_with_parent,
        )
    finally:
        os.sched_setaffinity(0, harness_cpus)


def die_with_parent(number: int = signal.SIGKILL) -> None:
    """Ask the kernel to send this process `number` when its parent ends, however that ends."""
    LIBC.prctl(PR_SET_PDEATHSIG, number, 0, 0, 0)


def _ended_within(pid: int, time_limit_s: float | None) -> bool:
    """Whether the process became a zombie in time; it stays one, to be read."""
    handle = os.pidfd_open(pid)
    try:
        poll = select.poll()
        poll.register(handle, select.POLLIN)
        return bool(poll.poll(None if time_limit_s is None else time_limit_s * 1000))
    finally:
        os.close(handle)


def _end(pid: int) -> None:
    """Kill what is left of the process group, children that outlived their parent included."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)


def _affinity(pid: int) -> tuple[int, ...] | None:
    try:
        return tuple(sorted(os.sched_getaffinity(pid)))
    except OSError:
        return None


def _last_cpu(pid: int) -> int | None:
    """Field 39 of /proc/PID/stat, counted after the command's closing parenthesis."""
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[36])
    except (OSError, ValueError, IndexError):
        return None


def _run_delay_ms(pid: int) -> float | None:
    """Second field of /proc/PID/schedstat, in nanoseconds; of the main thread, and a replay has no other."""
    try:
        return int(Path(f"/proc/{pid}/schedstat").read_text().split()[1]) / 1e6
    except (OSError, ValueError, IndexError):
        return None


def _tail(path: Path) -> str:
    with path.open("rb") as stream:
        stream.seek(max(0, path.stat().st_size - STDERR_BYTES))
        return stream.read().decode("utf-8", "replace").strip()
