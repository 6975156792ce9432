"""The counters of the process contract, from a report alone.

A wheel's report holds no runtime evidence, so pressure is derived from readmissions; what is derived says so under
`derived`, and what cannot be had is null: evidence that needs it is missing, never satisfied.
"""

from __future__ import annotations

import lossless

TYPE_CHECKING = False  # `typing` itself would cost every replay some milliseconds
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    Record = dict[str, Any]

HANDOFF = (
    "source_held_ms",
    "destination_reserved_ms",
    "destination_activated_ms",
    "decode_admit_ms",
    "source_released_ms",
)
PRESSURE = (
    "max_pressure_records_per_request",
    "vllm_preemptions",
    "sglang_retractions",
    "all_pressure_records_readmitted",
    "pressure_records",
)


def count(report: Record, backend: str, chunks: bool) -> Record:
    """Counters of one report. `chunks`: this build's SGLang counts continued prefill chunks as readmissions."""
    records = report.get("per_request", [])
    requested = [int(record["requested_output_length"]) for record in records]
    emitted = [int(record["output_length"]) for record in records]
    short = sum(a != b for a, b in zip(requested, emitted, strict=True))
    counters = {
        "completed_requests": report["completed_requests"],
        "num_requests": report["num_requests"],
        "total_input_tokens": report["total_input_tokens"],
        "total_output_tokens": report["total_output_tokens"],
        "requested_output_tokens": sum(requested),
        "requests_with_short_output": short,
        "all_requests_full_output": short == 0,
        "terminal_counts": tally(record["terminal_status"] for record in records),
        "requests_with_reuse": sum(int(record["reused_input_tokens"] or 0) > 0 for record in records),
        "prefix_cache_reused_ratio": report["prefix_cache_reused_ratio"],
        "prefill_workers": workers(records, "prefill_worker_idx"),
        "decode_workers": workers(records, "decode_worker_idx"),
        "routing_counts": tally(
            f"{step['pool']}_{step['outcome']}" for record in records for step in record["routing_history"]
        ),
        "handoffs_complete": sum(all(record.get(key) is not None for key in HANDOFF) for record in records),
        "readmissions": sum(int(record["readmission_count"]) for record in records),
        "virtual_duration_ms": report["duration_ms"],
        "reported_wall_time_ms": report["wall_time_ms"],
    }
    return counters | pressure(records, backend, chunks)


def pressure(records: list[Record], backend: str, chunks: bool) -> Record:
    """Counters of pressure, derived: a request that was put out shows by being admitted to its pool again.

    A completed request was admitted again after each time it was put out, so every record is readmitted when
    all of them completed.
    """
    if backend == "sglang" and chunks:
        nothing: Record = dict.fromkeys(PRESSURE)
        return nothing | {"vllm_preemptions": 0}
    per_request = [sum(step["is_readmission"] for step in record["admission_history"]) for record in records]
    total = sum(per_request)
    return {
        "max_pressure_records_per_request": max(per_request, default=0),
        "vllm_preemptions": total if backend == "vllm" else 0,
        "sglang_retractions": total if backend == "sglang" else 0,
        "all_pressure_records_readmitted": all(record["terminal_status"] == "completed" for record in records),
        "pressure_records": total,
    }


def tally(words: Iterable[str]) -> dict[str, int]:
    """How often each word occurs, by word."""
    counts: dict[str, int] = {}
    for word in words:
        counts[word] = counts.get(word, 0) + 1
    return dict(sorted(counts.items()))


def workers(records: list[Record], key: str) -> list[int]:
    """The scheduler ids that received work (worker times dp plus rank), sorted."""
    return sorted({int(record[key]) for record in records if record.get(key) is not None})


def derived(counters: Record) -> list[str]:
    """The names of the counters that the report does not hold as such: computed from its records."""
    reported = {
        "completed_requests",
        "num_requests",
        "total_input_tokens",
        "total_output_tokens",
        "prefix_cache_reused_ratio",
        "virtual_duration_ms",
        "reported_wall_time_ms",
    }
    return sorted(name for name, value in counters.items() if name not in reported and value is not None)


def engine_backend(spec: Record) -> str:
    """The engine a spec names, roles included; empty when it names none."""
    engine = spec.get("engine") or {}
    for part in (engine, engine.get("decode"), engine.get("prefill")):
        backend = ((part or {}).get("rank") or {}).get("backend")
        if isinstance(backend, str):
            return backend
    return "vllm"  # the engine's own default


def differences(expected: Any, found: Any, path: str = "expected") -> Iterator[str]:
    """Where `found` does not hold what `expected` asks: objects key by key, everything else by its JSON text."""
    if isinstance(expected, dict) and isinstance(found, dict):
        for key, value in expected.items():
            if key not in found:
                yield f"{path}.{key} is missing"
            else:
                yield from differences(value, found[key], f"{path}.{key}")
    elif lossless.write(expected) != lossless.write(found):
        yield f"{path} is {lossless.write(expected)}, found {lossless.write(found)}"
