"""Evidence columns reduced to what small pictures need: quantiles, completions over time, pressure events."""

from __future__ import annotations

from typing import Any

QUANTILES = 50
"""Quantile curves have this many steps."""

BINS = 120
"""Completions are counted at so many points of virtual time."""

MAX_EVENTS = 200
"""So many pressure events are drawn."""


def curves(extract: dict[str, Any]) -> dict[str, Any]:
    """Quantiles of TTFT and end-to-end latency, completions over virtual time, pressure events; times in ms."""
    columns = extract["columns"]
    arrivals = columns["arrival_ms"]
    ends = sorted(time for time in columns["terminal_ms"] if time is not None)
    return {
        "ttft_ms": quantiles(_since(columns["first_token_ms"], arrivals)),
        "e2e_ms": quantiles(_since(columns["last_token_ms"], arrivals)),
        "completions": completions(ends),
        "pressure": pressure_events(extract),
    }


def _since(stamps: list[Any], arrivals: list[Any]) -> list[float]:
    pairs = zip(stamps, arrivals, strict=True)
    return sorted(stamp - came for stamp, came in pairs if stamp is not None and came is not None)


def quantiles(ordered: list[float]) -> list[float]:
    """The values at 0, 2, 4 … 100 % of an ordered list, by nearest rank."""
    if not ordered:
        return []
    last = len(ordered) - 1
    return [_round(ordered[round(last * step / QUANTILES)]) for step in range(QUANTILES + 1)]


def completions(ends: list[float]) -> dict[str, Any]:
    """How many requests are done at each of evenly spaced points of virtual time."""
    if not ends:
        return {"until_ms": 0.0, "done": []}
    until = ends[-1]
    done: list[int] = []
    index = 0
    for step in range(1, BINS + 1):
        edge = until * step / BINS
        while index < len(ends) and ends[index] <= edge:
            index += 1
        done.append(index)
    done[-1] = len(ends)
    return {"until_ms": _round(until), "done": done}


def pressure_events(extract: dict[str, Any]) -> list[dict[str, Any]]:
    """The revision's own pressure records, or the readmissions that stand for them, in order of time."""
    own = extract.get("pressure")
    if own is not None:
        return [
            {
                "at_ms": record.get("at_ms"),
                "request": str(record.get("request_uuid")),
                "pool": record.get("pool"),
                "what": str(record.get("kind")),
            }
            for record in (own.get("records") or [])[:MAX_EVENTS]
        ]
    return [
        {"at_ms": one["at_ms"], "request": one["request"], "pool": one["pool"], "what": "readmission"}
        for one in extract["readmissions"][:MAX_EVENTS]
    ]


def drift(baseline: dict[str, Any], candidate: dict[str, Any]) -> dict[str, Any] | None:
    """The span of (candidate - baseline) terminal times in ms, by bins of arrival; None where none differs.

    Only for arms with the same requests in the same order.
    """
    ours, theirs = baseline["columns"], candidate["columns"]
    if ours["session_id"] != theirs["session_id"]:
        return None
    until = max((time for time in ours["arrival_ms"] if time is not None), default=0.0)
    low, high = [0.0] * BINS, [0.0] * BINS
    rows = zip(ours["arrival_ms"], ours["terminal_ms"], theirs["terminal_ms"], strict=True)
    for came, old, new in rows:
        if came is None or old is None or new is None or old == new:
            continue
        index = min(int(came / until * BINS), BINS - 1) if until else 0
        low[index], high[index] = min(low[index], new - old), max(high[index], new - old)
    if not any(low) and not any(high):
        return None
    return {
        "until_ms": _round(until),
        "low": [_round(value) for value in low],
        "high": [_round(value) for value in high],
    }


def _round(value: float) -> float:
    return float(f"{value:.6g}")
