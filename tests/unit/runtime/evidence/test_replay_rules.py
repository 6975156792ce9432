"""Replays: determinism, parity, limits, refusals, placement, and evidence that is not there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from aisimc_runtime.evidence.checks import check_row
from aisimc_runtime.evidence.finding import Finding
from tests.builders import records, runs
from tests.unit.runtime.evidence.findings import EVERYTHING, ROW, Json, bad, checked, edited


def test_an_unstable_arm(tmp_path: Path) -> None:
    a = records.vllm_record()
    b = records.changed(a)
    b["summary"]["mean_ttft_ms"] += 1e-14
    findings = checked(tmp_path, runs.plan_row(), (a, b), a)
    assert bad(findings) == {("run.determinism", "failed"), ("run.parity", "missing")}
    assert any("/summary/mean_ttft_ms" in finding.message for finding in findings)


def test_arms_that_differ(tmp_path: Path) -> None:
    a = records.vllm_record()
    b = records.changed(a)
    b["per_request"][4]["first_token_ms"] += 0.25
    findings = checked(tmp_path, runs.plan_row(), a, b)
    assert bad(findings) == {("run.parity", "failed")}
    assert any("60.500 ms, request_5 first_token_ms" in finding.message for finding in findings)


@pytest.mark.parametrize(
    ("kind", "error", "size"),
    [
        ("time", "no end after 1800 s: ended by the time limit", "(no end after 1800 s)"),
        ("memory", "more than 512 MiB of memory: ended by the memory limit", "(more than 512 MiB of memory)"),
        ("output", "more than 4 GiB of output: ended by the output limit", "(more than 4 GiB of output)"),
        ("processes", None, ""),
    ],
)
def test_a_limit_is_told_once_for_each_replay_with_its_size(
    tmp_path: Path, kind: str, error: str | None, size: str
) -> None:
    name = "replays/candidate-2/process.json"
    changes = {"limit": kind, "exit_status": None, "signal": 9, "error": error}
    findings = edited(tmp_path, runs.plan_row(), records.vllm_record(), name, **changes)
    assert ("run.limit", "failed") in bad(findings)
    told = [finding.message for finding in findings if "replay 2 of the candidate" in finding.message]
    assert len(told) == 1
    assert size in told[0]
    assert ("(" in told[0]) == bool(size)


def refused(tmp_path: Path, text: str, row: Json | None = None) -> list[Finding]:
    return checked(tmp_path, row or runs.plan_row(), records.vllm_record(), text)


def test_an_error_is_shown_as_the_engine_gives_it(tmp_path: Path) -> None:
    findings = refused(tmp_path, "engine error: out of range")
    assert ("run.output", "failed") in bad(findings)
    assert any("engine error: out of range" in finding.message for finding in findings)


def test_an_effect_free_pass_is_no_progress(tmp_path: Path) -> None:
    text = (
        "replay invariant violated: offline replay detected an effect-free zero-duration pass with 3 in-flight requests"
    )
    assert ("run.progress", "failed") in bad(refused(tmp_path, text))


def test_a_replay_that_did_not_run(tmp_path: Path) -> None:
    plan = runs.plan({ROW: runs.plan_row()})
    builder = runs.RunBuilder(tmp_path, plan).row(ROW, records.vllm_record(), records.vllm_record())
    (tmp_path / "rows" / ROW / "replays" / "candidate-2" / "process.json").unlink()
    findings = check_row(plan, ROW, builder.finish() / "rows" / ROW)
    assert ("run.fresh", "missing") in bad(findings)


def test_evidence_that_was_not_kept_is_missing(tmp_path: Path) -> None:
    plan = runs.plan({ROW: runs.plan_row(evidence=EVERYTHING)})
    builder = runs.RunBuilder(tmp_path, plan).row(ROW, records.vllm_record(), records.vllm_record())
    (tmp_path / "rows" / ROW / "evidence" / "candidate.json").unlink()
    findings = check_row(plan, ROW, builder.finish() / "rows" / ROW)
    assert {finding.arm for finding in findings if not finding.holds} == {"candidate"}
    assert bad(findings) >= {("run.evidence", "missing")}


REFUSAL = "RuntimeError: engine composition requires round_robin placement, got kv_router"


@pytest.mark.parametrize(
    ("baseline", "candidate", "broken"),
    [
        (REFUSAL, REFUSAL, set()),
        (REFUSAL, "another error", {("row.error", "failed")}),
        (REFUSAL, records.vllm_record(), {("row.error", "failed")}),
        ("another error", "another error", {("row.error", "failed")}),
    ],
)
def test_expected_errors(tmp_path: Path, baseline: Any, candidate: Any, broken: set[Any]) -> None:
    row = runs.plan_row(expect_error="requires round_robin placement")
    assert bad(checked(tmp_path, row, baseline, candidate)) == broken


UNSUPPORTED = {"repetitions": 1, "supported": False}


@pytest.mark.parametrize(
    ("baseline", "broken"),
    [("engine error: TRT-LLM has no disaggregation", set()), (records.vllm_record(), {("row.matrix", "failed")})],
)
def test_a_baseline_that_does_not_support_the_row_must_refuse_it(
    tmp_path: Path, baseline: Any, broken: set[Any]
) -> None:
    row = runs.plan_row(baseline=UNSUPPORTED, expect={"num_requests": 8})
    findings = checked(tmp_path, row, baseline, records.vllm_record())
    assert bad(findings) == broken
    assert {finding.arm for finding in findings if finding.rule == "run.golden"} == {"candidate"}
    assert not any(finding.rule == "run.parity" for finding in findings)


def test_a_crash_is_no_refusal(tmp_path: Path) -> None:
    plan = runs.plan({ROW: runs.plan_row(baseline=UNSUPPORTED)})
    builder = runs.RunBuilder(tmp_path, plan).row(ROW, "text", records.vllm_record())
    builder.edit(f"rows/{ROW}/replays/baseline-1/process.json", exit_status=None, signal=11)
    assert bad(check_row(plan, ROW, builder.finish() / "rows" / ROW)) == {("row.matrix", "failed")}


@pytest.mark.parametrize(
    ("changes", "broken"),
    [
        ({"node": runs.NODE | {"hostname": "node-2"}}, ("run.same-node", "failed")),
        ({"node": runs.NODE | {"kernel": "6.2.0"}}, ("run.same-node", "failed")),
        ({"node": {}}, ("run.same-node", "missing")),
        ({"affinity_read_back": [0, 1]}, ("run.affinity", "failed")),
        ({"affinity_read_back": []}, ("run.affinity", "missing")),
        ({"cpus": [1, 2], "affinity_read_back": [1, 2]}, ("run.affinity", "failed")),
        ({"cpus": [5], "affinity_read_back": [5], "numa": [1]}, ("run.affinity", "failed")),
    ],
)
def test_placement(tmp_path: Path, changes: Json, broken: tuple[str, str]) -> None:
    name = "replays/candidate-1/process.json"
    assert bad(edited(tmp_path, runs.plan_row(), records.vllm_record(), name, **changes)) == {broken}


def test_one_cpu_may_serve_replays_one_after_the_other(tmp_path: Path) -> None:
    plan = runs.plan({ROW: runs.plan_row()})
    builder = runs.RunBuilder(tmp_path, plan).row(ROW, records.vllm_record(), records.vllm_record())
    spans = {"baseline-1": (0, 5), "candidate-1": (5, 9), "baseline-2": (9, 12), "candidate-2": (12, 15)}
    for name, (start, end) in spans.items():
        path = f"rows/{ROW}/replays/{name}/process.json"
        builder.edit(path, cpus=[0], affinity_read_back=[0], started_at=start, ended_at=end)
    assert bad(check_row(plan, ROW, builder.finish() / "rows" / ROW)) == set()
    builder.edit(f"rows/{ROW}/replays/candidate-1/process.json", started_at=4)
    assert bad(check_row(plan, ROW, tmp_path / "rows" / ROW)) == {("run.affinity", "failed")}


def test_configurations_are_the_frozen_ones(tmp_path: Path) -> None:
    name = "replays/candidate-1/qualification.jsonl"
    findings = edited(tmp_path / "a", runs.plan_row(), records.vllm_record(), name, config_sha256="0" * 64)
    assert bad(findings) == {("row.frozen", "failed")}
    findings = edited(tmp_path / "b", runs.plan_row(), records.vllm_record(), "configuration.json", extra=1)
    assert bad(findings) == {("row.frozen", "failed")}


def test_what_ran_is_the_pinned_artifact(tmp_path: Path) -> None:
    name = "replays/candidate-1/qualification.jsonl"
    findings = edited(tmp_path, runs.plan_row(), records.vllm_record(), name, runner_binary_sha256="0" * 64)
    assert bad(findings) == {("pin.artifact", "failed")}


def test_reported_counters_agree_with_the_records(tmp_path: Path) -> None:
    name = "replays/baseline-1/qualification.jsonl"
    findings = edited(tmp_path, runs.plan_row(), records.vllm_record(), name, total_output_tokens=33)
    assert bad(findings) == {("run.evidence", "failed")}
    assert any("total_output_tokens" in finding.message for finding in findings)
