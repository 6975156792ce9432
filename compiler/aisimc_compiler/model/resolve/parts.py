"""Rows, fixtures and families as they stand, before a row is put over its family."""

from __future__ import annotations

from aisimc_compiler.model.campaign import Values
from aisimc_compiler.model.resolve.blocks import named
from aisimc_compiler.model.resolve.context import Context
from aisimc_compiler.model.resolve.imports import Placed
from aisimc_compiler.model.resolve.reading import Reading, read
from aisimc_compiler.model.resolve.topologies import Shape
from aisimc_compiler.model.vocabulary import BLOCKS
from aisimc_compiler.source import Span
from aisimc_compiler.syntax import tree

_EMPTY: Values = {}


class Parts:
    """A row, fixture or family as it stands in its own block."""

    __slots__ = ("base", "blocks", "doubtful", "reading", "shape")

    def __init__(self, context: Context, item: tree.Block, base: str) -> None:
        self.reading = read(context, item, BLOCKS[item.keyword.text])
        self.base = base
        self.doubtful = False
        """There is another of its name, which may be the one that is meant."""
        self.blocks: dict[str, Reading] = {}
        for keyword in ("evidence", "expect", "composition"):
            block = self.reading.one(keyword)
            if block is not None:
                self.blocks[keyword] = read(context, block, BLOCKS[keyword])
        self.shape = Shape(context, self.reading)

    def values(self, keyword: str) -> Values:
        """The values of a block, or none."""
        reading = self.blocks.get(keyword)
        return reading.given if reading else _EMPTY


def families(context: Context, found: list[Placed]) -> dict[str, Parts]:
    """The families as they stand, by name."""
    seen: dict[str, Span] = {}
    result: dict[str, Parts] = {}
    for placed in found:
        item = placed.item
        assert isinstance(item, tree.Block)
        name = named(context, item, seen, "families")
        parts = Parts(context, item, placed.base)
        if name is not None:
            result[name.value] = parts
        else:
            label = item.labels[0]
            assert isinstance(label, tree.Name)
            result[label.text].doubtful = True
    return result
