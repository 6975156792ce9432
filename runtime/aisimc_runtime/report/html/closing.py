"""The parts after the rows: what was not covered, exceptions, campaign rules, performance, pins."""

from __future__ import annotations

from typing import Any

from aisimc_compiler.rules.refusal import plural
from aisimc_runtime.report import judged
from aisimc_runtime.report import wording as say
from aisimc_runtime.report.html.markup import copy, path, prose, table, text, tone
from aisimc_runtime.report.html.row import checks
from aisimc_runtime.sizes import in_units


def coverage(report: dict[str, Any]) -> str:
    """What this campaign says nothing about."""
    items = [f"<b>{text(name)}</b>: {prose(reason)}" for name, reason in say.uncovered_coverage(report)]
    if report["campaign"]["corpus"] != "long":
        items.insert(0, "The corpus is a preflight: nothing here stands for a long one.")
    if not items:
        items.append("Nothing of the engine-only matrix is left out.")
    items.append("Placement is round-robin and nothing scales; no planner, router or KVBM ran.")
    return "<h2>Not covered</h2><ul class=plain>" + "".join(f"<li>{item}</li>" for item in items) + "</ul>"


def exceptions(report: dict[str, Any]) -> str:
    """Every exception record, whole."""
    if not report["exceptions"]:
        return ""
    return "<h2>Exceptions</h2>" + "".join(_exception(entry) for entry in report["exceptions"])


def _exception(entry: dict[str, Any]) -> str:
    record = entry["record"]
    good = all(finding["status"] == "satisfied" for finding in entry["findings"])
    requests = "all requests" if record["requests"] == "all" else f"requests {', '.join(record['requests'])}"
    fields = " ".join(path(pattern) for pattern in record["differs"])
    keys = ("baseline", "candidate", "source", "cause", "impact", "disposition")
    rows = [["differs", f"{fields}, {text(requests)}"], *([key, prose(record[key])] for key in keys)]
    rows.append(["regression test", f"<code>{text(' '.join(record['regression_test']['command']))}</code>"])
    return (
        f'<article class="{tone("PASS_WITH_SEMANTIC_EXCEPTIONS" if good else "FAIL")}"><h3>{text(entry["name"])}</h3>'
        f'<p class="sub">row {text(record["row"])}</p>{checks(entry["findings"])}{_words(entry)}<br>'
        f"{table('The record', ['', ''], rows)}{_tests(entry)}</article>"
    )


def _words(entry: dict[str, Any]) -> str:
    """What tests that do not hold wrote last; the whole of it is below."""
    found = dict.fromkeys(judged.last_words(entry, finding) for finding in entry["findings"])
    return "".join(f'<p class="note">{text(words)}</p>' for words in found if words)


def _tests(entry: dict[str, Any]) -> str:
    parts = []
    for arm, test in entry["tests"].items():
        if test is not None:
            out = "\n".join(part for part in (test.get("stdout"), test.get("stderr")) if part)
            title = f"Regression test on the {arm}: exit status {test.get('exit_status')}"
            parts.append(f'<details><summary>{text(title)}</summary><pre tabindex="0">{text(out)}</pre></details>')
    return "".join(parts)


def campaign(report: dict[str, Any]) -> str:
    """Rules about the whole campaign."""
    if not report["findings"]:
        return ""
    return "<h2>Checks of the whole campaign</h2>" + checks(report["findings"])


def performance(report: dict[str, Any]) -> str:
    """The gate, or that nothing was measured."""
    if report["performance"] is None:
        return "<h2>Performance</h2><p class=note>Not measured: the campaign declares no gate.</p>"
    from aisimc_runtime.gate.pictures import ratios_svg
    from aisimc_runtime.gate.terminal import lines

    pictures = "".join(ratios_svg(gate) for gate in report["performance"]["rows"])
    body = text("\n".join(lines(report["performance"])))
    return f'<h2>Performance</h2><div class="gate"><pre>{body}</pre>{pictures}</div>'


def pins(report: dict[str, Any]) -> str:
    """Everything that was pinned, to be copied."""
    rows = [row for arm, entry in report["revisions"].items() for row in _revision(arm, entry)]
    for name, entry in report["inputs"].items():
        window = entry["slice"]
        last = window["start"] + window["rows"] - 1
        rows.append([f"input {text(name)}", copy(entry["sha256"]), plural(entry["rows"], "row")])
        where = f"rows {window['start']:,} to {last:,}"
        rows.append([f"slice of {text(name)}", copy(window["sha256"]), where])
    if report["build"]:
        build = report["build"]
        words = f"{build['profile']} profile, features {', '.join(build['features']) or 'none'}"
        rows.append(["build", f"<code>{text(build['toolchain'])}</code>", text(words)])
    rows += [["excluded", copy(pointer), "not compared"] for pointer in report["exclusions"]]
    rows.append(["plan digest", copy(report["plan_digest"]), ""])
    rows.append(["report digest", copy(report["digest"]), "semantic part"])
    return "<h2>Pins</h2>" + table("What this verdict stands on", ["what", "pinned", ""], rows)


def _revision(arm: str, entry: dict[str, Any]) -> list[list[str]]:
    pinned, artifact = entry["pinned"], entry["artifact"]
    rows = [[arm, copy(say.revision_name(pinned)), text(pinned["source"])]]
    if pinned.get("sha256"):
        rows.append(
            [f"{arm} {'wheel' if pinned['source'] == 'wheel' else 'source'}", copy(pinned["sha256"]), "SHA-256"]
        )
    if pinned.get("patch"):
        rows.append([f"{arm} patch", copy(pinned["patch"]["sha256"]), text(pinned["patch"]["file"])])
    if artifact is not None and artifact["sha256"]:
        told = "" if artifact["size_bytes"] is None else in_units(artifact["size_bytes"])
        if artifact["text_size_bytes"] is not None:
            told += f", .text {in_units(artifact['text_size_bytes'])}"
        rows.append([f"{arm} artifact", copy(artifact["sha256"]), text(told)])
        if artifact["runner_source_sha256"]:
            rows.append([f"{arm} runner source", copy(artifact["runner_source_sha256"]), "SHA-256"])
    rows += [[f"{arm} correction", copy(one["sha256"]), text(one["name"])] for one in entry["correction"]]
    return rows
