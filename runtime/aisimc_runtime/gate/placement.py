"""Which CPUs the samples get, which the harness keeps to, and what counts as node-local storage."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from aisimc_runtime.failures import Blocked
from aisimc_runtime.run.cpulist import parse_cpus
from aisimc_runtime.run.cpus import SYS, allowed_cpus, slots

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


def choose(wanted: Sequence[int] | None, count: int) -> Placement:
    """The last set of `count` CPUs on one NUMA node, out of the profile's `wanted` ones or all that we may use.

    The last one, because CPU 0 takes most interrupts. Raises `Blocked` when there is no such set.
    """
    slot = slots(allowed_cpus(wanted), count, None)[-1]
    return _placed(slot.cpus, (slot.numa,))


def again(cpus: Sequence[int], nodes: Sequence[int]) -> Placement:
    """The placement that a row began with; raises `Blocked` when its CPUs are not ours any more."""
    allowed = os.sched_getaffinity(0)
    if not set(cpus) <= allowed:
        raise Blocked(
            f"the row's samples began on CPU {list(cpus)}, and now only {sorted(allowed)} may be used",
            help="continue it with the same CPUs, or measure anew with --again",
        )
    return _placed(tuple(cpus), tuple(nodes))


def _placed(pinned: tuple[int, ...], nodes: tuple[int, ...]) -> Placement:
    """The harness leaves the pinned cores altogether where it can, then the pinned CPUs."""
    allowed = os.sched_getaffinity(0)
    cores = {sibling for cpu in pinned for sibling in siblings(cpu)}
    rest = allowed - cores or allowed - set(pinned) or allowed
    return Placement(pinned, tuple(sorted(rest)), nodes)


def siblings(cpu: int) -> frozenset[int]:
    """The hardware threads of the core that `cpu` is on, itself among them."""
    try:
        text = (SYS / f"cpu/cpu{cpu}/topology/thread_siblings_list").read_text()
        return frozenset(parse_cpus(text))
    except (OSError, ValueError):
        return frozenset({cpu})


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
