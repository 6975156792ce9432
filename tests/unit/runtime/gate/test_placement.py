"""Which CPUs, and which storage."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from aisimc_runtime.failures import Blocked
from aisimc_runtime.gate.placement import NETWORK_FILE_SYSTEMS, again, choose, file_system, is_local

MOUNTS = r"""22 1 253:0 / / rw,relatime shared:1 - ext4 /dev/vda rw
30 22 0:25 / /nfs rw,relatime shared:9 - nfs4 server:/export rw
31 30 0:26 / /nfs/local\040disk rw - xfs /dev/vdb rw
32 22 0:27 / /scratch rw - lustre fs:/scratch rw
33 22 0:28 / /scratch rw - tmpfs tmpfs rw
"""


def test_the_last_cpu_is_pinned_and_the_harness_keeps_off_it() -> None:
    allowed = sorted(os.sched_getaffinity(0))
    place = choose(None, 1)
    assert len(place.cpus) == 1
    assert set(place.cpus) <= set(allowed)
    if len(allowed) > 1:
        assert not set(place.cpus) & set(place.harness_cpus)


def test_more_cpus_than_there_are() -> None:
    with pytest.raises(Blocked, match="100000 CPUs"):
        choose(None, 100_000)


def test_a_row_keeps_the_cpus_it_began_with() -> None:
    cpu = min(os.sched_getaffinity(0))
    assert again([cpu], [0]).cpus == (cpu,)
    with pytest.raises(Blocked, match="began on CPU"):
        again([100_000], [0])


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("/tmp/x", "ext4"),
        ("/nfs/x", "nfs4"),
        ("/nfs/local disk/x", "xfs"),
        ("/nfs2/x", "ext4"),
        ("/scratch/x", "tmpfs"),
    ],
)
def test_the_file_system_of_a_path(path: str, found: str) -> None:
    assert file_system(Path(path), MOUNTS) == found


def test_network_storage_is_not_local(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert is_local(tmp_path)
    monkeypatch.setattr("aisimc_runtime.gate.placement.file_system", lambda path: "nfs4")
    assert not is_local(tmp_path)
    assert {"nfs", "lustre", "gpfs"} <= NETWORK_FILE_SYSTEMS


def test_a_machine_without_mount_table(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(self: Path) -> str:
        raise FileNotFoundError(self)

    monkeypatch.setattr(Path, "read_text", missing)
    assert file_system(Path("/tmp")) == "unknown"
