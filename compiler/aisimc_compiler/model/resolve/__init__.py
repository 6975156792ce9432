"""From syntax trees to a campaign: imports, families, defaults, and every mistake that a single token shows."""

from __future__ import annotations

from collections.abc import Sequence

from aisimc_compiler.diagnostics.model import Diagnostic, Label
from aisimc_compiler.hints import Any
from aisimc_compiler.loading import Loader
from aisimc_compiler.model.campaign import Campaign, Given
from aisimc_compiler.model.closed import ARMS
from aisimc_compiler.model.resolve import blocks, parts, rows
from aisimc_compiler.model.resolve.context import Context
from aisimc_compiler.model.resolve.imports import Placed, splice
from aisimc_compiler.model.resolve.reading import Reading, fill, label_fits, read, require
from aisimc_compiler.model.vocabulary import BLOCKS, REQUIRED, Block
from aisimc_compiler.syntax import tree

_SINGLE = {keyword for keyword, key in BLOCKS["file"].blocks.items() if not BLOCKS[key].repeated}


def resolve(file: tree.File, loader: Loader, syntax: Sequence[Diagnostic] = ()) -> tuple[Campaign, list[Diagnostic]]:
    """The campaign that a file says, and what is wrong with single tokens of it. Never raises.

    `syntax` holds the file's own syntax errors, so that nothing that could not be read counts as missing. The
    diagnostics include the syntax errors of imported files.
    """
    context = Context(file.source, loader, syntax)
    items = _lift(context, splice(context, file))
    placed = _sort(context, items)
    context.fragment = "campaign" not in placed
    refused = context.refused.get("revision", set())
    arms_written = sum(_is_revision(entry) for entry in items) + len(refused)
    campaign = _assemble(context, placed, arms_written)
    return campaign._replace(sound=not (context.diagnostics or syntax)), context.diagnostics


def _lift(context: Context, items: list[Placed]) -> list[Placed]:
    """The items, with blocks of the file that stand in another block put behind it: its brace is missing.

    That is one mistake, said at the first such block; what they hold is read as if they stood where they belong.
    """
    blocks = BLOCKS["file"].blocks
    lifted: list[Placed] = []
    for placed in items:
        item = placed.item
        lifted.append(placed)
        if not isinstance(item, tree.Block) or item.keyword.text not in blocks:
            continue
        spec = BLOCKS[blocks[item.keyword.text]]
        inner = [part for part in item.body if type(part) is tree.Block and _misplaced(part, spec)]
        if inner:
            from aisimc_compiler.model.resolve.mismatch import nested

            context.report(nested(spec, inner[0].keyword))
            placed.item = item._replace(body=tuple(part for part in item.body if part not in inner))
            top = {other.item.keyword.text for other in items if isinstance(other.item, tree.Block)} & _SINGLE
            freed = [Placed(part, placed.base) for part in inner if part.keyword.text not in (*top, "import")]
            context.unread = context.unread or any(part.keyword.text == "import" for part in inner)
            lifted += _lift(context, freed)
    return lifted


def _misplaced(part: tree.Block, spec: Block) -> bool:
    text = part.keyword.text
    return text in BLOCKS["file"].blocks and not (text in spec.blocks or text in spec.attributes or text in spec.stray)


def _sort(context: Context, items: list[Placed]) -> dict[str, list[Placed]]:
    """Top-level blocks by keyword; strangers are reported. A keyword whose blocks were all refused has none."""
    found: dict[str, list[Placed]] = {}
    first: dict[str, tree.Block] = {}
    spec = BLOCKS["file"]
    for placed in items:
        item = placed.item
        if not isinstance(item, tree.Block) or item.keyword.text not in spec.blocks:
            meant = _report_odd(context, item)
            if meant:
                found.setdefault(meant, [])
                context.unread = context.unread or meant == "import"
            if meant and isinstance(item, tree.Block):
                _remember_refused(context, meant, item)
            elif isinstance(item, tree.Block):
                _remember_stranger(context, item)
            continue
        keyword = item.keyword.text
        if keyword in _SINGLE and keyword in first:
            _report_second(context, item, first[keyword])
            continue
        first.setdefault(keyword, item)
        placed_so_far = found.setdefault(keyword, [])
        if keyword == "revision" and not _arm_is_new(context, item, placed_so_far):
            continue
        if keyword == "build" and item.labels:
            _report_build_for(context, item)
            _remember_swallowed(context, item)
        elif label_fits(context, item, BLOCKS[spec.blocks[keyword]]):
            placed_so_far.append(placed)
        else:
            _remember_refused(context, keyword, item)
            _remember_swallowed(context, item)
    return found


def _remember_refused(context: Context, keyword: str, item: tree.Block) -> None:
    label = item.labels[0] if item.labels else None
    name = label.text if isinstance(label, tree.Name) else str(label.value) if label else ""
    context.remember_refused(keyword, name)


def _remember_stranger(context: Context, item: tree.Block) -> None:
    """An unknown block may be what its name is referred to as, and what is missing."""
    context.strangers += 1
    label = item.labels[0] if item.labels else None
    if isinstance(label, tree.Name):
        for keyword in ("revision",) if label.text in ARMS else ("family", "input", "row"):
            _remember_refused(context, keyword, item)


