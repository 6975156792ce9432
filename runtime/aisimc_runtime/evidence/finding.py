"""What a rule found about one row, one arm, or the whole campaign."""

from __future__ import annotations

from enum import StrEnum
from typing import Any, NamedTuple


class Status(StrEnum):
    """Missing evidence is never satisfied; what a kind of revision cannot be asked for is `not_observable`."""

    SATISFIED = "satisfied"
    FAILED = "failed"
    MISSING = "missing"
    NOT_OBSERVABLE = "not_observable"


def on_both_arms(baseline: str, candidate: str) -> str | None:
    """One sentence for two that say the same of either arm; None where they do not."""
    if baseline != candidate and baseline == candidate.replace(" on the candidate", " on the baseline"):
        return baseline.replace(" on the baseline", " on both arms")
    return None


class Finding(NamedTuple):
    """The outcome of one rule of the contract. `derived` marks what was worked out from records, not reported."""

    rule: str
    row: str | None
    arm: str | None
    status: Status
    message: str
    expected: Any = None
    observed: Any = None
    derived: bool = False

    @property
    def holds(self) -> bool:
        """Whether the verdict can stand with this finding."""
        return self.status in (Status.SATISFIED, Status.NOT_OBSERVABLE)
