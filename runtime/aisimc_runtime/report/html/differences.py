"""A focused difference on the page: where the two sides part, the events around it, the classes."""

from __future__ import annotations

from typing import Any

from aisimc_runtime.report import wording as say
from aisimc_runtime.report.html.markup import path, table, text

_CLASSES = 14


def render(difference: dict[str, Any], names: tuple[str, str]) -> str:
    """The difference of two records, named after the sides."""
    return _parting(difference, names) + _classes(difference)


def _parting(difference: dict[str, Any], names: tuple[str, str]) -> str:
    found, counts = difference["first_parting"], difference["requests"]
    spread = (
        f"<p>{counts['differing']:,} of {counts['compared']:,} requests differ, {difference['values']:,} values in all."
    )
    for key, name in (("only_a", names[0]), ("only_b", names[1])):
        if counts[key]:
            spread += f" {len(counts[key]):,} requests are on the {text(name)} only."
    if counts["order"] == "different":
        spread += " The records stand in another order."
    if difference.get("same_values"):
        return f'<div class="part-box"><h4>Only spelling differs</h4>{spread} The values are the same.</p></div>'
    if found is None:
        title = "No parting in time"
        return f'<div class="part-box"><h4>{title}</h4>{spread} No point in virtual time differs.</p></div>'
    return (
        f'<div class="part-box"><h4>They first part at {found["at_ms"]!r} ms of virtual time</h4>'
        f"<p>{text(found['request'])} <code>{text(found['field'])}</code>: "
        f"<code>{_literal(found['a'])}</code> on the {text(names[0])}, "
        f"<code>{_literal(found['b'])}</code> on the {text(names[1])}.</p>{spread}</p>"
        f'<div class="sides">{_side(found, "a", names[0])}{_side(found, "b", names[1])}</div></div>'
    )


def _literal(literal: str | None) -> str:
    return "not there" if literal is None else text(literal)


def _side(found: dict[str, Any], side: str, name: str) -> str:
    around = found["events"][side]
    items = "".join(_event(event, "") for event in around["before"])
    items += "".join(_event(event, "from") for event in around["from"])
    return f'<div><b>Around it on the {text(name)}</b><ol class="events">{items}</ol></div>'


def _event(event: dict[str, Any], css: str) -> str:
    return (
        f'<li class="{css}"><span>{event["at_ms"]:,.3f} ms</span>'
        f"<span>{text(event['request'])} {text(event['what'])}</span></li>"
    )


def _classes(difference: dict[str, Any]) -> str:
    rows = [
        [
            path(entry["pattern"]),
            text(entry["change"]),
            f"{entry['count']:,}",
            f"{entry['requests']:,}",
            f"<span class=size>{text(say.change_size(entry))}</span>",
        ]
        for entry in difference["classes"][:_CLASSES]
    ]
    left = difference["classes_in_all"] - len(rows)
    caption = "What differs, in classes" + (f" ({left} more in report.json and `aisimc diff`)" if left > 0 else "")
    head = ["field", "change", "values", "requests", "size"]
    return "<h4>Differences</h4>" + table(caption, head, rows, numeric=frozenset({2, 3}))
