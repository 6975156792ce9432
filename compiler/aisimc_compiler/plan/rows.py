"""One row of a plan: its frozen configuration, what it must show, and how often each arm replays it."""

from __future__ import annotations

from typing import Any

from aisimc_compiler.model import closed
from aisimc_compiler.model.campaign import Campaign, Given, Row, Values
from aisimc_compiler.plan.canonical import canonical_bytes, digest_of
from aisimc_compiler.plan.configuration import Json, configuration, value_of
from aisimc_compiler.rules.rows.matrix import covered_by

_EVIDENCE = ("preemptions", "retractions", "workers", "reuse", "handoffs", "waiting", "barrier")
_PRESSURE = {"vllm": "preemptions", "sglang": "retractions"}


def plan_row(campaign: Campaign, row: Row, unsupported: dict[str, Json]) -> Json:
    """The plan's entry of a row; `unsupported` holds the matrix ids that are declared as not covered."""
    input_name = value_of(row.input)
    frozen: Json | None = None
    text: str | None = None
    if row.frozen is None:
        made = configuration(row, campaign.inputs[input_name])
        data = canonical_bytes(made)
        engine, topology = value_of(row.engine), _topology(row)
    else:
        from aisimc_compiler.plan.frozen import described, sound

        data = row.frozen.data or b""
        made = sound(data) or {}
        engine, topology = described(made)
        text = data.decode()
        frozen = {"file": row.frozen.path, "sha256": digest_of(data)}
    matrix_id = covered_by(row)
    refused = row.expect_error is not None
    return {
        "kind": row.kind,
        "engine": engine,
        "input": input_name,
        "topology": topology,
        "matrix_id": matrix_id,
        "frozen": frozen,
        "configuration": made,
        "configuration_text": text,
        "configuration_sha256": digest_of(data),
        "evidence": _evidence(row, engine),
        **_expectations(row, made, refused=refused),
        "expect_error": value_of(row.expect_error),
        "arms": _arms(matrix_id, unsupported, refused=refused),
    }


def _arms(matrix_id: str | None, unsupported: dict[str, Json], *, refused: bool) -> Json:
    on = unsupported[matrix_id]["on"] if matrix_id in unsupported else None
    arms = {}
    for arm in closed.ARMS:
        if on == "both":
            repetitions, supported = 0, False
        elif on == arm:
            repetitions, supported = 1, False
        else:
            repetitions, supported = 1 if refused else closed.REPETITIONS, True
        arms[arm] = {"repetitions": repetitions, "supported": supported}
    return arms


def _topology(row: Row) -> Json:
    topology = row.topology
    assert topology is not None
    pools = {name: _pool(pool.workers, pool.dp, pool.tp) for name, pool in topology.pools.items()}
    if topology.kind.value == "aggregated":
        return {"kind": "aggregated", **pools["workers"]}
    transfer = topology.transfer
    assert transfer is not None
    return {
        "kind": "disaggregated",
        **pools,
        "transfer": {
            "bytes_per_token": value_of(transfer.bytes_per_token),
            "bandwidth_gb_s": value_of(transfer.bandwidth_gb_s),
            "mode": value_of(transfer.mode),
            "latency_ms": value_of(transfer.latency_ms) or 0.0,
        },
    }


def _pool(workers: Given[int] | None, dp: Given[int] | None, tp: Given[int] | None) -> Json:
    return {"workers": value_of(workers), "dp": value_of(dp), "tp": value_of(tp)}


def _evidence(row: Row, engine: str) -> Json:
    """What the row declares, and the pressure bounds that every row has whether it says so or not."""
    found: Json = dict.fromkeys(_EVIDENCE)
    if row.expect_error is not None:
        return found
    for name, given in row.evidence.items():
        found[name] = list(given.value) if name in ("preemptions", "retractions") else given.value
    word = _PRESSURE.get(engine)
    if row.kind == "row" and word is not None and found[word] is None:
        found[word] = list(closed.PRESSURE_LIMITS)
    return found


def _expectations(row: Row, made: Json, *, refused: bool) -> Json:
    """`expect` and `golden` of the plan: the row's counters over its golden file's over its frozen configuration's."""
    if refused:
        return {"expect": {}, "golden": None}
    expect: Json = dict(made.get("expected") or {})
    golden: Json | None = None
    if row.golden is not None and row.golden.data is not None:
        from aisimc_compiler.plan.golden import golden_row

        entry = golden_row(row.golden.data, row.name.value)
        golden = {"file": row.golden.path, "sha256": digest_of(row.golden.data), **entry}
        expect.update(entry["expect"])
    expect.update(_plain(row.expect))
    return {"expect": {name: _in_kind(name, value) for name, value in expect.items()}, "golden": golden}


def _in_kind(name: str, value: Any) -> Any:
    """A decimal counter as a decimal, also where a file writes it without a fraction."""
    decimal = closed.COUNTERS.get(name) == "decimal" and isinstance(value, int) and not isinstance(value, bool)
    return float(value) if decimal else value


def _plain(values: Values) -> Json:
    found: Json = {}
    for name, given in values.items():
        value: Any = given.value
        if isinstance(value, tuple):
            value = [item.value for item in value]
        elif closed.COUNTERS.get(name) == "digest":
            value = value.lower()
        found[name] = value
    return found
