"""Which CPUs the samples get, which the harness keeps to, and what counts as node-local storage."""

from __future__ import annotations

import os
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from aisimc_runtime.failures import Blocked
from aisimc_runtime.gate.telemetry import SYS, parse_cpu_list, siblings

_NETWORK = ("9p", "afs", "beegfs", "ceph", "cifs", "glusterfs", "gpfs", "lustre", "nfs", "nfs4", "orangefs")
_MORE = ("panfs", "pvfs2", "smb3", "smbfs", "virtiofs", "wekafs")
_FUSE = ("fuse.ceph", "fuse.gcsfuse", "fuse.glusterfs", "fuse.s3fs", "fuse.sshfs")
NETWORK_FILE_SYSTEMS = frozenset((*_NETWORK, *_MORE, *_FUSE))


@dataclass(frozen=True, slots=True)
class Placement:
    """The CPUs of one row, the same for both arms and for every process."""

    cpus: tuple[int, ...]
    harness_cpus: tuple[int, ...]
    numa_nodes: tuple[int, ...]


def choose(allowed: Collection[int], count: int, *, sys: Path = SYS) -> Placement:
    """The last `count` CPUs of one NUMA node, one per core; raises `Blocked` when there are not as many.

    The last ones, because CPU 0 takes most interrupts. The harness leaves their cores altogether where it can.
    """
    by_node = numa_nodes(sys)
    fitting = [
        (len(cpus), node, cpus)
        for node, all_cpus in by_node.items()
        if len(cpus := one_per_core(sorted(set(all_cpus) & set(allowed)))) >= count
    ]
    if not fitting:
        raise Blocked(
            f"the gate needs {count} CPU{'s' if count > 1 else ''} on one NUMA node, and may use only "
            f"{sorted(allowed)}",
            help="give the process more CPUs, or lower cpus_per_replay in the profile",
        )
    _, node, cpus = max(fitting)
    return _placed(allowed, tuple(cpus[-count:]), (node,))


def one_per_core(cpus: list[int]) -> list[int]:
    """The first hardware thread of each core among `cpus`."""
    return [cpu for cpu in cpus if cpu == min(siblings(cpu) & set(cpus) or {cpu})]


def numa_nodes(sys: Path = SYS) -> dict[int, list[int]]:
    """CPUs by NUMA node; one node with every CPU where the machine tells none."""
    found: dict[int, list[int]] = {}
    for folder in sorted((sys / "devices/system/node").glob("node[0-9]*")):
        cpus = parse_cpu_list((folder / "cpulist").read_text())
        if cpus:
            found[int(folder.name[4:])] = cpus
    return found or {0: list(range(os.cpu_count() or 1))}


def file_system(path: Path, mounts: str | None = None) -> str:
    """The type of the file system that holds `path`, from /proc/self/mountinfo; `unknown` where it does not say."""
    if mounts is None:
        try:
            mounts = Path("/proc/self/mountinfo").read_text()
        except OSError:
            return "unknown"
    found, best = "unknown", -1
    for line in mounts.splitlines():
        head, _, tail = line.partition(" - ")
        fields = head.split()
        if len(fields) < 5 or not tail:
            continue
        mount = Path(fields[4].encode().decode("unicode_escape"))
        # The later of two mounts on one place hides the earlier.
        if path.is_relative_to(mount) and len(mount.parts) >= best:
            found, best = tail.split()[0], len(mount.parts)
    return found


def is_local(path: Path) -> bool:
    """Whether `path` is on this node's own storage, as far as the machine tells."""
    return file_system(path.resolve()) not in NETWORK_FILE_SYSTEMS


def again(allowed: Collection[int], cpus: Collection[int], nodes: Collection[int]) -> Placement:
    """The placement that a row began with; raises `Blocked` when its CPUs are not ours any more."""
    if not set(cpus) <= set(allowed):
        raise Blocked(
            f"the row's samples began on CPU {sorted(cpus)}, and now only {sorted(allowed)} may be used",
            help="continue it with the same CPUs, or measure anew with --again",
        )
    return _placed(allowed, tuple(cpus), tuple(nodes))


def _placed(allowed: Collection[int], pinned: tuple[int, ...], nodes: tuple[int, ...]) -> Placement:
    cores = {sibling for cpu in pinned for sibling in siblings(cpu)}
    rest = set(allowed) - cores or set(allowed) - set(pinned) or set(allowed)
    return Placement(pinned, tuple(sorted(rest)), nodes)
