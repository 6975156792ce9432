"""Findings as every rendering of a report tells them: what excuses them, which need attention, in which words."""

from __future__ import annotations

import re
from typing import Any

from aisimc_runtime.evidence.finding import on_both_arms

LAST_WORDS = 200
"""So many characters are shown of what a regression test wrote last."""

_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|[@-_])")


def excused_by(row: dict[str, Any]) -> str:
    """The exception records that cover every difference of the row; empty where that is not so."""
    covers = [finding for finding in row["findings"] if finding["rule"] == "exception.covers"]
    return ", ".join(sorted(row["covered_by"])) if any(f["status"] == "satisfied" for f in covers) else ""


def excused(row: dict[str, Any], finding: dict[str, Any]) -> bool:
    """Whether a finding is a difference that records cover: it failed, and yet nothing is wrong with it."""
    return finding["rule"] == "run.parity" and finding["status"] == "failed" and bool(excused_by(row))


def unheld(row: dict[str, Any]) -> dict[str, Any] | None:
    """The finding that records would cover every difference of the row, if only their regression tests held."""
    if not row["covered_by"] or row["uncovered"]:
        return None
    covers = (finding for finding in row["findings"] if finding["rule"] == "exception.covers")
    return next((finding for finding in covers if finding["status"] == "failed"), None)


def status(finding: dict[str, Any], row: dict[str, Any] | None = None) -> str:
    """A finding's status in words."""
    if row is not None and excused(row, finding):
        return f"differs, covered by {excused_by(row)}"
    if row is not None and finding["rule"] == "run.parity" and finding["status"] == "failed":
        would = unheld(row)
        return "failed" if would is None else f"differs; {would['message']}"
    return str(finding["status"]).replace("_", " ")


def message(finding: dict[str, Any]) -> str:
    """A finding's message, with its arm where the message itself does not name it."""
    told = finding["arm"] is None or finding["arm"] in finding["message"]
    return str(finding["message"]) if told else f"{finding['message']} ({finding['arm']})"


def messages(findings: list[dict[str, Any]]) -> list[tuple[dict[str, Any], str]]:
    """Findings with their messages; what two in a row say of either arm is said once, of both."""
    found: list[tuple[dict[str, Any], str]] = []
    for finding in findings:
        text = message(finding)
        last = found[-1] if found else None
        same = last is not None and (last[0]["rule"], last[0]["status"]) == (finding["rule"], finding["status"])
        joint = on_both_arms(last[1], text) if last is not None and same else None
        if last is not None and joint is not None:
            found[-1] = (last[0] | {"arm": None}, joint)
        else:
            found.append((finding, text))
    return found


def needs_attention(row: dict[str, Any]) -> list[dict[str, Any]]:
    """Findings of a row that do not hold; of a row that is not finished only what did not run."""
    told = unheld(row)  # beside run.parity, by `status`
    bad = [
        finding
        for finding in row["findings"]
        if finding["status"] in ("failed", "missing") and not excused(row, finding) and finding is not told
    ]
    if row["result"] == "INCOMPLETE":
        return [finding for finding in bad if finding["rule"] == "run.fresh"]
    return bad


def last_words(entry: dict[str, Any], finding: dict[str, Any]) -> str:
    """What a regression test that does not hold wrote last, on one line; empty where it holds or wrote nothing.

    `entry` is the exception record in the report, `finding` one about it (of both arms where its arm is None).
    """
    if finding["rule"] != "exception.test" or finding["status"] == "satisfied":
        return ""
    arms = ("baseline", "candidate") if finding["arm"] is None else (finding["arm"],)
    found = [_last_line(entry["tests"].get(arm) or {}) for arm in arms]
    return "; ".join(dict.fromkeys(filter(None, found)))


def _last_line(test: dict[str, Any]) -> str:
    for stream, name in (("stderr", "standard error"), ("stdout", "standard output")):
        plain = _ESCAPES.sub("", str(test.get(stream) or ""))
        lines = [" ".join("".join(c if c.isprintable() else " " for c in line).split()) for line in plain.splitlines()]
        last = next(filter(None, reversed(lines)), "")
        if last:
            cut = last if len(last) <= LAST_WORDS else last[: LAST_WORDS - 1] + "…"
            return f"its {name} ends: {cut}"
    return ""
