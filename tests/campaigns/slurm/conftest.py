"""One cluster for all tests in this folder; each test has a run, a shared folder and a profile of its own."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.campaigns.slurm.cluster import Cluster, two_nodes, why_not
from tests.campaigns.slurm.rows import Harness, stage


@pytest.fixture(scope="session")
def cluster() -> Iterator[Cluster]:
    """A running two-node cluster; skipped where Slurm's packages are not installed."""
    reason = why_not()
    if reason:
        pytest.skip(reason)
    with two_nodes() as running:
        yield running


@dataclass(slots=True)
class Site:
    """A place to run one campaign from (mutable: it remembers the harnesses that it started)."""

    folder: Path
    cluster: Cluster
    harnesses: list[Harness]

    @property
    def run(self) -> Path:
        """The run folder."""
        return self.folder / "runs" / "campaign-0123456789ab"

    @property
    def gate(self) -> Path:
        """While this file stands, replays wait."""
        return self.folder / "gate"

    @property
    def shared(self) -> Path:
        """The folder that all nodes see."""
        return self.folder / "shared"

    def stage(self, *rows: str, **options: Any) -> None:
        """Stage rows into the run folder."""
        for row in rows:
            stage(self.run, row, self.gate, **options)
        (self.run / "plan.json").write_text("{}\n")

    def profile(self, **settings: Any) -> Path:
        """A profile for this cluster, with quick polling."""
        chosen = {
            "shared": str(self.shared),
            "partition": "main",
            "time": "10 min",
            "cpus_per_row": 1,
            "poll": "0.3 s",
            "settle": "1 s",
            "heartbeat": "0.3 s",
            "local_storage": str(self.folder / "local"),
            **settings,
        }
        lines = [f"  {key}: {value}" for key, value in chosen.items() if value is not None]
        path = self.folder / "cluster.yaml"
        path.write_text("executor: slurm\nslurm:\n" + "\n".join(lines) + "\n")
        return path

    def start(self, **settings: Any) -> Harness:
        """Start a harness on the staged rows."""
        harness = Harness(self.run, self.profile(**settings), self.cluster)
        self.harnesses.append(harness)
        return harness

    def our_jobs(self) -> dict[str, tuple[str, str, str]]:
        """The jobs of this site's run, by number: state, node, name."""
        place = next((self.shared / "aisimc").iterdir(), None) if (self.shared / "aisimc").is_dir() else None
        token = place.name.rsplit("-", 1)[1] if place else "none"
        return {job: view for job, view in self.cluster.jobs().items() if view[2].startswith(f"aisimc-{token}-")}

    def staging_left(self) -> list[Path]:
        """What stands in the nodes' local storage."""
        return sorted((self.folder / "local").iterdir())


@pytest.fixture
def site(cluster: Cluster, tmp_path: Path) -> Iterator[Site]:
    """A fresh place for one campaign on the cluster that all tests share."""
    with site_on(cluster, tmp_path) as made:
        yield made


@contextlib.contextmanager
def site_on(cluster: Cluster, folder: Path) -> Iterator[Site]:
    """A fresh place for one campaign; its harnesses and jobs are ended afterwards."""
    for name in ("shared", "local", "runs"):
        (folder / name).mkdir(parents=True)
    made = Site(folder, cluster, [])
    try:
        yield made
    finally:
        for harness in made.harnesses:
            harness.close()
        made.gate.unlink(missing_ok=True)
        jobs = [job for job, (state, _, _) in made.our_jobs().items() if state in ("PENDING", "RUNNING", "COMPLETING")]
        if jobs:
            cluster.try_run("scancel", *jobs)


@pytest.fixture
def set_down(cluster: Cluster) -> Iterator[Callable[[str], None]]:
    """Set a node down; it is brought back afterwards."""
    down: list[str] = []

    def take(node: str) -> None:
        down.append(node)
        cluster.run("scontrol", "update", f"nodename={node}", "state=down", "reason=test")

    yield take
    for node in down:
        cluster.try_run("scontrol", "update", f"nodename={node}", "state=resume")


@pytest.fixture(autouse=True)
def room() -> None:
    """These tests copy little, but a full disk would look like a fault of theirs."""
    if shutil.disk_usage("/tmp").free < 64 << 20:
        pytest.skip("less than 64 MiB are free in /tmp")