def _remember_swallowed(context: Context, item: tree.Block) -> None:
    """A keyword without a body takes the next one for its name: that one's block is there, and not read."""
    label = item.labels[0] if item.labels else None
    context.strangers += isinstance(label, tree.Name) and label.text in BLOCKS["file"].blocks


def _report_odd(context: Context, item: tree.Attribute | tree.Block | tree.Value) -> str | None:
    """Something at the top of a file that does not belong there; the keyword that it was probably meant to be."""
    from aisimc_compiler.model.resolve import mismatch

    spec = BLOCKS["file"]
    if isinstance(item, tree.Value):
        context.report(mismatch.bare_value(spec, item))
    elif isinstance(item, tree.Block):
        diagnostic, meant = mismatch.unknown_name(spec, item.keyword, item)
        context.report(diagnostic)
        return meant
    elif item.name.text in spec.blocks:
        context.report(mismatch.attribute_for_block(spec, item))
        return item.name.text
    else:
        context.report(mismatch.unknown_name(spec, item.name, item)[0])
    return None


def _report_second(context: Context, item: tree.Block, first: tree.Block) -> None:
    from aisimc_compiler.model.resolve import mismatch

    context.report(mismatch.twice(item.keyword, first.keyword.span))


def _report_build_for(context: Context, item: tree.Block) -> None:
    from aisimc_compiler.rules.refusal import refuse

    context.report(
        refuse(
            "pin.same-build",
            item.labels[0].span,
            "a `build` block serves both arms and takes no name",
            label="one build for both arms",
            help="write `build { … }`",
        )
    )


def _arm_is_new(context: Context, item: tree.Block, others: list[Placed]) -> bool:
    if not item.labels or not isinstance(item.labels[0], tree.Name):
        return True
    label = item.labels[0]
    for other in others:
        assert isinstance(other.item, tree.Block)
        first = other.item.labels[0]
        if isinstance(first, tree.Name) and first.text == label.text:
            from aisimc_compiler.rules.refusal import refuse

            context.report(
                refuse(
                    "pin.arms",
                    label.span,
                    f"there are two `{label.text}` revisions",
                    label="the second one",
                    help="keep one of the two: a campaign compares one baseline with one candidate",
                    secondary=(Label(first.span, "the first one"),),
                )
            )
            return False
    return True


def _is_revision(placed: Placed) -> bool:
    return isinstance(placed.item, tree.Block) and placed.item.keyword.text == "revision"


def _assemble(context: Context, found: dict[str, list[Placed]], arms_written: int) -> Campaign:
    header = _header(context, found)
    given: dict[str, Any] = header.given if header else {}
    name = header.tree.labels[0] if header else None
    inputs = blocks.inputs(context, found.get("input", []))
    _require_blocks(context, header, found)
    families = parts.families(context, found.get("family", []))
    return Campaign(
        source=context.source,
        fragment=context.fragment,
        name=Given(str(name.value), name.span, name.span) if isinstance(name, tree.Value) else None,
        language=given.get("language"),
        purpose=given.get("purpose"),
        corpus=given.get("corpus"),
        matrix=given.get("matrix"),
        self_check=given.get("self_check"),
        revisions=blocks.revisions(context, found.get("revision", [])),
        arms_written=arms_written,
        build=blocks.build(context, found.get("build", [])),
        determinism=blocks.determinism(context, found.get("determinism", [])),
        inputs=inputs,
        exclude=blocks.exclude(context, found.get("exclude", [])),
        rows=rows.rows(context, found, families, inputs),
        families=rows.families_as_rows(context, families, inputs),
        unsupported=blocks.unsupported(context, found.get("unsupported", [])),
        exceptions=blocks.exceptions(context, found.get("exception", [])),
        performance=blocks.performance(context, found.get("performance", [])),
        blocks=frozenset(found),
        refused_rows=frozenset(context.refused.get("row", ())),
        torn=context.torn(),
        sound=True,
    )


def _header(context: Context, found: dict[str, list[Placed]]) -> Reading | None:
    if not found.get("campaign"):
        return None
    item = found["campaign"][0].item
    assert isinstance(item, tree.Block)
    reading = read(context, item, BLOCKS["campaign"])
    require(context, reading)
    fill(reading)
    return reading


def _require_blocks(context: Context, header: Reading | None, found: dict[str, list[Placed]]) -> None:
    """`name.missing` for the blocks that a whole campaign has, at the campaign's name."""
    if header is None or context.torn():
        return
    missing = [
        keyword
        for keyword, key in BLOCKS["file"].blocks.items()
        if BLOCKS[key].presence == REQUIRED and keyword not in found
    ]
    if "row" not in found and "fixture" not in found:
        missing.append("row")
    if len(missing) > context.strangers:  # an unknown block may well be what is missing, under another keyword
        from aisimc_compiler.model.resolve import absence

        context.report(absence.missing_blocks(header.name, missing), apart="blocks")
