"""The report object, "aisimc.report/1", made from a run folder alone."""

from __future__ import annotations

import hashlib
from importlib.metadata import version
from pathlib import Path
from typing import Any

from aisimc_runtime.evidence.view import ARMS
from aisimc_runtime.report.digest import report_digest
from aisimc_runtime.report.rows import finding_object, row_section
from aisimc_runtime.verdict.collect import Collected, collect
from aisimc_runtime.verdict.decide import decide_on
from aisimc_runtime.verdict.result import Verdict

SCHEMA = "aisimc.report/1"

_ARTIFACT = (
    "sha256",
    "size_bytes",
    "text_size_bytes",
    "features",
    "runner_source_sha256",
    "toolchain",
    "exclusions",
    "describe",
)


def build(run_folder: Path) -> dict[str, Any]:
    """The report of a run. Raises Blocked when the folder cannot be read."""
    found = collect(run_folder)
    return build_on(found, decide_on(found))


def build_on(found: Collected, verdict: Verdict) -> dict[str, Any]:
    """The report of collected files and their verdict; reads nothing but the plan's own bytes."""
    plan = found.plan
    plan_bytes = (found.folder / "plan.json").read_bytes()
    report: dict[str, Any] = {
        "schema": SCHEMA,
        "digest": "",
        "verdict": _verdict(verdict),
        "campaign": plan["campaign"],
        "plan_digest": hashlib.sha256(plan_bytes).hexdigest(),
        "revisions": {arm: _revision(plan, found.artifacts, arm) for arm in ARMS},
        "relation": plan.get("relation"),
        "build": plan.get("build"),
        "determinism": plan["determinism"],
        "exclusions": plan["exclusions"],
        "composition": {"placement": "round_robin", "scaling": "none", "planner": None},
        "inputs": {name: declared | _seen(found.inputs, name) for name, declared in plan["inputs"].items()},
        "rows": [row_section(row, judged) for row, judged in zip(found.rows, verdict.rows, strict=True)],
        "coverage": plan.get("coverage") or [],
        "unsupported": plan.get("unsupported") or {},
        "exceptions": [_exception(plan, record.name, record) for record in verdict.exceptions],
        "findings": [finding_object(finding) for finding in verdict.findings],
        "performance": found.performance,
        "tool": {"name": "aisimc", "version": version("aisimc")},
    }
    report["digest"] = report_digest(report)
    return report


def _verdict(verdict: Verdict) -> dict[str, Any]:
    return {
        "state": str(verdict.state),
        "semantic": None if verdict.semantic is None else str(verdict.semantic),
        "reasons": list(verdict.reasons),
        "performance": verdict.performance,
        "blocked": verdict.blocked,
        "exit_status": int(verdict.exit),
    }


def _revision(plan: dict[str, Any], artifacts: dict[str, Any], arm: str) -> dict[str, Any]:
    artifact = artifacts.get(arm)
    return {
        "pinned": plan["revisions"][arm],
        "correction": (artifact or {}).get("correction") or [],
        "artifact": None if artifact is None else {name: artifact.get(name) for name in _ARTIFACT},
    }


def _seen(inputs: dict[str, Any], name: str) -> dict[str, Any]:
    return {"seen": inputs.get(name)}


def _exception(plan: dict[str, Any], name: str, record: Any) -> dict[str, Any]:
    tests = {
        arm: None if test is None else {key: test.get(key) for key in ("exit_status", "passed", "stdout", "stderr")}
        for arm, test in record.tests.items()
    }
    return {
        "name": name,
        "used": record.used,
        "record": plan["exceptions"][name],
        "tests": {arm: tests.get(arm) for arm in ARMS},
        "findings": [finding_object(finding) for finding in record.findings],
    }
