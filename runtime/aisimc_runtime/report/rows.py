"""One row in the report: its frozen configuration, both arms with their replays and evidence, findings, differences."""

from __future__ import annotations

from typing import Any

from aisimc_runtime.evidence.checks.pressure import count
from aisimc_runtime.evidence.counters import counters_of
from aisimc_runtime.evidence.finding import Finding
from aisimc_runtime.evidence.view import ARMS, Arm, Replay, Row
from aisimc_runtime.report.curves import curves, drift
from aisimc_runtime.verdict.result import RowVerdict

CLASSES_SHOWN = 60
"""So many classes of a difference are in the report; the whole of it is in the row's folder."""

LISTED = 50
"""So many pressure events are listed one by one."""


def row_section(row: Row, verdict: RowVerdict) -> dict[str, Any]:
    """The report's object for one row."""
    plan = row.plan
    return {
        "name": row.name,
        "kind": plan["kind"],
        "engine": plan["engine"],
        "matrix_id": plan.get("matrix_id"),
        "input": plan["input"],
        "topology": plan["topology"],
        "result": str(verdict.result),
        "reasons": list(verdict.reasons),
        "configuration_sha256": plan["configuration_sha256"],
        "configuration": plan.get("configuration"),
        "frozen": plan.get("frozen"),
        "golden": plan.get("golden"),
        "evidence": plan.get("evidence"),
        "expect": plan.get("expect") or {},
        "expect_error": plan.get("expect_error"),
        "arms": {name: _arm(row, row.arms[name]) for name in ARMS},
        "findings": [finding_object(finding) for finding in verdict.findings],
        "difference": shortened(row.difference),
        "instability": {name: shortened(row.arms[name].instability) for name in ARMS if row.arms[name].instability},
        "covered_by": verdict.covered_by,
        "uncovered": list(verdict.uncovered),
        "curves": _curves(row),
    }


def finding_object(finding: Finding) -> dict[str, Any]:
    """A finding as plain JSON."""
    return finding._asdict() | {"status": str(finding.status)}


def _arm(row: Row, arm: Arm) -> dict[str, Any]:
    counters = arm.counters
    return {
        "supported": arm.supported,
        "repetitions": arm.repetitions,
        "digests": list(arm.digests),
        "counters": {name: value for name, value in counters.items() if name != "derived"},
        "derived": sorted(counters.get("derived") or ()),
        "evidence": None if arm.extract is None else _evidence(row, arm, arm.extract),
        "replays": [_replay(replay) for replay in arm.replays],
    }


def _evidence(row: Row, arm: Arm, extract: dict[str, Any]) -> dict[str, Any]:
    shown = counters_of(extract)
    pressure = count(arm, row.engine)
    columns = extract["columns"]
    pairs = zip(columns["arrival_ms"], columns["first_admit_ms"], strict=True)
    return {
        "requests": extract["requests"],
        "completed_requests": shown["completed_requests"],
        "terminal_counts": shown["terminal_counts"],
        "requests_with_short_output": shown["requests_with_short_output"],
        "requests_with_reuse": shown["requests_with_reuse"],
        "requests_that_waited": sum(b > a for a, b in pairs if a is not None and b is not None),
        "prefill_workers": shown["prefill_workers"],
        "decode_workers": shown["decode_workers"],
        "handoffs": extract["handoffs"],
        "handoff_order": extract["handoff_order"],
        "virtual_duration_ms": shown["virtual_duration_ms"],
        "pressure": {
            "events": pressure.events,
            "derived": pressure.derived,
            "why_not": pressure.why_not,
            "listed": [
                {"request": one["request"], "pool": one["pool"], "at_ms": one["at_ms"]}
                for one in extract["readmissions"][:LISTED]
            ],
        },
        "group_passes": extract["group_passes"],
        "planner": extract["planner"],
    }


def _replay(replay: Replay) -> dict[str, Any]:
    process = replay.process or {}
    kept = (
        "exit_status",
        "signal",
        "limit",
        "cpus",
        "numa",
        "affinity_read_back",
        "node",
        "wall_ms",
        "cpu_ms",
        "max_rss_bytes",
    )
    return {
        "repetition": replay.repetition,
        "ran": replay.process is not None,
        "error": (replay.error or None) if replay.process is not None and not replay.succeeded else None,
        "canonical_sha256": (replay.digests or {}).get("canonical_sha256"),
        **{name: process.get(name) for name in kept},
    }


def shortened(difference: dict[str, Any] | None) -> dict[str, Any] | None:
    """A difference without its exact places, with its largest classes only."""
    if difference is None:
        return None
    kept = {key: value for key, value in difference.items() if key not in ("places", "sessions", "places_folded")}
    classes = [{key: value for key, value in entry.items() if key != "in"} for entry in difference["classes"]]
    return kept | {"classes": classes[:CLASSES_SHOWN]}


def _curves(row: Row) -> dict[str, Any]:
    """Pictures of both arms; an arm with the same bytes as the baseline is not repeated."""
    found: dict[str, Any] = {}
    for name in ARMS:
        extract = row.arms[name].extract
        if extract is None:
            continue
        baseline = row.arms["baseline"].extract
        if name == "candidate" and baseline and baseline["canonical_sha256"] == extract["canonical_sha256"]:
            found[name] = "as baseline"
        else:
            found[name] = curves(extract)
    extracts = [row.arms[name].extract for name in ARMS]
    if isinstance(found.get("candidate"), dict) and extracts[0] and extracts[1]:
        found["drift"] = drift(extracts[0], extracts[1])
    return found
