"""The generated tables of the language reference. `python -m tests.docs.reference` writes them anew."""

from __future__ import annotations

import re
from pathlib import Path

from aisimc_compiler.model import vocabulary
from aisimc_compiler.model.vocabulary import BLOCKS, UNITS, Attribute, Block

PAGE = Path(__file__).resolve().parents[2] / "docs" / "language.md"
_TABLE = re.compile(r"<!-- table: ([a-z_ ]+) -->\n.*?<!-- end -->", re.DOTALL)

_PRESENCE = {vocabulary.REQUIRED: "yes", vocabulary.OPTIONAL: "no", vocabulary.RULED: "see below"}


def tables_in(page: str) -> list[str]:
    """The blocks whose tables a page holds."""
    return [match[1] for match in _TABLE.finditer(page)]


def with_tables(page: str) -> str:
    """The page with every marked table as the vocabulary has it now."""
    return _TABLE.sub(lambda match: f"<!-- table: {match[1]} -->\n{table(BLOCKS[match[1]])}\n<!-- end -->", page)


def table(block: Block) -> str:
    """A Markdown table of a block's attributes and of the blocks in it."""
    lines = ["| name | takes | needed | what it says |", "| --- | --- | --- | --- |"]
    for name, attribute in block.attributes.items():
        lines.append(f"| `{name}` | {_kind(attribute)} | {_needed(attribute)} | {_cell(attribute.doc)} |")
    for keyword, key in block.blocks.items():
        inner = BLOCKS[key]
        needed = "yes" if inner.presence == vocabulary.REQUIRED else "no"
        times = ", any number" if inner.repeated else ""
        lines.append(f"| `{keyword}` | block{times} | {needed} | {_cell(inner.doc)} |")
    return "\n".join(lines)


def _kind(attribute: Attribute) -> str:
    kind = attribute.kind if not attribute.item else f"{attribute.kind} of {attribute.item}s"
    if attribute.dimension:
        kind = f"{kind} in {', '.join(f'`{unit}`' for unit in UNITS[attribute.dimension])}"
    if attribute.words:
        kind = f"{kind}: {', '.join(f'`{word}`' for word in attribute.words)}"
    return kind


def _needed(attribute: Attribute) -> str:
    if attribute.default is None:
        return _PRESENCE[attribute.presence]
    default = {(): "[]", True: "true", False: "false"}.get(attribute.default, attribute.default)  # type: ignore[call-overload]
    return f"no (`{default}`)"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


if __name__ == "__main__":
    PAGE.write_text(with_tables(PAGE.read_text("utf-8")), "utf-8")
