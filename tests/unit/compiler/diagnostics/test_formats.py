"""JSON, GitHub and SARIF: the same diagnostics, for programs."""

from __future__ import annotations

import json

from aisimc_compiler.diagnostics.model import Diagnostic, Label, Replacement
from aisimc_compiler.diagnostics.render import github, sarif
from aisimc_compiler.diagnostics.render import json as as_json
from aisimc_compiler.source import Source, Span

SOURCE = Source("campaigns/a b.campaign", "x = 1\ny: 2, 100 %\n")
FOUND = Diagnostic(
    "syntax",
    Span(SOURCE, 7, 8),
    "an attribute is set with `=`, not `:`\nreally: 100 %",
    "here",
    ("first note", "second note"),
    "write `=`",
    Replacement(Span(SOURCE, 7, 8), " =", True),
    (Label(Span(SOURCE, 0, 1), "as here"),),
)
LONG = Diagnostic("name.missing", Span(SOURCE, 0, 9), "runs over a line end", severity="warning")


def code_of(rule: str) -> str:
    return {"syntax": "AC0001", "name.missing": "AC0005"}[rule]


def describe(rule: str) -> tuple[str, str, str]:
    return code_of(rule), f"title of {rule}", f"reason of {rule}"


def test_json_has_the_members_of_the_language_reference() -> None:
    (found, long) = json.loads(as_json.render([FOUND, LONG], code_of))["diagnostics"]
    members = [
        "code",
        "rule",
        "severity",
        "message",
        "file",
        "line",
        "column",
        "end_line",
        "end_column",
        "notes",
        "help",
        "replacement",
    ]
    assert {name: found[name] for name in members} == {
        "code": "AC0001",
        "rule": "syntax",
        "severity": "error",
        "message": "an attribute is set with `=`, not `:`\nreally: 100 %",
        "file": "campaigns/a b.campaign",
        "line": 2,
        "column": 2,
        "end_line": 2,
        "end_column": 3,
        "notes": ["first note", "second note"],
        "help": "write `=`",
        "replacement": " =",
    }
    assert found["replacement_is_safe"] is True
    assert found["replacement_range"]["column"] == 2
    assert [label["message"] for label in found["related"]] == ["as here"]
    assert (long["replacement"], long["severity"], long["end_line"]) == (None, "warning", 2)


def test_json_without_diagnostics() -> None:
    assert json.loads(as_json.render([], code_of)) == {"diagnostics": []}


def test_json_takes_any_text() -> None:
    source = Source("\udcff", "\ud800")
    text = as_json.render([Diagnostic("syntax", Span(source, 0, 1), "\ud800")], code_of)
    assert text.encode("ascii")


def test_github_escapes_what_would_end_a_command() -> None:
    first, second = github.render([FOUND, LONG], code_of)
    assert first == (
        "::error file=campaigns/a b.campaign,line=2,endLine=2,title=AC0001 syntax,col=2,endColumn=2::"
        "an attribute is set with `=`, not `:` really: 100 %25%0Afirst note%0Asecond note%0Ahelp: write `=`\n"
    )
    assert second.startswith("::warning file=campaigns/a b.campaign,line=1,endLine=2,title=AC0005 name.missing::")


def test_github_escapes_properties() -> None:
    source = Source("a,b:c%.campaign", "x")
    (line,) = github.render([Diagnostic("syntax", Span(source, 0, 1), "m")], code_of)
    assert "file=a%2Cb%3Ac%25.campaign," in line


def test_sarif_has_what_version_2_1_0_requires() -> None:
    log = json.loads(sarif.render([FOUND, LONG, FOUND], describe, "0.1.0"))
    assert log["version"] == "2.1.0"
    assert log["$schema"].endswith("sarif-schema-2.1.0.json")
    (run,) = log["runs"]
    driver = run["tool"]["driver"]
    assert driver["name"] == "aisimc"
    assert [rule["id"] for rule in driver["rules"]] == ["AC0005", "AC0001"]
    assert all(rule["shortDescription"]["text"] and rule["fullDescription"]["text"] for rule in driver["rules"])
    for result in run["results"]:
        assert driver["rules"][result["ruleIndex"]]["id"] == result["ruleId"]
        assert result["level"] in ("error", "warning")
        assert result["message"]["text"]
        region = result["locations"][0]["physicalLocation"]["region"]
        assert region["startLine"] >= 1
        assert region["startColumn"] >= 1
        assert (region["endLine"], region["endColumn"]) >= (region["startLine"], region["startColumn"])
    first = run["results"][0]
    assert first["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "campaigns/a%20b.campaign"
    assert first["relatedLocations"][0]["message"]["text"] == "as here"
    (change,) = first["fixes"][0]["artifactChanges"]
    assert change["replacements"][0]["insertedContent"]["text"] == " ="
    assert run["columnKind"] == "unicodeCodePoints"
