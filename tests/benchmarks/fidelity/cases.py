"""Random small replays: fixed integer timings, few blocks, many ties."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any

from .arms import Payload

BLOCK = 4


@dataclass(frozen=True, slots=True)
class Shape:
    """Which scheduler a case exercises, and how."""

    backend: str
    disaggregated: bool
    dp: bool = True
    chunked: bool = True


def payload(shape: Shape, seed: int) -> Payload:
    """The case number ``seed`` of ``shape``; the same on every machine."""
    rng = random.Random(f"{shape}:{seed}")
    block = BLOCK if shape.backend != "sglang" else rng.choice((1, 2, 4, 4))
    spec: dict[str, Any] = {
        "version": 1,
        "topology": _topology(shape, rng),
        "engine": _engine(shape, rng, block),
        "requests": _requests(rng, block),
    }
    return {"spec": spec, "determinism": "canonical_v1"}


def _topology(shape: Shape, rng: random.Random) -> dict[str, Any]:
    if not shape.disaggregated:
        return {"kind": "aggregated", "workers": {"initial_workers": rng.choice((1, 1, 2))}}
    return {
        "kind": "disaggregated",
        "prefill": {"initial_workers": rng.choice((1, 1, 2))},
        "decode": {"initial_workers": rng.choice((1, 1, 2))},
        "handoff_latency_ms": rng.choice((0, 0, 1, 3)),
    }


def _engine(shape: Shape, rng: random.Random, block: int) -> dict[str, Any]:
    def rank() -> dict[str, Any]:
        return _rank(shape, rng, block)

    def dp() -> int:
        return rng.choice((1, 1, 2)) if shape.dp else 1

    if not shape.disaggregated:
        return {"dp_size": dp(), "rank": rank()}
    return {
        "rank": {"backend": shape.backend},
        "prefill": {"dp_size": dp(), "rank": rank()},
        "decode": {"dp_size": dp(), "rank": rank()},
    }


def _rank(shape: Shape, rng: random.Random, block: int) -> dict[str, Any]:
    rank: dict[str, Any] = {
        "backend": shape.backend,
        "num_gpu_blocks": rng.choice((8, 12, 16, 24, 64)) * (BLOCK // block),
        "block_size": block,
        "max_num_seqs": rng.choice((2, 3, 4, 8)),
        "max_num_batched_tokens": rng.choice((3, 8, 16, 24, 64)),
        "timing_model": {"type": "fixed", "prefill_ms": rng.choice((2, 3, 10)), "decode_ms": rng.choice((1, 2, 2, 3))},
    }
    if rng.random() < 0.1:
        rank["max_model_len"] = rng.choice((10, 20, 30))
    if shape.backend == "sglang":
        rank["sglang"] = {
            "chunked_prefill_size": rng.choice((8, 16, 64)),
            "max_prefill_tokens": rng.choice((16, 64)),
            "clip_max_new_tokens": rng.choice((2, 4, 4096)),
            "schedule_conservativeness": rng.choice((0.3, 1.0, 1.0)),
        }
    if shape.backend == "vllm":
        rank["preemption_mode"] = rng.choice(("lifo", "lifo", "fifo"))
        rank["enable_chunked_prefill"] = shape.chunked
        if not shape.chunked:
            rank["max_num_batched_tokens"] = 64
    if shape.disaggregated and rng.random() < 0.4:
        rank["kv_transfer_bytes_per_token"] = 1_000_000
        rank["kv_transfer_bandwidth"] = rng.choice((1.0, 2.0))
        rank["kv_transfer_timing_mode"] = rng.choice(("full_prompt", "destination_missing"))
    return rank


def _requests(rng: random.Random, block: int) -> list[dict[str, Any]]:
    stems = [[rng.randrange(1, 9) for _ in range(32)] for _ in range(3)]
    arrivals = sorted(rng.choice((0, 0, 2, 4, 10, 12, 15, 20, 24)) for _ in range(rng.randint(3, 14)))
    requests = []
    for index, arrival in enumerate(arrivals):
        shared = rng.randrange(0, 25)
        tail = [1000 + index] * rng.randrange(0 if shared else 1, 8)
        tokens = rng.choice(stems)[:shared] + tail
        requests.append(
            {
                "id": f"r{index:02}",
                "arrival_time_ms": arrival,
                "input_tokens": len(tokens),
                "input_token_ids": tokens,
                "output_tokens": rng.choice((0, 1, 1, 2, 3, 5, 8, 13)) if rng.random() < 0.9 else rng.randrange(1, 24),
            }
        )
    return requests
