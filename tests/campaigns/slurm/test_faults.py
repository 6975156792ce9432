"""What a cluster does to rows, done to them on a real one: each has its state, its line, and nothing is lost."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.campaigns.slurm.cluster import wait_for
from tests.campaigns.slurm.conftest import Site
from tests.campaigns.slurm.rows import ENGINE, Harness

pytestmark = [pytest.mark.slurm, pytest.mark.slow]


def finished_rows(site: Site) -> dict[str, dict[str, list[str]]]:
    """Digests by row, of rows whose evidence is in the run folder."""
    return {
        path.parent.name: json.loads(path.read_bytes())["digests"] for path in site.run.glob("rows/*/collected.json")
    }


def test_rows_run_on_the_cluster_and_come_back_whole(site: Site) -> None:
    site.stage("alpha", "beta", "gamma")
    harness = site.start()
    assert harness.wait() == 0, harness.error() + "\n".join(harness.lines())
    events = harness.events()
    assert sorted(event["row"] for event in events if event["event"] == "RowFinished") == ["alpha", "beta", "gamma"]
    assert sum(event["event"] == "ReplayFinished" and event["ok"] for event in events) == 12
    assert set(finished_rows(site)) == {"alpha", "beta", "gamma"}
    assert site.staging_left() == []
    where = json.loads((site.run / "rows/alpha/cluster-result.json").read_bytes())
    assert where["node"] in ("node1", "node2")
    assert where["staging"]["verified"] is True


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 256 KiB."""
    place = tmp_path / "small"
    place.mkdir()
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(place)], capture_output=True, check=False
    )
    if done.returncode != 0:
        pytest.skip("a small tmpfs cannot be mounted here")
    try:
        yield place
    finally:
        subprocess.run(["umount", str(place)], check=True)


def aisimc(site: Site, *argv: str) -> subprocess.CompletedProcess[str]:
    """The command itself, speaking to the test's cluster."""
    command = [sys.executable, "-c", "from aisimc_runtime.command.main import main; main()", *argv]
    return subprocess.run(
        command, env=site.cluster.environment, capture_output=True, text=True, timeout=60, check=False, cwd=site.folder
    )


def start_held(site: Site, *rows: str, **settings: object) -> tuple[Harness, dict[str, str]]:
    """Rows that run and wait in the middle of their replays; the harness, and node by job."""
    site.gate.touch()
    site.stage(*rows)
    harness = site.start(**settings)
    wait_for("the rows to run", lambda: len(beating(site)) == len(rows))
    jobs = {job: view[1] for job, view in site.our_jobs().items() if view[0] == "RUNNING"}
    return harness, jobs


def beating(site: Site) -> list[Path]:
    """Heartbeats of attempts that have started."""
    return sorted(site.shared.glob("aisimc/*/rows/*/attempts/*/beat"))


def run_now(site: Site, job: str) -> None:
    """Slurm lets a requeued job wait two minutes; a test does not, once the job's first life is over for good."""
    wait_for("the job to be back in the queue", lambda: site.our_jobs()[job][0] == "PENDING")
    wait_for("its first life to end", lambda: not site.cluster.is_launched(job))
    site.cluster.run("scontrol", "update", f"jobid={job}", "StartTime=now")


def test_a_node_that_goes_down_in_mid_row(site: Site, set_down: Callable[[str], None]) -> None:
    harness, jobs = start_held(site, "alpha")
    ((job, node),) = jobs.items()
    set_down(node)
    line = harness.wait_for_line("gave it up")
    assert f"job {job} waits in the queue" in line
    assert node in line
    site.gate.unlink()
    run_now(site, job)
    assert harness.wait() == 0, harness.error()
    other = {"node1": "node2", "node2": "node1"}[node]
    assert json.loads((site.run / "rows/alpha/cluster-result.json").read_bytes())["node"] == other
    assert set(finished_rows(site)) == {"alpha"}


def test_a_lost_job_that_slurm_does_not_requeue_is_submitted_again(site: Site, set_down: Callable[[str], None]) -> None:
    harness, jobs = start_held(site, "alpha")
    ((job, node),) = jobs.items()
    site.cluster.run("scontrol", "update", f"jobid={job}", "Requeue=0")
    set_down(node)
    line = harness.wait_for_line("runs again whole")
    assert f"job {job} lost its node on {node} (NODE_FAIL" in line
    site.gate.unlink()
    assert harness.wait() == 0, harness.error()
    assert len(site.our_jobs()) == 2


def test_scontrol_requeue(site: Site) -> None:
    harness, jobs = start_held(site, "alpha")
    (job,) = jobs
    site.cluster.run("scontrol", "requeue", job)
    harness.wait_for_line("waits in the queue (BeginTime)")
    site.gate.unlink()
    run_now(site, job)
    assert harness.wait() == 0, harness.error()
    assert list(site.our_jobs()) == [job]
    attempts = sorted(path.name for path in site.shared.glob("aisimc/*/rows/alpha/attempts/*"))
    assert attempts == [f"{job}.0", f"{job}.1"]


