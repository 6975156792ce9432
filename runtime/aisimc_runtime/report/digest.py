"""The report digest: SHA-256 over the semantic part of a report, field by field (decisions: Records and digests).

Pins, configurations, digests, counters, differences and the verdict are inside. Outside are nodes, CPU sets, times and
loads, the sizes and bytes of binaries that were built here, and every free text that an engine or a system wrote: two
machines that carry out the same plan, or a run that was killed and continued, give the same digest.
"""

from __future__ import annotations

import hashlib
from typing import Any

import orjson

VOLATILE_COUNTERS = frozenset(
    {"measured_process_ms", "reported_wall_time_ms", "runner_binary_sha256", "derived", "processed_tokens_per_s"}
)
"""Counters that tell of the machine, not of the replay."""

VOLATILE_RULES = frozenset(
    {"run.limit", "run.output", "run.progress", "row.error", "row.matrix", "run.affinity", "run.same-node", "run.fresh"}
)
"""Rules whose observation can be a text of the engine or the name of a node: only their status is inside."""

REVISION_FIELDS = ("pinned", "correction")
INPUT_FIELDS = ("format", "block_size", "sha256", "rows", "slice", "source")
ROW_FIELDS = (
    "name",
    "kind",
    "engine",
    "matrix_id",
    "input",
    "topology",
    "result",
    "configuration_sha256",
    "expect",
    "expect_error",
    "covered_by",
    "uncovered",
)
ARM_FIELDS = ("supported", "repetitions", "digests", "derived")
CLASS_FIELDS = ("pattern", "change", "count", "requests", "largest_delta", "largest_ulps")
PARTING_FIELDS = ("at_ms", "request", "field", "a", "b")
EXCEPTION_FIELDS = ("name", "used", "record")
TOP_FIELDS = ("campaign", "plan_digest", "relation", "build", "determinism", "exclusions", "composition", "coverage")


def report_digest(report: dict[str, Any]) -> str:
    """SHA-256 of the canonical JSON of `semantic_part`."""
    return hashlib.sha256(orjson.dumps(semantic_part(report), option=orjson.OPT_SORT_KEYS)).hexdigest()


def semantic_part(report: dict[str, Any]) -> dict[str, Any]:
    """What the digest covers."""
    return {
        **_pick(report, TOP_FIELDS),
        "verdict": _pick(report["verdict"], ("state", "semantic")),
        "revisions": {arm: _pick(entry, REVISION_FIELDS) for arm, entry in report["revisions"].items()},
        "inputs": {name: _pick(entry, INPUT_FIELDS) for name, entry in report["inputs"].items()},
        "rows": [_row(row) for row in report["rows"]],
        "findings": [_finding(finding) for finding in report["findings"]],
        "exceptions": [
            _pick(entry, EXCEPTION_FIELDS) | {"tests": {arm: _passed(test) for arm, test in entry["tests"].items()}}
            for entry in report["exceptions"]
        ],
    }


def _row(row: dict[str, Any]) -> dict[str, Any]:
    return {
        **_pick(row, ROW_FIELDS),
        "arms": {arm: _arm(entry) for arm, entry in row["arms"].items()},
        "findings": [_finding(finding) for finding in row["findings"]],
        "difference": _difference(row["difference"]),
        "instability": {arm: _difference(entry) for arm, entry in row["instability"].items()},
    }


def _arm(arm: dict[str, Any]) -> dict[str, Any]:
    counters = {name: value for name, value in arm["counters"].items() if name not in VOLATILE_COUNTERS}
    return {**_pick(arm, ARM_FIELDS), "counters": counters}


def _finding(finding: dict[str, Any]) -> dict[str, Any]:
    fields = ["rule", "row", "arm", "status", "derived"]
    if finding["rule"] not in VOLATILE_RULES:
        fields += ["expected", "observed"]
    return _pick(finding, fields)


def _difference(difference: dict[str, Any] | None) -> dict[str, Any] | None:
    if difference is None:
        return None
    parting = difference["first_parting"]
    return {
        "a": difference["a"]["sha256"],
        "b": difference["b"]["sha256"],
        "values": difference["values"],
        "first_parting": None if parting is None else _pick(parting, PARTING_FIELDS),
        "classes": [_pick(entry, CLASS_FIELDS) for entry in difference["classes"]],
    }


def _passed(test: dict[str, Any] | None) -> bool | None:
    return None if test is None else bool(test.get("passed"))


def _pick(entry: dict[str, Any], names: Any) -> dict[str, Any]:
    return {name: entry.get(name) for name in names}
