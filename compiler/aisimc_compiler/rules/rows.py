"""Rows: engine, composition, sizes, transfer, admission, repetitions, and the matrix that they make up."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from aisimc_compiler.diagnostics.model import Diagnostic, Label
from aisimc_compiler.model import closed
from aisimc_compiler.model.campaign import Campaign, Given, Pool, Row, Topology, Transfer
from aisimc_compiler.rules.digests import blank
from aisimc_compiler.rules.language import Rule

_SPEEDUP_LIMITS = (1e-6, 1e6)


def engine(campaign: Campaign) -> Iterator[Diagnostic]:
    """`row.engine`: a known engine, and only its own capacity fields."""
    common = {*closed.COMMON_CAPACITY, "max_model_len"}
    for row in campaign.rows:
        given = row.engine
        if given is None:
            continue
        if given.value not in closed.ENGINES:
            yield _unknown_engine(given)
            continue
        if row.topology is None:
            continue
        for pool in row.topology.pools.values():
            for name, value in pool.capacity.items():
                if name not in common and name not in closed.ENGINE_CAPACITY[given.value]:
                    yield _foreign_field(name, value, given)


def _unknown_engine(given: Given[str]) -> Diagnostic:
    from aisimc_compiler.model.nearest import nearest
    from aisimc_compiler.rules.refusal import refuse_value

    meant = closed.ENGINE_ALIASES.get(given.value.lower()) or nearest(given.value, closed.ENGINES)
    return refuse_value(
        "row.engine",
        given,
        f"there is no engine `{given.value}`",
        label="takes `vllm`, `sglang` or `trtllm`",
        help=f"did you mean `{meant}`?" if meant else "",
        replace=meant,
    )


def _foreign_field(name: str, value: Given[Any], engine_: Given[str]) -> Diagnostic:
    from aisimc_compiler.rules.refusal import refuse_name

    owner = next(other for other, fields in closed.ENGINE_CAPACITY.items() if name in fields)
    return refuse_name(
        "row.engine",
        value,
        f"`{name}` is a field of {owner}, and the row's engine is {engine_.value}",
        label=f"not a field of {engine_.value}",
        help="remove it",
        secondary=(Label(engine_.span, "the engine"),),
    )


def composition(campaign: Campaign) -> Iterator[Diagnostic]:
    """`row.composition`: round-robin placement, no scaling."""
    from aisimc_compiler.rules.refusal import refuse_value

    for row in campaign.rows:
        for name, only in (("placement", "round_robin"), ("scaling", "none")):
            given = row.composition.get(name)
            if given is not None and given.value != only:
                near = given.value.lower().replace("-", "_") in (only, only.replace("_", ""))
                yield refuse_value(
                    "row.composition",
                    given,
                    f"{name} `{given.value}` is not part of the engine-only composition",
                    label=f"takes only `{only}`",
                    help=f"write `{only}`",
                    replace=only,
                    applicable=near,
                )


def frozen(campaign: Campaign) -> Iterator[Diagnostic]:
    """`row.frozen`: a frozen configuration says everything, and its bytes are the pinned ones."""
    for row in campaign.rows:
        if row.frozen is None:
            continue
        from aisimc_compiler.plan.frozen import frozen_faults

        yield from frozen_faults(campaign, row, row.frozen)


def observable(campaign: Campaign) -> Iterator[Diagnostic]:
    """`row.observable`: two or more workers or ranks in every pool of a row; one is enough for a fixture."""
    for row in campaign.rows:
        if row.topology is None:
            continue
        for name, pool in row.topology.pools.items():
            fault = _pool_fault(row, name, pool)
            if fault:
                yield fault


def _pool_fault(row: Row, name: str, pool: Pool) -> Diagnostic | None:
    workers = pool.workers
    if workers is None or pool.dp is None:
        return None
    least = 2 if row.kind == "row" else 1
    ranks = workers.value * max(pool.dp.value, 1)
    if workers.value >= 1 and ranks >= least:
        return None
    from aisimc_compiler.rules.refusal import refuse_value

    where = "the row" if name == "workers" else f"the {name} pool"
    if workers.value < 1:
        message = f"{where} has {workers.value} workers" if workers.value else f"{where} has no worker"
    else:
        message = f"with one worker, round-robin placement cannot be seen in {where}"
    return refuse_value(
        "row.observable",
        workers,
        message,
        label=f"takes {least} or more",
        help="use two workers or more; a `fixture` may have one" if least == 2 else "use one worker or more",
    )


def capacity(campaign: Campaign) -> Iterator[Diagnostic]:
    """`row.capacity`: sizes and parallel sizes are positive, and such as the engine takes."""
    for row in campaign.rows:
        if row.topology is None:
            continue
        for pool in row.topology.pools.values():
            yield from _sizes(pool)
            if row.engine is not None and row.expect_error is None:
                yield from _engine_sizes(row.engine.value, pool)


def _sizes(pool: Pool) -> Iterator[Diagnostic]:
    for name, given in (*pool.capacity.items(), ("dp", pool.dp), ("tp", pool.tp)):
        if given is not None and not isinstance(given.value, str) and not given.value > 0:
            from aisimc_compiler.rules.refusal import refuse_value

            yield refuse_value(
                "row.capacity",
                given,
                f"`{name}` is {given.value}, and a size is positive",
                label="takes a positive number",
            )


def _engine_sizes(engine_: str, pool: Pool) -> Iterator[Diagnostic]:
    block = pool.capacity.get("block_size")
    if block is None or block.value < 1:
        return
    from aisimc_compiler.rules.refusal import refuse_value

    if engine_ in ("vllm", "trtllm") and block.value < 2:
        yield refuse_value(
            "row.capacity", block, f"{engine_} has blocks of two tokens or more", label="takes 2 or more"
        )
    if engine_ == "sglang":
        chunk = pool.capacity.get("chunked_prefill_size")
        size = chunk.value if chunk else 8192
        if size > 0 and size % block.value:
            yield refuse_value(
                "row.capacity",
                chunk or block,
                f"SGLang's prefill chunk of {size:,} tokens is no multiple of its block size {block.value:,}"
                + ("" if chunk else " (8,192 is the engine's default)"),
                label="the engine refuses it",
                help="say a `chunked_prefill_size` that is a multiple of `block_size`",
            )


def transfer(campaign: Campaign) -> Iterator[Diagnostic]:
    """`row.transfer`: bytes, bandwidth and mode, or a latency; not both."""
    for row in campaign.rows:
        if row.topology is not None and row.topology.transfer is not None:
            yield from _transfer(row.topology.transfer)


def _transfer(entry: Transfer) -> Iterator[Diagnostic]:
    from aisimc_compiler.rules.refusal import listed, refuse, refuse_value

    for name, given, least in (
        ("bytes_per_token", entry.bytes_per_token, 1),
        ("bandwidth", entry.bandwidth_gb_s, 0),
        ("latency", entry.latency_ms, 0),
    ):
        if given is not None and (given.value < least or (name == "bandwidth" and given.value == 0)):
            what = "a latency is not negative" if name == "latency" else f"`{name}` is positive"
            yield refuse_value(
                "row.transfer", given, what, label="takes 0 or more" if name == "latency" else "takes more than 0"
            )
    by_bytes = [name for name in ("bytes_per_token", "bandwidth", "mode") if name in entry.touched]
    if not by_bytes and "latency" not in entry.touched:
        yield refuse(
            "row.transfer",
            entry.keyword,
            "the transfer says neither bytes and bandwidth nor a latency",
            label="states nothing",
            help="write `bytes_per_token`, `bandwidth` and `mode`, or `latency`",
        )
    elif by_bytes and len(by_bytes) < 3:
        missing = [name for name in ("bytes_per_token", "bandwidth", "mode") if name not in by_bytes]
        lacks = listed(missing, last="and")
        yield refuse(
            "row.transfer",
            entry.keyword,
            f"the transfer says {listed(by_bytes, last='and')} and not its {lacks}",
            label=f"{lacks} {'is' if len(missing) == 1 else 'are'} missing",
            help="the three belong together; `latency` stands alone",
        )
    elif by_bytes and entry.latency_ms is not None and entry.latency_ms.value > 0:
        yield refuse_value(
            "row.transfer",
            entry.latency_ms,
            "this latency would be ignored: a bandwidth stands beside it",
            label="has no effect",
            help="write `0 ms`, or state the latency alone",
            replace="0 ms",
        )


def admission(campaign: Campaign) -> Iterator[Diagnostic]:
    """`row.admission`: timestamps drive admission in rows; fixtures may limit the requests in flight."""
    from aisimc_compiler.rules.refusal import refuse_name, refuse_value

    for row in campaign.rows:
        speedup, flight = row.arrival_speedup_ratio, row.max_in_flight
        if speedup is not None and not _SPEEDUP_LIMITS[0] <= speedup.value <= _SPEEDUP_LIMITS[1]:
            yield refuse_value(
                "row.admission",
                speedup,
                f"timestamps cannot be divided by {speedup.value}"
                if speedup.value <= 0
                else f"a speed-up of {speedup.value} leaves nothing of the trace's timing",
                label="takes 0.000001 to 1,000,000",
            )
        if flight is not None and row.kind == "row":
            yield refuse_name(
                "row.admission",
                flight,
                "a row is driven by the trace's timestamps, not by a limit on requests in flight",
                label="only a fixture may limit them",
                help="remove it, or make the row a `fixture`",
                secondary=(Label(row.name.span, "a row"),) if flight.taker is None else (),
            )
        elif flight is not None and flight.value < 1:
            yield refuse_value("row.admission", flight, "at least one request is in flight", label="takes 1 or more")


def repetitions(campaign: Campaign) -> Iterator[Diagnostic]:
    """`row.repetitions`: exactly two fresh processes for each arm."""
    if campaign.determinism is None:
        return
    given = campaign.determinism.repetitions
    if given is not None and given.value != closed.REPETITIONS:
        from aisimc_compiler.rules.refusal import refuse_value

        yield refuse_value(
            "row.repetitions",
            given,
            f"each arm is replayed in exactly two fresh processes, not in {given.value:,}",
            label="takes only 2",
            help="write `2`",
            replace="2",
        )


def shape_of(engine_: str, topology: str, prefill_dp: int, decode_dp: int) -> tuple[str, str, int, int]:
    """A row's shape as the matrix has it."""
    return engine_, topology, prefill_dp, decode_dp


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
        None
        if left is None or right is None
        else shape_of(row.engine.value, row.topology.kind.value, left.value, right.value)
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
        name = row.name.value
        wanted = closed.MATRIX.get(name)
        if wanted is None or row.kind != "row":
            continue
        shape = row_shape(row)
        if shape is None and row.frozen is not None and row.frozen.data is not None:
            from aisimc_compiler.plan.frozen import frozen_shape

            shape = frozen_shape(row.frozen.data)
        if shape is None or shape == wanted or shape[0] not in closed.ENGINES or min(shape[2:]) < 1:
            continue
        yield _substitute(row, shape, wanted)


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
    return f"{engine_}, disaggregated, dp {prefill} to dp {decode}"


