"""The result of one row from its findings, its difference, and the records that cover it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from aisimc_runtime.evidence.finding import Finding, Status, on_both_arms
from aisimc_runtime.evidence.view import ARMS, Row
from aisimc_runtime.verdict.coverage import Coverage, cover
from aisimc_runtime.verdict.result import ExceptionVerdict, Result, RowVerdict

_SHOWN = 4
_NO_RECORD = "the arms differ, and the campaign has no exception record for this row"


def judge_row(row: Row, findings: list[Finding], records: dict[str, dict[str, Any]]) -> RowVerdict:
    """Decide one row. `records` are the exception records about it."""
    if not any(row.arms[arm].repetitions for arm in ARMS):
        return RowVerdict(row.name, Result.NOT_COVERED, ("not run on either arm",), (), tuple(findings), {}, ())
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
        row.name, result, reasons, causes(bad), tuple(findings), coverage.covered_by, tuple(sorted(coverage.uncovered))
    )


def _covered(row: Row, records: dict[str, dict[str, Any]]) -> tuple[Coverage, Finding]:
    if row.difference is None:
        text = "the arms differ, and the difference is not in the folder"
        return Coverage({}, {}), Finding("exception.covers", row.name, None, Status.MISSING, text)
    coverage = cover(row.difference, records)
    if row.difference.get("same_values"):
        coverage = Coverage({}, {"/": 0})
    if not coverage.uncovered:
        text = f"every difference is covered: {', '.join(sorted(coverage.covered_by))}{_wider(coverage)}"
        return coverage, Finding("exception.covers", row.name, None, Status.SATISFIED, text)
    if not records:
        observed = len(coverage.uncovered)
        return coverage, Finding("exception.covers", row.name, None, Status.FAILED, _NO_RECORD, 0, observed)
    patterns = sorted(coverage.uncovered)
    more = len(patterns) - _SHOWN
    text = f"no exception record covers {', '.join(patterns[:_SHOWN])}" + (f" and {more} more" if more > 0 else "")
    return coverage, Finding("exception.covers", row.name, None, Status.FAILED, text, 0, len(patterns))


def _wider(coverage: Coverage) -> str:
    """What a record allows beyond what was seen: it would pass a later difference that nobody has looked at."""
    told = [f"{name} also lists {', '.join(patterns)}" for name, patterns in sorted(coverage.idle.items())]
    return f" ({'; '.join(told)}, where nothing differs: take it out)" if told else ""


def _decide(row: Row, bad: list[Finding], excused: bool, coverage: Coverage) -> tuple[Result, tuple[str, ...]]:
    if bad:
        not_run = [f for f in bad if f.rule == "run.fresh"]
        if not_run and not any(f.status is Status.FAILED for f in bad):
            return Result.INCOMPLETE, tuple(f.message for f in not_run)
        return Result.FAIL, clauses(bad)
    if excused:
        names = ", ".join(sorted(coverage.covered_by))
        return Result.PASS_WITH_SEMANTIC_EXCEPTIONS, (f"every difference is covered by {names}{_wider(coverage)}",)
    if row.plan.get("expect_error") is not None:
        return Result.PASS, ("both arms refuse the row with the expected error",)
    if not row.arms["baseline"].supported:
        text = "the baseline does not support this row; the candidate is qualified on its own"
        return Result.PASS_WITH_SEMANTIC_EXCEPTIONS, (text,)
    return Result.PASS, ()


def held(row: RowVerdict, records: dict[str, ExceptionVerdict]) -> RowVerdict:
    """The row after its exception records were judged: a record that does not hold excuses nothing."""
    broken = {name: [f for f in records[name].findings if not f.holds] for name in sorted(row.covered_by)}
    broken = {name: findings for name, findings in broken.items() if findings}
    if not broken:
        return row
    findings = tuple(_uncovered_again(f, sorted(row.covered_by), list(broken)) for f in row.findings)
    if row.result is not Result.PASS_WITH_SEMANTIC_EXCEPTIONS:
        return replace(row, findings=findings)
    reasons = clauses(f for found in broken.values() for f in found)
    return replace(row, result=Result.FAIL, reasons=reasons, findings=findings)


def _uncovered_again(finding: Finding, records: list[str], broken: list[str]) -> Finding:
    """exception.covers as it is when the regression test of a record that it counts on does not hold."""
    if finding.rule != "exception.covers" or finding.status is not Status.SATISFIED:
        return finding
    whose = "its regression test does" if records == broken else f"the regression test of {' and '.join(broken)} does"
    if records == broken and len(broken) > 1:
        whose = "their regression tests do"
    text = f"{' and '.join(records)} would cover it, but {whose} not hold"
    return finding._replace(status=Status.FAILED, message=text)


def clauses(findings: Iterable[Finding]) -> tuple[str, ...]:
    """Findings as reasons, what failed before what is missing; what is said of both arms alike is said once."""
    found: list[str] = []
    for finding in sorted(findings, key=lambda f: f.status is not Status.FAILED):
        text = f"{finding.rule}: {finding.message}"
        joint = on_both_arms(found[-1], text) if found else None
        if joint is not None:
            found[-1] = joint
        elif text not in found:
            found.append(text)
    return tuple(found)


def causes(findings: Iterable[Finding]) -> tuple[str, ...]:
    """The reasons that do not follow from others: missing evidence often follows from a failure, and that a campaign
    has no record for a row says nothing that the difference does not say."""
    bad = list(findings)
    failed = [f for f in bad if f.status is Status.FAILED] or bad
    return clauses(f for f in failed if not (f.rule == "exception.covers" and f.message == _NO_RECORD)) or clauses(bad)
