"""The report as JUnit XML: one suite for each row, one case for each rule and arm."""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree as Xml


def render(report: dict[str, Any]) -> str:
    """JUnit XML of a report object; what was not covered or is not observable is skipped, never passed."""
    root = Xml.Element("testsuites", name=str(report["campaign"]["name"]))
    for row in report["rows"]:
        _suite(root, row["name"], row["findings"], skipped=row["result"] in ("NOT_COVERED",), reasons=row["reasons"])
    _suite(root, "campaign", report["findings"])
    for entry in report["exceptions"]:
        _suite(root, f"exception {entry['name']}", entry["findings"])
    verdict = report["verdict"]
    if verdict["semantic"] is None:
        suite = Xml.SubElement(root, "testsuite", name="verdict", tests="1", failures="0", errors="1", skipped="0")
        case = Xml.SubElement(suite, "testcase", classname="verdict", name=str(verdict["state"]))
        Xml.SubElement(case, "error", message=_clean("; ".join(verdict["reasons"])))
    Xml.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + Xml.tostring(root, encoding="unicode") + "\n"


def _suite(
    root: Xml.Element, name: str, findings: list[dict[str, Any]], *, skipped: bool = False, reasons: Any = ()
) -> None:
    covered = _covered(findings)
    outcomes = [_outcome(finding, covered) for finding in findings]
    suite = Xml.SubElement(
        root,
        "testsuite",
        name=name,
        tests=str(len(findings) + skipped),
        failures=str(outcomes.count("failure")),
        errors=str(outcomes.count("error")),
        skipped=str(outcomes.count("skipped") + skipped),
    )
    for number, (finding, outcome) in enumerate(zip(findings, outcomes, strict=True), 1):
        where = f" {finding['arm']}" if finding["arm"] else ""
        case = Xml.SubElement(suite, "testcase", classname=name, name=f"{number:02d} {finding['rule']}{where}")
        if outcome is None:
            Xml.SubElement(case, "system-out").text = _clean(finding["message"])
        else:
            child = Xml.SubElement(case, outcome, message=_clean(finding["message"]))
            child.text = _clean(f"expected {finding['expected']!r}, observed {finding['observed']!r}")
    if skipped:
        case = Xml.SubElement(suite, "testcase", classname=name, name="not covered")
        Xml.SubElement(case, "skipped", message=_clean("; ".join(reasons)))


def _covered(findings: list[dict[str, Any]]) -> bool:
    return any(f["rule"] == "exception.covers" and f["status"] == "satisfied" for f in findings)


def _outcome(finding: dict[str, Any], covered: bool) -> str | None:
    if finding["rule"] == "run.parity" and covered:
        return "skipped"
    return {"failed": "failure", "missing": "error", "not_observable": "skipped"}.get(finding["status"])


def _clean(text: str) -> str:
    """Text without the control characters that XML 1.0 cannot hold."""
    return "".join(char if char >= " " or char in "\t\n" else "�" for char in text)
