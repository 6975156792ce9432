"""What is told about the word under the pointer: its meaning, the rule it breaks, the values a row takes over."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from aisimc_compiler.api import CheckResult
from aisimc_compiler.editor.names import Occurrence, at
from aisimc_compiler.editor.place import Place, attribute_at, block_at, place_at, tokens_of
from aisimc_compiler.model.campaign import Campaign, Given, Row
from aisimc_compiler.model.vocabulary import Attribute, Block
from aisimc_compiler.records import NamedTuple
from aisimc_compiler.source import Source, Span


class Told(NamedTuple):
    """Markdown text about a range of the source."""

    text: str
    start: int
    end: int


def hover(source: Source, offset: int, checked: CheckResult, names: list[Occurrence]) -> Told | None:
    """What to tell at an offset, or None."""
    span = _word_at(source.text, offset)
    parts = list(_broken_rules(source, offset, checked))
    one = at(names, source, offset)
    if one is not None:
        parts += _about_name(one, checked)
    elif span is not None:
        parts += _about_word(source.text, *span)
    if not parts:
        return None
    start, end = span or (offset, offset)
    return Told("\n\n".join(parts), start, end)


def _word_at(text: str, offset: int) -> tuple[int, int] | None:
    tokens, kinds = tokens_of(text)
    for kind, start, end in tokens:
        if start <= offset <= end and kind in (kinds["NAME"], kinds["STRING"]):
            return start, end
    return None


def _broken_rules(source: Source, offset: int, checked: CheckResult) -> Iterator[str]:
    from aisimc_compiler.rules import RULES

    for diagnostic in checked.diagnostics:
        span = diagnostic.span
        if span.source is source and span.start <= offset <= span.end and diagnostic.rule in RULES:
            info = RULES[diagnostic.rule]
            yield f"**{info.code} {info.name}**: {info.title}\n\n{info.reason}.\n\nSource: {info.source}"


def _about_word(text: str, start: int, end: int) -> Iterator[str]:
    place = place_at(text, start)
    word = text[start:end]
    if place is None:
        return
    if place.kind == "item":
        attribute = attribute_at(place.path, word)
        inner = block_at((*place.path, (word, _label_after(text, end))))
        if attribute is not None and text[end:].lstrip(" \t").startswith("="):
            yield _attribute(word, attribute)
        elif inner is not None:
            yield _block(word, inner)
    elif place.kind == "label":
        inner = block_at((*place.path, (place.name, word)))
        if inner is not None:
            yield _block(f"{place.name} {word}", inner)
    else:
        yield from _value(place)


def _label_after(text: str, end: int) -> str:
    rest = text[end : end + 80].lstrip(" \t")
    return rest.split("{")[0].split()[0] if rest and rest[0].isalpha() else ""


def _attribute(name: str, attribute: Attribute) -> str:
    lines = [f"**{name}** ({attribute.kind}): {attribute.doc}"]
    if attribute.words:
        lines.append("One of " + ", ".join(f"`{word}`" for word in attribute.words))
    if attribute.presence == "required":
        lines.append("Required")
    elif attribute.default is not None:
        lines.append(f"Default: `{_shown(attribute.default)}`")
    return "\n\n".join(lines)


def _block(title: str, block: Block) -> str:
    lines = [f"**{title}**: {block.doc}"]
    if block.attributes:
        lines.append("Attributes: " + ", ".join(f"`{name}`" for name in block.attributes))
    if block.blocks:
        lines.append("Blocks: " + ", ".join(f"`{name}`" for name in block.blocks))
    return "\n\n".join(lines)


def _value(place: Place) -> Iterator[str]:
    attribute = attribute_at(place.path, place.name)
    if attribute is not None:
        yield _attribute(place.name, attribute)


# Names: what a row takes over from its family, and who uses a family.


def _about_name(one: Occurrence, checked: CheckResult) -> Iterator[str]:
    campaign = checked.campaign
    if campaign is None:
        return
    if one.kind == "row":
        for row in campaign.rows:
            if row.name.value == one.name:
                yield _row(row)
    elif one.kind == "family":
        users = [f"`{row.name.value}`" for row in campaign.rows if row.family and row.family.value == one.name]
        yield f"**family {one.name}**, taken by " + (", ".join(users) or "no row")
        for row in campaign.rows:
            if row.family is not None and row.family.span.start == one.span.start and not one.defines:
                yield _row(row)
    elif one.kind == "input":
        yield from _input(campaign, one.name)


def _row(row: Row) -> str:
    lines = [f"**{row.kind} {row.name.value}**", "", "| attribute | value | from |", "| --- | --- | --- |"]
    for name, given in _values_of(row):
        lines.append(f"| `{name}` | `{_shown(given.value)}` | {_origin(given)} |")
    return "\n".join(lines)


def _values_of(row: Row) -> Iterator[tuple[str, Given[Any]]]:
    for name in ("engine", "input", "arrival_speedup_ratio", "max_sim_time_ms", "max_in_flight", "expect_error"):
        given = getattr(row, name)
        if given is not None:
            yield name, given
    for block in ("composition", "evidence", "expect"):
        for name, given in getattr(row, block).items():
            yield f"{block}.{name}", given


def _origin(given: Given[Any]) -> str:
    if given.origin == "written":
        return "here"
    if given.origin == "default":
        return "default"
    return f"family, {_where(given.span)}"


def _where(span: Span) -> str:
    return f"{span.source.name.rpartition('/')[2]}:{span.source.position(span.start)[0]}"


def _input(campaign: Campaign, name: str) -> Iterator[str]:
    found = campaign.inputs.get(name)
    if found is None:
        return
    rows = getattr(found.rows, "value", None)
    window = found.slice
    text = f"**input {name}**" + (f", {rows:,} rows" if isinstance(rows, int) else "")
    if window is not None and window.start is not None and window.rows is not None:
        text += f", of which {window.rows.value:,} from {window.start.value:,} on"
    yield text


def _shown(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int):
        return f"{value:_}"
    if isinstance(value, tuple) and hasattr(value, "low"):
        return f"{value.low}..{value.high}"  # type: ignore[attr-defined]
    if isinstance(value, tuple):
        return "[" + ", ".join(_shown(getattr(part, "value", part)) for part in value) + "]"
    return str(value)
