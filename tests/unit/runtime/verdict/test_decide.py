"""The one semantic result of a campaign, and the exit status that goes with it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest

from aisimc_runtime.failures import Blocked
from aisimc_runtime.verdict import Result, State, Verdict, decide
from tests.builders import outcomes, records, runs

ROW = outcomes.NAME


@pytest.mark.parametrize(
    ("outcome", "semantic", "exit_status", "reason"),
    [
        ("pass", "PASS", 0, None),
        ("exceptions", "PASS_WITH_SEMANTIC_EXCEPTIONS", 0, "covered by earlier-admission"),
        ("difference", "FAIL", 1, "30.000 ms, request_4 admission_history/0/at_ms"),
        ("instability", "FAIL", 1, "the baseline is unstable: its own processes differ in /summary/mean_ttft_ms"),
        ("missing-evidence", "FAIL", 1, "counts continued prefill chunks"),
        ("blocked", None, 3, "cannot be fetched"),
    ],
)
def test_outcomes(tmp_path: Path, outcome: str, semantic: str | None, exit_status: int, reason: str | None) -> None:
    verdict = decide(outcomes.OUTCOMES[outcome](tmp_path / "run"))
    assert verdict.semantic == semantic
    assert verdict.exit == exit_status
    assert reason is None or any(reason in text for text in verdict.reasons)


def excused(tmp_path: Path, exceptions: dict[str, Any], **tests: tuple[bool, bool]) -> Verdict:
    a = records.vllm_record()
    b = records.changed(a)
    b["per_request"][4]["first_admit_ms"] += 1.5
    builder = runs.RunBuilder(tmp_path / "run", runs.plan({ROW: runs.plan_row()}, exceptions=exceptions)).row(ROW, a, b)
    for name, (baseline, candidate) in tests.items():
        builder.ended(name, baseline=baseline, candidate=candidate)
    return decide(builder.finish())


RECORD = runs.exception(ROW, ["/per_request/*/first_admit_ms"])


@pytest.mark.parametrize(
    ("outcome", "semantic"),
    [
        ((False, True), "PASS_WITH_SEMANTIC_EXCEPTIONS"),
        ((True, True), "FAIL"),
        ((False, False), "FAIL"),
        ((True, False), "FAIL"),
    ],
)
def test_regression_tests_must_tell_the_arms_apart(tmp_path: Path, outcome: tuple[bool, bool], semantic: str) -> None:
    assert excused(tmp_path, {"e": RECORD}, e=outcome).semantic == semantic


def test_a_regression_test_that_was_not_run_is_missing(tmp_path: Path) -> None:
    verdict = excused(tmp_path, {"e": RECORD})
    assert verdict.semantic == "FAIL"
    assert {f.status for f in verdict.exceptions[0].findings if f.rule == "exception.test"} == {"missing"}


@pytest.mark.parametrize(
    ("late", "words"),
    [
        ((False, True), "the regression test of early does not hold"),
        ((True, True), "their regression tests do not hold"),
    ],
)
def test_the_record_of_several_whose_test_does_not_hold_is_named(
    tmp_path: Path, late: tuple[bool, bool], words: str
) -> None:
    halves = {name: runs.exception(ROW, [f"/per_request/*/{name}"]) for name in ("early", "late")}
    a = records.vllm_record()
    b = records.changed(a)
    b["per_request"][4] |= {"early": 1, "late": 2}
    builder = runs.RunBuilder(tmp_path, runs.plan({ROW: runs.plan_row()}, exceptions=halves)).row(ROW, a, b)
    builder.ended("early", baseline=True, candidate=True).ended("late", baseline=late[0], candidate=late[1])
    (row,) = decide(builder.finish()).rows
    (covers,) = [finding for finding in row.findings if finding.rule == "exception.covers"]
    assert (covers.status, covers.message) == ("failed", f"early and late would cover it, but {words}")


def test_a_record_that_covers_nothing_is_refused(tmp_path: Path) -> None:
    other = runs.exception(ROW, ["/per_request/*/itl_ms"])
    verdict = excused(tmp_path, {"e": RECORD, "other": other}, e=(False, True), other=(False, True))
    assert verdict.semantic == "FAIL"
    assert any("exception.used" in reason and "other" in reason for reason in verdict.reasons)


def test_a_record_wider_than_what_differs_is_told_so(tmp_path: Path) -> None:
    wide = runs.exception(ROW, ["/per_request/*/first_admit_ms", "/per_request/*/ttft_ms"])
    verdict = excused(tmp_path, {"e": wide}, e=(False, True))
    assert verdict.semantic == "PASS_WITH_SEMANTIC_EXCEPTIONS"
    assert verdict.rows[0].reasons == (
        "every difference is covered by e (e also lists /per_request/*/ttft_ms, where nothing differs: take it out)",
    )


def test_a_record_for_rows_that_agree_is_refused(tmp_path: Path) -> None:
    record = records.vllm_record()
    plan = runs.plan({ROW: runs.plan_row()}, exceptions={"e": RECORD})
    builder = runs.RunBuilder(tmp_path, plan).row(ROW, record, record).ended("e", baseline=False, candidate=True)
    verdict = decide(builder.finish())
    assert verdict.semantic == "FAIL"
    assert any("covers no difference" in reason for reason in verdict.reasons)


def test_records_do_not_excuse_missing_evidence(tmp_path: Path) -> None:
    a = records.vllm_record(preemptions=0)
    b = records.changed(a)
    b["per_request"][4]["first_admit_ms"] += 1.5
    plan = runs.plan({ROW: runs.plan_row()}, exceptions={"e": RECORD})
    builder = runs.RunBuilder(tmp_path, plan).row(ROW, a, b).ended("e", baseline=False, candidate=True)
    assert decide(builder.finish()).semantic == "FAIL"


UNSUPPORTED = {"repetitions": 1, "supported": False}


def test_unsupported_on_the_baseline_is_an_exception_at_best(tmp_path: Path) -> None:
    row = runs.plan_row(baseline=UNSUPPORTED)
    plan = runs.plan({ROW: row}, unsupported={ROW: {"on": "baseline", "reason": "new in the candidate"}})
    builder = runs.RunBuilder(tmp_path, plan).row(ROW, "engine error: not supported", records.vllm_record())
    verdict = decide(builder.finish())
    assert verdict.semantic == "PASS_WITH_SEMANTIC_EXCEPTIONS"
    assert verdict.rows[0].result is Result.PASS_WITH_SEMANTIC_EXCEPTIONS


def test_unsupported_on_the_candidate_is_a_lost_capability(tmp_path: Path) -> None:
    record = records.vllm_record()
    plan = runs.plan(
        {ROW: runs.plan_row()}, unsupported={"sglang-aggregated": {"on": "candidate", "reason": "not ported yet"}}
    )
    verdict = decide(runs.RunBuilder(tmp_path, plan).row(ROW, record, record).finish())
    assert verdict.semantic == "FAIL"
    assert any("not ported yet" in reason for reason in verdict.reasons)


def test_unsupported_on_both_changes_nothing(tmp_path: Path) -> None:
    record = records.vllm_record()
    none = {"repetitions": 0, "supported": False}
    rows = {
        ROW: runs.plan_row(),
        "sglang-aggregated": runs.plan_row("sglang", matrix_id="sglang-aggregated", baseline=none, candidate=none),
    }
    plan = runs.plan(rows, unsupported={"sglang-aggregated": {"on": "both", "reason": "not touched"}})
    verdict = decide(runs.RunBuilder(tmp_path, plan).row(ROW, record, record).finish())
    assert verdict.semantic == "PASS"
    assert {row.name: row.result for row in verdict.rows} == {
        ROW: Result.PASS,
        "sglang-aggregated": Result.NOT_COVERED,
    }


def test_unfinished_rows_leave_no_semantic_result(tmp_path: Path) -> None:
    record = records.vllm_record()
    rows = {ROW: runs.plan_row(), "second": runs.plan_row(matrix_id=None)}
    verdict = decide(runs.RunBuilder(tmp_path, runs.plan(rows)).row(ROW, record, record).finish())
    assert (verdict.state, verdict.semantic, int(verdict.exit)) == (State.INCOMPLETE, None, 3)


def test_a_row_that_hit_a_limit_has_failed_whatever_did_not_run_after_it(tmp_path: Path) -> None:
    record = records.vllm_record()
    builder = runs.RunBuilder(tmp_path, runs.plan({ROW: runs.plan_row()})).row(ROW, record, record)
    builder.edit(f"rows/{ROW}/replays/baseline-1/process.json", limit="time", exit_status=None, signal=9)
    (tmp_path / "rows" / ROW / "replays" / "candidate-2" / "process.json").unlink()
    verdict = decide(builder.finish())
    assert verdict.semantic == "FAIL"
    assert verdict.reasons[0].startswith(f"row {ROW}: run.limit")


def test_an_earlier_block_is_forgotten_when_the_run_goes_on(tmp_path: Path) -> None:
    record = records.vllm_record()
    builder = runs.RunBuilder(tmp_path, runs.plan({ROW: runs.plan_row()})).row(ROW, record, record).block("no network")
    assert decide(builder.finish()).state is State.BLOCKED
    builder.journal.append({"at": "2026-11-29T11:00:00Z", "event": "resumed", "action": None})
    assert decide(builder.finish()).semantic == "PASS"


def test_a_torn_last_journal_line_is_passed_over(tmp_path: Path) -> None:
    folder = outcomes.passing(tmp_path / "run")
    with (folder / "journal.jsonl").open("ab") as journal:
        journal.write(b'{"event":"blocked","mess')
    assert decide(folder).semantic == "PASS"


def test_bytes_that_differ_without_values_are_no_pass(tmp_path: Path) -> None:
    folder = outcomes.excused(tmp_path / "run")
    path = folder / "rows" / ROW / "difference.json"
    document = orjson.loads(path.read_bytes()) | {"same_values": True, "classes": [], "places": []}
    path.write_bytes(orjson.dumps(document))
    assert decide(folder).semantic == "FAIL"


def test_what_is_no_run_folder_is_said_so(tmp_path: Path) -> None:
    with pytest.raises(Blocked, match=r"not a run folder"):
        decide(tmp_path)


def test_a_torn_file_is_one_clear_line(tmp_path: Path) -> None:
    folder = outcomes.passing(tmp_path / "run")
    (folder / "artifacts.json").write_bytes(b'{"baseline":')
    with pytest.raises(Blocked, match=r"not JSON"):
        decide(folder)


@pytest.mark.parametrize(
    ("performance", "semantic", "status"),
    [
        (None, Result.PASS, 0),
        ("PASS", Result.PASS, 0),
        ("FAIL", Result.PASS, 1),
        ("INCONCLUSIVE", Result.PASS, 4),
        ("NOT_MEASURED", Result.PASS_WITH_SEMANTIC_EXCEPTIONS, 4),
        ("INCONCLUSIVE", Result.FAIL, 1),
        ("PASS", None, 3),
    ],
)
def test_exit_statuses(performance: str | None, semantic: Result | None, status: int) -> None:
    state = State.COMPLETE if semantic else State.BLOCKED
    assert Verdict(state, semantic, (), (), (), (), None, performance).exit == status
