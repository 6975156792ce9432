"""Edits to a campaign's text that keep its comments and layout."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from aisimc_compiler.source import Source
from aisimc_compiler.syntax.format import FormatterError, format_source
from aisimc_compiler.syntax.tree import Attribute, Block


@dataclass(frozen=True, slots=True)
class Edit:
    """Put `text` in the place of `[start, end)` (code points); `why` is shown to the user."""

    start: int
    end: int
    text: str
    why: str


def apply(text: str, edits: Iterable[Edit]) -> str:
    """The text with all edits made. Edits at one place keep their order; overlapping ones are a programming error."""
    pieces: list[str] = []
    at = 0
    for edit in sorted(edits, key=lambda edit: (edit.start, edit.end)):
        if edit.start < at:
            raise ValueError(f"edits overlap at offset {edit.start}")
        pieces.append(text[at : edit.start])
        pieces.append(edit.text)
        at = edit.end
    pieces.append(text[at:])
    return "".join(pieces)


def replace_value(attribute: Attribute, text: str, why: str) -> Edit | None:
    """Write another value for an attribute; None when it already stands there."""
    if attribute.value.raw == text:
        return None
    return Edit(attribute.value.span.start, attribute.value.span.end, text, why)


def insert_attribute(after: Attribute, name: str, text: str, why: str) -> Edit:
    """A new attribute behind an existing one: on a line of its own, its `=` under the neighbour's, where the
    neighbour has a line of its own; on the same line otherwise."""
    source = after.name.span.source
    start, end = after.name.span.start, after.value.span.end
    line_start = source.text.rfind("\n", 0, start) + 1
    indent = source.text[line_start:start]
    line_end = source.text.find("\n", end)
    rest = source.text[end : line_end if line_end != -1 else len(source.text)].strip()
    if indent.strip() or (rest and not rest.startswith("#") and rest != ","):
        return Edit(end, end, f" {name} = {text}", why)
    at = line_end if line_end != -1 else len(source.text)
    return Edit(at, at, f"\n{indent}{name.ljust(max(_equals_column(after), len(name) + 1))}= {text}", why)


def attributes(block: Block) -> dict[str, Attribute]:
    """The attributes of a block by name; of one given twice, the first."""
    found: dict[str, Attribute] = {}
    for item in block.body:
        if isinstance(item, Attribute):
            found.setdefault(item.name.text, item)
    return found


def quoted(text: str) -> str:
    """A string literal of the language for text without control characters or quotes."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def grouped(number: int) -> str:
    """An integer literal with the thousands grouped as the examples write them."""
    return f"{number:_}"


def _equals_column(attribute: Attribute) -> int:
    source = attribute.name.span.source
    between = source.text[attribute.name.span.start : attribute.value.span.start]
    return between.find("=")


def laid_out(text: str) -> str:
    """A campaign's text as `aisimc fmt` lays it out; one that cannot be laid out as it is."""
    try:
        formatted = format_source(Source("<text>", text)).text
    except FormatterError:
        return text
    return text if formatted is None else formatted


def laid_out_again(before: str, after: str) -> str:
    """An edited text, laid out if it was so before: an edit neither spoils a layout nor imposes one."""
    return laid_out(after) if laid_out(before) == before else after
