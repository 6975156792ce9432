"""Exception records in the verdict: were they needed, and do their regression tests say what they should."""

from __future__ import annotations

from typing import Any

from aisimc_runtime.evidence.finding import Finding, Status
from aisimc_runtime.evidence.view import ARMS
from aisimc_runtime.verdict.result import ExceptionVerdict


def judge(
    name: str, record: dict[str, Any], used: bool, tests: dict[str, dict[str, Any] | None], *, differs_known: bool
) -> ExceptionVerdict:
    """exception.used and exception.test of one record.

    `differs_known` says whether the record's row came far enough to know what differs.
    """
    row = str(record["row"])
    findings = [_used(name, row, used)] if differs_known else []
    findings += [_test(name, row, record["regression_test"], arm, tests.get(arm)) for arm in ARMS]
    return ExceptionVerdict(name, used, tuple(findings), tests)


def _used(name: str, row: str, used: bool) -> Finding:
    if used:
        text = f"the record {name} covers differences of row {row}"
        return Finding("exception.used", row, None, Status.SATISFIED, text)
    text = f"the record {name} covers no difference of row {row}: take it out, or find out why the difference is gone"
    return Finding("exception.used", row, None, Status.FAILED, text)


def _test(name: str, row: str, declared: dict[str, Any], arm: str, outcome: dict[str, Any] | None) -> Finding:
    wanted = "passes" if declared["passes_on"] == arm else "fails"
    if outcome is None or not isinstance(outcome.get("exit_status"), int):
        text = f"the regression test of {name} was not carried out on the {arm}"
        return Finding("exception.test", row, arm, Status.MISSING, text, wanted)
    observed = "passes" if outcome.get("passed") else "fails"
    if observed == wanted:
        text = f"the regression test of {name} {observed} on the {arm}, as it should"
        return Finding("exception.test", row, arm, Status.SATISFIED, text, wanted, observed)
    text = f"the regression test of {name} {observed} on the {arm}, where it should {wanted.removesuffix('es')}"
    if wanted == "fails":
        text = (
            f"the regression test of {name} passes on the {arm}, where it should fail: it does not show the difference"
        )
    return Finding("exception.test", row, arm, Status.FAILED, text, wanted, observed)
