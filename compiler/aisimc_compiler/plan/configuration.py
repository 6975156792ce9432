"""The configuration that both arms of a row get: AI Simulate's qualification configuration around a ReplaySpec.

Field names and defaults are those of the pinned revision's own files. Whatever a row does not say is left out, so that
every build takes its own default, except where the published files say it.
"""

from __future__ import annotations

from aisimc_compiler.hints import Any
from aisimc_compiler.model.campaign import Given, Input, Pool, Row, Timing, Topology, Transfer

Json = dict[str, Any]

_SGLANG = ("chunked_prefill_size", "max_prefill_tokens", "schedule_conservativeness")


def value_of(given: Given[Any] | None) -> Any:
    """The value of an attribute that a sound campaign has."""
    return None if given is None else given.value


def configuration(row: Row, entry: Input) -> Json:
    """The qualification configuration of a row that is not frozen."""
    window = slice_of(entry)
    upstream = _upstream(entry)
    return {
        "row_name": row.name.value,
        "trace_file": f"{entry.name.value}.jsonl",
        "trace_sha256": window["sha256"],
        "trace_rows": window["rows"],
        "trace_block_size": value_of(entry.block_size),
        "arrival_speedup_ratio": value_of(row.arrival_speedup_ratio),
        "trace_upstream_repository": upstream[0],
        "trace_upstream_commit": upstream[1],
        "trace_upstream_path": upstream[2],
        "trace_full_sha256": value_of(entry.sha256).lower(),
        "trace_full_rows": value_of(entry.rows),
        "trace_slice_start": window["start"],
        "iterations": 1,
        "capture_canonical": True,
        "write_full_report": False,
        "metadata": {},
        "expected": {},
        "spec": replay_spec(row),
    }


def slice_of(entry: Input) -> Json:
    """The window of an input; the whole file where none is declared."""
    window = entry.slice
    if window is None:
        return {"start": 0, "rows": value_of(entry.rows), "sha256": value_of(entry.sha256).lower()}
    return {
        "start": value_of(window.start),
        "rows": value_of(window.rows),
        "sha256": value_of(window.sha256).lower(),
    }


LOCAL, GENERATED = "local-file", "aisimc-generator"
"""What stands for a trace's repository where it has none."""


def _upstream(entry: Input) -> tuple[str, str, str]:
    """Repository, commit and path; the runner refuses blank ones, so a local trace says what it is instead."""
    if entry.upstream is not None:
        return entry.upstream.value, value_of(entry.commit).lower(), value_of(entry.path)
    if entry.generator is not None:
        seed, rows = value_of(entry.generator.seed), value_of(entry.generator.rows)
        return GENERATED, f"seed-{seed}", f"mooncake-{rows}-rows.jsonl"
    return LOCAL, value_of(entry.sha256).lower(), value_of(entry.file).rsplit("/", 1)[-1]


def replay_spec(row: Row) -> Json:
    """The ReplaySpec of a row."""
    topology = row.topology
    assert topology is not None
    engine = value_of(row.engine)
    spec: Json = {
        "version": 1,
        "topology": _topology(topology),
        "engine": _engine(engine, topology),
        "adapters": {
            "placement": {"provider": "round_robin", "config": None},
            "scaling": {"provider": "none", "config": None},
        },
        "record_per_request": True,
        "requests": [],
    }
    if row.max_sim_time_ms is not None:
        spec["max_sim_time_ms"] = row.max_sim_time_ms.value
    if row.max_in_flight is not None:
        spec["max_in_flight"] = row.max_in_flight.value
    return spec


def _topology(topology: Topology) -> Json:
    pools = {
        name: {"initial_workers": value_of(pool.workers), "startup_delay_ms": 0.0}
        for name, pool in topology.pools.items()
    }
    found: Json = {"kind": topology.kind.value, **pools}
    if topology.transfer is not None:
        found["handoff_latency_ms"] = value_of(topology.transfer.latency_ms) or 0.0
    return found


def _engine(engine: str, topology: Topology) -> Json:
    if topology.kind.value == "aggregated":
        return _role(engine, topology.pools["workers"], None)
    prefill, decode = topology.pools["prefill"], topology.pools["decode"]
    return {
        "dp_size": 1,
        "tensor_parallel_size": 1,
        "rank": {"backend": engine, "timing_model": _timing(prefill.timing)},
        "prefill": _role(engine, prefill, topology.transfer),
        "decode": _role(engine, decode, topology.transfer),
    }


def _role(engine: str, pool: Pool, transfer: Transfer | None) -> Json:
    return {
        "dp_size": value_of(pool.dp),
        "tensor_parallel_size": value_of(pool.tp),
        "rank": _rank(engine, pool, transfer),
    }


def _rank(engine: str, pool: Pool, transfer: Transfer | None) -> Json:
    rank: Json = {"backend": engine}
    sglang: Json = {}
    for name, given in pool.capacity.items():
        (sglang if name in _SGLANG else rank)[name] = given.value
    rank["timing_model"] = _timing(pool.timing)
    if sglang:
        rank["sglang"] = sglang
    if engine == "trtllm":
        rank["trtllm"] = {"capacity_scheduler_policy": "guaranteed_no_evict"}
    if transfer is not None and transfer.bytes_per_token is not None:
        rank["kv_bytes_per_token"] = transfer.bytes_per_token.value
        rank["kv_transfer_bandwidth"] = value_of(transfer.bandwidth_gb_s)
        rank["kv_transfer_timing_mode"] = value_of(transfer.mode)
    return rank


def _timing(timing: Timing | None) -> Json:
    assert timing is not None
    if timing.kind.value == "polynomial":
        return {"type": "polynomial"}
    return {"type": "fixed", "prefill_ms": value_of(timing.prefill_ms), "decode_ms": value_of(timing.decode_ms)}
