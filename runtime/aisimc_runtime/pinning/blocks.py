"""Reading the blocks that hold pins, and writing a pin into one."""

from __future__ import annotations

from collections.abc import Iterator

from aisimc_compiler.model.campaign import Given
from aisimc_compiler.rules.digests import is_hex
from aisimc_compiler.source import Span
from aisimc_compiler.syntax.tree import Attribute, Block, Name
from aisimc_runtime.pinning.edits import Edit, insert_attribute, replace_value

Attributes = dict[str, Attribute]


def string(given: Attributes, name: str) -> str | None:
    """The text of a string or word; None when it is not there, is empty or is something else."""
    attribute = given.get(name)
    if attribute is None or attribute.value.kind not in {"string", "word"}:
        return None
    return str(attribute.value.value)


def integer(given: Attributes, name: str) -> int | None:
    """The value of an integer; None when it is not there or is something else."""
    attribute = given.get(name)
    value = attribute.value.value if attribute is not None and attribute.value.kind == "integer" else None
    return value if isinstance(value, int) else None


def digest(given: Attributes, name: str) -> str | None:
    """A whole SHA-256 in lower case; None for anything that `check` would refuse, which is as good as missing."""
    text = string(given, name)
    return text.lower() if text is not None and is_hex(text, 64) else None


def placed(given: Attributes, name: str) -> Given[str]:
    """A string that is there, with its place, as the compiler's rules take it."""
    attribute = given[name]
    return Given(str(attribute.value.value), attribute.value.span, attribute.name.span)


def inner(block: Block, keyword: str) -> Iterator[Block]:
    """The blocks of one kind inside a block."""
    for item in block.body:
        if isinstance(item, Block) and item.keyword.text == keyword:
            yield item


def title(block: Block) -> str:
    """`input window`, `revision baseline`."""
    labels = [label.text if isinstance(label, Name) else label.raw for label in block.labels]
    return " ".join([block.keyword.text, *labels])


def named_at(block: Block) -> Span:
    """Where a block's name stands, else its keyword."""
    return block.labels[0].span if block.labels else block.keyword.span


def write(given: Attributes, after: str, name: str, text: str, why: str) -> Iterator[Edit]:
    """Give an attribute another value, or put it behind `after` where it is not there; nothing when it stands there."""
    if name in given:
        yield from changed(replace_value(given[name], text, why))
    elif after in given:
        yield insert_attribute(given[after], name, text, why)


def changed(edit: Edit | None) -> Iterator[Edit]:
    """The edit, when there is one."""
    if edit is not None:
        yield edit
