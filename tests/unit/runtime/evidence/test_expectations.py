"""Golden points and other expectations: exact, on the baseline, and no more than was stated."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.builders import records, runs
from tests.unit.runtime.evidence.findings import Json, bad, checked, edited, mutated, reject


@pytest.mark.parametrize(
    ("expected", "status"),
    [
        ({"completed_requests": 8}, None),
        ({"completed_requests": 8.0}, "failed"),
        ({"completed_requests": 9}, "failed"),
        ({"virtual_duration_ms": 97.25}, None),
        ({"virtual_duration_ms": 97.25000000000001}, "failed"),
        ({"decode_workers": [0, 1]}, None),
        ({"decode_workers": [0]}, "failed"),
        ({"terminal_counts": {"completed": 8}}, None),
        ({"vllm_preemptions": 1}, None),
        ({"vllm_preemptions": 2}, "failed"),
        ({"sglang_retractions": 0}, None),
        ({"kv_ingest_batches": 0}, "missing"),
    ],
)
def test_golden_expectations_are_exact(tmp_path: Path, expected: Json, status: str | None) -> None:
    findings = checked(tmp_path, runs.plan_row(expect=expected), records.vllm_record())
    assert bad(findings) == (set() if status is None else {("run.golden", status)})


def test_expectations_bind_the_baseline(tmp_path: Path) -> None:
    a, b = records.vllm_record(8), records.vllm_record(9)
    findings = checked(tmp_path, runs.plan_row(expect={"num_requests": 8}), a, b)
    assert bad(findings) == {("run.parity", "failed")}


def test_an_expected_canonical_digest(tmp_path: Path) -> None:
    findings = checked(tmp_path, runs.plan_row(expect={"canonical_sha256": "0" * 64}), records.vllm_record())
    assert bad(findings) == {("run.golden", "failed")}


def test_terminal_counts_may_be_expected_otherwise(tmp_path: Path) -> None:
    row = runs.plan_row(expect={"terminal_counts": {"completed": 7, "rejected": 1}})
    assert bad(checked(tmp_path, row, mutated(reject))) == set()


def test_a_cap_on_virtual_time(tmp_path: Path) -> None:
    row = runs.plan_row(spec={"max_sim_time_ms": 60.0, "requests": []})
    record = records.vllm_record()
    for entry in record["per_request"]:
        if entry["terminal_time_ms"] > 60.0:
            entry |= {"terminal_status": None, "terminal_time_ms": None, "last_token_ms": None, "output_length": 1}
    assert bad(checked(tmp_path / "a", row, records.canonical(record["per_request"]))) == set()
    assert bad(checked(tmp_path / "b", row, records.vllm_record())) == {("run.evidence", "failed")}


def test_requests_that_a_cap_left_without_a_record_may_be_counted(tmp_path: Path) -> None:
    record = records.vllm_record()
    ended = records.canonical([entry for entry in record["per_request"] if entry["terminal_time_ms"] <= 60.0])
    name, counted = "replays/baseline-1/qualification.jsonl", {"num_requests": 8, "all_requests_full_output": False}
    capped = runs.plan_row(spec={"max_sim_time_ms": 60.0, "requests": []})
    assert bad(edited(tmp_path / "a", capped, ended, name, **counted)) == set()
    assert ("run.evidence", "failed") in bad(edited(tmp_path / "b", runs.plan_row(), ended, name, **counted))
