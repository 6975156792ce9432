"""Names that do not belong where people put them, and the rule of the method that speaks of each."""

from __future__ import annotations

from aisimc_compiler.model import closed

PER_ARM = dict.fromkeys((*closed.ARMS, "override", "overrides", "arm", "arms", "per_arm", "per-arm"), "row.frozen")
SAMPLING = dict.fromkeys(
    (
        *("sample", "sampling", "sampled", "sample_rate", "sample_size", "stride", "step", "every", "shuffle"),
        *("shuffled", "random", "repeat", "repeats", "repeated", "loop", "wrap", "cycle", "duplicate", "fraction"),
        *("percent", "limit", "filter", "skip", "take", "windows"),
    ),
    "input.slice",
)
COMPOSITION = dict.fromkeys(
    (
        *("router", "kv_router", "routing", "kv_routing", "placement", "scaling", "scaler", "autoscaling"),
        *("autoscale", "planner", "kvbm", "load_balancing", "load_balancer", "policy", "adapters"),
    ),
    "row.composition",
)
ADMISSION = dict.fromkeys(
    (
        *("iterations", "iteration", "concurrency", "replay_concurrency", "max_concurrency", "in_flight"),
        *("request_rate", "arrival_interval_ms", "admission", "agentic_lanes", "inter_turn_delay_ms"),
    ),
    "row.admission",
)
REPETITIONS = dict.fromkeys(("repetitions", "repeats", "average", "runs"), "row.repetitions")
EMBEDDED = {"source_revision": "pin.embedded", "revision_id": "pin.embedded"}
ROW_STRAY = {**COMPOSITION, **ADMISSION, **REPETITIONS, **PER_ARM, **EMBEDDED}
ROLE_STRAY = {**PER_ARM, **EMBEDDED, **COMPOSITION, "transfer": "row.transfer", "engine": "row.engine"}
