"""Before processes are pinned to single CPUs: how many of an engine's threads want one at the same time?

Each arm's first replay is started unpinned, looked at for a fraction of a second, and ended; nothing of it is kept.
An engine that runs on more threads than a CPU set holds would be slowed by the pin, and arms differently, so the
sets of both arms are made larger (`run.affinity`).
"""

from __future__ import annotations

import os
import shutil
import time
from contextlib import suppress
from typing import Any

from aisimc_runtime.run import spawn, watch
from aisimc_runtime.run.job import RowJob
from aisimc_runtime.run.orders import replay_order

LOOK_FOR_S = 0.4
LOOK_EVERY_S = 0.01


def count_threads(job: RowJob) -> dict[str, dict[str, int]]:
    """For each arm of the job: threads seen, and the most of them that were runnable at once. Raises `OSError`."""
    children: dict[str, spawn.Child] = {}
    seen = {arm: {"threads": 0, "runnable": 0} for arm in job.artifacts}
    place = job.folder / "preflight"
    place.mkdir(exist_ok=True)
    try:
        for order in job.orders:
            if order.arm not in children:
                children[order.arm] = spawn.spawn(replay_order(job, order, place / order.arm, None))
        until = time.monotonic() + LOOK_FOR_S
        while time.monotonic() < until and any(_alive(child.pid) for child in children.values()):
            for arm, child in children.items():
                count, runnable = watch.threads(child.pid)
                seen[arm] = {
                    "threads": max(seen[arm]["threads"], count),
                    "runnable": max(seen[arm]["runnable"], runnable),
                }
            time.sleep(LOOK_EVERY_S)
    finally:
        for child in children.values():
            _end(child)
        shutil.rmtree(place, ignore_errors=True)
    return seen


def _alive(pid: int) -> bool:
    found = watch.look_at(pid)
    return found is not None and found.state not in "ZX"


def _end(child: spawn.Child) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(child.pid, 9)
    with suppress(ProcessLookupError):
        os.kill(child.pid, 9)
    with suppress(ChildProcessError):
        os.waitpid(child.pid, 0)
    for handle in child[1:]:
        os.close(handle)


def widest(seen: dict[str, Any]) -> int:
    """The most threads of one arm that wanted a CPU at once."""
    return max((int(arm["runnable"]) for arm in seen.values()), default=1)
