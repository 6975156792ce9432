"""The report as one self-contained page: no resource from elsewhere, legible on laptop and phone, light and dark."""

from __future__ import annotations

from typing import Any

from aisimc_runtime.report import wording as say
from aisimc_runtime.report.html import closing, matrix, row
from aisimc_runtime.report.html.markup import copy, facts, prose, text, tone
from aisimc_runtime.report.html.style import SCRIPT, STYLE

_POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'"
_REASONS = 12


def render(report: dict[str, Any]) -> str:
    """The page of a report object."""
    headline = say.headline(report)
    sections = "".join(row.render(entry) for entry in report["rows"])
    name = text(report["campaign"]["name"])
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{text(headline)}: {name}</title><style>{STYLE}</style></head>"
        f'<body><a class="skip" href="#rows">Skip to the rows</a>{_top(report, headline)}<main>'
        f"<h2>The matrix</h2>{matrix.grid(report)}<h2>Rows</h2>{matrix.listing(report)}"
        f'<h2 id="rows">Row by row</h2>{sections}{closing.exceptions(report)}{closing.coverage(report)}'
        f"{closing.campaign(report)}{closing.performance(report)}{closing.pins(report)}</main>"
        f"<footer>Written by aisimc {text(report['tool']['version'])} from the run's folder alone; "
        f"<code>aisimc verify</code> checks it again.</footer><script>{SCRIPT}</script></body></html>\n"
    )


def _top(report: dict[str, Any], headline: str) -> str:
    campaign, verdict = report["campaign"], report["verdict"]
    arms = "".join(
        f'<p class="{css}"><b>{arm}</b>{text(say.revision(report["revisions"][arm]["pinned"]))}{more}</p>'
        for arm, css, more in (("baseline", "base", ""), ("candidate", "cand", f"<i>{prose(say.relation(report))}</i>"))
    )
    requests = sum(
        (entry["arms"]["baseline"]["evidence"] or entry["arms"]["candidate"]["evidence"] or {"requests": 0})["requests"]
        for entry in report["rows"]
    )
    pairs = [
        ("rows", str(len(report["rows"]))),
        ("replays", str(say.replays(report))),
        ("requests compared", f"{requests:,}"),
        ("performance", _performance(report)),
        ("report digest", copy(report["digest"], report["digest"][:12])),
    ]
    return (
        f'<header class="top {tone(headline)}"><div><p class="kicker">{text(campaign["name"])} · '
        f"{text(say.corpus(report))}</p><h1>{text(headline.replace('_', ' '))}{_gate(report)}</h1>"
        f'<p class="lead">{prose(say.explanation(report))}</p>{_blocked(verdict)}{_reasons(verdict)}'
        f'<p class="note">{prose(campaign["purpose"])}</p><div class="arms">{arms}</div>{facts(pairs)}</div></header>'
    )


def _performance(report: dict[str, Any]) -> str:
    """The gate's result, as loud as the verdict where one is declared."""
    found = report["verdict"]["performance"]
    words = text(say.performance(report).split(" (")[0])
    tones = {"PASS": "good", "FAIL": "bad"}
    return words if found is None else f'<span class="chip {tones.get(found, "warn")}">{words}</span>'


def _gate(report: dict[str, Any]) -> str:
    """A declared gate that did not pass stands beside the verdict: nobody may take one for the other."""
    found = report["verdict"]["performance"]
    if found in (None, "PASS"):
        return ""
    css = "bad" if found == "FAIL" else "warn"
    return f' <span class="beside {css}">performance {text(say.performance(report))}</span>'


def _blocked(verdict: dict[str, Any]) -> str:
    blocked = verdict["blocked"]
    if not blocked:
        return ""
    help_text = f'<p class="note">{prose(blocked["help"])}</p>' if blocked["help"] else ""
    return f'<p class="lead"><b>{prose(blocked["message"])}</b></p>{help_text}'


def _reasons(verdict: dict[str, Any]) -> str:
    if verdict["blocked"] or not verdict["reasons"]:
        return ""
    items = "".join(f"<li>{prose(reason)}</li>" for reason in verdict["reasons"][:_REASONS])
    left = len(verdict["reasons"]) - _REASONS
    more = f"<li>and {left} more</li>" if left > 0 else ""
    return f'<ul class="reasons">{items}{more}</ul>'
