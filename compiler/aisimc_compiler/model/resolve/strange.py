"""What stands in a block and is not read: unknown names, second ones, values without a name.

Only imported when something is wrong.
"""

from __future__ import annotations

from bisect import bisect_left

from aisimc_compiler.model.resolve import mismatch
from aisimc_compiler.model.resolve.context import Context
from aisimc_compiler.model.resolve.labels import for_one_arm, label_misfit
from aisimc_compiler.model.resolve.reading import Reading
from aisimc_compiler.model.vocabulary import Block
from aisimc_compiler.syntax import tree


def bare(context: Context, reading: Reading, item: tree.Value) -> None:
    """A value without a name; the rest of a text without quotes (`path = traces/a.jsonl`) was refused already."""
    start, body = item.span.start, reading.tree.body
    at = bisect_left(body, start, key=_start_of)
    before = body[at - 1] if at else None
    rest = isinstance(before, tree.Attribute) and before.value.span.end == start
    if not (rest and isinstance(before, tree.Attribute) and before.name.text not in reading.given):
        context.report(mismatch.bare_value(reading.spec, item))


def _start_of(item: tree.Attribute | tree.Block | tree.Value) -> int:
    return item.name.span.start if isinstance(item, tree.Attribute) else item.span.start


def odd_attribute(context: Context, reading: Reading, item: tree.Attribute) -> None:
    """An attribute that is unknown here, or given twice."""
    text = item.name.text
    if text in reading.spec.attributes or text in reading.spec.blocks:
        if text in reading.touched:
            context.report(mismatch.twice(item.name, reading.touched[text]))
            return
        reading.touched[text] = item.name.span
        context.report(mismatch.attribute_for_block(reading.spec, item))
        return
    stranger(context, reading, item, item.name)


def odd_block(context: Context, reading: Reading, item: tree.Block) -> None:
    """A block that is unknown here, or an attribute's name with a body."""
    text = item.keyword.text
    if text not in reading.spec.attributes:
        stranger(context, reading, item, item.keyword)
    elif text in reading.touched:
        context.report(mismatch.twice(item.keyword, reading.touched[text]))
    else:
        reading.touched[text] = item.keyword.span
        context.report(mismatch.block_for_attribute(reading.spec, item))


def stranger(context: Context, reading: Reading, item: tree.Attribute | tree.Block, name: tree.Name) -> None:
    """A name that the block does not have: a slip of one that it has, or kept for `standins.settle`.

    It is no slip of what stands in the block as well.
    """
    diagnostic, meant = mismatch.unknown_name(reading.spec, name, item, reading.single())
    if meant:
        context.report(diagnostic)
        reading.touched.setdefault(meant, name.span)
    else:
        reading.strangers.append((item, diagnostic))


def second(context: Context, reading: Reading, item: tree.Block, spec: Block) -> None:
    """A block that may stand once, given again; where they are for one arm each, that is said of the first."""
    text = item.keyword.text
    if not for_one_arm(item, spec):
        context.report(mismatch.twice(item.keyword, reading.touched[text]))
    elif text in reading.blocks:
        context.report(label_misfit(item, spec))
