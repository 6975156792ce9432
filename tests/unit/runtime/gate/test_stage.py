"""A whole row through the real harness, with a product that takes milliseconds: a shell script.

What the script prints as its times is made up; what is tested is everything around it.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil
import pytest

from aisimc_runtime.engines.base import Artifact, PinnedFile
from aisimc_runtime.failures import Blocked
from aisimc_runtime.gate.job import GateJob, timing_configuration
from aisimc_runtime.gate.stage import GateRow, gate_folder, measure_here, run_gate, why_not
from aisimc_runtime.ports.files import sha256_bytes
from tests.builders.schemas import problems
from tests.unit.runtime.gate.making import DESIGN, lines

# Digits of the process number vary the times a little; the harness's order is what makes them pairs.
PRODUCT = """#!/bin/sh
n=$(cat count 2>/dev/null || echo 0); n=$((n+1)); echo $n > count
{disturb}
mkdir "$2"
loop=0.{base}$(( $$ % 97 + 100 ))
printf '{{"replay_execution_ms":%s,"setup_ms":0.1,"end_to_end_ms":0.9}}\\n' $loop > "$2/timing.json"
"""
SLICE = b'{"timestamp": 0}\n'
CONFIGURATION = json.dumps({"row_name": "row", "trace_file": "trace.jsonl", "expected": {"x": 1}}).encode()
# Other work on this machine is none of these tests' business, so the design names only what cannot come from it.
QUIET = replace(DESIGN, invalidate_on=("affinity_violation",), diagnostics={"lag1_autocorrelation": 0.9})


def product(folder: Path, arm: str, *, base: str = "5", disturb: str = ":") -> Artifact:
    path = folder / f"{arm}.sh"
    path.write_text(PRODUCT.format(base=base, disturb=disturb))
    path.chmod(0o755)
    data = path.read_bytes()
    return Artifact(
        arm=arm,
        source="embedded",
        revision=f"{arm} of the tests",
        path=path,
        sha256=sha256_bytes(data),
        size_bytes=len(data),
        text_size_bytes=None,
        files=(PinnedFile(path, sha256_bytes(data)),),
    )


def gate_row(folder: Path, **candidate: str) -> GateRow:
    (folder / "slice.jsonl").write_bytes(SLICE)
    exposes = {"exposes_replay_execution_ms": True}
    return GateRow(
        row="row",
        configuration=CONFIGURATION,
        slice_file=folder / "slice.jsonl",
        input_file="trace.jsonl",
        input_sha256=sha256_bytes(SLICE),
        artifacts={"baseline": product(folder, "baseline"), "candidate": product(folder, "candidate", **candidate)},
        describes={"baseline": exposes, "candidate": exposes},
        semantic_failure=None,
        time_limit_s=30.0,
    )


def measure(tmp_path: Path, row: GateRow) -> dict[str, Any]:
    return run_gate(tmp_path, QUIET, row, lambda text: None)


def test_a_whole_row(tmp_path: Path) -> None:
    said: list[str] = []
    row = gate_row(tmp_path)
    gate = run_gate(tmp_path, QUIET, row, said.append)
    assert gate["result"] == "PASS"
    assert gate["attempts"] == {
        "processes": 130,
        "warmups": 10,
        "failed": 0,
        "interrupted": 0,
        "valid_pairs": 60,
        "invalidated_rounds": 0,
        "interrupted_rounds": 0,
    }
    folder = gate_folder(tmp_path, "row")
    assert sorted(path.name for path in folder.iterdir()) == ["gate.json", "samples.jsonl", "schedule.json"]
    assert problems("gate", gate) == []
    written = map(json.loads, lines(folder / "samples.jsonl"))
    assert [found for event in written for found in problems("gate-samples", event)] == []
    [session] = gate["sessions"]
    assert session["cpus"] == json.loads((folder / "schedule.json").read_text())["cpus"]
    assert {"baseline.sh", "candidate.sh", "configuration.json", "trace.jsonl"} <= set(session["verified"])
    assert said[-1].startswith("row: PASS: ")
    row.artifacts["baseline"].path.unlink()
    assert measure(tmp_path, row) == gate  # a measured row is not measured again


@pytest.mark.parametrize("number", ["3", "41"])
def test_a_product_that_fails_once_fails_the_row(tmp_path: Path, number: str) -> None:
    """The count runs over both arms, so the process that fails is whichever has that number."""
    failing = f'[ $n -ge {number} ] && {{ echo "engine error: no blocks" >&2; exit 1; }}'
    gate = measure(tmp_path, gate_row(tmp_path, disturb=failing))
    assert gate["result"] == "FAIL"
    assert "the candidate failed in" in gate["reason"]
    assert "exit status 1: engine error: no blocks" in gate["reason"]
    assert gate["attempts"]["failed"] == 1


def test_a_malformed_record_fails_the_row(tmp_path: Path) -> None:
    gate = measure(tmp_path, gate_row(tmp_path, disturb='mkdir "$2"; echo "{}" > "$2/timing.json"; exit 0'))
    assert gate["result"] == "FAIL"
    assert "replay_execution_ms is null" in gate["reason"]


def test_an_artifact_that_changes_meanwhile_stops_the_gate(tmp_path: Path) -> None:
    touched = f"[ $n -ge 20 ] && touch {tmp_path}/baseline.sh"
    with pytest.raises(Blocked, match="was touched while the gate ran"):
        measure(tmp_path, gate_row(tmp_path, disturb=touched))
    assert not (gate_folder(tmp_path, "row") / "gate.json").exists()


def test_inputs_and_artifacts_are_verified_before_anything_runs(tmp_path: Path) -> None:
    row = gate_row(tmp_path)
    with pytest.raises(Blocked, match="has changed: its SHA-256 is"):
        measure(tmp_path, replace(row, input_sha256="0" * 64))
    row.artifacts["candidate"].path.write_text("#!/bin/sh\n")
    with pytest.raises(Blocked, match=r"candidate\.sh has changed"):
        measure(tmp_path, row)
    assert not (gate_folder(tmp_path, "row") / "samples.jsonl").exists()


def test_a_revision_without_the_metric_is_not_measured(tmp_path: Path) -> None:
    row = gate_row(tmp_path)
    row = replace(row, describes=row.describes | {"baseline": {"exposes_replay_execution_ms": False}})
    gate = measure(tmp_path, row)
    assert gate["result"] == "NOT_MEASURED"
    assert "the baseline (baseline of the tests) does not expose replay_execution_ms" in gate["reason"]
    assert not (gate_folder(tmp_path, "row") / "samples.jsonl").exists()


def test_a_row_whose_parity_fails_is_not_measured(tmp_path: Path) -> None:
    reason = why_not(replace(gate_row(tmp_path), semantic_failure="run.parity"))
    assert reason is not None
    assert "run.parity" in reason


def test_an_arm_that_was_never_qualified_is_not_measured(tmp_path: Path) -> None:
    row = gate_row(tmp_path)
    assert why_not(replace(row, artifacts={"candidate": row.artifacts["candidate"]})) == (
        "the baseline is not qualified on this row"
    )


def start_harness(folder: Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-m", "aisimc_runtime.gate.row", str(folder)], stdout=subprocess.DEVNULL)


def staged(tmp_path: Path) -> Path:
    """A row's gate folder, staged and not yet measured; the product sleeps so that there is time to interfere."""
    from aisimc_runtime.gate import job

    folder = gate_folder(tmp_path, "row")
    design = replace(QUIET, invalidate_on=("affinity_violation", "scheduler_eviction"))
    job.stage(folder, design, gate_row(tmp_path, disturb="sleep 0.02"))
    return folder


