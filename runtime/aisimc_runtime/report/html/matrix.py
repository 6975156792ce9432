"""The engine-only matrix as a grid of results, and every row as a table."""

from __future__ import annotations

from typing import Any

from aisimc_runtime.compare.words import cell
from aisimc_runtime.report import judged
from aisimc_runtime.report import wording as say
from aisimc_runtime.report.html.charts import duration
from aisimc_runtime.report.html.markup import anchor, chip, prose, table, text, tone

_COLUMNS = (
    ("aggregated", "aggregated"),
    ("disaggregated", "disaggregated, dp 1"),
    ("disaggregated-adp2-4", "disaggregated, dp 2/4"),
)
_WORDS = {"PASS": "pass", "PASS_WITH_SEMANTIC_EXCEPTIONS": "exceptions", "FAIL": "fail", "INCOMPLETE": "not finished"}


def grid(report: dict[str, Any]) -> str:
    """Engines down, topologies across; each cell leads to its row."""
    rows = {row["matrix_id"]: row for row in report["rows"] if row.get("matrix_id")}
    reasons = {entry["id"]: entry["reason"] for entry in report["coverage"]}
    cells = ['<span class="head corner"></span>', *(_head(title) for _, title in _COLUMNS)]
    for engine, name in say.ENGINES.items():
        cells.append(f'<span class="side">{name}</span>')
        for shape, title in _COLUMNS:
            key = f"{engine}-{shape}"
            cells.append(_cell(rows.get(key), name, title, reasons.get(key)))
    return f'<div class="matrix">{"".join(cells)}</div>'


def _head(title: str) -> str:
    """A column's head; on a phone every dp stands on a line of its own."""
    shape, _, dp = title.partition(", ")
    return f'<span class="head">{shape}{f", <span>{dp}</span>" if dp else ""}</span>'


def _cell(row: dict[str, Any] | None, engine: str, title: str, reason: str | None) -> str:
    if row is None and reason is None:
        return '<span class="cell none"><b>–</b>the matrix has no such row</span>'
    if row is None:
        return (
            f'<span class="cell none"><b>not covered</b>{prose(_short(reason or "not part of this campaign"))}</span>'
        )
    word = "refused as expected" if row["expect_error"] and row["result"] == "PASS" else _WORDS.get(row["result"], "–")
    return (
        f'<a class="cell {tone(row["result"])}" href="#{anchor(row["name"])}" '
        f'aria-label="{text(f"{engine} {title}: {word}")}"><b>{text(word)}</b>{prose(_detail(row))}</a>'
    )


def _detail(row: dict[str, Any]) -> str:
    if row["difference"] is not None:
        parting = row["difference"]["first_parting"]
        told = [cell(row["difference"], duration(parting["at_ms"]) if parting else "")]
        pressure = any(finding["rule"] == "run.pressure" for finding in judged.needs_attention(row))
        return "; ".join(told + [say.pressure_words(row)] * pressure)
    if row["instability"]:
        return f"{' and '.join(row['instability'])} unstable"
    return say.pressure_words(row)


def _short(words: str) -> str:
    return words if len(words) <= 48 else words[:46] + "…"


def listing(report: dict[str, Any]) -> str:
    """Every row with its figures."""
    rows = [
        [
            f'<a href="#{anchor(row["name"])}">{text(row["name"])}</a>',
            chip(row["result"]),
            text(say.topology(row["topology"])),
            *(text(figure) for figure in (say.requests(row), say.both_pressures(row), say.virtual_ms(row))),
            f"<code>{text(say.digest_cell(row))}</code>",
        ]
        for row in report["rows"]
    ]
    head = ["row", "result", "topology", "requests", "pressure", "virtual ms", "canonical SHA-256"]
    note = f'<p class="note">{text(say.arrows(report))}</p>' if say.arrows(report) else ""
    return table("Every row of the campaign", head, rows, numeric=frozenset({3, 4, 5})) + note
