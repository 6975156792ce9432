"""The built-in correction `stable_request_identity`, for builds that ignore `determinism: canonical_v1`.

Such builds give each request a random UUID and add up means in an order that follows it, so the last bits of means
and deviations change between two runs of one build. The correction, for both arms alike:

- each UUID becomes `SESSION#TURN`;
- records come in authored order: sessions are named `request_N` after their line, then by turn;
- `mean_` and `std_` of TTFT, TTST, end-to-end latency and TPOT are computed again from the records with an exact
  sum (`math.fsum`), which no order changes; the deviation is the population's.

Figures per token gap (`mean_itl_ms`, throughput per user) cannot be computed again from a report, never differed,
and stay as reported. This file's SHA-256 is in the report.
"""

from __future__ import annotations

from math import fsum, sqrt

TYPE_CHECKING = False  # `typing` itself would cost every replay some milliseconds
if TYPE_CHECKING:
    from typing import Any

    import lossless

STATISTICS = (
    ("ttft_ms", "ttft_ms"),
    ("ttst_ms", "ttst_ms"),
    ("e2e_latency_ms", "e2e_latency_ms"),
    ("itl_ms", "tpot_ms"),
)


def authored(record: dict[str, Any]) -> tuple[int, int]:
    """Sort key: line and turn. Raises `ValueError` when a session is not named after its line."""
    session = record.get("session_id")
    if not isinstance(session, str) or not session.startswith("request_") or not session[8:].isdigit():
        raise ValueError(f"stable_request_identity knows sessions named request_N, not {session!r}")
    return int(session[8:]), int(record["turn_index"])


def correct(reader: lossless.Plain | lossless.Fast) -> None:
    """Correct the report that `reader` holds, in place."""
    report = reader.document
    records = report.get("per_request", [])
    records.sort(key=authored)
    for record in records:
        record["uuid"] = f"{record['session_id']}#{record['turn_index']}"
    for field, name in STATISTICS:
        values = [float(record[field]) for record in records if record.get(field) is not None]
        if not values:
            continue
        mean = fsum(values) / len(values)
        deviation = sqrt(fsum((value - mean) * (value - mean) for value in values) / len(values))
        for key, value in (("mean_" + name, mean), ("std_" + name, deviation)):
            if report.get(key) is not None:
                report[key] = reader.number(value)
