"""Workers, sizes and transfers of a row (`row.observable`, `row.capacity`, `row.transfer`)."""

from __future__ import annotations

from collections.abc import Iterator

from aisimc_compiler.diagnostics.model import Diagnostic
from aisimc_compiler.model.campaign import Campaign, Pool, Row, Transfer


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
