"""The result of one row from its findings, its difference, and the records that cover it."""

from __future__ import annotations

from typing import Any

from aisimc_runtime.evidence.finding import Finding, Status
from aisimc_runtime.evidence.view import ARMS, Row
from aisimc_runtime.verdict.coverage import Coverage, cover
from aisimc_runtime.verdict.result import Result, RowVerdict

_SHOWN = 4


def judge_row(row: Row, findings: list[Finding], records: dict[str, dict[str, Any]]) -> RowVerdict:
    """Decide one row. `records` are the exception records about it."""
    if not any(row.arms[arm].repetitions for arm in ARMS):
        return RowVerdict(row.name, Result.NOT_COVERED, ("not run on either arm",), tuple(findings), {}, ())
    parity = next((f for f in findings if f.rule == "run.parity"), None)
    differs = parity is not None and parity.status is Status.FAILED
    coverage = Coverage({}, {})
    if differs:
        coverage, finding = _covered(row, records)
        findings = [*findings, finding]
    excused = differs and not coverage.uncovered and row.difference is not None
    bad = [f for f in findings if not f.holds and not (f is parity and excused)]
    result, reasons = _decide(row, bad, excused, coverage)
    return RowVerdict(
        row.name, result, reasons, tuple(findings), coverage.covered_by, tuple(sorted(coverage.uncovered))
    )


def _covered(row: Row, records: dict[str, dict[str, Any]]) -> tuple[Coverage, Finding]:
    if row.difference is None:
        text = "the arms differ, and the difference is not in the folder"
        return Coverage({}, {}), Finding("exception.covers", row.name, None, Status.MISSING, text)
    coverage = cover(row.difference, records)
    if row.difference.get("same_values"):
        coverage = Coverage({}, {"/": 0})
    if not coverage.uncovered:
        text = f"every difference is covered: {', '.join(sorted(coverage.covered_by))}"
        return coverage, Finding("exception.covers", row.name, None, Status.SATISFIED, text)
    if not records:
        text = "the arms differ, and the campaign has no exception record for this row"
        return coverage, Finding("exception.covers", row.name, None, Status.FAILED, text, 0, len(coverage.uncovered))
    patterns = sorted(coverage.uncovered)
    more = len(patterns) - _SHOWN
    text = f"no exception record covers {', '.join(patterns[:_SHOWN])}" + (f" and {more} more" if more > 0 else "")
    return coverage, Finding("exception.covers", row.name, None, Status.FAILED, text, 0, len(patterns))


def _decide(row: Row, bad: list[Finding], excused: bool, coverage: Coverage) -> tuple[Result, tuple[str, ...]]:
    if bad:
        not_run = [f for f in bad if f.rule == "run.fresh"]
        if not_run and not any(f.status is Status.FAILED for f in bad):
            return Result.INCOMPLETE, tuple(f.message for f in not_run)
        return Result.FAIL, _reasons(bad)
    if excused:
        names = ", ".join(sorted(coverage.covered_by))
        return Result.PASS_WITH_SEMANTIC_EXCEPTIONS, (f"every difference is covered by {names}",)
    if row.plan.get("expect_error") is not None:
        return Result.PASS, ("both arms refuse the row with the expected error",)
    if not row.arms["baseline"].supported:
        text = "the baseline does not support this row; the candidate is qualified on its own"
        return Result.PASS_WITH_SEMANTIC_EXCEPTIONS, (text,)
    return Result.PASS, ()


def _reasons(bad: list[Finding]) -> tuple[str, ...]:
    """What failed, the causes first: an unstable or refused arm explains the missing comparison after it."""
    ordered = sorted(bad, key=lambda f: f.status is not Status.FAILED)
    return tuple(dict.fromkeys(f"{f.rule}: {f.message}" for f in ordered))