def wait_for_pairs(folder: Path, count: int, harness: subprocess.Popen[bytes]) -> None:
    path = folder / "samples.jsonl"
    until = time.monotonic() + 600  # another gate on this machine may have to end first
    while not path.is_file() or path.read_text().count('"event":"pair"') < count:
        assert harness.poll() is None, "the harness ended early"
        assert time.monotonic() < until, "the harness is too slow"
        time.sleep(0.01)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_an_ended_harness_resumes_at_a_pair_boundary_with_the_same_schedule(tmp_path: Path, number: int) -> None:
    folder = staged(tmp_path)
    harness = start_harness(folder)
    wait_for_pairs(folder, 7, harness)
    harness.send_signal(number)
    status = harness.wait(30)
    assert status == (-9 if number == signal.SIGKILL else 130)
    before = (folder / "schedule.json").read_bytes()
    kept = lines(folder / "samples.jsonl")
    done = sum('"status":"valid"' in line for line in kept)
    assert 7 <= done < 60

    measure_here(folder, lambda text: None)
    gate = json.loads((folder / "gate.json").read_text())
    assert gate["attempts"]["valid_pairs"] == 60
    assert gate["attempts"]["warmups"] == 20
    assert len(gate["sessions"]) == 2
    assert (folder / "schedule.json").read_bytes() == before
    assert lines(folder / "samples.jsonl")[: len(kept) - 1] == kept[:-1]  # nothing that was recorded is lost
    schedule = [step[4] for step in json.loads(before)["steps"]]
    assert [pair["first"] for pair in gate["pairs"]] == schedule[10::2]
    assert sum(pair["round"] == 1 for pair in gate["pairs"]) >= 59


