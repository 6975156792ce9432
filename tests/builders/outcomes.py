"""One run folder for each way a campaign can end; tests, snapshots and pictures of reports use the same ones."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tests.builders import records, runs

NAME = "vllm-aggregated"
EVIDENCE = {"workers": "all", "reuse": "required", "preemptions": [1, 3]}
FOLDER = "hand-made-000000000000"


def passing(folder: Path) -> Path:
    """Two rows and a refused one, all as they should be: PASS."""
    rows = {
        NAME: runs.plan_row(evidence=EVIDENCE, expect={"completed_requests": 8, "virtual_duration_ms": 97.25}),
        "vllm-disaggregated": runs.plan_row(
            matrix_id="vllm-disaggregated",
            topology=runs.disaggregated(),
            evidence={"workers": "all", "handoffs": "all"},
        ),
        "router": runs.plan_row(matrix_id=None, expect_error="requires round_robin placement"),
    }
    record, handed = records.vllm_record(), records.disaggregated_record()
    refusal = "RuntimeError: engine composition requires round_robin placement, got kv_router"
    builder = runs.RunBuilder(folder, runs.plan(rows))
    return (
        builder.row(NAME, record, record)
        .row("vllm-disaggregated", handed, handed)
        .row("router", refusal, refusal)
        .finish()
    )


def _changed() -> tuple[records.Record, records.Record]:
    record = records.vllm_record()
    changed = records.changed(record)
    for entry in changed["per_request"][3:6]:
        entry["first_admit_ms"] += 1.5
        entry["admission_history"][0]["at_ms"] += 1.5
    changed["summary"]["mean_ttft_ms"] = 20.500000000000004
    return record, changed


def excused(folder: Path) -> Path:
    """A difference that a record covers, with a regression test that tells the arms apart."""
    record, changed = _changed()
    patterns = [
        "/per_request/*/first_admit_ms",
        "/per_request/*/admission_history/*/at_ms",
        "/summary/mean_ttft_ms",
    ]
    exceptions = {"earlier-admission": runs.exception(NAME, patterns)}
    builder = runs.RunBuilder(folder, runs.plan({NAME: runs.plan_row(evidence=EVIDENCE)}, exceptions=exceptions))
    return builder.row(NAME, record, changed).ended("earlier-admission", baseline=False, candidate=True).finish()


def differing(folder: Path) -> Path:
    """The same difference with no record: FAIL."""
    record, changed = _changed()
    builder = runs.RunBuilder(folder, runs.plan({NAME: runs.plan_row(evidence=EVIDENCE)}))
    return builder.row(NAME, record, changed).finish()


def unstable(folder: Path) -> Path:
    """A baseline whose two processes differ in the last bits: FAIL."""
    record = records.vllm_record()
    other = records.changed(record)
    other["summary"]["mean_ttft_ms"] = 20.500000000000004
    builder = runs.RunBuilder(folder, runs.plan({NAME: runs.plan_row(evidence=EVIDENCE)}))
    return builder.row(NAME, (record, other), record).finish()


def lacking(folder: Path) -> Path:
    """Readmissions of a build that counts prefill chunks are no evidence of retractions: FAIL."""
    made = runs.plan({"sglang-aggregated": runs.plan_row("sglang", matrix_id="sglang-aggregated")})
    made["revisions"] = {
        "baseline": runs.wheel("baseline", "0.12.0.dev1"),
        "candidate": runs.wheel("candidate", "0.12.0.dev2"),
    }
    record = records.vllm_record()
    return runs.RunBuilder(folder, made).row("sglang-aggregated", record, record).finish()


def blocked(folder: Path) -> Path:
    """An input that could not be had: no semantic result."""
    rows = {NAME: runs.plan_row(evidence=EVIDENCE)}
    builder = runs.RunBuilder(folder, runs.plan(rows))
    builder.inputs = {}
    return builder.block(
        "the trace of input window cannot be fetched: no route to host", "aisimc store add FILE gives it by content"
    ).finish()


OUTCOMES: dict[str, Callable[[Path], Path]] = {
    "pass": passing,
    "exceptions": excused,
    "difference": differing,
    "instability": unstable,
    "missing-evidence": lacking,
    "blocked": blocked,
}
