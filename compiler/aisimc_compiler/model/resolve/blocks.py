"""The blocks of a campaign other than its rows, each from tree to model."""

from __future__ import annotations

from aisimc_compiler.diagnostics.model import Label
from aisimc_compiler.hints import Any
from aisimc_compiler.model.campaign import (
    Build,
    Correction,
    Determinism,
    Exclude,
    Generator,
    Given,
    Input,
    Performance,
    RegressionTest,
    Revision,
    SemanticException,
    Slice,
    Unsupported,
)
from aisimc_compiler.model.resolve.context import Context
from aisimc_compiler.model.resolve.imports import Placed
from aisimc_compiler.model.resolve.reading import Reading, fill, read, require
from aisimc_compiler.model.vocabulary import BLOCKS
from aisimc_compiler.source import Span
from aisimc_compiler.syntax import tree


def named(context: Context, item: tree.Block, seen: dict[str, Span], noun: str) -> Given[str] | None:
    """The name of a block, or None when another one has it already (`name.duplicate`)."""
    label = item.labels[0]
    assert isinstance(label, tree.Name)
    if label.text in seen:
        from aisimc_compiler.rules.refusal import refuse

        context.report(
            refuse(
                "name.duplicate",
                label.span,
                f"there are two {noun} called `{label.text}`",
                label="the second one",
                help="give one of them another name, or remove it",
                secondary=(Label(seen[label.text], "the first one"),),
            )
        )
        context.remember_refused(item.keyword.text)
        return None
    seen[label.text] = label.span
    return Given(label.text, label.span, label.span)


def _block(placed: Placed) -> tree.Block:
    assert isinstance(placed.item, tree.Block)
    return placed.item


def revisions(context: Context, found: list[Placed]) -> dict[str, Revision]:
    """The two arms, by name."""
    result: dict[str, Revision] = {}
    for placed in found:
        item = _block(placed)
        label = item.labels[0]
        assert isinstance(label, tree.Name)
        reading = read(context, item, BLOCKS["revision"])
        get: Any = reading.given.get
        relation = get("relation")
        result[label.text] = Revision(
            arm=Given(label.text, label.span, label.span),
            repository=get("repository"),
            commit=get("commit"),
            wheel=get("wheel"),
            embedded=get("embedded"),
            sha256=get("sha256"),
            patch=get("patch"),
            patch_sha256=get("patch_sha256"),
            relation=relation,
            relation_is_word=relation is not None and not _written_as_string(relation),
            base=placed.base,
            touched=_touched(context, reading),
        )
    return result


def _written_as_string(given: Given[Any]) -> bool:
    return given.span.source.text.startswith('"', given.span.start)


def _touched(context: Context, reading: Reading) -> frozenset[str]:
    """What stands in a block, well or not; everything, where part of it could not be read."""
    return frozenset(reading.spec.attributes) if context.torn(reading.tree.span) else frozenset(reading.touched)


def build(context: Context, found: list[Placed]) -> Build | None:
    """The build block."""
    if not found:
        return None
    reading = read(context, _block(found[0]), BLOCKS["build"])
    require(context, reading)
    fill(reading)
    get: Any = reading.given.get
    return Build(
        keyword=reading.name,
        toolchain=get("toolchain"),
        profile=get("profile"),
        features=get("features"),
        rustflags=get("rustflags"),
        locked=get("locked"),
    )


def determinism(context: Context, found: list[Placed]) -> Determinism | None:
    """The determinism block with its corrections."""
    if not found:
        return None
    reading = read(context, _block(found[0]), BLOCKS["determinism"])
    require(context, reading)
    seen: dict[str, Span] = {}
    corrections = []
    for block in reading.blocks.get("correction", []):
        name = named(context, block, seen, "corrections")
        body = read(context, block, BLOCKS["correction"])
        if name is not None:
            get: Any = body.given.get
            corrections.append(
                Correction(
                    name=name,
                    patch=get("patch"),
                    sha256=get("sha256"),
                    base=found[0].base,
                    touched=_touched(context, body),
                )
            )
    given: Any = reading.given.get
    return Determinism(reading.name, given("mode"), given("repetitions"), tuple(corrections))


