"""What invalidates a pair: predeclared conditions of the environment, seen in what the harness itself recorded.

Nothing here looks at `replay_execution_ms`: a sample is never judged by its value. The limits are constants of
the method, the same for every campaign, and stand in the report beside each invalidated pair.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from aisimc_runtime.gate.samples import Attempt
from aisimc_runtime.gate.telemetry import TICK_S, Reading

RUN_DELAY_SHARE = 0.02
"""Share of its runnable time that a process may have waited for its own CPU."""
STEAL_SHARE = 0.05
"""Share of the pair's time that the hypervisor may have taken from the pinned CPUs."""
NEIGHBOUR_SHARE = 0.5
"""Share of the node's other CPUs that others may have kept busy during the pair."""
LEAST_TICKS = 5
"""Kernel ticks are coarse (mostly 10 ms): fewer than this many in excess show nothing."""


@dataclass(frozen=True, slots=True)
class Cause:
    """One detected condition with its evidence in words and figures."""

    cause: str
    arm: str | None
    """The half it was seen in; None when it was seen over the whole pair."""
    evidence: str

    def to_json(self) -> dict[str, str | None]:
        """As `samples.jsonl` holds it."""
        return {"cause": self.cause, "arm": self.arm, "evidence": self.evidence}


def detect(
    halves: Sequence[Attempt],
    *,
    cpus: Collection[int],
    declared: Collection[str],
    node_cpus: int | None = None,
    stopped: str | None = None,
) -> tuple[Cause, ...]:
    """The declared conditions that both halves of one pair show; `stopped` is what a signal told the harness.

    `node_cpus` is the number of CPUs of the node (default: of this one).
    """
    found: list[Cause] = []
    for half in halves:
        found.extend(_affinity(half, frozenset(cpus)))
        found.extend(_waited(half))
    first, last = halves[0].before, halves[-1].after
    if first is not None and last is not None:
        found.extend(_stolen(first, last, len(cpus)))
        found.extend(_neighbours(first, last, (node_cpus or os.cpu_count() or 1) - len(cpus)))
        if last.suspended_s - first.suspended_s > 0.1:
            gap = last.suspended_s - first.suspended_s
            found.append(Cause("node_failure", None, f"the node was suspended for {gap:.1f} s"))
    if stopped is not None:
        found.append(Cause("scheduler_eviction", None, stopped))
    return tuple(cause for cause in found if cause.cause in declared)


def _affinity(half: Attempt, cpus: frozenset[int]) -> list[Cause]:
    """The CPUs read back from the process must be the ones it was given, at its start and at its end."""
    process = half.process
    if process is None:
        return []
    want = sorted(cpus)
    for when, seen in (("start", process.affinity_at_start), ("end", process.affinity_at_end)):
        if seen is not None and set(seen) != cpus:
            evidence = f"pinned to {want}, but at its {when} allowed on {list(seen)}"
            return [Cause("affinity_violation", half.arm, evidence)]
    if process.last_cpu is not None and process.last_cpu not in cpus:
        return [Cause("affinity_violation", half.arm, f"pinned to {want}, but ran on CPU {process.last_cpu}")]
    return []


def _waited(half: Attempt) -> list[Cause]:
    """The kernel's own account of how long the process was ready to run while something else ran."""
    process = half.process
    if process is None or process.run_delay_ms is None:
        return []
    runnable_ms = process.cpu_ms + process.run_delay_ms
    if runnable_ms <= 0 or process.run_delay_ms <= RUN_DELAY_SHARE * runnable_ms:
        return []
    evidence = (
        f"waited {process.run_delay_ms:.2f} ms for its own CPU in {runnable_ms:.2f} ms of being runnable "
        f"({process.run_delay_ms / runnable_ms:.1%}; limit {RUN_DELAY_SHARE:.0%})"
    )
    return [Cause("competing_load", half.arm, evidence)]


def _stolen(first: Reading, last: Reading, cpus: int) -> list[Cause]:
    if first.pinned is None or last.pinned is None:
        return []
    ticks = last.pinned.steal - first.pinned.steal
    window = (last.at_s - first.at_s) / TICK_S * cpus
    if ticks < LEAST_TICKS or ticks <= STEAL_SHARE * window:
        return []
    evidence = f"the hypervisor took {ticks / window:.1%} of the pinned CPUs (limit {STEAL_SHARE:.0%})"
    return [Cause("competing_load", None, evidence)]


def _neighbours(first: Reading, last: Reading, others: int) -> list[Cause]:
    """Other CPUs kept busy share caches, memory bandwidth and the power budget with the pinned ones."""
    if others < 1 or first.node is None or first.pinned is None or last.node is None or last.pinned is None:
        return []
    ticks = (last.node.busy - first.node.busy) - (last.pinned.busy - first.pinned.busy)
    window = (last.at_s - first.at_s) / TICK_S * others
    if ticks - NEIGHBOUR_SHARE * window < LEAST_TICKS:
        return []
    evidence = (
        f"others kept {ticks / window:.0%} of the node's other CPUs busy (limit {NEIGHBOUR_SHARE:.0%}); "
        f"load {last.load1 if last.load1 is not None else 'unknown'}"
    )
    return [Cause("competing_load", None, evidence)]
