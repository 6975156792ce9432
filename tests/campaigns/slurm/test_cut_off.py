"""A node whose network broke: Slurm gives it up, its job goes on, and whichever result is whole first is the row's."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.campaigns.slurm.cluster import Cluster, two_nodes, wait_for, why_not
from tests.campaigns.slurm.conftest import Site, site_on
from tests.campaigns.slurm.test_faults import start_held

pytestmark = [pytest.mark.slurm, pytest.mark.slow]


@pytest.fixture
def hasty() -> Iterator[Cluster]:
    """A cluster that gives up a silent node after ten seconds."""
    reason = why_not()
    if reason:
        pytest.skip(reason)
    with two_nodes(node_timeout_s=10) as cluster:
        yield cluster


@pytest.fixture
def lone_site(hasty: Cluster, tmp_path: Path) -> Iterator[Site]:
    with site_on(hasty, tmp_path / "site") as made:
        yield made


def test_a_node_that_was_given_up_may_still_bring_the_result(lone_site: Site) -> None:
    harness, jobs = start_held(lone_site, "alpha")
    ((job, node),) = jobs.items()
    lone_site.cluster.cut_off(node)
    harness.wait_for_line("gave it up", timeout_s=60)
    lone_site.gate.unlink()
    assert harness.wait() == 0, harness.error()
    where = json.loads((lone_site.run / "rows/alpha/cluster-result.json").read_bytes())
    assert (where["attempt"], where["node"]) == (f"{job}.0", node)
    wait_for("the needless job to leave the queue", lambda: lone_site.our_jobs()[job][0] == "CANCELLED")