def test_a_preempted_row_runs_again_whole(site: Site) -> None:
    harness, jobs = start_held(site, "alpha")
    (job,) = jobs
    urgent = ("--parsable", "-p", "urgent", "-N2", "--exclusive", "-o", "/dev/null", "--wrap", "sleep 1")
    other = site.cluster.run("sbatch", *urgent).strip()
    harness.wait_for_line("gave it up")
    wait_for("the urgent job to end", lambda: site.cluster.jobs()[other][0] == "COMPLETED")
    site.gate.unlink()
    run_now(site, job)
    assert harness.wait() == 0, harness.error()
    assert set(finished_rows(site)) == {"alpha"}


def test_the_controller_goes_away_and_the_result_decides(site: Site) -> None:
    harness, jobs = start_held(site, "alpha")
    site.cluster.stop_controller()
    try:
        harness.wait_for_line("by its own heartbeat; squeue: Unable to contact slurm controller", timeout_s=60)
        site.gate.unlink()
        assert harness.wait() == 0, harness.error()  # nobody needs the controller to see a whole result
    finally:
        site.cluster.start_controller()
    assert list(site.our_jobs()) == list(jobs)


def test_a_controller_that_comes_back_is_believed_again(site: Site) -> None:
    site.cluster.stop_controller()
    try:
        site.gate.touch()
        site.stage("alpha")
        harness = site.start()
        harness.wait_for_line("Unable to contact slurm controller", timeout_s=60)
        assert harness.process.poll() is None
    finally:
        site.cluster.start_controller()
    harness.wait_for_line("runs on node", timeout_s=60)
    site.gate.unlink()
    assert harness.wait() == 0, harness.error()
    assert len(site.our_jobs()) == 1


def test_a_harness_that_was_killed_attaches_again(site: Site) -> None:
    harness, jobs = start_held(site, "alpha", "beta")
    harness.kill()
    second = site.start()
    for job in jobs:
        second.wait_for_line(f"attached to job {job}")
    site.gate.unlink()
    assert second.wait() == 0, second.error()
    assert set(site.our_jobs()) == set(jobs)
    assert set(finished_rows(site)) == {"alpha", "beta"}


def test_rows_that_end_while_no_harness_is_there_are_collected(site: Site) -> None:
    harness, jobs = start_held(site, "alpha")
    harness.kill()
    site.gate.unlink()
    wait_for("the job to end", lambda: not site.cluster.running().keys() & jobs.keys())
    second = site.start()
    assert second.wait() == 0, second.error()
    third = site.start()
    assert third.wait() == 0, third.error()
    assert set(site.our_jobs()) == set(jobs)


def test_a_harness_killed_between_sbatch_and_its_record_finds_the_job(site: Site) -> None:
    harness, jobs = start_held(site, "alpha")
    harness.kill()
    record = site.run / "cluster/alpha.jsonl"
    before, submitted = record.read_text().splitlines()
    assert "submitted" in submitted
    record.write_text(before + '\n{"event": "subm')
    second = site.start()
    (job,) = jobs
    second.wait_for_line(f"found its job {job} again")
    site.gate.unlink()
    assert second.wait() == 0, second.error()
    assert set(site.our_jobs()) == set(jobs)


def test_scancel_from_outside(site: Site) -> None:
    harness, jobs = start_held(site, "alpha")
    ((job, node),) = jobs.items()
    site.cluster.run("scancel", job)
    assert harness.wait() == 3
    assert harness.lines()[-1] == f"row alpha: job {job} was cancelled from outside on {node}"
    wait_for("the staging folder to be removed", lambda: site.staging_left() == [])
    site.gate.unlink()
    second = site.start()
    assert second.wait() == 0, second.error()
    assert set(finished_rows(site)) == {"alpha"}


def test_interrupting_the_harness_cancels_its_own_jobs_and_no_others(site: Site) -> None:
    foreign = site.cluster.run("sbatch", "--parsable", "-o", "/dev/null", "--wrap", "sleep 60").strip()
    harness, jobs = start_held(site, "alpha")
    harness.interrupt()
    assert harness.wait() == 130
    (job,) = jobs
    wait_for("the job to end", lambda: site.our_jobs()[job][0] == "CANCELLED")
    assert site.cluster.jobs()[foreign][0] == "RUNNING"
    site.cluster.run("scancel", foreign)
    wait_for("the staging folder to be removed", lambda: site.staging_left() == [])


