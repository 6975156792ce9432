"""CPU sets for replays: disjoint, of one size, each on one NUMA node, whole cores before second threads.

Both arms of a row run on sets of the same NUMA node (`run.affinity`), so a row is bound to the node of its first
replay.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from aisimc_runtime.failures import Blocked
from aisimc_runtime.run.cpulist import parse_cpus

SYS = Path("/sys/devices/system")


class Slot(NamedTuple):
    """One set of CPUs that one process at a time may have."""

    cpus: tuple[int, ...]
    numa: int


class Cpu(NamedTuple):
    """One logical CPU: its NUMA node, and its rank among the threads of its core (0 = first)."""

    number: int
    numa: int
    thread: int


def slots(cpus: Sequence[Cpu], size: int, jobs: int | None) -> list[Slot]:
    """Cut the CPUs into disjoint sets of `size`; at most `jobs` of them. Pure.

    Only first threads of cores are used, unless `jobs` asks for more sets than there are cores for. Raises `Blocked`
    when not even one set can be made.
    """
    firsts = [cpu for cpu in cpus if cpu.thread == 0]
    found = _cut(firsts, size)
    if not found or (jobs is not None and jobs > len(found)):
        found = max(found, _cut(list(cpus), size), key=len)
    if not found:
        raise Blocked(
            f"no NUMA node has {size} CPUs to pin a replay to (CPUs allowed: {len(cpus)})",
            help="give fewer `cpus_per_replay` or more `cpus` in the profile",
        )
    return found if jobs is None else found[:jobs]


def _cut(cpus: list[Cpu], size: int) -> list[Slot]:
    found: list[Slot] = []
    for numa in sorted({cpu.numa for cpu in cpus}):
        here = [cpu.number for cpu in sorted(cpus, key=lambda cpu: (cpu.thread, cpu.number)) if cpu.numa == numa]
        found += [Slot(tuple(sorted(here[i : i + size])), numa) for i in range(0, len(here) - size + 1, size)]
    return found


def allowed_cpus(wanted: Sequence[int] | None, read: Callable[[Path], str | None] | None = None) -> list[Cpu]:
    """The CPUs this process may use, cut down to `wanted`. Raises `Blocked` when `wanted` names others."""
    mine = sorted(os.sched_getaffinity(0))
    if wanted is not None:
        missing = sorted(set(wanted) - set(mine))
        if missing:
            raise Blocked(
                f"CPU {missing[0]} of the profile is not among those this process may use ({_text(mine)})",
                help="change `cpus` in the profile",
            )
        mine = sorted(set(wanted))
    read = read or _read
    numa = _numa_of(read)
    return [Cpu(cpu, numa.get(cpu, 0), _thread_rank(cpu, read)) for cpu in mine]


def _numa_of(read: Callable[[Path], str | None]) -> dict[int, int]:
    found: dict[int, int] = {}
    online = read(SYS / "node" / "online")
    for node in parse_cpus(online) if online else ():
        listed = read(SYS / "node" / f"node{node}" / "cpulist")
        for cpu in parse_cpus(listed) if listed else ():
            found[cpu] = node
    return found


def _thread_rank(cpu: int, read: Callable[[Path], str | None]) -> int:
    siblings = read(SYS / "cpu" / f"cpu{cpu}" / "topology" / "thread_siblings_list")
    listed = parse_cpus(siblings) if siblings else (cpu,)
    return listed.index(cpu) if cpu in listed else 0


def _read(path: Path) -> str | None:
    try:
        return path.read_text(encoding="ascii").strip() or None
    except (OSError, UnicodeDecodeError):
        return None


def _text(cpus: Sequence[int]) -> str:
    return ",".join(map(str, cpus))
