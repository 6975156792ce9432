"""What the plan predeclares about the gate, as one frozen value (`perf.predeclared`)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from aisimc_compiler.plan import schedule

METRIC = "replay_execution_ms"
SCOPE = "engine-only round-robin replay-loop parity"
CAUSES = ("affinity_violation", "competing_load", "node_failure", "scheduler_eviction")


@dataclass(frozen=True, slots=True)
class Design:
    """The `performance` block of a plan."""

    rows: tuple[str, ...]
    seed: int
    threshold: float
    exchangeability: str
    diagnostics: Mapping[str, float]
    invalidate_on: tuple[str, ...]
    size_explanation: str | None
    metric: str = METRIC

    @classmethod
    def from_plan(cls, plan: Mapping[str, Any]) -> Design | None:
        """The design that a plan declares, or None; the counts are fixed, so others are a ValueError."""
        block = plan.get("performance")
        if block is None:
            return None
        counts = (block["metric"], block["warmups"], block["pairs"])
        if counts != (METRIC, schedule.WARMUPS_PER_ARM, schedule.PAIRS):
            raise ValueError(f"the gate measures {METRIC} with 5 warm-ups and 60 pairs, not {counts}")
        return cls(
            rows=tuple(block["rows"]),
            seed=int(block["seed"]),
            threshold=float(block["threshold"]),
            exchangeability=block["exchangeability"],
            diagnostics={name: float(bound) for name, bound in block["diagnostics"].items()},
            invalidate_on=tuple(block["invalidate_on"]),
            size_explanation=block.get("size_explanation"),
        )
