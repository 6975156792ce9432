"""`aisimc fmt`: one layout for all campaigns. It moves blanks, line ends and optional commas, and nothing else."""

from __future__ import annotations

from aisimc_compiler.diagnostics.model import Diagnostic
from aisimc_compiler.records import NamedTuple
from aisimc_compiler.source import Source
from aisimc_compiler.syntax import tree


class Formatted(NamedTuple):
    """The formatted text, or None with the syntax errors that stand in the way."""

    text: str | None
    diagnostics: list[Diagnostic]
    fragment: bool


class FormatterError(Exception):
    """The formatter would have changed what a file means; nothing was written. It is a mistake of the formatter."""


def format_source(source: Source) -> Formatted:
    """Format a campaign file. Raises FormatterError rather than change its meaning."""
    from aisimc_compiler.syntax.format.concrete import read
    from aisimc_compiler.syntax.format.layout import lay_out
    from aisimc_compiler.syntax.parser import parse
    from aisimc_compiler.syntax.tables import load

    file, diagnostics = parse(source)
    fragment = not any(isinstance(item, tree.Block) and item.keyword.text == "campaign" for item in file.body)
    if diagnostics:
        return Formatted(None, diagnostics, fragment)
    lines = lay_out(read(source.text, load()))
    text = "\n".join(lines) + "\n" if lines else ""
    again, faults = parse(Source(source.name, text))
    if faults or meaning(again.body) != meaning(file.body):
        raise FormatterError(f"formatting {source.name} would change it")
    return Formatted(text, [], fragment)


def meaning(node: object) -> object:
    """What a tree says, without places and notation: equal for two texts that compile alike."""
    if isinstance(node, tree.Name):
        return node.text
    if isinstance(node, tree.Value):
        return node.kind, meaning(node.value), node.unit
    if isinstance(node, tree.Attribute):
        return "=", meaning(node.name), meaning(node.value)
    if isinstance(node, tree.Block):
        return node.keyword.text, meaning(node.labels), meaning(node.body), node.braces
    if isinstance(node, tuple):
        return tuple(meaning(part) for part in node)
    return node
