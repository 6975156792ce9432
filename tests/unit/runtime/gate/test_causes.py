"""What invalidates a pair, and what does not."""

from __future__ import annotations

from typing import Any

import pytest

from aisimc_runtime.gate.causes import Cause, detect
from aisimc_runtime.gate.samples import Attempt
from aisimc_runtime.gate.telemetry import CpuTicks
from tests.unit.runtime.gate.making import CAUSES, half, process, reading


def causes(*halves: Attempt, **options: Any) -> list[Cause]:
    return list(detect(halves, cpus=(1,), declared=CAUSES, node_cpus=4, **options))


def test_a_quiet_pair_is_valid() -> None:
    assert causes(half(), half("candidate")) == []


@pytest.mark.parametrize(
    ("changes", "evidence"),
    [
        ({"affinity_at_start": (0, 1)}, "pinned to [1], but at its start allowed on [0, 1]"),
        ({"affinity_at_end": (0,)}, "pinned to [1], but at its end allowed on [0]"),
        ({"last_cpu": 3}, "pinned to [1], but ran on CPU 3"),
    ],
)
def test_affinity_that_is_not_ours(changes: dict[str, Any], evidence: str) -> None:
    found = causes(half(), half("candidate", process=process(**changes)))
    assert found == [Cause("affinity_violation", "candidate", evidence)]


def test_affinity_that_the_kernel_does_not_tell_is_no_violation() -> None:
    silent = process(affinity_at_start=None, affinity_at_end=None, last_cpu=None, run_delay_ms=None)
    assert causes(half(process=silent), half("candidate", process=silent)) == []


def test_waiting_for_its_own_cpu_is_competing_load() -> None:
    [found] = causes(half(process=process(cpu_ms=97.0, run_delay_ms=3.0)), half("candidate"))
    assert (found.cause, found.arm) == ("competing_load", "baseline")
    assert "waited 3.00 ms" in found.evidence
    assert causes(half(process=process(cpu_ms=98.0, run_delay_ms=2.0)), half("candidate")) == []  # at the limit


def test_a_busy_node_is_competing_load() -> None:
    """One second: three other CPUs give 300 ticks; 170 busy ones are beyond half of them, by 20."""
    busy = reading(at_s=101.0, node=CpuTicks(1000 + 100 + 170, 0), pinned=CpuTicks(600, 0))
    [found] = causes(half(), half("candidate", after=busy))
    assert found.cause == "competing_load"
    assert "others kept 57% of the node's other CPUs busy" in found.evidence
    calm = reading(at_s=101.0, node=CpuTicks(1000 + 100 + 140, 0), pinned=CpuTicks(600, 0))
    assert causes(half(), half("candidate", after=calm)) == []


def test_a_few_ticks_show_nothing() -> None:
    """The pair took 30 ms: four busy ticks are within what the clock can misplace."""
    noisy = reading(at_s=100.03, node=CpuTicks(1004, 0))
    assert causes(half(), half("candidate", after=noisy)) == []


def test_steal_is_competing_load() -> None:
    robbed = reading(at_s=101.0, pinned=CpuTicks(600, 10), node=CpuTicks(1100, 10))
    [found] = causes(half(), half("candidate", after=robbed))
    assert "the hypervisor took 10.0%" in found.evidence


def test_suspension_is_a_node_failure() -> None:
    [found] = causes(half(), half("candidate", after=reading(suspended_s=4000.0)))
    assert (found.cause, found.arm) == ("node_failure", None)


def test_being_stopped_is_an_eviction() -> None:
    [found] = causes(half(), half("candidate"), stopped="the harness was stopped and continued (SIGCONT)")
    assert found.cause == "scheduler_eviction"


def test_only_declared_causes_count() -> None:
    waited = half(process=process(cpu_ms=10.0, run_delay_ms=10.0))
    assert detect((waited, half("candidate")), cpus=(1,), declared=("affinity_violation",)) == ()


def test_the_value_of_a_sample_is_never_looked_at() -> None:
    """An extreme time alone invalidates nothing."""
    slow = half("candidate", timing={"replay_execution_ms": 1e9, "setup_ms": 1.0, "end_to_end_ms": 1e9})
    assert causes(half(), slow) == []
