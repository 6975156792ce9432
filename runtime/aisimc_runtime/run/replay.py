"""One replay while it runs: its process, its limits, its bounded output, and the record it leaves."""

from __future__ import annotations

import json
import os
import shutil
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from aisimc_runtime.ports.files import sha256_file, write_atomic
from aisimc_runtime.run import watch
from aisimc_runtime.run.cpus import Slot
from aisimc_runtime.run.job import Limits, Order
from aisimc_runtime.run.node import load_average
from aisimc_runtime.run.spawn import Child
from aisimc_runtime.sizes import in_units

KEPT_BYTES = 32 * 1024
"""Of each end of a stream; a flood is counted, not kept."""
FROM_OUTSIDE = frozenset({signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT})
"""Signals that an engine does not give itself: somebody or the kernel ended the process."""
FULL_WORDS = ("no space left on device", "disk quota exceeded", "os error 28)", "os error 122)")
"""What an engine says when the machine, and not the revision, is at its end."""
CLOCK = time.time() - time.monotonic()
"""From monotonic to Unix seconds, once per runner: a clock that is set meanwhile makes no replays overlap."""


@dataclass(slots=True)
class Stream:
    """A pipe from the process: its beginning, its end, and how much went through."""

    head: bytearray = field(default_factory=bytearray)
    tail: bytearray = field(default_factory=bytearray)
    bytes_seen: int = 0

    def take(self, chunk: bytes) -> None:
        """Account for a chunk and keep what is within bounds."""
        self.bytes_seen += len(chunk)
        room = KEPT_BYTES - len(self.head)
        self.head += chunk[:room]
        if len(chunk) > room:
            self.tail = (self.tail + chunk[max(room, 0) :])[-KEPT_BYTES:]

    def text(self) -> bytes:
        """What is kept, with a line where something was left out."""
        left_out = self.bytes_seen - len(self.head) - len(self.tail)
        gap = f"\n[{left_out} bytes left out]\n".encode() if left_out else b""
        return bytes(self.head) + gap + bytes(self.tail)


@dataclass(slots=True)
class Replay:
    """A replay's process and what is known of it so far (mutable on purpose: the loop fills it in)."""

    row: str
    order: Order
    folder: Path
    slot: Slot
    limits: Limits
    child: Child
    node: dict[str, Any]
    load_before: list[float]
    started: float
    """Monotonic seconds, from before the process was made."""
    ended: float = 0.0
    """Monotonic seconds, from when it was reaped."""
    affinity: list[int] = field(default_factory=list)
    stdout: Stream = field(default_factory=Stream)
    stderr: Stream = field(default_factory=Stream)
    setup: bytes = b""
    """Why it could not execute; empty once it does."""
    executes: bool = False
    limit: str | None = None
    """Which limit ended it."""
    threads: int = 0
    runnable: int = 0
    family: set[int] = field(default_factory=set)
    watched_rss: int = 0

    def look(self, everyone: list[watch.Seen] | None) -> None:
        """Check the limits; end the whole group when one is passed."""
        if self.limit is not None:
            self.end()
            return
        if everyone is not None:
            self.family = watch.family(self.child.pid, everyone)
        members = self.family or {self.child.pid}
        resident = sum(watch.resident_bytes(pid) for pid in members)
        self.watched_rss = max(self.watched_rss, resident)
        count, runnable = watch.threads(self.child.pid)
        self.threads, self.runnable = max(self.threads, count), max(self.runnable, runnable)
        if time.monotonic() - self.started > self.limits.time_s:
            self.limit = "time"
        elif resident > self.limits.memory_bytes:
            self.limit = "memory"
        elif len(members) > self.limits.processes:
            self.limit = "processes"
        elif everyone is not None and self.written_bytes() > self.limits.output_bytes:
            self.limit = "output"
        if self.limit is not None:
            self.end()

    def take_setup(self, chunk: bytes) -> None:
        """The setup pipe said something, or closed because the process executes: then its CPUs are read back."""
        self.setup += chunk
        if not chunk and not self.setup:
            self.executes = True
            with suppress(OSError):
                self.affinity = sorted(os.sched_getaffinity(self.child.pid))

    def streams(self) -> tuple[tuple[int, Callable[[bytes], None]], ...]:
        """Its pipes, and what takes each one's chunks."""
        child = self.child
        return (child.setup, self.take_setup), (child.stdout, self.stdout.take), (child.stderr, self.stderr.take)

    def written_bytes(self) -> int:
        """Everything it wrote: files and streams."""
        return watch.folder_bytes(self.folder) + self.stdout.bytes_seen + self.stderr.bytes_seen

    def end(self, *, descendants: bool = True) -> None:
        """Kill its process group and, while it lives, whatever else descends from it."""
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.child.pid, signal.SIGKILL)
        for pid in self.family if descendants else ():
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a replay ended."""

    ok: bool
    summary: str
    lost: str | None
    """Not the engine's doing: the replay is no result."""
    wall_ms: float
    cpu_ms: float


