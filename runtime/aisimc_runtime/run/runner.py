"""Replays rows on this node: one thread, one loop, every CPU set kept busy.

A row's replays start in the job's order (baseline and candidate alternate), each as soon as a CPU set of the row's
NUMA node is free; when the last has ended, the row's evidence is collected in a process of its own. Rows follow one
another without a pause. Nothing is polled for: the loop sleeps until a child ends, a pipe has something, or it is
time to look at the limits.
"""

from __future__ import annotations

import os
import selectors
import signal
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from aisimc_runtime.failures import Failure
from aisimc_runtime.run import replay as replays
from aisimc_runtime.run import spawn, watch
from aisimc_runtime.run.collected import collected
from aisimc_runtime.run.cpus import Slot
from aisimc_runtime.run.job import Limits, Order, RowJob
from aisimc_runtime.run.node import load_average, node_facts
from aisimc_runtime.run.orders import replay_order
from aisimc_runtime.run.replay import Outcome, Replay

LOOK_S = 0.1
"""How often the limits of running replays are looked at."""
LOOK_AROUND_S = 0.5
"""How often at most the whole of /proc is read, for processes that a replay started."""
COLLECT_LIMITS = Limits(time_s=900.0, memory_bytes=2 << 30, output_bytes=2 << 30, processes=16)
COLLECT = Order("collect", 0)

Emit = Callable[[dict[str, Any]], None]


@dataclass(slots=True)
class Row:
    """A row while it is replayed (mutable on purpose)."""

    job: RowJob
    waiting: list[Order]
    numa: int | None = None
    running: int = 0
    blocked: str | None = None
    collecting: bool = False
    done: bool = False

    def next(self) -> Order | None:
        """What should start next; None when nothing can."""
        if self.blocked is not None or self.done:
            return None
        if self.waiting:
            return self.waiting[0]
        return COLLECT if self.running == 0 and not self.collecting else None


