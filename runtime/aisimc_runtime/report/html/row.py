"""One row of the campaign as a section of the page."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from aisimc_compiler.rules.refusal import plural
from aisimc_runtime.report import judged
from aisimc_runtime.report import wording as say
from aisimc_runtime.report.html import charts, differences
from aisimc_runtime.report.html.markup import anchor, chip, copy, facts, prose, table, text, tone


def render(row: dict[str, Any]) -> str:
    """The section of one row."""
    return (
        f'<article class="{tone(row["result"])}" id="{anchor(row["name"])}">{_title(row)}{_reasons(row)}{_facts(row)}'
        f"{_charts(row)}{_differences(row)}{_checks(row)}{_replays(row)}{_configuration(row)}</article>"
    )


def _title(row: dict[str, Any]) -> str:
    kind = "fixture, " if row["kind"] == "fixture" else ""
    shape = f"{say.ENGINES[row['engine']]}, {row['topology']['kind']}, {say.topology(row['topology'])}"
    return (
        f'<div class="title"><h3>{text(row["name"])}</h3>{chip(row["result"])}</div>'
        f'<p class="sub">{kind}{text(shape)}, input {text(row["input"])}</p>'
    )


def _reasons(row: dict[str, Any]) -> str:
    if not row["reasons"]:
        return ""
    return '<ul class="reasons">' + "".join(f"<li>{prose(reason)}</li>" for reason in row["reasons"]) + "</ul>"


def _facts(row: dict[str, Any]) -> str:
    found = [arm["evidence"] for arm in row["arms"].values() if arm["evidence"] is not None]
    figures: dict[str, Callable[[dict[str, Any]], str]] = {
        "requests completed": lambda arm: f"{arm['completed_requests']:,} of {arm['requests']:,}",
        say.EVENTS[row["engine"]]: say.pressure,
        "reused a prefix": lambda arm: f"{arm['requests_with_reuse']:,}",
        "waited for admission": lambda arm: f"{arm['requests_that_waited']:,}",
        "virtual duration": _duration,
    }
    if any(arm["handoffs"]["complete"] or arm["handoffs"]["partial"] for arm in found):
        figures["complete handoffs"] = lambda arm: f"{arm['handoffs']['complete']:,}"
    pairs = [(name, text(say.both(row, of))) for name, of in figures.items()] if found else []
    pairs += _digests(row)
    return facts(pairs) if pairs else ""


def _duration(arm: dict[str, Any]) -> str:
    return charts.duration(arm["virtual_duration_ms"] or 0)


def _digests(row: dict[str, Any]) -> list[tuple[str, str]]:
    found = {arm: row["arms"][arm]["digests"] for arm in ("baseline", "candidate")}
    if found["baseline"] == found["candidate"] and len(found["baseline"]) == 1:
        return [("SHA-256 of both arms", copy(found["baseline"][0], found["baseline"][0][:12]))]
    return [
        (f"{arm} SHA-256", copy(digests[0], digests[0][:12]) if len(digests) == 1 else f"{len(digests)} different ones")
        for arm, digests in found.items()
        if digests
    ]


def _charts(row: dict[str, Any]) -> str:
    curves = dict(row["curves"])
    same = curves.get("candidate") == "as baseline"
    if same:
        curves["candidate"] = curves["baseline"]
    if not curves:
        return ""
    evidence = row["arms"]["baseline"]["evidence"] or row["arms"]["candidate"]["evidence"]
    parting = (row["difference"] or {}).get("first_parting")
    at_ms = parting["at_ms"] if parting else None
    drift = curves.pop("drift", None)
    pictures = [
        charts.drift_chart(drift, at_ms),
        charts.timeline_chart(curves, at_ms, requests=evidence["requests"]),
        charts.quantile_chart("Time to first token", {arm: found["ttft_ms"] for arm, found in curves.items()}),
        charts.quantile_chart("End-to-end latency", {arm: found["e2e_ms"] for arm, found in curves.items()}),
    ]
    note = "; both arms are the same bytes, so the lines coincide" if same else ""
    legend = (
        f'<p class="legend"><span><i></i>baseline</span><span><i class="b"></i>candidate{note}</span>'
        f"<span>▲ {say.EVENTS[row['engine']]} of the baseline, ▼ of the candidate</span></p>"
    )
    return f'<div class="charts{" four" if drift else ""}">{"".join(pictures)}</div>{legend}'


def _differences(row: dict[str, Any]) -> str:
    parts = []
    if row["difference"] is not None:
        command = say.every_class(row["name"])
        parts.append(differences.render(row["difference"], ("baseline", "candidate"), command))
    for arm, found in row["instability"].items():
        title = f"<h4>The {text(arm)} differs from itself</h4>"
        names, command = (f"{arm}, process 1", f"{arm}, process 2"), say.every_class(row["name"], arm)
        parts.append(title + differences.render(found, names, command))
    return "".join(parts)


def _checks(row: dict[str, Any]) -> str:
    bad = judged.needs_attention(row)
    excused = [finding for finding in row["findings"] if judged.excused(row, finding)]
    good = [finding for finding in row["findings"] if finding["status"] not in ("failed", "missing")]
    parts = []
    if bad:
        parts.append(f"<h4>What does not hold</h4>{checks(bad, row)}")
    if excused:
        parts.append(f"<h4>What exception records cover</h4>{checks(excused, row)}")
    if good:
        parts.append(f"<details><summary>{plural(len(good), 'check')} held</summary>{checks(good)}</details>")
    return "".join(parts)


def checks(findings: list[dict[str, Any]], row: dict[str, Any] | None = None) -> str:
    """Findings as a list; `row` where exception records may cover one of them."""
    return f'<ul class="checks">{"".join(_check(*pair, row) for pair in judged.messages(findings))}</ul>'


def _check(finding: dict[str, Any], message: str, row: dict[str, Any] | None) -> str:
    derived = ' <span class="derived">(derived from the records)</span>' if finding["derived"] else ""
    held = finding["status"] == "satisfied"
    state = "" if held else f'<b class="state">{prose(judged.status(finding, row))}:</b> '
    css = "warn" if row is not None and judged.excused(row, finding) else tone(finding["status"])
    return (
        f'<li class="{css}"><span class="rule">{text(finding["rule"])}</span> '
        f"<span>{state}{prose(message)}{derived}</span></li>"
    )


def _replays(row: dict[str, Any]) -> str:
    lines = []
    for arm, entry in row["arms"].items():
        for replay in entry["replays"]:
            if not replay["ran"]:
                continue
            node = replay["node"] or {}
            digest = replay["canonical_sha256"]
            lines.append(
                [
                    f"{arm} {replay['repetition']}",
                    text(node.get("hostname", "–")),
                    text(_list(replay["cpus"])),
                    text(_list(replay["numa"])),
                    "–" if replay["wall_ms"] is None else f"{replay['wall_ms'] / 1000:.2f} s",
                    "–" if replay["max_rss_bytes"] is None else f"{replay['max_rss_bytes'] / 2**20:.0f} MiB",
                    f"<code>{digest[:12]}</code>" if digest else text(replay["error"] or "–"),
                ]
            )
    if not lines:
        return ""
    head = ["replay", "node", "CPUs", "NUMA", "wall", "memory", "canonical SHA-256 or error"]
    body = table("Processes of this row", head, lines, numeric=frozenset({4, 5}))
    return f"<details><summary>Where and how {plural(len(lines), 'replay')} ran</summary>{body}</details>"


def _list(values: Any) -> str:
    return ", ".join(map(str, values)) if values else "–"


def _configuration(row: dict[str, Any]) -> str:
    if row["configuration"] is None:
        return ""
    body = text(json.dumps(row["configuration"], indent=2, sort_keys=True, ensure_ascii=False))
    digest = copy(row["configuration_sha256"], row["configuration_sha256"][:12])
    return (
        f"<details><summary>Frozen configuration</summary><p>SHA-256 {digest}, the same bytes for both arms</p>"
        f'<pre tabindex="0">{body}</pre></details>'
    )
