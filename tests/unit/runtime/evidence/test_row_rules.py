"""What a record must show: statuses, outputs, workers, reuse, pressure, handoffs, barrier."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from aisimc_runtime.evidence.finding import Status
from tests.builders import records, runs
from tests.unit.runtime.evidence.findings import EVERYTHING, Json, bad, checked, mutated, reject


def test_a_good_row_satisfies_everything(tmp_path: Path) -> None:
    findings = checked(tmp_path, runs.plan_row(evidence=EVERYTHING, expect={"num_requests": 8}), records.vllm_record())
    assert bad(findings) == set()
    assert {finding.status for finding in findings} == {Status.SATISFIED}
    assert {finding.rule for finding in findings} >= {
        "run.fresh",
        "run.limit",
        "run.determinism",
        "run.parity",
        "run.evidence",
        "run.pressure",
        "run.output",
        "run.progress",
        "run.golden",
        "run.same-node",
        "run.affinity",
        "row.frozen",
        "exclude.planner",
    }


def shorten(requests: list[Json]) -> None:
    requests[3]["output_length"] = 3


def run_backwards(requests: list[Json]) -> None:
    requests[3]["terminal_time_ms"] = 1.0


def one_worker_only(requests: list[Json]) -> None:
    for entry in requests:
        entry["decode_worker_idx"] = 0


def another_worker(requests: list[Json]) -> None:
    requests[3]["decode_worker_idx"] = 7


def no_reuse(requests: list[Json]) -> None:
    for entry in requests:
        entry["reused_input_tokens"] = 0


def cycle(requests: list[Json]) -> None:
    for turn in range(20):
        records.readmit(requests[0], at_ms=50.0 + turn)


def twice_at_once(requests: list[Json]) -> None:
    records.readmit(requests[0], at_ms=50.0)
    records.readmit(requests[0], at_ms=50.0)


@pytest.mark.parametrize(
    ("record", "broken"),
    [
        (mutated(shorten), {("run.output", "failed")}),
        (mutated(reject), {("run.evidence", "failed")}),
        (mutated(run_backwards), {("run.progress", "failed")}),
        (mutated(one_worker_only), {("run.evidence", "failed")}),
        (mutated(another_worker), {("run.evidence", "failed")}),
        (mutated(no_reuse), {("run.evidence", "failed")}),
        (mutated(cycle, preemptions=0), {("run.pressure", "failed"), ("run.progress", "failed")}),
        (mutated(twice_at_once, preemptions=0), {("run.progress", "failed")}),
        (records.vllm_record(preemptions=0), {("run.pressure", "failed")}),
        (records.vllm_record(preemptions=4), {("run.pressure", "failed")}),
        (records.vllm_record() | {"planner": {"path": "x"}}, {("exclude.planner", "failed")}),
        (records.canonical([]), {("run.evidence", "failed"), ("run.pressure", "failed"), ("run.progress", "failed")}),
    ],
    ids=lambda value: "" if isinstance(value, dict) else "+".join(sorted(rule for rule, _ in value)),
)
def test_records_that_break_one_rule(tmp_path: Path, record: Json, broken: set[tuple[str, str]]) -> None:
    assert bad(checked(tmp_path, runs.plan_row(evidence=EVERYTHING), record)) == broken


def test_rows_have_pressure_bounds_whether_they_say_so_or_not(tmp_path: Path) -> None:
    assert ("run.pressure", "failed") in bad(checked(tmp_path, runs.plan_row(), records.vllm_record(preemptions=0)))


def test_fixtures_are_held_to_what_they_declare(tmp_path: Path) -> None:
    record = records.vllm_record(preemptions=0)
    assert bad(checked(tmp_path / "a", runs.plan_row(kind="fixture"), record)) == set()
    declared = runs.plan_row(kind="fixture", evidence={"preemptions": [2, 3]})
    assert bad(checked(tmp_path / "b", declared, records.vllm_record(preemptions=1))) == {("run.pressure", "failed")}


def test_trtllm_never_evicts(tmp_path: Path) -> None:
    row = runs.plan_row("trtllm")
    assert bad(checked(tmp_path / "a", row, records.vllm_record(preemptions=0))) == set()
    assert bad(checked(tmp_path / "b", row, records.vllm_record(preemptions=1))) == {("run.pressure", "failed")}


def test_counts_of_chunks_are_missing_evidence(tmp_path: Path) -> None:
    old = {"baseline": runs.wheel("baseline", "0.12.0.dev2"), "candidate": runs.wheel("candidate")}
    findings = checked(tmp_path, runs.plan_row("sglang"), records.vllm_record(), revisions=old)
    assert bad(findings) == {("run.pressure", "missing")}
    missing = next(finding for finding in findings if finding.status is Status.MISSING)
    assert missing.arm == "baseline"
    assert "prefill chunks" in missing.message


def test_pressure_records_of_the_revision_count_before_readmissions(tmp_path: Path) -> None:
    record = records.vllm_record(preemptions=0)
    left = {"kind": "vllm_preemption", "at_ms": 1.0, "request_uuid": "u", "readmitted_at_ms": None}
    record["coverage"]["pressure"] = {"records": [left], "vllm_preemptions_total": 1, "sglang_retractions_total": 0}
    findings = checked(tmp_path, runs.plan_row(), record)
    assert bad(findings) == {("run.pressure", "failed")}
    assert any("never readmitted" in finding.message for finding in findings)
    counted = next(finding for finding in findings if finding.rule == "run.pressure")
    assert (counted.observed, counted.derived) == (1, False)


def test_derived_counts_are_marked(tmp_path: Path) -> None:
    findings = checked(tmp_path, runs.plan_row(), records.vllm_record())
    assert all(finding.derived for finding in findings if finding.rule == "run.pressure")


HANDED = {"handoffs": "all"}


def no_handoff(record: Json) -> None:
    record["per_request"][2]["source_released_ms"] = None


def handed_backwards(record: Json) -> None:
    record["per_request"][2]["destination_activated_ms"] = 0.0


@pytest.mark.parametrize("engine", ["vllm", "sglang", "trtllm"])
def test_handoffs_keep_the_engines_order(tmp_path: Path, engine: str) -> None:
    row = runs.plan_row(engine, topology=runs.disaggregated(), evidence=HANDED)
    events = 0 if engine == "trtllm" else 1
    right = records.disaggregated_record(sglang=engine == "sglang", readmissions=events)
    other = records.disaggregated_record(sglang=engine != "sglang", readmissions=events)
    assert bad(checked(tmp_path / "a", row, right)) == set()
    assert bad(checked(tmp_path / "b", row, other)) == {("run.evidence", "failed")}


@pytest.mark.parametrize("change", [no_handoff, handed_backwards])
def test_handoffs_are_whole_and_in_order(tmp_path: Path, change: Callable[[Json], None]) -> None:
    record = records.disaggregated_record()
    change(record)
    row = runs.plan_row(topology=runs.disaggregated(), evidence=HANDED)
    assert bad(checked(tmp_path, row, record)) == {("run.evidence", "failed")}


def test_no_handoffs(tmp_path: Path) -> None:
    row = runs.plan_row(evidence={"handoffs": "none"})
    assert bad(checked(tmp_path / "a", row, records.vllm_record())) == set()
    row = runs.plan_row(topology=runs.disaggregated(), evidence={"handoffs": "none"})
    assert bad(checked(tmp_path / "b", row, records.disaggregated_record())) == {("run.evidence", "failed")}


def test_waiting(tmp_path: Path) -> None:
    row = runs.plan_row(evidence={"waiting": "required"})
    assert bad(checked(tmp_path / "a", row, records.vllm_record(waits_ms=3.0))) == set()
    assert bad(checked(tmp_path / "b", row, records.vllm_record())) == {("run.evidence", "failed")}


def test_reuse_none(tmp_path: Path) -> None:
    row = runs.plan_row(evidence={"reuse": "none"})
    assert bad(checked(tmp_path / "a", row, mutated(no_reuse))) == set()
    assert bad(checked(tmp_path / "b", row, records.vllm_record())) == {("run.evidence", "failed")}


def test_barrier_without_ranks_is_missing(tmp_path: Path) -> None:
    row = runs.plan_row(evidence={"barrier": "required"})
    assert bad(checked(tmp_path, row, records.vllm_record())) == {("run.evidence", "missing")}


def test_one_worker_cannot_show_round_robin(tmp_path: Path) -> None:
    topology = {"kind": "aggregated", "workers": 1, "dp": 1, "tp": 1}
    record = records.vllm_record(workers=1)
    row = runs.plan_row(topology=topology, evidence={"workers": "all"})
    assert bad(checked(tmp_path / "a", row, record)) == {("run.evidence", "missing")}
    row = runs.plan_row(kind="fixture", topology=topology, evidence={"workers": "all"})
    assert bad(checked(tmp_path / "b", row, record)) == set()


def test_all_ranks_of_attention_dp_count_as_workers(tmp_path: Path) -> None:
    topology = {"kind": "aggregated", "workers": 1, "dp": 2, "tp": 1}
    row = runs.plan_row(topology=topology, evidence={"workers": "all"})
    assert bad(checked(tmp_path / "a", row, records.vllm_record(workers=1, dp=2))) == set()
    assert bad(checked(tmp_path / "b", row, records.vllm_record(workers=1, dp=1))) == {("run.evidence", "failed")}


def pressure_messages(tmp_path: Path, baseline: int, candidate: int) -> dict[str, str]:
    """What run.pressure says of either arm where its events are outside the bounds 1..3."""
    record = records.vllm_record(preemptions=baseline)
    findings = checked(tmp_path, runs.plan_row(), record, records.vllm_record(preemptions=candidate))
    return {str(f.arm): f.message for f in findings if f.rule == "run.pressure" and f.status == "failed"}


NEXT = "; `aisimc requalify SPEC row-1` looks for one that fits"


def test_pressure_outside_its_bounds_names_the_next_step(tmp_path: Path) -> None:
    assert pressure_messages(tmp_path / "many", 4, 4) == {
        arm: f"4 preemptions on the {arm}, 1..3 allowed: the capacity is too small{NEXT}"
        for arm in ("baseline", "candidate")
    }
    assert pressure_messages(tmp_path / "none", 0, 0) == {
        arm: f"no preemptions on the {arm}: the edge of capacity was not exercised{NEXT}"
        for arm in ("baseline", "candidate")
    }


@pytest.mark.parametrize("events", [0, 4])
def test_a_candidate_that_leaves_the_bounds_alone_is_no_matter_of_capacity(tmp_path: Path, events: int) -> None:
    told = pressure_messages(tmp_path, 2, events)
    assert told == {"candidate": f"{events} preemptions on the candidate, 1..3 allowed, where the baseline has 2"}