@dataclass(slots=True)
class Runner:
    """The loop. `run` returns when every row is finished or blocked; `stop` ends everything at once."""

    slots: list[Slot]
    emit: Emit
    rows: list[Row] = field(default_factory=list)
    free: list[Slot] = field(default_factory=list)
    running: dict[int, Replay] = field(default_factory=dict)
    selector: selectors.BaseSelector = field(default_factory=selectors.DefaultSelector)
    node: dict[str, Any] = field(default_factory=node_facts)
    looked_around: float = 0.0
    look_around_s: float = LOOK_AROUND_S
    stopping: bool = False

    def run(self, jobs: Sequence[RowJob]) -> None:
        """Replay all rows. Raises `Blocked` when the disk gives up."""
        self.rows = [Row(job, [order for order in job.orders if not self._done(job, order)]) for job in jobs]
        for row in self.rows:
            if collected(row.job.folder):
                row.done = True
                self.emit({"event": "row", "row": row.job.row, "node": self.node["hostname"]})
        self.free = list(self.slots)
        spawn.adopt_orphans()
        wake_read, wake_write = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        signal.set_wakeup_fd(wake_write, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        self.selector.register(wake_read, selectors.EVENT_READ, lambda: os.read(wake_read, 4096))
        try:
            while not self.stopping:
                self._fill()
                if not self.running and all(row.next() is None for row in self.rows):
                    break
                self._wait()
        finally:
            self.end_all()
            signal.set_wakeup_fd(-1)
            os.close(wake_write)
            self.selector.unregister(wake_read)
            os.close(wake_read)

    def watch_fd(self, handle: int, react: Callable[[], Any]) -> None:
        """Call `react` whenever `handle` can be read, while the loop runs."""
        self.selector.register(handle, selectors.EVENT_READ, react)

    def stop(self) -> None:
        """Leave the loop; everything that runs is ended."""
        self.stopping = True

    def end_all(self) -> None:
        """Kill every process that this runner started, with its descendants, and reap them."""
        everyone = watch.look_around() if self.running else []
        for item in self.running.values():
            item.family = watch.family(item.child.pid, everyone)
            item.end()
        for pid in list(self.running):
            with suppress(ChildProcessError):
                os.waitpid(pid, 0)
            self._close(self.running.pop(pid))

    def _done(self, job: RowJob, order: Order) -> bool:
        """Whether an earlier run made this replay, here: all evidence of a row comes from one node."""
        return replays.finished(job.folder / "replays" / order.name, order, str(self.node["hostname"]))

    def _fill(self) -> None:
        """Give free CPU sets to whatever may start, in order of rows."""
        started = True
        while started and self.free and not self.stopping:
            started = False
            for row in self.rows:
                order = row.next()
                slot = self._slot_for(row) if order is not None else None
                if order is not None and slot is not None:
                    self._start(row, order, slot)
                    started = True
                    break

    def _slot_for(self, row: Row) -> Slot | None:
        return next((slot for slot in self.free if row.numa in (None, slot.numa)), None)

    def _start(self, row: Row, order: Order, slot: Slot) -> None:
        if order is COLLECT:
            row.collecting = True
        else:
            row.waiting.remove(order)
        try:
            self._launch(row, order, slot)
        except (OSError, Failure) as error:
            reason = error.message if isinstance(error, Failure) else f"a process cannot be started: {error}"
            self._block(row, reason)

    def _launch(self, row: Row, order: Order, slot: Slot) -> None:
        job = row.job
        folder = job.folder / "replays" / order.name
        limits = COLLECT_LIMITS if order is COLLECT else job.limits
        if order is COLLECT:
            argv = [sys.executable, "-P", "-m", "aisimc_runtime.run.collect", str(job.folder)]
            what = spawn.Order(argv, job.folder, dict(os.environ), slot.cpus, ())
            folder = job.folder / "evidence"
        else:
            what = replay_order(job, order, folder, slot.cpus)
            replays.empty(folder)
        started = time.monotonic()
        child = spawn.spawn(what)
        item = Replay(job.row, order, folder, slot, limits, child, self.node, load_average(), started)
        self.running[child.pid] = item
        self.free.remove(slot)
        row.numa = slot.numa
        row.running += 1
        self._follow(item)
        if order is not COLLECT:
            self.emit({"event": "started", "row": job.row, "arm": order.arm, "repetition": order.repetition,
                       "cpus": list(slot.cpus), "node": self.node["hostname"]})  # fmt: skip

    def _follow(self, item: Replay) -> None:
        """Read its pipes as they fill; one chunk at a time, so that a flood cannot keep the loop from its limits."""
        for handle, take in item.streams():
            self.selector.register(handle, selectors.EVENT_READ, lambda h=handle, t=take: self._drain(h, t))

    def _drain(self, handle: int, take: Callable[[bytes], None]) -> bool:
        """Take one chunk; False when the pipe is empty or closed."""
        try:
            chunk = os.read(handle, 65536)
        except BlockingIOError:
            return False
        take(chunk)
        if not chunk:
            self._forget(handle)
        return bool(chunk)

    def _close(self, item: Replay) -> None:
        """Take what is still in its pipes, but not what a survivor goes on writing, and close them."""
        for handle, take in item.streams():
            for _ in range(16):
                if not self._drain(handle, take):
                    break
            self._forget(handle)
            os.close(handle)

    def _forget(self, handle: int) -> None:
        with suppress(KeyError, ValueError):
            self.selector.unregister(handle)

    def _wait(self) -> None:
        """Sleep until something happens, then see to it."""
        for key, _ in self.selector.select(LOOK_S):
            key.data()
        self._reap()
        now = time.monotonic()
        everyone = None
        if now - self.looked_around >= self.look_around_s and self.running:
            everyone = watch.look_around()
            self.looked_around = time.monotonic()
            self.look_around_s = max(LOOK_AROUND_S, 20 * (self.looked_around - now))
        for item in self.running.values():
            item.look(everyone)

    def _reap(self) -> None:
        """Free the CPU sets of what has ended, start what waits for them, then write down the results."""
        ended = []
        while True:
            try:
                pid, status, usage = os.wait4(-1, os.WNOHANG)
            except ChildProcessError:
                break
            if pid == 0:
                break
            item = self.running.pop(pid, None)
            if item is not None:  # otherwise an orphan of a replay, adopted
                item.ended = time.monotonic()
                item.end(descendants=False)
                self._close(item)
                self.free.append(item.slot)
                ended.append((item, status, usage))
        if ended:
            self._end_orphans()
            self.free.sort(key=self.slots.index)
            self._fill()
        for item, status, usage in ended:
            self._ended(item, status, usage)

    def _ended(self, item: Replay, status: int, usage: Any) -> None:
        row = next(row for row in self.rows if row.job.row == item.row)
        if item.order is COLLECT:
            row.running -= 1
            self._collected(row, item, status)
            return
        outcome = replays.conclude(item, status, usage)
        row.running -= 1
        self.emit(_finished(row.job.row, item.order, outcome))
        if outcome.lost is not None:
            row.blocked = f"replay {item.order.name} of row {row.job.row}: {outcome.lost}"
        if row.blocked is not None and row.running == 0:
            self._block(row, row.blocked)

    def _end_orphans(self) -> None:
        """Adopted processes whose replay has ended: whatever called itself out of its group."""
        for seen in watch.look_around():
            if seen.parent == os.getpid() and seen.pid not in self.running and seen.state not in "ZX":
                with suppress(ProcessLookupError):
                    os.kill(seen.pid, signal.SIGKILL)

    def _collected(self, row: Row, item: Replay, status: int) -> None:
        if status == 0:
            row.done = True
            self.emit({"event": "row", "row": row.job.row, "node": self.node["hostname"]})
            return
        said = (item.setup or item.stderr.text()).decode("utf-8", "replace").strip().splitlines()
        why = said[-1] if said else f"status {os.waitstatus_to_exitcode(status)}"
        self._block(row, f"the evidence of row {row.job.row} cannot be collected: {why}")

    def _block(self, row: Row, reason: str) -> None:
        row.blocked = reason
        row.waiting = []
        if row.running == 0:
            self.emit({"event": "blocked", "row": row.job.row, "reason": reason})


def _finished(row: str, order: Order, outcome: Outcome) -> dict[str, Any]:
    return {
        "event": "finished",
        "row": row,
        "arm": order.arm,
        "repetition": order.repetition,
        "ok": outcome.ok,
        "summary": outcome.summary,
        "lost": outcome.lost,
        "wall_ms": round(outcome.wall_ms, 3),
        "cpu_ms": round(outcome.cpu_ms, 3),
    }


def _pinned(path: Path, sha256: str) -> Any:
    from aisimc_runtime.engines.base import PinnedFile

    return PinnedFile(path, sha256)
