"""The run-time rules of the contract, each a pure function from collected values to findings.

A new rule is one function in one of these modules, named in `ROW_CHECKS` below.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from aisimc_runtime.evidence.checks import campaign, digests, golden, outcome, placement, pressure, replays, words
from aisimc_runtime.evidence.finding import Finding
from aisimc_runtime.evidence.view import Row, load_row, read_json

RowCheck = Callable[[Row], Iterator[Finding]]

ROW_CHECKS: tuple[RowCheck, ...] = (
    replays.fresh,
    replays.limit,
    digests.frozen,
    replays.unsupported,
    replays.ended,
    digests.determinism,
    digests.parity,
    outcome.outcome,
    pressure.pressure,
    words.words,
    golden.golden,
    campaign.planner,
    placement.same_node,
    placement.affinity,
)
"""Every rule about a row that is qualified, in the order in which findings are shown."""

ERROR_CHECKS: tuple[RowCheck, ...] = (replays.fresh, digests.frozen, replays.expected_error, placement.same_node)
"""The rules about a row that is expected to be refused."""


def check_row(plan: dict[str, Any], row_name: str, folder: Path) -> list[Finding]:
    """All findings about one row, from the row's folder (`RUN/rows/NAME`). Raises OSError, orjson.JSONDecodeError."""
    row = load_row(plan, row_name, folder)
    artifacts = read_json(folder.parent.parent / "artifacts.json") or {}
    return [*findings_of(row), *campaign.artifact(row, artifacts)]


def findings_of(row: Row) -> list[Finding]:
    """All findings about a row that was read."""
    if not any(arm.repetitions for arm in row.arms.values()):
        return []
    checks = ERROR_CHECKS if row.plan.get("expect_error") is not None else ROW_CHECKS
    return [finding for check in checks for finding in check(row)]


def campaign_findings(plan: dict[str, Any], artifacts: dict[str, Any], inputs: dict[str, Any]) -> list[Finding]:
    """All findings about the campaign as a whole, from what was collected."""
    return [
        *campaign.identity(plan, artifacts),
        *campaign.same_build(plan, artifacts),
        *campaign.corrections(plan, artifacts),
        *campaign.exclusions(plan, artifacts),
        *campaign.unchanged(plan, inputs),
    ]
