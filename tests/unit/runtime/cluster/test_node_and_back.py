"""Staging on the node, and the way of a result into the run folder."""

from __future__ import annotations

import dataclasses
import errno
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from aisimc_runtime.executors.cluster import bundle, staging
from aisimc_runtime.executors.cluster.collect import MARKER, collect, collected, uneven
from aisimc_runtime.executors.cluster.node import own_cpus
from aisimc_runtime.executors.cluster.port import Known
from aisimc_runtime.executors.cluster.script import Surroundings, batch_script
from aisimc_runtime.executors.cluster.shared import Campaign, open_campaign, read_campaign, remove_place
from aisimc_runtime.executors.cluster.staging import identity, share_row, stage_row, staging_failure
from aisimc_runtime.failures import Blocked
from aisimc_runtime.run.job import RowJob
from tests.campaigns.slurm.rows import stage


@pytest.fixture
def job(tmp_path: Path) -> RowJob:
    return stage(tmp_path / "runs" / "c-1", "alpha", tmp_path / "gate")


@pytest.fixture
def campaign(tmp_path: Path, job: RowJob) -> Campaign:
    (tmp_path / "shared").mkdir()
    return open_campaign(tmp_path / "runs" / "c-1", tmp_path / "shared", "slurm")


def staged(campaign: Campaign, job: RowJob, tmp_path: Path) -> tuple[dict[str, object], RowJob]:
    place = share_row(campaign, job)
    description = json.loads((place.shared / "stage.json").read_bytes())
    (tmp_path / "node").mkdir(exist_ok=True)
    return description, stage_row(description, campaign.place / "objects", tmp_path / "node", "n1")


def test_a_node_gets_every_file_under_its_own_folder(campaign: Campaign, job: RowJob, tmp_path: Path) -> None:
    _, there = staged(campaign, job, tmp_path)
    artifact = there.artifacts["baseline"]
    assert artifact.path.is_relative_to(tmp_path / "node")
    assert os.access(artifact.path, os.X_OK)
    assert {file.path.parent for file in artifact.files} == {artifact.path.parent}, "neighbours stay neighbours"
    assert (there.folder / "configuration.json").read_bytes() == (job.folder / "configuration.json").read_bytes()
    assert identity(there) == identity(job)


def test_paths_inside_an_engine_s_settings_move_along(campaign: Campaign, job: RowJob, tmp_path: Path) -> None:
    artifact = job.artifacts["baseline"]
    settings = {"driver": str(artifact.path), "python": sys.executable, "deep": [{"a": str(artifact.path)}], "n": 1}
    changed = dataclasses.replace(job, artifacts={"baseline": dataclasses.replace(artifact, settings=settings)})
    _, there = staged(campaign, changed, tmp_path)
    moved = there.artifacts["baseline"]
    assert moved.settings == {
        "driver": str(moved.path),
        "python": sys.executable,
        "deep": [{"a": str(moved.path)}],
        "n": 1,
    }


def test_objects_are_shared_once(campaign: Campaign, job: RowJob) -> None:
    share_row(campaign, job)
    before = sorted(path.name for path in (campaign.place / "objects").iterdir())
    share_row(campaign, job)
    assert sorted(path.name for path in (campaign.place / "objects").iterdir()) == before
    assert len(before) == 5  # both arms have the same three files, and the row two


def test_a_file_that_changed_on_its_way_is_refused_on_the_node(campaign: Campaign, job: RowJob, tmp_path: Path) -> None:
    share_row(campaign, job)
    target = campaign.place / "objects" / job.input_sha256
    target.unlink()
    target.write_bytes(b"other\n")
    with pytest.raises(Blocked, match=r"input.jsonl arrived on n1 as .*, not as the pinned"):
        staged(campaign, job, tmp_path)


def test_a_file_that_changed_before_is_refused_here(campaign: Campaign, job: RowJob) -> None:
    (job.folder / "input.jsonl").write_bytes(b"other\n")
    with pytest.raises(Blocked, match="no longer hashes to"):
        share_row(campaign, job)