def test_cancel_from_another_terminal(site: Site) -> None:
    foreign = site.cluster.run(
        "sbatch", "--parsable", "-o", "/dev/null", "-J", "aisimc-other", "--wrap", "sleep 60"
    ).strip()
    harness, jobs = start_held(site, "alpha", "beta")
    done = aisimc(site, "cancel", str(site.run))
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("cancelled 2 jobs of campaign-0123456789ab: ")
    assert harness.wait() == 130
    assert "`aisimc cancel` ended this run's jobs" in harness.error()
    wait_for("the jobs to end", lambda: {view[0] for view in site.our_jobs().values()} == {"CANCELLED"})
    assert set(site.our_jobs()) == set(jobs)
    assert site.cluster.jobs()[foreign][0] == "RUNNING"
    site.cluster.run("scancel", foreign)
    again = aisimc(site, "cancel", str(site.run))
    assert again.stdout == "campaign-0123456789ab has no job in the queue\n"
    site.gate.unlink()
    second = site.start()
    assert second.wait() == 0, second.error()


def test_a_full_staging_folder(site: Site, small_disk: Path) -> None:
    (small_disk / "filling").write_bytes(bytes(200 << 10))
    site.stage("alpha", engine=ENGINE + "# " + "x" * (100 << 10))
    harness = site.start(local_storage=str(small_disk))
    assert harness.wait() == 3
    assert re.match(
        rf"row alpha: the staging folder {small_disk} on node[12] is full: 0\.\d MiB free, 0\.\d", harness.lines()[-1]
    )
    assert [path.name for path in small_disk.iterdir()] == ["filling"]
    (small_disk / "filling").unlink()
    second = site.start(local_storage=str(site.folder / "local"))
    assert second.wait() == 0, second.error()


def test_a_staging_folder_that_fills_up_during_the_replays_is_no_result(site: Site, small_disk: Path) -> None:
    engine = ENGINE.replace("while [", 'dd if=/dev/zero of="$2/canonical.jsonl" bs=64k count=64 || exit 1\nwhile [')
    site.stage("alpha", engine=engine)
    harness = site.start(local_storage=str(small_disk))
    assert harness.wait() == 3
    assert f"the staging folder {small_disk} on node" in harness.lines()[-1]
    assert "is full" in harness.lines()[-1]
    assert not list(site.shared.glob("aisimc/*/rows/alpha/result"))


def test_a_staging_folder_that_is_not_there(site: Site) -> None:
    site.stage("alpha")
    harness = site.start(local_storage="/nonexistent/disk")
    assert harness.wait() == 3
    assert "no staging folder can be made under /nonexistent/disk on node" in harness.lines()[-1]
    assert harness.lines()[-1].endswith("No such file or directory")


def test_a_wrong_partition_is_one_line_before_anything_is_submitted(site: Site) -> None:
    site.stage("alpha")
    harness = site.start(partition="gpu")
    assert harness.wait() == 3
    first, second = harness.error().splitlines()
    assert first == (
        f"aisimc: error: {site.folder}/cluster.yaml:4: Slurm refuses the allocation: "
        "sbatch: invalid partition specified: gpu; Invalid partition name specified (slurm.partition is 'gpu')"
    )
    assert second == "  help: partitions here: main, urgent"
    assert site.our_jobs() == {}


def test_a_request_that_no_node_can_hold_is_refused_and_not_left_waiting(site: Site) -> None:
    site.stage("alpha")
    harness = site.start(cpus_per_row=999)
    assert harness.wait() == 3
    assert ":6: Slurm refuses the allocation: sbatch: Requested node configuration is not available" in harness.error()


def test_python_that_cannot_import_aisimc_is_one_line(site: Site) -> None:
    site.stage("alpha")
    harness = site.start(python="/usr/bin/false")
    assert harness.wait() == 3
    assert "/usr/bin/false on node" in harness.lines()[-1]
    assert "cannot import aisimc (slurm.python and slurm.setup in the profile say where it is)" in harness.lines()[-1]


def test_jobs_bounds_the_allocations_in_flight(site: Site) -> None:
    site.stage("alpha", "beta", "gamma")
    harness = site.start(jobs=1)
    seen = 0
    while harness.process.poll() is None:
        seen = max(seen, sum(view[0] in ("PENDING", "RUNNING", "COMPLETING") for view in site.our_jobs().values()))
    assert harness.wait() == 0
    assert seen == 1
    assert set(finished_rows(site)) == {"alpha", "beta", "gamma"}


def test_a_result_whose_bytes_were_changed_is_kept_and_not_passed(site: Site) -> None:
    harness, jobs = start_held(site, "alpha")
    harness.kill()
    site.gate.unlink()
    wait_for("the job to end", lambda: not site.cluster.running().keys() & jobs.keys())
    (extract,) = site.shared.glob("aisimc/*/rows/alpha/result/evidence/baseline.json")
    extract.write_bytes(extract.read_bytes().replace(b"1", b"2"))
    second = site.start()
    assert second.wait() == 3
    assert "its result does not hold: evidence/baseline.json hashes to" in second.lines()[-1]
    assert extract.exists()
    assert finished_rows(site) == {}
    third = site.start()
    assert third.wait() == 0, third.error()
    assert "is kept as " in "\n".join(third.lines())
    assert list(site.shared.glob("aisimc/*/rows/alpha/result.kept-1/evidence/baseline.json"))
    assert set(finished_rows(site)) == {"alpha"}
