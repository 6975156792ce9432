"""The tests' own cluster leaves nothing behind, and ends nothing that it did not start."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.campaigns.slurm.cluster import MARK, two_nodes, wait_for, why_not

pytestmark = [pytest.mark.slurm, pytest.mark.slow]


@pytest.fixture
def foreign() -> Iterator[subprocess.Popen[bytes]]:
    """Somebody else's process that is called like one of ours."""
    process = subprocess.Popen(["bash", "-c", "exec -a slurmd sleep 300"])
    yield process
    process.kill()
    process.wait()


def carriers(folder: Path) -> list[str]:
    """Command lines of the processes that carry a cluster's mark."""
    mark = f"{MARK}={folder}".encode()
    found = []
    for path in Path("/proc").iterdir():
        try:
            if path.name.isdigit() and mark in (path / "environ").read_bytes().split(b"\0"):
                found.append((path / "cmdline").read_bytes().replace(b"\0", b" ").decode())
        except OSError:
            continue
    return found


def test_only_its_own_processes_end_with_it(foreign: subprocess.Popen[bytes]) -> None:
    if reason := why_not():
        pytest.skip(reason)
    with two_nodes() as cluster:
        folder = cluster.folder
        wrapped = "trap '' TERM; while :; do sleep 1; done"
        job = cluster.run("sbatch", "--parsable", "-o", "/dev/null", "--wrap", wrapped).strip()
        wait_for("the job's first process", lambda: cluster.is_launched(job), timeout_s=60)
        assert not cluster.is_launched("999")
        assert any("slurmctld" in line for line in carriers(folder))
    assert carriers(folder) == []
    assert foreign.poll() is None
