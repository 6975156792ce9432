"""CPU sets: disjoint, of one size, on one NUMA node, cores before their second threads."""

from __future__ import annotations

import os

import pytest

from aisimc_runtime.failures import Blocked
from aisimc_runtime.run.cpulist import parse_cpus
from aisimc_runtime.run.cpus import Cpu, Slot, allowed_cpus, slots

TWO_SOCKETS = [Cpu(number, number // 4, 0) for number in range(8)] + [Cpu(8 + n, n // 4, 1) for n in range(8)]


def test_one_set_per_core() -> None:
    assert slots(TWO_SOCKETS, 1, None) == [Slot((n,), n // 4) for n in range(8)]


def test_sets_of_several_never_cross_a_numa_node() -> None:
    found = slots(TWO_SOCKETS, 3, None)
    assert found == [Slot((0, 1, 2), 0), Slot((4, 5, 6), 1)]


def test_more_jobs_than_cores_take_second_threads() -> None:
    found = slots(TWO_SOCKETS, 1, 12)
    assert len(found) == 12
    assert len({cpu for slot in found for cpu in slot.cpus}) == 12


def test_fewer_jobs_than_sets() -> None:
    assert len(slots(TWO_SOCKETS, 1, 3)) == 3


def test_a_set_that_needs_second_threads_gets_them() -> None:
    assert slots(TWO_SOCKETS, 6, None)[0].numa == 0


def test_no_set_is_large_enough() -> None:
    with pytest.raises(Blocked, match="no NUMA node has 9 CPUs"):
        slots(TWO_SOCKETS, 9, None)


def test_topology_is_read_from_the_kernels_files() -> None:
    mine = sorted(os.sched_getaffinity(0))
    texts = {
        "/sys/devices/system/node/online": "0-1",
        "/sys/devices/system/node/node0/cpulist": "0",
        "/sys/devices/system/node/node1/cpulist": "1-99",
        f"/sys/devices/system/cpu/cpu{mine[0]}/topology/thread_siblings_list": f"{mine[0]},{mine[0] + 200}",
    }
    found = allowed_cpus(None, lambda path: texts.get(str(path)))
    assert found[0] == Cpu(mine[0], 0 if mine[0] == 0 else 1, 0)
    assert [cpu.number for cpu in found] == mine


def test_without_the_kernels_files_there_is_one_node() -> None:
    assert {cpu.numa for cpu in allowed_cpus(None, lambda _: None)} == {0}


def test_cpus_that_are_not_ours_are_refused() -> None:
    with pytest.raises(Blocked, match="CPU 99999 of the profile"):
        allowed_cpus((99999,))


@pytest.mark.parametrize(("text", "cpus"), [("0", (0,)), ("0-3,8", (0, 1, 2, 3, 8)), ("2, 1-2", (1, 2)), ("5-5", (5,))])
def test_lists_of_cpus(text: str, cpus: tuple[int, ...]) -> None:
    assert parse_cpus(text) == cpus
