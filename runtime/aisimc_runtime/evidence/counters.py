"""The counters of the process contract, worked out again from an extract of evidence.

They serve two ends: to fill in what a published wheel's report does not hold, and to check what a runner reported.
"""

from __future__ import annotations

from collections import Counter
from typing import Any


def counters_of(extract: dict[str, Any]) -> dict[str, Any]:
    """Counters that the records show; pressure counters are left to `checks.pressure`, which knows what counts.

    Tokens are summed over completed requests, as the reports do.
    """
    columns = extract["columns"]
    status = columns["status"]
    completed = [index for index, state in enumerate(status) if state == "completed"]
    asked, given = columns["requested_output_tokens"], columns["output_tokens"]
    short = sum(given[index] != asked[index] for index in range(len(status)) if _known(given[index], asked[index]))
    return {
        "completed_requests": len(completed),
        "num_requests": extract["requests"],
        "total_input_tokens": sum(columns["input_tokens"][index] or 0 for index in completed),
        "total_output_tokens": sum(given[index] or 0 for index in completed),
        "requested_output_tokens": sum(value or 0 for value in asked),
        "requests_with_short_output": short,
        "all_requests_full_output": short == 0,
        "terminal_counts": dict(sorted(Counter(str(state) for state in status if state is not None).items())),
        "requests_with_reuse": sum((value or 0) > 0 for value in columns["reused_tokens"]),
        "prefill_workers": sorted({worker for worker in columns["prefill_worker"] if worker is not None}),
        "decode_workers": sorted({worker for worker in columns["decode_worker"] if worker is not None}),
        "routing_counts": extract["routing_counts"],
        "handoffs_complete": extract["handoffs"]["complete"],
        "readmissions": extract["readmissions_in_all"],
        "virtual_duration_ms": (extract.get("summary") or {}).get("duration_ms"),
        "prefix_cache_reused_ratio": (extract.get("summary") or {}).get("prefix_cache_reused_ratio"),
    }


def _known(given: Any, asked: Any) -> bool:
    return given is not None and asked is not None


def same(a: Any, b: Any) -> bool:
    """Equality that keeps kinds apart: 1 is not 1.0, and neither is true; objects by key, arrays by place."""
    if type(a) is not type(b):
        return False
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(value, b[key]) for key, value in a.items())
    if isinstance(a, list):
        return len(a) == len(b) and all(same(x, y) for x, y in zip(a, b, strict=True))
    if isinstance(a, float):
        return bool(a.hex() == b.hex())
    return bool(a == b)


def contains(observed: Any, expected: Any) -> bool:
    """Whether `observed` meets an expectation: objects may hold more keys, everything else is exactly the same."""
    if isinstance(expected, dict) and isinstance(observed, dict):
        return all(key in observed and contains(observed[key], value) for key, value in expected.items())
    return same(observed, expected)
