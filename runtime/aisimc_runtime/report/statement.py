"""The report as an in-toto statement with a test-result predicate, unsigned; what is unknown is left out."""

from __future__ import annotations

from typing import Any

import orjson

STATEMENT = "https://in-toto.io/Statement/v1"
PREDICATE = "https://in-toto.io/attestation/test-result/v0.1"

_RESULTS = {"PASS": "PASSED", "PASS_WITH_SEMANTIC_EXCEPTIONS": "WARNED", "FAIL": "FAILED"}


def render(report: dict[str, Any]) -> str:
    """The statement as JSON text. A campaign without a semantic result is stated as FAILED with its state."""
    return orjson.dumps(statement(report), option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE).decode()


def statement(report: dict[str, Any]) -> dict[str, Any]:
    """Subjects: the candidate's artifact and pin, and the plan. Configuration: everything else that was pinned."""
    verdict = report["verdict"]
    rows: dict[str, list[str]] = {"PASS": [], "PASS_WITH_SEMANTIC_EXCEPTIONS": [], "FAIL": []}
    for row in report["rows"]:
        rows.setdefault(row["result"], []).append(row["name"])
    return {
        "_type": STATEMENT,
        "subject": _subjects(report),
        "predicateType": PREDICATE,
        "predicate": {
            "result": _RESULTS.get(str(verdict["semantic"]), "FAILED"),
            "configuration": _configuration(report),
            "passedTests": rows["PASS"],
            "warnedTests": rows["PASS_WITH_SEMANTIC_EXCEPTIONS"],
            "failedTests": rows["FAIL"],
            "aisimc": {
                "campaign": report["campaign"]["name"],
                "state": verdict["state"],
                "semantic": verdict["semantic"],
                "performance": verdict["performance"],
                "planDigest": report["plan_digest"],
                "reportDigest": report["digest"],
                "notCovered": [entry["id"] for entry in report["coverage"] if entry["status"] != "covered"],
                "tool": report["tool"],
                **({"build": report["build"]} if report["build"] else {}),
            },
        },
    }


def _subjects(report: dict[str, Any]) -> list[dict[str, Any]]:
    found = [*_revision(report, "candidate")]
    return found or [{"name": "plan.json", "digest": {"sha256": report["plan_digest"]}}]


def _revision(report: dict[str, Any], arm: str) -> list[dict[str, Any]]:
    entry = report["revisions"][arm]
    pinned, artifact = entry["pinned"], entry["artifact"]
    found: list[dict[str, Any]] = []
    if pinned["source"] == "checkout":
        found.append({"name": f"{arm}: {pinned['repository']}", "digest": {"gitCommit": pinned["commit"]}})
    else:
        name = pinned["requirement"] if pinned["source"] == "wheel" else f"embedded {pinned.get('core', '')}".strip()
        patch = pinned.get("patch")
        more = f", before patch {patch['file']}" if patch else ""
        found.append({"name": f"{arm}: {name}{more}", "digest": {"sha256": pinned["sha256"]}})
        if patch:
            found.append({"name": f"{arm}: patch {patch['file']}", "digest": {"sha256": patch["sha256"]}})
    if artifact is not None and artifact["sha256"]:
        found.append({"name": f"{arm}: artifact executed", "digest": {"sha256": artifact["sha256"]}})
    return found


def _configuration(report: dict[str, Any]) -> list[dict[str, Any]]:
    found = [{"name": "plan.json", "digest": {"sha256": report["plan_digest"]}}, *_revision(report, "baseline")]
    for name, entry in report["inputs"].items():
        found.append({"name": f"input {name}", "digest": {"sha256": entry["sha256"]}})
        found.append({"name": f"slice of {name}", "digest": {"sha256": entry["slice"]["sha256"]}})
    pairs = [(f"configuration {row['name']}", row["configuration_sha256"]) for row in report["rows"]]
    corrections = report["revisions"]["candidate"]["correction"]
    pairs += [(f"correction {correction['name']}", correction["sha256"]) for correction in corrections]
    return [*found, *({"name": name, "digest": {"sha256": digest}} for name, digest in pairs)]
