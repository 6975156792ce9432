"""Put rows, exception records and campaign rules together into the one semantic result (contract: Verdict)."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from aisimc_runtime.evidence.checks import campaign, campaign_findings, findings_of
from aisimc_runtime.evidence.finding import Finding, Status
from aisimc_runtime.verdict.collect import Collected, collect
from aisimc_runtime.verdict.exceptions import judge
from aisimc_runtime.verdict.result import ExceptionVerdict, Result, RowVerdict, State, Verdict
from aisimc_runtime.verdict.rows import clauses, held, judge_row


def decide(run_folder: Path) -> Verdict:
    """The verdict of a run, recomputed from its folder. Raises Blocked when the folder cannot be read."""
    return decide_on(collect(run_folder))


def decide_on(found: Collected) -> Verdict:
    """The verdict on collected files; pure."""
    plan = found.plan
    records: dict[str, dict[str, Any]] = plan.get("exceptions") or {}
    rows = tuple(
        judge_row(
            row,
            [*findings_of(row), *campaign.artifact(row, found.artifacts)],
            {name: record for name, record in records.items() if record["row"] == row.name},
        )
        for row in found.rows
    )
    exceptions = tuple(_exception(name, record, rows, found) for name, record in records.items())
    rows = tuple(held(row, {record.name: record for record in exceptions}) for row in rows)
    findings = tuple(campaign_findings(plan, found.artifacts, found.inputs))
    state = _state(found, rows)
    reasons, semantic = _semantic(plan, rows, exceptions, findings)
    if state is not State.COMPLETE:
        reasons = _unfinished(found, rows)
    performance = None if found.performance is None else str(found.performance["result"])
    return Verdict(
        state,
        semantic if state is State.COMPLETE else None,
        tuple(reasons),
        rows,
        findings,
        exceptions,
        found.blocked,
        performance,
    )


def _exception(name: str, record: dict[str, Any], rows: Iterable[RowVerdict], found: Collected) -> ExceptionVerdict:
    row = next((row for row in rows if row.name == record["row"]), None)
    used = row is not None and name in row.covered_by
    compared = row is not None and any(f.rule == "run.parity" and f.status is not Status.MISSING for f in row.findings)
    return judge(name, record, used, found.tests.get(name) or {}, differs_known=compared)


def _state(found: Collected, rows: Iterable[RowVerdict]) -> State:
    if found.blocked is not None:
        return State.BLOCKED
    if any(row.result is Result.INCOMPLETE for row in rows):
        return State.INCOMPLETE
    return State.COMPLETE


def _unfinished(found: Collected, rows: Iterable[RowVerdict]) -> list[str]:
    if found.blocked is not None:
        return [found.blocked["message"]]
    return [f"{row.name}: {', '.join(row.reasons)}" for row in rows if row.result is Result.INCOMPLETE]


def _semantic(
    plan: dict[str, Any],
    rows: Iterable[RowVerdict],
    exceptions: Iterable[ExceptionVerdict],
    findings: Iterable[Finding],
) -> tuple[list[str], Result]:
    rows = list(rows)
    reasons = [f"row {row.name}: {reason}" for row in rows if row.result is Result.FAIL for reason in row.causes]
    reasons += clauses(f for f in findings if not f.holds)
    reasons += clauses(f for record in exceptions for f in record.findings if not f.holds)
    lost = {name: entry for name, entry in (plan.get("unsupported") or {}).items() if entry["on"] == "candidate"}
    reasons += [f"row {name}: the candidate lost this capability: {entry['reason']}" for name, entry in lost.items()]
    if reasons:
        return reasons, Result.FAIL
    excused = [row for row in rows if row.result is Result.PASS_WITH_SEMANTIC_EXCEPTIONS]
    if excused:
        return [f"row {row.name}: {row.reasons[0]}" for row in excused], Result.PASS_WITH_SEMANTIC_EXCEPTIONS
    return [], Result.PASS
