"""Makers of recorded processes, readings and gates for these tests."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from aisimc_runtime.gate.design import Design
from aisimc_runtime.gate.process import Finished
from aisimc_runtime.gate.samples import Attempt
from aisimc_runtime.gate.telemetry import CpuTicks, Reading

CAUSES = ("affinity_violation", "competing_load", "node_failure", "scheduler_eviction")

DESIGN = Design(
    rows=("row",),
    seed=7,
    threshold=1.05,
    exchangeability="fresh pinned processes on an idle node",
    diagnostics={"lag1_autocorrelation": 0.30, "order_trend": 0.30},
    invalidate_on=CAUSES,
    size_explanation=None,
)

FINISHED = Finished(
    exit_status=0,
    signal=None,
    timed_out=False,
    wall_ms=30.0,
    cpu_ms=28.0,
    run_delay_ms=0.05,
    voluntary_switches=1,
    involuntary_switches=0,
    minor_faults=500,
    major_faults=0,
    max_rss_bytes=9_000_000,
    affinity_at_start=(1,),
    affinity_at_end=(1,),
    last_cpu=1,
    stderr="",
)

READING = Reading(
    at_s=100.0,
    suspended_s=0.0,
    load1=0.1,
    runnable=1,
    node=CpuTicks(busy=1000, steal=0),
    pinned=CpuTicks(busy=500, steal=0),
)


SESSION: dict[str, Any] = {
    "node": {"hostname": "here", "kernel": "6.1.0", "boot_id": "a1bebc6a-ca4c-4921-b2a7-c955e354d53a", "cpus": 2},
    "cpus": [1],
    "harness_cpus": [0],
    "numa_nodes": [0],
    "storage": "ext4",
    "verified": {"configuration.json": "2" * 64},
}
"""What a session says of itself, beside its number."""


def process(**changes: Any) -> Finished:
    """A process that nothing disturbed, but for `changes`."""
    return replace(FINISHED, **changes)


def reading(**changes: Any) -> Reading:
    """A quiet node at 100 s, but for `changes`."""
    return replace(READING, **changes)


def half(arm: str = "baseline", **changes: Any) -> Attempt:
    """A recorded half of pair 1 that took 30 ms."""
    attempt = Attempt(
        attempt=1,
        session=1,
        kind="sample",
        arm=arm,
        number=1,
        round=1,
        position="first",
        status="ok",
        timing={"replay_execution_ms": 20.0, "setup_ms": 2.0, "end_to_end_ms": 23.0},
        process=FINISHED,
        before=READING,
        after=reading(at_s=100.03),
    )
    return replace(attempt, **changes)


def plan(rows: tuple[str, ...] = ("row",), **changes: Any) -> dict[str, Any]:
    """As much of a plan as the gate reads."""
    block = {
        "metric": "replay_execution_ms",
        "rows": list(rows),
        "warmups": 5,
        "pairs": 60,
        "seed": 7,
        "threshold": 1.05,
        "exchangeability": "fresh pinned processes on an idle node",
        "diagnostics": {"lag1_autocorrelation": 0.30, "order_trend": 0.30},
        "invalidate_on": list(CAUSES),
        "size_explanation": None,
    }
    return {"schema": "aisimc.plan/1", "performance": block | changes}


def lines(path: Path) -> list[str]:
    """The lines of a record."""
    return path.read_text().splitlines()
