"""Every run-time rule of the contract, each with outputs that break just that rule."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import pytest

from aisimc_runtime.evidence.checks import check_campaign, check_row
from aisimc_runtime.evidence.finding import Finding, Status
from tests.builders import records, runs

ROW = "row-1"
Json = dict[str, Any]


def bad(findings: list[Finding]) -> set[tuple[str, str]]:
    return {(finding.rule, str(finding.status)) for finding in findings if not finding.holds}


def checked(tmp_path: Path, row: Json, baseline: Any, candidate: Any = None, **plan_changes: Any) -> list[Finding]:
    plan = runs.plan({ROW: row}, **plan_changes)
    builder = runs.RunBuilder(tmp_path / "run", plan)
    builder.row(ROW, baseline, baseline if candidate is None else candidate)
    return check_row(plan, ROW, builder.finish() / "rows" / ROW)


def edited(tmp_path: Path, row: Json, record: Any, name: str, **changes: Any) -> list[Finding]:
    """Findings after one kept file was written otherwise."""
    plan = runs.plan({ROW: row})
    builder = runs.RunBuilder(tmp_path / "run", plan).row(ROW, record, record)
    builder.edit(f"rows/{ROW}/{name}", **changes)
    return check_row(plan, ROW, builder.finish() / "rows" / ROW)


EVERYTHING = {"workers": "all", "reuse": "required", "preemptions": [1, 3]}


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


def mutated(change: Callable[[list[Json]], None], **options: Any) -> Json:
    record = records.vllm_record(**options)
    change(record["per_request"])
    return records.canonical(record["per_request"])


def shorten(requests: list[Json]) -> None:
    requests[3]["output_length"] = 3


def reject(requests: list[Json]) -> None:
    requests[3] |= {"terminal_status": "rejected", "output_length": 0}


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


@pytest.mark.parametrize("kind", ["time", "memory", "output", "processes"])
def test_a_limit(tmp_path: Path, kind: str) -> None:
    name = "replays/candidate-2/process.json"
    findings = edited(tmp_path, runs.plan_row(), records.vllm_record(), name, limit=kind, exit_status=None, signal=9)
    assert ("run.limit", "failed") in bad(findings)


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


def campaign(tmp_path: Path, change: Callable[[runs.RunBuilder], None], **plan_changes: Any) -> set[tuple[str, str]]:
    plan = runs.plan({ROW: runs.plan_row()}, **plan_changes)
    builder = runs.RunBuilder(tmp_path, plan)
    change(builder)
    return bad(check_campaign(plan, builder.finish()))


def own_exclusions(*pointers: str) -> Callable[[runs.RunBuilder], None]:
    return lambda builder: builder.artifacts["candidate"].update(exclusions=list(pointers))


def test_exclusions_of_the_revision_itself(tmp_path: Path) -> None:
    assert campaign(tmp_path / "a", lambda builder: None) == set()
    assert campaign(tmp_path / "b", own_exclusions(*reversed(records.EXCLUSIONS))) == set()
    assert campaign(tmp_path / "c", own_exclusions(*records.EXCLUSIONS[:3])) == {("exclude.pinned", "failed")}


def test_wheels_cannot_be_asked_for_exclusions(tmp_path: Path) -> None:
    plan = runs.plan({ROW: runs.plan_row()})
    findings = check_campaign(plan, runs.RunBuilder(tmp_path, plan).finish())
    assert {f.status for f in findings if f.rule == "exclude.pinned"} == {Status.NOT_OBSERVABLE}


def test_the_artifact_says_which_revision_it_is(tmp_path: Path) -> None:
    def other(builder: runs.RunBuilder) -> None:
        builder.artifacts["candidate"]["describe"]["revision"] = "aisimulate==0.12.0.dev1"

    def silent(builder: runs.RunBuilder) -> None:
        builder.artifacts["candidate"]["describe"] = {}

    assert campaign(tmp_path / "a", other) == {("pin.embedded", "failed")}
    assert campaign(tmp_path / "b", silent) == {("pin.embedded", "missing")}


@pytest.mark.parametrize(("state", "status"), [(False, "failed"), (None, "missing")])
def test_inputs_are_unchanged(tmp_path: Path, state: bool | None, status: str) -> None:
    def change(builder: runs.RunBuilder) -> None:
        builder.inputs["window"]["unchanged"] = state

    assert campaign(tmp_path, change) == {("input.unchanged", status)}


def test_the_input_is_the_declared_one(tmp_path: Path) -> None:
    def change(builder: runs.RunBuilder) -> None:
        builder.inputs["window"]["slice_sha256"] = "9" * 64

    assert campaign(tmp_path, change) == {("input.checksum", "failed")}


def test_both_arms_are_built_alike(tmp_path: Path) -> None:
    build = {"toolchain": "1.93.1", "profile": "release", "features": [], "rustflags": [], "locked": True}

    def change(builder: runs.RunBuilder) -> None:
        builder.artifacts["candidate"]["runner_source_sha256"] = "1" * 64

    assert campaign(tmp_path / "a", lambda builder: None, build=build) == set()
    assert campaign(tmp_path / "b", change, build=build) == {("pin.same-build", "failed")}


def test_corrections_are_for_both_arms_alike(tmp_path: Path) -> None:
    declared = {
        "mode": "canonical_v1",
        "repetitions": 2,
        "corrections": [{"name": "stable_request_identity", "kind": "built_in"}],
    }
    entry = {"name": "stable_request_identity", "sha256": "7" * 64}

    def both(builder: runs.RunBuilder) -> None:
        for arm in ("baseline", "candidate"):
            builder.artifacts[arm]["correction"] = [entry]

    def one(builder: runs.RunBuilder) -> None:
        builder.artifacts["candidate"]["correction"] = [entry]

    def unlike(builder: runs.RunBuilder) -> None:
        both(builder)
        builder.artifacts["candidate"]["correction"] = [entry | {"sha256": "8" * 64}]

    failed = {("pin.correction", "failed")}
    assert campaign(tmp_path / "a", both, determinism=declared) == set()
    assert campaign(tmp_path / "b", one, determinism=declared) == failed
    assert campaign(tmp_path / "c", unlike, determinism=declared) == failed
    assert campaign(tmp_path / "d", both) == failed


@pytest.mark.parametrize(
    ("pinned", "told", "holds"),
    [
        ({"source": "checkout", "repository": "r", "commit": "1" * 40}, "1" * 40, True),
        ({"source": "checkout", "repository": "r", "commit": "1" * 40}, "1" * 39, False),
        ({"source": "embedded", "core": "c", "sha256": "1" * 64, "patch": None}, "c@" + "1" * 64, True),
        ({"source": "embedded", "core": "c", "sha256": "1" * 64, "patch": None}, f"c@{'1' * 64}+{'2' * 64}", False),
        (
            {"source": "embedded", "core": "c", "sha256": "1" * 64, "patch": {"file": "p", "sha256": "2" * 64}},
            f"c@{'1' * 64}+{'2' * 64}",
            True,
        ),
        (runs.wheel("candidate", "0.12.0.dev2"), "aisimulate==0.12.0.dev202609170000000044", False),
        (runs.wheel("candidate", "0.12.0.dev2"), f"aisimulate==0.12.0.dev2 sha256:{'b' * 64}", True),
    ],
)
def test_reported_revisions(tmp_path: Path, pinned: Json, told: str, holds: bool) -> None:
    plan = runs.plan({ROW: runs.plan_row()})
    builder = runs.RunBuilder(tmp_path, plan)
    builder.artifacts["candidate"]["describe"]["revision"] = told
    plan["revisions"]["candidate"] = pinned
    broken = set() if holds else {("pin.embedded", "failed")}
    assert bad(check_campaign(plan, builder.finish())) == broken


def test_findings_are_plain_data(tmp_path: Path) -> None:
    findings = checked(tmp_path, runs.plan_row(), records.vllm_record())
    assert orjson.loads(orjson.dumps([finding._asdict() for finding in findings]))[0]["rule"] == "run.fresh"
