"""Declared expectations, from the row or its golden file: run.golden."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from aisimc_runtime.evidence.checks.pressure import count
from aisimc_runtime.evidence.counters import contains, counters_of
from aisimc_runtime.evidence.finding import Finding, Status
from aisimc_runtime.evidence.view import Arm, Row

_ENGINE_OF = {"vllm_preemptions": "vllm", "sglang_retractions": "sglang"}


def golden(row: Row) -> Iterator[Finding]:
    """run.golden: every declared counter is exactly what the baseline gives (integers and decimals kept apart).

    Where the baseline is declared as not supporting the row, the candidate is held to it.
    """
    expected = row.plan.get("expect") or {}
    arm = row.arms["baseline"] if row.arms["baseline"].judged else row.arms["candidate"]
    if not expected or not arm.judged:
        return
    if arm.extract is None and not arm.counters:
        return  # the replays themselves are reported
    for name, value in sorted(expected.items()):
        observed, derived = _observe(row, arm, name)
        if observed is None:
            text = f"{name}: the {arm.name} does not give it, and the records do not show it"
            yield Finding("run.golden", row.name, arm.name, Status.MISSING, text, value, None, derived)
        elif contains(observed, value):
            text = f"{name} is as expected"
            yield Finding("run.golden", row.name, arm.name, Status.SATISFIED, text, value, observed, derived)
        else:
            text = f"{name}: expected {_short(value)}, the {arm.name} gives {_short(observed)}"
            yield Finding("run.golden", row.name, arm.name, Status.FAILED, text, value, observed, derived)


def _observe(row: Row, arm: Arm, name: str) -> tuple[Any, bool]:
    if name == "canonical_sha256":
        return (arm.digests[0] if len(arm.digests) == 1 else None), False
    if name in _ENGINE_OF and (arm.counters.get(name) is None or arm.derives(name)):
        if _ENGINE_OF[name] != row.engine:
            return 0, True
        found = count(arm, row.engine)
        return found.events, found.derived
    told = arm.counters.get(name)
    if told is not None:
        return told, arm.derives(name)
    if arm.extract is None:
        return None, True
    return counters_of(arm.extract).get(name), True


def _short(value: Any) -> str:
    text = str(value)
    return text if len(text) <= 80 else text[:77] + "..."
