"""The engine-only matrix: who carries which id, and what is not covered (`row.matrix`, `row.no-substitute`)."""

from __future__ import annotations

from collections.abc import Iterator

from aisimc_compiler.diagnostics.model import Diagnostic, Label
from aisimc_compiler.model import closed
from aisimc_compiler.model.campaign import Campaign, Row, Topology
from aisimc_compiler.rules.digests import blank


def row_shape(row: Row) -> tuple[str, str, int, int] | None:
    """The shape of a resolved row; None when part of it is missing, or the configuration is a frozen file."""
    if row.engine is None or row.topology is None:
        return None
    pools = row.topology.pools
    first, second = ("workers", "workers") if row.topology.kind.value == "aggregated" else ("prefill", "decode")
    if first not in pools or second not in pools:
        return None
    left, right = pools[first].dp, pools[second].dp
    return (
        None if left is None or right is None else (row.engine.value, row.topology.kind.value, left.value, right.value)
    )


def covered_by(row: Row) -> str | None:
    """The matrix id that a row covers, or None."""
    name = row.name.value
    if row.kind != "row" or row.expect_error is not None or name not in closed.MATRIX:
        return None
    shape = row_shape(row)
    if shape is None and row.frozen is not None and row.frozen.data is not None:
        from aisimc_compiler.plan.frozen import frozen_shape

        shape = frozen_shape(row.frozen.data)
    return name if shape == closed.MATRIX[name] else None


def no_substitute(campaign: Campaign) -> Iterator[Diagnostic]:
    """`row.no-substitute`: a matrix id is carried by its own shape only."""
    for row in campaign.rows:
        shape = _other_shape(row)
        if shape is not None:
            yield _substitute(row, shape, closed.MATRIX[row.name.value])


def is_substitute(row: Row) -> bool:
    """Whether a row carries the matrix id of another shape, which is refused as that."""
    return _other_shape(row) is not None


def _other_shape(row: Row) -> tuple[str, str, int, int] | None:
    wanted = closed.MATRIX.get(row.name.value)
    if wanted is None or row.kind != "row":
        return None
    shape = row_shape(row)
    if shape is None and row.frozen is not None and row.frozen.data is not None:
        from aisimc_compiler.plan.frozen import frozen_shape

        shape = frozen_shape(row.frozen.data)
    if shape is None or shape == wanted or shape[0] not in closed.ENGINES or min(shape[2:]) < 1:
        return None
    return shape


def _substitute(row: Row, shape: tuple[str, str, int, int], wanted: tuple[str, str, int, int]) -> Diagnostic:
    from aisimc_compiler.rules.refusal import refuse

    meant = next((name for name, other in closed.MATRIX.items() if other == shape), None)
    labels = []
    if shape[0] != wanted[0] and row.engine is not None:
        labels.append(Label(row.engine.span, f"not {wanted[0]}"))
    if row.topology is not None:
        labels.extend(_odd_parts(row.topology, shape, wanted))
    return refuse(
        "row.no-substitute",
        row.name.span,
        f"`{row.name.value}` is {_shape(wanted)}, and this row is {_shape(shape)}",
        label="the id of another shape",
        help=f"this shape is `{meant}`" if meant else "give the row that shape, or another name",
        secondary=tuple(labels),
    )


def _odd_parts(
    topology: Topology, shape: tuple[str, str, int, int], wanted: tuple[str, str, int, int]
) -> Iterator[Label]:
    if shape[1] != wanted[1]:
        yield Label(topology.kind.span, f"not {wanted[1]}")
        return
    for pool, got, want in zip(topology.pools.values(), shape[2:], wanted[2:], strict=False):
        if got != want and pool.dp is not None:
            place = pool.keyword if pool.dp.origin == "default" else pool.dp.span
            yield Label(place, f"dp {got}, not {want}")


def _shape(shape: tuple[str, str, int, int]) -> str:
    engine_, topology, prefill, decode = shape
    if topology == "aggregated":
        return f"{engine_}, aggregated, dp {prefill}"
    return f"{engine_}, disaggregated, prefill dp {prefill} and decode dp {decode}"


def matrix(campaign: Campaign) -> Iterator[Diagnostic]:
    """`row.matrix`: every row of the matrix stands in an authoritative campaign, or its absence is written down."""
    declared = {entry.id.value: entry for entry in campaign.unsupported}
    yield from _unsupported(campaign)
    if campaign.fragment or campaign.torn or campaign.matrix is None or campaign.matrix.value != "authoritative":
        return
    from aisimc_compiler.rules.refusal import did_you_mean, listed, refuse_value

    carried = {row.name.value for row in campaign.rows if row.kind == "row" and row.expect_error is None}
    carried |= campaign.refused_rows
    missing = [name for name in closed.AUTHORITATIVE if name not in carried and name not in declared]
    for row in campaign.rows:
        if row.kind == "row" and row.name.value not in closed.MATRIX:
            meant = _misnamed(row, missing)
            if meant is not None:
                missing.remove(meant)
            yield refuse_value(
                "row.matrix",
                row.name,
                f"`{row.name.value}` is no row of the engine-only matrix",
                label="not an id of the matrix",
                help=did_you_mean(meant, "give it the id of its shape, make it a `fixture`, or say `matrix = focused`"),
                replace=meant,
            )
    if missing and "" not in campaign.refused_rows:
        yield refuse_value(
            "row.matrix",
            campaign.matrix,
            "an authoritative campaign accounts for all eight rows of the matrix, and this one not for "
            + listed(missing),
            label=f"{len(closed.AUTHORITATIVE) - len(missing)} of 8 rows",
            help='add the rows, declare `unsupported ID { on = both reason = "…" }`, or say `matrix = focused`',
        )


def _misnamed(row: Row, missing: list[str]) -> str | None:
    """The absent id that a row was meant to have: that of its shape, or the nearest one."""
    if row.expect_error is not None:
        return None
    from aisimc_compiler.model.nearest import nearest

    shape = row_shape(row)
    return next((name for name in missing if closed.MATRIX[name] == shape), None) or nearest(row.name.value, missing)


def _unsupported(campaign: Campaign) -> Iterator[Diagnostic]:
    from aisimc_compiler.model.nearest import nearest
    from aisimc_compiler.rules.refusal import did_you_mean, refuse_value

    rows = {row.name.value: row for row in campaign.rows if row.kind == "row"}
    for entry in campaign.unsupported:
        name = entry.id.value
        if name not in closed.MATRIX:
            meant = nearest(name, closed.MATRIX)
            yield refuse_value(
                "name.unknown",
                entry.id,
                f"there is no row `{name}` in the engine-only matrix",
                label="not an id of the matrix",
                help=did_you_mean(meant),
                replace=meant,
            )
        elif entry.on is not None and entry.on.value == "baseline" and not campaign.fragment and not campaign.torn:
            row = rows.get(name)
            if row is None:
                yield refuse_value(
                    "row.matrix",
                    entry.id,
                    f"`{name}` is unsupported on the baseline only, so the candidate's row must stand in the campaign",
                    label="no such row",
                    help=f"add `row {name} {{ … }}`, or say `on = both`",
                )
            elif row.expect_error is not None:
                yield refuse_value(
                    "row.matrix",
                    entry.id,
                    f"`{name}` is unsupported on the baseline only, and its row expects both arms to refuse it",
                    label="one arm or both?",
                    help="remove one of the two",
                    secondary=(Label(row.expect_error.span, "expected on both arms"),),
                )
        if entry.reason is not None and blank(entry.reason.value):
            yield refuse_value("row.matrix", entry.reason, "the reason is empty", label="says nothing")