def conclude(replay: Replay, status: int, usage: Any) -> Outcome:
    """Write `process.json` (last, synced) and what belongs to it; how it ended. Raises `Blocked` for a full disk."""
    wall_ms = (replay.ended - replay.started) * 1000
    cpu_ms = (usage.ru_utime + usage.ru_stime) * 1000
    number = os.WTERMSIG(status) if os.WIFSIGNALED(status) else None
    code = os.WEXITSTATUS(status) if os.WIFEXITED(status) else None
    lost = _lost(replay, code, number)
    if lost is not None:
        return Outcome(False, lost, lost, wall_ms, cpu_ms)
    limit = replay.limit
    if limit is None and status != 0 and replay.written_bytes() >= replay.limits.output_bytes:
        limit = "output"  # the kernel refused one byte more before this was looked at
    error = _error(replay, code, number, limit)
    replay.folder.mkdir(exist_ok=True)  # a process that failed early may not have made it
    digests = None
    if error is None:
        digests, error = _digests(replay.folder)
    for leftover in () if error is None else ("canonical.jsonl", "report.json"):
        (replay.folder / leftover).unlink(missing_ok=True)
    write_atomic(replay.folder / "stderr.txt", replay.stderr.text(), sync=False)
    if digests is not None:
        write_atomic(replay.folder / "digests.json", _json(digests), sync=False)
    record = {
        "arm": replay.order.arm,
        "repetition": replay.order.repetition,
        "exit_status": code,
        "signal": number,
        "limit": limit,
        "error": error,
        "cpus": list(replay.slot.cpus),
        "numa": [replay.slot.numa],
        "affinity_read_back": replay.affinity,
        "node": {**replay.node, "load_before": replay.load_before, "load_after": load_average()},
        "started_at": round(CLOCK + replay.started, 6),
        "ended_at": round(CLOCK + replay.ended, 6),
        "wall_ms": round(wall_ms, 3),
        "cpu_ms": round(cpu_ms, 3),
        "max_rss_bytes": max(usage.ru_maxrss * 1024, replay.watched_rss),
        "threads_seen": replay.threads,
        "runnable_threads_seen": replay.runnable,
    }
    write_atomic(replay.folder / "process.json", _json(record))
    summary = error or (digests or {})["canonical_sha256"][:12]
    return Outcome(error is None, summary, None, wall_ms, cpu_ms)


def _lost(replay: Replay, code: int | None, number: int | None) -> str | None:
    """Why the replay is no result at all; None when it is one."""
    if replay.setup:
        return replay.setup.decode("utf-8", "replace")
    if replay.limit is None and number in FROM_OUTSIDE:
        why = " (out of memory, or killed by somebody)" if number == signal.SIGKILL else ""
        return f"ended from outside by {signal.Signals(number).name}{why}"
    last = _last_line(replay)
    if replay.limit is None and code != 0 and any(words in last.lower() for words in FULL_WORDS):
        return f"the disk gave up: {last}"
    return None


def _last_line(replay: Replay) -> str:
    """The engine's own last word; empty when it said nothing."""
    said = replay.stderr.text().decode("utf-8", "replace").strip().splitlines()
    return said[-1].strip() if said else ""


def _error(replay: Replay, code: int | None, number: int | None, limit: str | None) -> str | None:
    """The one line that says why there is no result; None when there is one."""
    limits = replay.limits
    if limit is not None:
        return {
            "time": f"no end after {limits.time_s:g} s: ended by the time limit",
            "memory": f"more than {in_units(limits.memory_bytes)} of memory: ended by the memory limit",
            "output": f"more than {in_units(limits.output_bytes)} of output: ended by the output limit",
            "processes": f"more than {limits.processes} processes at once: ended by the process limit",
        }[limit]
    last = _last_line(replay)
    if number is not None:
        return f"crashed with {signal.Signals(number).name}" + (f": {last}" if last else "")
    if code != 0:
        return last or f"ended with status {code} and said nothing"
    return None


def _digests(folder: Path) -> tuple[dict[str, Any] | None, str | None]:
    """Digests of what an exit status of 0 must have left, or what is wrong with it."""
    canonical, counters = folder / "canonical.jsonl", folder / "qualification.jsonl"
    for path in (canonical, counters):
        if not path.is_file() or path.is_symlink():
            return None, f"ended with status 0 but left no {path.name}"
    found = sha256_file(canonical)
    try:
        said = json.loads(counters.read_bytes()).get("canonical_sha256")
    except (ValueError, AttributeError):
        return None, "left a qualification.jsonl that is not one JSON object"
    if said != found:
        return None, f"its counters name the digest {said}, its canonical record hashes to {found}"
    return {
        "canonical_sha256": found,
        "canonical_bytes": canonical.stat().st_size,
        "qualification_sha256": sha256_file(counters),
    }, None


def finished(folder: Path, order: Order, hostname: str) -> bool:
    """Whether an earlier run left this replay's whole result, made on this node.

    A result whose bytes changed, or that another node made, does not count (`run.same-node`).
    """
    try:
        record = json.loads((folder / "process.json").read_bytes())
        if (record["arm"], record["repetition"]) != (order.arm, order.repetition):
            return False
        if record["node"]["hostname"] != hostname:
            return False
        if record["error"] is not None:
            return True
        digests = json.loads((folder / "digests.json").read_bytes())
        return bool(
            sha256_file(folder / "canonical.jsonl") == digests["canonical_sha256"]
            and sha256_file(folder / "qualification.jsonl") == digests["qualification_sha256"]
        )
    except (OSError, ValueError, KeyError, TypeError):
        return False


def empty(folder: Path) -> None:
    """Make the replay's folder afresh: what an earlier, unfinished attempt left is ours to remove."""
    if folder.is_symlink():
        folder.unlink()
    shutil.rmtree(folder, ignore_errors=True)
    folder.parent.mkdir(exist_ok=True)


def _json(value: Any) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode() + b"\n"