def test_a_full_disk_is_said_with_figures(tmp_path: Path) -> None:
    failure = staging_failure(OSError(errno.ENOSPC, "x"), tmp_path / "s", "n1", 3 << 20)
    assert failure.message.startswith(f"the staging folder {tmp_path} on n1 is full: ")
    assert failure.message.endswith("MiB free, 3.0 MiB are needed")
    other = staging_failure(OSError(errno.EACCES, "x"), tmp_path / "s", "n1")
    assert other.message == f"cannot stage to {tmp_path} on n1: permission denied"


def test_the_identity_covers_bytes_and_not_paths_or_limits(job: RowJob, tmp_path: Path) -> None:
    assert identity(dataclasses.replace(job, folder=tmp_path)) == identity(job)
    assert identity(dataclasses.replace(job, limits=job.limits._replace(time_s=1))) == identity(job)
    assert identity(dataclasses.replace(job, input_sha256="0" * 64)) != identity(job)
    assert identity(dataclasses.replace(job, orders=job.orders[:2])) != identity(job)


def bring_back(campaign: Campaign, job: RowJob, tmp_path: Path, hosts: tuple[str, str] = ("n1", "n1")) -> None:
    place = share_row(campaign, job)
    made = tmp_path / "made"
    for name, host in zip(("baseline-1", "candidate-1"), hosts, strict=True):
        (made / "replays" / name).mkdir(parents=True)
        record = {"node": {"hostname": host}, "affinity_read_back": [0]}
        (made / "replays" / name / "process.json").write_text(json.dumps(record))
    (made / "collected.json").write_text("{}")
    facts = {"row": "alpha", "identity": identity(job), "node": "n1"}
    bundle.publish(made, place.result, place.shared / "partial", facts)


def test_a_result_is_collected_once_and_says_where_it_ran(campaign: Campaign, job: RowJob, tmp_path: Path) -> None:
    bring_back(campaign, job, tmp_path)
    place = campaign.row("alpha")
    assert collected(place) is None
    assert collect(place, identity(job))["node"] == "n1"
    assert collected(place) is not None
    assert (job.folder / "replays" / "baseline-1" / "process.json").is_file()


def test_replays_of_another_place_are_kept_aside(campaign: Campaign, job: RowJob, tmp_path: Path) -> None:
    (job.folder / "replays" / "baseline-1").mkdir(parents=True)
    (job.folder / "replays" / "baseline-1" / "old").write_text("")
    bring_back(campaign, job, tmp_path)
    collect(campaign.row("alpha"), identity(job))
    assert not (job.folder / "replays" / "baseline-1" / "old").exists()
    assert (job.folder / "replays.superseded-1" / "baseline-1" / "old").exists()


def test_a_row_counts_as_replayed_only_when_all_of_it_is_there(campaign: Campaign, job: RowJob, tmp_path: Path) -> None:
    bring_back(campaign, job, tmp_path)
    collect(campaign.row("alpha"), identity(job))
    (job.folder / "collected.json").unlink()  # as a crash before the last rename would leave it
    assert collected(campaign.row("alpha")) is None
    assert collect(campaign.row("alpha"), identity(job))["node"] == "n1"
    assert (job.folder / MARKER).is_file()


def test_replays_from_two_nodes_contradict_each_other(campaign: Campaign, job: RowJob, tmp_path: Path) -> None:
    bring_back(campaign, job, tmp_path, hosts=("n1", "n2"))
    with pytest.raises(Blocked, match="contradicts itself: its replays name several nodes: n1, n2"):
        collect(campaign.row("alpha"), identity(job))
    assert collected(campaign.row("alpha")) is None


def test_cpu_sets_of_different_sizes_contradict_each_other() -> None:
    node = {"hostname": "n1"}
    assert uneven([{"node": node, "affinity_read_back": [0]}, {"node": node, "affinity_read_back": [1, 2]}]) == (
        "its replays had CPU sets of different sizes: 1, 2"
    )
    assert uneven([{"node": node, "affinity_read_back": [0]}, {"node": node, "affinity_read_back": [1]}]) == ""


def test_where_nothing_is_bound_jobs_keep_to_cpus_of_their_own() -> None:
    allowed = range(8)
    assert own_cpus(allowed, 2, 100) == (0, 1)
    assert own_cpus(allowed, 2, 101) == (2, 3)
    assert own_cpus(allowed, 3, 5) == (0, 1, 7)
    assert own_cpus([0, 1], 2, 7) == (0, 1), "what the scheduler bound already is left as it is"