def matrix(campaign: Campaign) -> Iterator[Diagnostic]:
    """`row.matrix`: every row of the matrix stands in an authoritative campaign, or its absence is written down."""
    declared = {entry.id.value: entry for entry in campaign.unsupported}
    yield from _unsupported(campaign)
    if campaign.fragment or campaign.torn or campaign.matrix is None or campaign.matrix.value != "authoritative":
        return
    from aisimc_compiler.rules.refusal import listed, refuse_value

    carried = {row.name.value for row in campaign.rows if row.kind == "row" and row.expect_error is None}
    missing = [name for name in closed.AUTHORITATIVE if name not in carried and name not in declared]
    if missing:
        yield refuse_value(
            "row.matrix",
            campaign.matrix,
            "an authoritative campaign accounts for all eight rows of the matrix, and this one not for "
            + listed(missing),
            label=f"{len(closed.AUTHORITATIVE) - len(missing)} of 8 rows",
            help='add the rows, declare `unsupported ID { on = both reason = "…" }`, or say `matrix = focused`',
        )
    for row in campaign.rows:
        if row.kind == "row" and row.name.value not in closed.MATRIX:
            yield refuse_value(
                "row.matrix",
                row.name,
                f"`{row.name.value}` is no row of the engine-only matrix",
                label="not an id of the matrix",
                help="give it the id of its shape, make it a `fixture`, or say `matrix = focused`",
            )


