"""`gate.json`: the result of one row with everything that it follows from, recomputable from the row's record."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from aisimc_compiler.plan import schedule
from aisimc_runtime.gate import causes, order
from aisimc_runtime.gate.decision import Decision, Result, decide, undecided
from aisimc_runtime.gate.dependence import Series
from aisimc_runtime.gate.design import METRIC, SCOPE, Design
from aisimc_runtime.gate.effect import bootstrap
from aisimc_runtime.gate.sampler import INVALIDATION_LIMIT
from aisimc_runtime.gate.samples import Attempt, History, Round

SCHEMA = "aisimc.gate/1"

Json = dict[str, Any]


def build(design: Design, row: str, history: History) -> Json:
    """The gate of one row from its record; pure, so `verify` can make it again and compare."""
    valid = [found for _, found in sorted(history.valid().items())]
    began = min(
        (datetime.fromisoformat(found.halves[0].at) for found in valid), default=datetime.max.replace(tzinfo=UTC)
    )
    pairs = [_pair(found, began) for found in valid]
    decision = _decide(design, history, pairs)
    ratios = [pair["ratio"] for pair in pairs]
    complete = len(pairs) == schedule.PAIRS
    return _head(design, row, decision) | {
        "median_ratio": order.median(ratios) if ratios else None,
        "bounds": _bounds(decision, complete=complete),
        "dependence": [asdict(diagnostic) for diagnostic in decision.diagnostics],
        "effect": asdict(bootstrap(ratios, schedule.row_seed(design.seed, row))) if complete else None,
        "order_effect": _order_effect(pairs) if complete else None,
        "diagnostics_ms": _times(history),
        "pairs": pairs,
        "attempts": _counts(history),
        "invalidated": [_invalidated(found) for found in history.rounds() if found.status == "invalid"],
        "sessions": [_session(event) for event in history.sessions],
    }


def not_measured(design: Design, row: str, reason: str) -> Json:
    """The gate of a row that no process was started for; `reason` is a clause for the report."""
    return _head(design, row, undecided(Result.NOT_MEASURED, reason))


def _head(design: Design, row: str, decision: Decision) -> Json:
    return {
        "schema": SCHEMA,
        "row": row,
        "scope": SCOPE,
        "metric": METRIC,
        "result": decision.result.value,
        "reason": decision.reason,
        "threshold": design.threshold,
        "seed": design.seed,
        "exchangeability": design.exchangeability,
        "invalidate_on": list(design.invalidate_on),
        "limits": {
            "run_delay_share": causes.RUN_DELAY_SHARE,
            "steal_share": causes.STEAL_SHARE,
            "neighbour_share": causes.NEIGHBOUR_SHARE,
            "invalidated_rounds": INVALIDATION_LIMIT,
        },
        "schedule": list(schedule.first_arms(design.seed, row)),
    }


def _decide(design: Design, history: History, pairs: Sequence[Json]) -> Decision:
    """What the record says, in the fixed order: the product's failures, then completeness, then the ratios."""
    failed = history.failed
    if failed is not None:
        where = f"{failed.kind} {failed.number}" if failed.kind == "warmup" else f"pair {failed.number}"
        return undecided(Result.FAIL, f"the {failed.arm} failed in {where}: {failed.error}")
    if len(pairs) < schedule.PAIRS:
        spoilt = sum(found.status == "invalid" for found in history.rounds())
        return undecided(
            Result.NOT_MEASURED,
            f"the node was not fit: {spoilt} rounds were invalidated (limit {INVALIDATION_LIMIT}) and only "
            f"{len(pairs)} of {schedule.PAIRS} pairs are valid",
        )
    return decide(_series(pairs), threshold=design.threshold, thresholds=design.diagnostics)


def _series(pairs: Sequence[Json]) -> Series:
    def column(name: str) -> list[float] | None:
        values = [pair.get(name) for pair in pairs]
        return None if None in values else [float(value) for value in values if value is not None]

    return Series(
        ratios=[pair["ratio"] for pair in pairs],
        elapsed_s=column("elapsed_s"),
        temperatures_c=column("temperature_c"),
        frequencies_mhz=column("frequency_mhz"),
    )


def _pair(found: Round, began: datetime) -> Json:
    """One valid round: both times, their ratio, and what the machine told while it ran."""
    times = {half.arm: (half.timing or {})[METRIC] for half in found.halves}
    pair: Json = {
        "pair": found.pair,
        "round": found.round,
        "first": found.halves[0].arm,
        "baseline_ms": times["baseline"],
        "candidate_ms": times["candidate"],
        "ratio": times["candidate"] / times["baseline"],
        "elapsed_s": round((datetime.fromisoformat(found.halves[0].at) - began).total_seconds(), 3),
    }
    for name in ("temperature_c", "frequency_mhz"):
        value = _mean_reading(found.halves, name)
        if value is not None:
            pair[name] = value
    return pair


def _mean_reading(halves: Sequence[Attempt], name: str) -> float | None:
    readings = [reading for half in halves for reading in (half.before, half.after) if reading is not None]
    values = [getattr(reading, name) for reading in readings]
    return sum(values) / len(values) if values and None not in values else None


def _bounds(decision: Decision, *, complete: bool) -> Json:
    """The bounds with their exact coverage; without values where the order-statistic gate was not applied."""
    exact = order.coverage(schedule.PAIRS)
    bounds = decision.bounds
    return {
        "applied": complete and bounds is not None,
        "lower": None if bounds is None else bounds.lower,
        "upper": None if bounds is None else bounds.upper,
        "lower_order": order.LOWER_ORDER,
        "upper_order": order.UPPER_ORDER,
        "one_sided_coverage": float(exact.lower),
        "two_sided_coverage": float(exact.both),
        "one_sided_coverage_exact": f"{exact.lower.numerator}/{exact.lower.denominator}",
    }


def _order_effect(pairs: Sequence[Json]) -> Json:
    """Median ratio by the arm that went first: apart, the second process of a pair runs in another state."""
    return {
        f"{arm}_first_median_ratio": order.median([pair["ratio"] for pair in pairs if pair["first"] == arm])
        for arm in schedule.ARMS
    }


def _times(history: History) -> Json:
    """Median of each time per arm over the valid samples, in ms: diagnostics, none of them decides."""
    halves = [half for found in history.valid().values() for half in found.halves]
    out: Json = {}
    for arm in schedule.ARMS:
        timings = [half.timing for half in halves if half.arm == arm and half.timing is not None]
        out[arm] = {name: order.median([timing[name] for timing in timings]) for name in timings[0]} if timings else {}
    return out


def _counts(history: History) -> Json:
    rounds = history.rounds()
    statuses = [attempt.status for attempt in history.attempts]
    return {
        "processes": len(statuses),
        "warmups": sum(attempt.kind == "warmup" for attempt in history.attempts),
        "failed": statuses.count("failed"),
        "interrupted": statuses.count("interrupted"),
        "valid_pairs": sum(found.status == "valid" for found in rounds),
        "invalidated_rounds": sum(found.status == "invalid" for found in rounds),
        "interrupted_rounds": sum(found.status == "interrupted" for found in rounds),
    }


def _invalidated(found: Round) -> Json:
    return {
        "pair": found.pair,
        "round": found.round,
        "attempts": [half.attempt for half in found.halves],
        "causes": list(found.causes),
    }


def _session(event: Json) -> Json:
    return {key: value for key, value in event.items() if key != "event"}
