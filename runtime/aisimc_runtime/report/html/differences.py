"""A focused difference on the page: where the two sides part, the events around it, the classes."""

from __future__ import annotations

from typing import Any

from aisimc_compiler.rules.refusal import plural
from aisimc_runtime.report import wording as say
from aisimc_runtime.report.html.markup import copy, path, table, text
from aisimc_runtime.sizes import in_ms

_CLASSES = 14


def render(difference: dict[str, Any], names: tuple[str, str], all_of_them: str) -> str:
    """The difference of two records, named after the sides; `all_of_them` is a command that lists every class."""
    classes = "" if difference.get("same_values") else _classes(difference, all_of_them)
    return _parting(difference, names) + classes


def _parting(difference: dict[str, Any], names: tuple[str, str]) -> str:
    found = difference["first_parting"]
    spread = "<p>" + " ".join(map(_sentence, (say.spread(difference), *say.only_on(difference, names))))
    if difference.get("same_values"):
        title = "Only spelling differs"
        return f'<div class="part-box"><h4>{title}</h4><p>{_sentence(say.no_parting(difference))}</p></div>'
    if found is None:
        title = _sentence(say.no_parting(difference)).removesuffix(".")
        return f'<div class="part-box"><h4>{title}</h4>{spread}</p></div>'
    return (
        f'<div class="part-box"><h4>They first part at {in_ms(found["at_ms"])} ms of virtual time</h4>'
        f"<p>{text(found['request'])} {path(found['field'])}: "
        f"<code>{_literal(found['a'])}</code> on the {text(names[0])}, "
        f"<code>{_literal(found['b'])}</code> on the {text(names[1])}.</p>{spread}</p>"
        f'<div class="sides">{_side(found, "a", names[0])}{_side(found, "b", names[1])}</div></div>'
    )


def _sentence(words: str) -> str:
    return f"{text(words[:1].upper() + words[1:])}."


def _literal(literal: str | None) -> str:
    return "not there" if literal is None else text(literal)


def _side(found: dict[str, Any], side: str, name: str) -> str:
    around = found["events"][side]
    items = "".join(_event(event, "") for event in around["before"])
    items += "".join(_event(event, "from") for event in around["from"])
    return f'<div><b>Around it on the {text(name)}</b><ol class="events">{items}</ol></div>'


def _event(event: dict[str, Any], css: str) -> str:
    return (
        f'<li class="{css}"><span>{in_ms(event["at_ms"])} ms</span>'
        f"<span>{text(event['request'])} {text(event['what'])}</span></li>"
    )


def _classes(difference: dict[str, Any], all_of_them: str) -> str:
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
    more = f"<p class=note>And {plural(left, 'more class', 'more classes')}: {copy(all_of_them)} lists all.</p>"
    head = ["field", "change", "values", "requests", "size"]
    listed = table("What differs, in classes", head, rows, numeric=frozenset({2, 3}))
    return f"<h4>Differences</h4>{listed}{more if left > 0 else ''}"