def inputs(context: Context, found: list[Placed]) -> dict[str, Input]:
    """The inputs, by name."""
    seen: dict[str, Span] = {}
    result: dict[str, Input] = {}
    for placed in found:
        item = _block(placed)
        name = named(context, item, seen, "inputs")
        reading = read(context, item, BLOCKS["input"])
        require(context, reading)
        if name is None:
            continue
        get: Any = reading.given.get
        result[name.value] = Input(
            name=name,
            format=get("format"),
            block_size=get("block_size"),
            file=get("file"),
            upstream=get("upstream"),
            commit=get("commit"),
            path=get("path"),
            generator=_generator(context, reading.one("generator")),
            sha256=get("sha256"),
            rows=get("rows"),
            slice=_slice(context, reading.one("slice")),
            base=placed.base,
            touched=_touched(context, reading) | (reading.touched.keys() & {"generator", "slice"}),
        )
    return result


def _slice(context: Context, block: tree.Block | None) -> Slice | None:
    if block is None:
        return None
    reading = read(context, block, BLOCKS["slice"])
    require(context, reading)
    get: Any = reading.given.get
    return Slice(reading.name, get("start"), get("rows"), get("sha256"), _touched(context, reading))


def _generator(context: Context, block: tree.Block | None) -> Generator | None:
    if block is None:
        return None
    reading = read(context, block, BLOCKS["generator"])
    require(context, reading)
    get: Any = reading.given.get
    return Generator(reading.name, get("seed"), get("rows"))


def exclude(context: Context, found: list[Placed]) -> Exclude | None:
    """The exclusions as declared."""
    if not found:
        return None
    block = _block(found[0])
    pointers = []
    others: list[tree.Attribute | tree.Block] = []
    strange = False
    for item in block.body:
        if not isinstance(item, tree.Value):
            others.append(item)
        elif item.kind == "pointer":
            pointers.append(Given(str(item.value), item.span, item.span))
        else:
            strange = True  # the parser has said so
    if others:
        read(context, block._replace(body=tuple(others)), BLOCKS["exclude"])
        strange = True
    return Exclude(block.keyword.span, tuple(pointers), strange or context.torn(block.span))


def unsupported(context: Context, found: list[Placed]) -> tuple[Unsupported, ...]:
    """The rows of the matrix that are declared as not covered."""
    seen: dict[str, Span] = {}
    result = []
    for placed in found:
        item = _block(placed)
        name = named(context, item, seen, "`unsupported` records")
        reading = read(context, item, BLOCKS["unsupported"])
        require(context, reading)
        if name is not None:
            get: Any = reading.given.get
            result.append(Unsupported(name, get("on"), get("reason")))
    return tuple(result)


def exceptions(context: Context, found: list[Placed]) -> tuple[SemanticException, ...]:
    """The exception records."""
    seen: dict[str, Span] = {}
    result = []
    for placed in found:
        item = _block(placed)
        name = named(context, item, seen, "exceptions")
        reading = read(context, item, BLOCKS["exception"])
        test = reading.one("regression_test")
        if name is not None:
            result.append(
                SemanticException(
                    name=name,
                    parts=reading.given,
                    test=_regression_test(context, test),
                    touched=_touched(context, reading) | (reading.touched.keys() & {"regression_test"}),
                    torn=context.torn(item.span),
                )
            )
    return tuple(result)


def _regression_test(context: Context, block: tree.Block | None) -> RegressionTest | None:
    if block is None:
        return None
    reading = read(context, block, BLOCKS["regression_test"])
    get: Any = reading.given.get
    return RegressionTest(reading.name, get("command"), get("fails_on"), get("passes_on"), _touched(context, reading))


def performance(context: Context, found: list[Placed]) -> Performance | None:
    """The gate's design."""
    if not found:
        return None
    reading = read(context, _block(found[0]), BLOCKS["performance"])
    require(context, reading)
    block = reading.one("diagnostics")
    inner = read(context, block, BLOCKS["diagnostics"]) if block else None
    return Performance(
        keyword=reading.name,
        parts=reading.given,
        diagnostics=inner.given if inner else None,
        diagnostics_keyword=inner.name if inner else None,
        touched=_touched(context, reading) | (reading.touched.keys() & {"diagnostics"}),
        diagnostics_touched=_touched(context, inner) if inner else frozenset(),
    )
