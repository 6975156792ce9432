"""Rows whose files break just one run-time rule, and what the checks say of them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from aisimc_runtime.evidence.checks import check_row
from aisimc_runtime.evidence.finding import Finding
from tests.builders import records, runs

ROW = "row-1"
Json = dict[str, Any]
EVERYTHING = {"workers": "all", "reuse": "required", "preemptions": [1, 3]}
"""What a row may ask for, and the records here show."""


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


def mutated(change: Callable[[list[Json]], None], **options: Any) -> Json:
    record = records.vllm_record(**options)
    change(record["per_request"])
    return records.canonical(record["per_request"])


def reject(requests: list[Json]) -> None:
    requests[3] |= {"terminal_status": "rejected", "output_length": 0}
