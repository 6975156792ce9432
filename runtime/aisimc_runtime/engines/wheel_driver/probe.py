"""What a wheel says of itself when asked with tiny replays: modes it honours, engines and shapes it accepts."""

from __future__ import annotations

import json

import module

TYPE_CHECKING = False  # `typing` itself would cost every replay some milliseconds
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Run = Callable[[str], str]

SHAPES = {
    # matrix id: (engine, disaggregated, prefill dp, decode dp)
    "vllm-aggregated": ("vllm", False, 1, 1),
    "sglang-aggregated": ("sglang", False, 1, 1),
    "trtllm-aggregated": ("trtllm", False, 1, 1),
    "vllm-aggregated-adp2": ("vllm", False, 1, 2),
    "sglang-aggregated-adp2": ("sglang", False, 1, 2),
    "trtllm-aggregated-adp2": ("trtllm", False, 1, 2),
    "vllm-disaggregated": ("vllm", True, 1, 1),
    "sglang-disaggregated": ("sglang", True, 1, 1),
    "trtllm-disaggregated": ("trtllm", True, 1, 1),
    "vllm-disaggregated-adp2-4": ("vllm", True, 2, 4),
    "sglang-disaggregated-adp2-4": ("sglang", True, 2, 4),
    "trtllm-disaggregated-adp2-4": ("trtllm", True, 2, 4),
}
BLOCK = {"vllm": 64, "sglang": 64, "trtllm": 32}


def describe(options: dict[str, str]) -> str:
    """The process contract's `--describe` object, as one line of JSON."""
    run = module.runtime(options).run_replay_json
    return json.dumps(
        {
            "contract": 1,
            "revision": module.revision(options),
            "artifact": options.get("--runtime-sha256"),
            "determinism": ["canonical_v1"] if honours_canonical(run) else [],
            "exclusions": None,  # a wheel cannot be asked for its list
            "matrix": [name for name, shape in SHAPES.items() if accepts(run, *shape)],
            "traffic": takes_traffic(run),
            "exposes_replay_execution_ms": False,
        },
        sort_keys=True,
    )


def answer(run: Run, payload: dict[str, Any]) -> str:
    """The error text of one call, empty when it succeeds."""
    try:
        run(json.dumps(payload))
    except BaseException as error:
        return str(error) or type(error).__name__
    return ""


def traced(**more: Any) -> dict[str, Any]:
    """A replay of a trace that does not exist: only an accepted payload gets as far as opening it."""
    return {
        "spec": spec("vllm", False, 1, 1, []),
        "traffic": {
            "source_type": "trace",
            "trace_path": "/dev/null/absent",
            "trace_format": "mooncake",
            "trace_block_size": 512,
            "arrival_speedup_ratio": 1.0,
        },
        **more,
    }


def honours_canonical(run: Run) -> bool:
    """A build that knows the mode refuses one that does not exist; a build that ignores the key takes anything."""
    unknown = answer(run, traced(determinism="no_such_mode"))
    known = answer(run, traced(determinism="canonical_v1"))
    return "open trace file" in known and "open trace file" not in unknown


def takes_traffic(run: Run) -> bool:
    """Whether a trace can be given beside the spec."""
    return "open trace file" in answer(run, traced())


def accepts(run: Run, engine: str, disaggregated: bool, prefill_dp: int, decode_dp: int) -> bool:
    """Whether one request goes through this engine and shape."""
    request = {"id": "a", "arrival_time_ms": 0.0, "input_tokens": 8, "output_tokens": 2}
    return answer(run, spec(engine, disaggregated, prefill_dp, decode_dp, [request])) == ""


def spec(
    engine: str, disaggregated: bool, prefill_dp: int, decode_dp: int, requests: list[dict[str, Any]]
) -> dict[str, Any]:
    """A small replay of one engine and shape."""
    rank = {
        "backend": engine,
        "num_gpu_blocks": 64,
        "block_size": BLOCK[engine],
        "max_num_seqs": 4,
        "max_num_batched_tokens": 8192,
        "timing_model": {"type": "fixed", "prefill_ms": 1.0, "decode_ms": 1.0},
        "kv_bytes_per_token": 1,
        "kv_transfer_bandwidth": 100.0,
    }
    pool = {"initial_workers": 1, "startup_delay_ms": 0.0}
    role: dict[str, Any] = {"tensor_parallel_size": 1, "rank": rank}
    if disaggregated:
        topology: dict[str, Any] = {"kind": "disaggregated", "prefill": pool, "decode": pool, "handoff_latency_ms": 0.0}
        own = {"prefill": {**role, "dp_size": prefill_dp}, "decode": {**role, "dp_size": decode_dp}}
        engine_config: dict[str, Any] = {"rank": {"backend": engine, "timing_model": rank["timing_model"]}, **own}
    else:
        topology = {"kind": "aggregated", "workers": pool}
        engine_config = {**role, "dp_size": decode_dp}
    return {"version": 1, "topology": topology, "engine": engine_config, "requests": requests}
