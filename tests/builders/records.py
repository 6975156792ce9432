"""Small canonical records with everything in them that evidence is made of."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import orjson

Record = dict[str, Any]

EXCLUSIONS = [
    "/planner/html_report_path",
    "/summary/processed_output_tokens_per_s",
    "/summary/processed_tokens_per_s",
    "/summary/wall_time_ms",
]


def admission(ordinal: int, pool: str, at_ms: float, *, again: int = 0, reused: int = 0) -> Record:
    return {
        "admission_ordinal": ordinal,
        "at_ms": at_ms,
        "is_readmission": again > 0,
        "pool": pool,
        "pool_admission_ordinal": again,
        "reused_input_tokens": reused,
    }


def routing(pool: str, worker: int, rank: int = 0, dp: int = 1) -> Record:
    return {
        "dp_rank": rank,
        "logical_worker_id": worker,
        "outcome": "immediate",
        "pool": pool,
        "queue_entered_at_ms": None,
        "queue_wait_ms": 0.0,
        "released_at_ms": None,
        "reported_overlap_tokens": 0,
        "scheduler_id": worker * dp + rank,
    }


def request(
    index: int,
    *,
    workers: int = 2,
    dp: int = 1,
    disaggregated: bool = False,
    destination_first: bool = False,
    waits_ms: float = 0.0,
    output: int = 4,
) -> Record:
    """Request number `index` (from 0): arrives every 10 ms, goes round the workers, emits all its tokens."""
    arrival = 10.0 * index
    admitted = arrival + waits_ms
    first = admitted + 20.5
    last = first + 2.25 * (output - 1)
    scheduler = index % (workers * dp)
    worker, rank = divmod(scheduler, dp)
    reused = 64 if index else 0
    made: Record = {
        "admission_count": 1,
        "admission_history": [admission(0, "agg", admitted, reused=reused)],
        "arrival_time_ms": arrival,
        "decode_admit_ms": None,
        "decode_reused_input_tokens": None,
        "decode_worker_idx": scheduler,
        "destination_activated_ms": None,
        "destination_reserved_ms": None,
        "dispatched_at_ms": None,
        "e2e_latency_ms": last - arrival,
        "first_admit_ms": admitted,
        "first_token_ms": first,
        "input_length": 100 + index,
        "itl_ms": 2.25,
        "last_token_ms": last,
        "output_length": output,
        "prefill_admit_ms": None,
        "prefill_worker_idx": None,
        "pressure_record_ordinals": [],
        "readmission_count": 0,
        "requested_output_length": output,
        "reused_input_tokens": reused,
        "routing_history": [routing("agg", worker, rank, dp)],
        "session_id": f"request_{index + 1}",
        "source_held_ms": None,
        "source_released_ms": None,
        "terminal_status": "completed",
        "terminal_time_ms": last,
        "ttft_ms": first - arrival,
        "ttst_ms": 2.25,
        "turn_index": 0,
        "uuid": f"00000000-0000-0000-0000-{index + 1:012x}",
    }
    if disaggregated:
        made |= _handoff(made, admitted, worker, rank, dp, destination_first)
    return made


def _handoff(made: Record, admitted: float, worker: int, rank: int, dp: int, destination_first: bool) -> Record:
    held = admitted + 10.0
    reserved = admitted - 0.0 if destination_first else held + 0.5
    activated = held + 1.0
    return {
        "prefill_worker_idx": made["decode_worker_idx"],
        "prefill_admit_ms": admitted,
        "source_held_ms": held,
        "destination_reserved_ms": reserved,
        "destination_activated_ms": activated,
        "decode_admit_ms": activated,
        "source_released_ms": activated + 0.5,
        "admission_history": [admission(0, "prefill", admitted), admission(1, "decode", activated)],
        "admission_count": 2,
        "routing_history": [routing("decode", worker, rank, dp), routing("prefill", worker, rank, dp)],
    }


def readmit(record: Record, *, pool: str = "agg", at_ms: float | None = None) -> None:
    """Put a request out once and take it in again."""
    history = record["admission_history"]
    again = sum(entry["pool"] == pool for entry in history)
    when = at_ms if at_ms is not None else record["first_token_ms"] + 1.0
    history.append(admission(len(history), pool, when, again=again))
    record["admission_count"] += 1
    record["readmission_count"] += 1


def canonical(requests: list[Record], **summary: Any) -> Record:
    """A canonical record over the requests; the summary's sums follow from them unless they are given."""
    done = [entry for entry in requests if entry["terminal_status"] == "completed"]
    return {
        "coverage": {
            "capture_canonical_evidence": False,
            "capture_per_request": True,
            "capture_planner_details": False,
            "per_request_records": len(requests),
        },
        "metadata": {
            "composition": {"placement": "round_robin", "scaling": "none"},
            "result_exclusions": EXCLUSIONS,
            "schema_version": "dynamo.offline-replay.v1",
        },
        "per_request": requests,
        "planner": None,
        "summary": {
            "completed_requests": len(done),
            "duration_ms": max((entry["terminal_time_ms"] for entry in done), default=0.0),
            "mean_ttft_ms": sum(entry["ttft_ms"] for entry in done) / max(len(done), 1),
            "num_requests": len(requests),
            "prefix_cache_reused_ratio": 0.5,
            "total_input_tokens": sum(entry["input_length"] for entry in done),
            "total_output_tokens": sum(entry["output_length"] for entry in done),
        }
        | summary,
    }


def vllm_record(count: int = 8, *, preemptions: int = 1, **options: Any) -> Record:
    """An aggregated vLLM record with so many preemptions."""
    requests = [request(index, **options) for index in range(count)]
    for index in range(preemptions):
        readmit(requests[index % count], at_ms=requests[index % count]["first_token_ms"] + 1.0 + index)
    return canonical(requests)


def disaggregated_record(count: int = 8, *, sglang: bool = False, readmissions: int = 1, **options: Any) -> Record:
    """A disaggregated record with whole handoffs in the engine's order."""
    requests = [request(index, disaggregated=True, destination_first=sglang, **options) for index in range(count)]
    for index in range(readmissions):
        readmit(requests[index], pool="decode")
    return canonical(requests)


def changed(record: Record) -> Record:
    """A copy to break."""
    return copy.deepcopy(record)


def encode(record: Record) -> bytes:
    """Canonical bytes: sorted keys, compact, one newline."""
    return orjson.dumps(record, option=orjson.OPT_SORT_KEYS | orjson.OPT_APPEND_NEWLINE)


def write(record: Record, path: Path) -> Path:
    """Write canonical bytes."""
    path.write_bytes(encode(record))
    return path