def test_only_a_run_s_own_place_is_ever_removed(campaign: Campaign, tmp_path: Path) -> None:
    other = campaign.place.parent / "other-run"
    other.mkdir()
    remove_place(campaign.run_folder)
    assert not campaign.place.exists()
    assert other.exists()
    precious = tmp_path / "precious"
    precious.mkdir()
    (campaign.run_folder / "cluster.json").write_text(
        json.dumps({"token": "x", "place": str(precious), "executor": "slurm"})
    )
    remove_place(campaign.run_folder)
    assert precious.exists()


def test_a_run_keeps_its_place_even_when_the_profile_names_another(campaign: Campaign, tmp_path: Path) -> None:
    assert open_campaign(campaign.run_folder, tmp_path / "elsewhere", "slurm").place == campaign.place
    assert read_campaign(tmp_path) is None


def test_a_shared_folder_that_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    run = tmp_path / "run"
    run.mkdir()
    (tmp_path / "file").write_text("")
    with pytest.raises(Blocked, match=f"cannot write to the shared folder {tmp_path}/file: not a directory"):
        open_campaign(run, tmp_path / "file", "slurm")


def test_a_torn_record_does_not_spoil_the_next(campaign: Campaign) -> None:
    place = campaign.row("alpha")
    place.record({"event": "submitting", "number": 1, "name": "x"})
    with place.record_file.open("ab") as stream:
        stream.write(b'{"event": "subm')
    place.record({"event": "over", "name": "x", "reason": "r"})
    assert [entry["event"] for entry in place.records()] == ["submitting", "over"]


def test_what_an_earlier_job_left_says_nothing_of_the_present_one(campaign: Campaign) -> None:
    place = campaign.row("alpha")
    for name, words in (("7.0", "old"), ("8.0", ""), ("8.1", "newer"), ("80.0", "other")):
        (place.shared / "attempts" / name).mkdir(parents=True)
        (place.shared / "attempts" / name / "failed.txt").write_text(words)
    for job, failure in (("7", "old"), ("8", "newer"), ("9", "")):
        found = place.files("identity", job)
        assert isinstance(found, Known)
        assert found.value.failure == failure


def test_the_script_is_shell_and_quotes_what_it_is_given(tmp_path: Path) -> None:
    folder = tmp_path / "it's a row"
    around = Surroundings("${ID}.0", "n", "j", "/py thon", "/local disk", ("module load x",), 2.5, 4)
    text = batch_script(folder, "abc", around)
    checked = subprocess.run(["bash", "-n"], input=text, text=True, capture_output=True, check=False)
    assert checked.returncode == 0, checked.stderr
    assert "module load x" in text
    assert "local='/local disk'" in text
    assert "export AISIMC_ALLOTTED_CPUS=4" in text


def test_the_script_removes_its_staging_folder_and_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "local").mkdir()
    (tmp_path / "local" / "somebody-else-s").write_text("")
    row = tmp_path / "row"
    row.mkdir()
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\n[ "$1" = -c ] || touch "$6/big" {tmp_path}/ran\n')
    python.chmod(0o755)
    text = batch_script(row, "abc", Surroundings("1.0", "n1", "job", str(python), str(tmp_path / "local")))
    subprocess.run(["bash", "-c", text], check=True)
    assert (tmp_path / "ran").exists()
    assert [path.name for path in (tmp_path / "local").iterdir()] == ["somebody-else-s"]
    assert (row / "attempts" / "1.0" / "node").read_text() == "n1\n"


def test_the_script_does_nothing_once_the_run_has_ended(tmp_path: Path) -> None:
    around = Surroundings("1.1", "n1", "job", "/nonexistent", str(tmp_path))
    done = subprocess.run(["bash", "-c", batch_script(tmp_path / "row", "abc", around)], check=False)
    assert done.returncode == 0
    assert list(tmp_path.iterdir()) == []


def test_staging_schema_is_said(campaign: Campaign, job: RowJob, tmp_path: Path) -> None:
    description, _ = staged(campaign, job, tmp_path)
    assert description["schema"] == staging.STAGE_SCHEMA
    assert description["bytes"] == sum(entry["size_bytes"] for entry in description["files"])  # type: ignore[attr-defined]