def test_another_node_may_not_finish_the_row(tmp_path: Path) -> None:
    folder = staged(tmp_path)
    harness = start_harness(folder)
    wait_for_pairs(folder, 1, harness)
    harness.kill()
    harness.wait()
    path = folder / "samples.jsonl"
    path.write_text(path.read_text().replace(f'"hostname":"{os.uname().nodename}"', '"hostname":"elsewhere"', 1))
    with pytest.raises(Blocked, match="hostname 'elsewhere' is now"):
        measure_here(folder, lambda text: None)


def test_another_schedule_is_refused(tmp_path: Path) -> None:
    folder = staged(tmp_path)
    harness = start_harness(folder)
    wait_for_pairs(folder, 1, harness)
    harness.kill()
    harness.wait()
    path = folder / "schedule.json"
    path.write_text(path.read_text().replace('"baseline"', '"candidate"', 1))
    with pytest.raises(Blocked, match="not the schedule that the plan declares"):
        measure_here(folder, lambda text: None)


def test_a_campaign_that_is_gone_is_not_measured_for(tmp_path: Path) -> None:
    """The harness's parent is killed: the kernel tells it, it ends with a whole record."""
    folder = staged(tmp_path)
    code = (
        "import sys; from pathlib import Path; from aisimc_runtime.gate.stage import measure_here; "
        f"measure_here(Path({str(folder)!r}), lambda text: None)"
    )
    campaign = subprocess.Popen([sys.executable, "-c", code])
    wait_for_pairs(folder, 2, campaign)
    [harness] = psutil.Process(campaign.pid).children()
    campaign.kill()
    campaign.wait()
    psutil.wait_procs([harness], timeout=30)
    assert not harness.is_running() or harness.status() == psutil.STATUS_ZOMBIE
    for line in lines(folder / "samples.jsonl"):
        json.loads(line)
    assert not (folder / "gate.json").exists()


def test_the_timing_configuration_is_the_row_s_own_and_asks_for_times_only() -> None:
    found = json.loads(timing_configuration(CONFIGURATION))
    assert found == {
        "row_name": "row",
        "trace_file": "trace.jsonl",
        "mode": "timing",
        "write_full_report": False,
        "expected": {},
    }


def test_a_job_reads_back(tmp_path: Path) -> None:
    folder = staged(tmp_path)
    job = GateJob.read(folder)
    job.write()
    assert GateJob.read(folder) == job
    (folder / "job.json").write_text('{"schema": "aisimc.gate-job/9"}')
    with pytest.raises(ValueError, match="not a gate of this version"):
        GateJob.read(folder)
