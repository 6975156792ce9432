"""A whole campaign of published wheels on the cluster is the one on this machine, row by row."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from aisimc_runtime.inputs.generator import generate
from tests.campaigns.slurm.cluster import Cluster, wait_for

pytestmark = [pytest.mark.slurm, pytest.mark.slow, pytest.mark.wheels]

ROWS = ("vllm-two", "sglang-two", "trtllm-two")
CAMPAIGN = """\
campaign "small" {
  language = 1
  purpose  = "Three small rows of two nightly builds, to be replayed anywhere"
  corpus   = preflight
  matrix   = focused
}
revision baseline {
  wheel  = "aisimulate==0.13.0.dev202610230000000081"
  sha256 = "a44b7bd9be692e58a86c37e9b64169576975e65ef674742bd3cfdfc5b983eed6"
}
revision candidate {
  wheel    = "aisimulate==0.13.0.dev202610240000000082"
  sha256   = "7f985fff3896dd371903b6aa6e4832d2ba99a74cdb37cf8a6772f51ed6b23bba"
  relation = "the next nightly of the same line"
}
determinism { mode = canonical_v1 repetitions = 2 }
input synthetic {
  format = mooncake
  block_size = 512
  generator { seed = 7 rows = 200 }
  sha256 = "SHA"
  rows = 200
}
exclude {
  /summary/wall_time_ms
  /summary/processed_tokens_per_s
  /summary/processed_output_tokens_per_s
  /planner/html_report_path
}
"""
FIXTURE = """\
fixture NAME {
  engine = ENGINE
  input = synthetic
  topology aggregated { workers = 2 }
  capacity { num_gpu_blocks = 8_000 block_size = 64 max_num_seqs = 16 max_num_batched_tokens = 8_192 }
  timing polynomial
}
"""


@dataclass(frozen=True, slots=True)
class Place:
    """A folder with the campaign, a store that was filled by the local run, and a profile for the cluster."""

    folder: Path
    environment: dict[str, str]

    def start(self, *options: str) -> subprocess.Popen[str]:
        """`aisimc run` on the campaign."""
        command = [sys.executable, "-P", "-c", "from aisimc_runtime.command.main import main; main()"]
        return subprocess.Popen(
            [*command, "run", "small.campaign", "--json", *options],
            cwd=self.folder,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(self, *options: str) -> tuple[int, str, str]:
        """Carry the campaign out; exit status, standard output and standard error."""
        process = self.start(*options)
        out, err = process.communicate(timeout=300)
        return process.returncode, out, err


@pytest.fixture(scope="module")
def place(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Place:
    folder = tmp_path_factory.mktemp("campaign")
    trace = hashlib.sha256(b"".join(generate(7, 200, 512))).hexdigest()
    rows = [FIXTURE.replace("NAME", name).replace("ENGINE", name.removesuffix("-two")) for name in ROWS]
    (folder / "small.campaign").write_text(CAMPAIGN.replace("SHA", trace) + "".join(rows))
    (folder / "shared").mkdir()
    (folder / "cluster.yaml").write_text(
        f"slurm:\n  shared: {folder}/shared\n  cpus_per_row: 2\n  time: 10 min\n  poll: 0.5 s\n  heartbeat: 1 s\n"
    )
    return Place(folder, {**cluster.environment, "AISIMC_STORE": str(folder / "store")})


@pytest.fixture(scope="module")
def local(place: Place) -> dict[str, Any]:
    """The report of the campaign as this machine carried it out."""
    status, _, err = place.run("--runs", "local")
    if status == 3 and "the package index cannot be reached" in err:
        pytest.skip("the package index cannot be reached")
    assert status == 0, err
    return report(place.folder / "local")


def report(runs: Path) -> dict[str, Any]:
    (folder,) = runs.iterdir()
    found: dict[str, Any] = json.loads((folder / "report.json").read_bytes())
    return found


def test_the_cluster_gives_the_same_campaign(place: Place, local: dict[str, Any]) -> None:
    status, out, err = place.run("--executor", "slurm", "--profile", "cluster.yaml", "--runs", "cluster")
    assert status == 0, err
    assert json.loads(out)["plan_digest"] == local["plan_digest"]
    there = report(place.folder / "cluster")
    assert there["digest"] == local["digest"], "the report's semantic part is the same, row by row"
    (run,) = (place.folder / "cluster").iterdir()
    for row in ROWS:
        mine = json.loads((place.folder / "local" / run.name / "rows" / row / "collected.json").read_bytes())
        its = json.loads((run / "rows" / row / "collected.json").read_bytes())
        assert its["digests"] == mine["digests"]
        assert_placement(run / "rows" / row)
    assert list((place.folder / "shared").iterdir()) == [], "what the campaign put there is gone with its end"
    assert_verifies_anywhere(run)


def assert_placement(row: Path) -> None:
    """Every process of the row says where it ran: one node, sets of one size, read back as they were given."""
    processes = [json.loads(path.read_bytes()) for path in sorted(row.glob("replays/*/process.json"))]
    assert len(processes) == 4
    for process in processes:
        assert process["affinity_read_back"] == process["cpus"]
        assert set(process["node"]) >= {"hostname", "cpu_model", "microcode", "governor", "kernel"}
        assert process["node"]["load_before"] is not None
        assert process["node"]["load_after"] is not None
        assert process["numa"] == [0]
    assert {len(process["cpus"]) for process in processes} == {1}
    assert len({process["node"]["hostname"] for process in processes}) == 1
    where = json.loads((row / "cluster-result.json").read_bytes())
    assert where["node"] in ("node1", "node2")
    assert where["placement"]["before"]["allotted"] == 2


def test_a_campaign_whose_harness_is_killed_ends_with_the_same_report(place: Place, local: dict[str, Any]) -> None:
    options = ("--executor", "slurm", "--profile", "cluster.yaml", "--runs", "killed", "--jobs", "1")
    process = place.start(*options)
    recorded = (place.folder / "killed").glob
    wait_for("a row to be in the queue", lambda: list(recorded("*/cluster/*.jsonl")), timeout_s=120)
    process.kill()
    process.communicate()
    status, out, err = place.run(*options)
    assert status == 0, err
    assert json.loads(out)["report_digest"] == local["digest"]


def assert_verifies_anywhere(run: Path) -> None:
    """`aisimc verify` needs neither the cluster nor its shared folder."""
    command = [sys.executable, "-P", "-c", "from aisimc_runtime.command.main import main; main()", "verify", str(run)]
    environment = {name: value for name, value in os.environ.items() if name != "SLURM_CONF"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