def _unsupported(campaign: Campaign) -> Iterator[Diagnostic]:
    from aisimc_compiler.model.nearest import nearest
    from aisimc_compiler.rules.refusal import refuse_value

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
                help=f"did you mean `{meant}`?" if meant else "",
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


def error(campaign: Campaign) -> Iterator[Diagnostic]:
    """`row.error`: a row that must be refused names the text, and expects nothing else."""
    from aisimc_compiler.rules.refusal import refuse_value

    for row in campaign.rows:
        given = row.expect_error
        if given is None:
            continue
        if blank(given.value):
            yield refuse_value(
                "row.error", given, "the error text is empty, which any error would match", label="says nothing"
            )
            continue
        own = next(
            (
                (name, value)
                for block in (row.expect, row.evidence)
                for name, value in block.items()
                if value.origin == "written"
            ),
            None,
        )
        if own is None and row.golden is not None and row.golden.file.origin == "written":
            own = "golden", row.golden.file
        if own is not None and given.origin == "written":
            yield refuse_value(
                "row.error",
                given,
                "a row that the engine refuses has nothing else to expect",
                label="the replay is refused",
                help="keep `expect_error`, or what the row expects",
                secondary=(Label(own[1].name, "can never be seen"),),
            )


CHECKS: tuple[tuple[str, Rule], ...] = (
    ("row.engine", engine),
    ("row.composition", composition),
    ("row.frozen", frozen),
    ("row.observable", observable),
    ("row.capacity", capacity),
    ("row.transfer", transfer),
    ("row.admission", admission),
    ("row.repetitions", repetitions),
    ("row.no-substitute", no_substitute),
    ("row.matrix", matrix),
    ("row.error", error),
)
