"""The values a verdict is made of."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from aisimc_runtime.command.exits import Exit
from aisimc_runtime.evidence.finding import Finding


class Result(StrEnum):
    """What became of a row; the first three are also the campaign's possible semantic results."""

    PASS = "PASS"
    PASS_WITH_SEMANTIC_EXCEPTIONS = "PASS_WITH_SEMANTIC_EXCEPTIONS"
    FAIL = "FAIL"
    NOT_COVERED = "NOT_COVERED"
    INCOMPLETE = "INCOMPLETE"


class State(StrEnum):
    """Whether a campaign came far enough for a semantic result."""

    COMPLETE = "complete"
    INCOMPLETE = "incomplete"
    BLOCKED = "blocked"


@dataclass(frozen=True, slots=True)
class RowVerdict:
    """One row: its result, why, everything found, and what exception records did for it."""

    name: str
    result: Result
    reasons: tuple[str, ...]
    causes: tuple[str, ...]
    """Those of the reasons, where it failed, that do not follow from others."""
    findings: tuple[Finding, ...]
    covered_by: dict[str, list[str]]
    """Exception record: the field patterns that it covers here."""
    uncovered: tuple[str, ...]
    """Field patterns of differences that no record covers."""


@dataclass(frozen=True, slots=True)
class ExceptionVerdict:
    """One exception record: whether it was needed, and what its regression test did on both arms."""

    name: str
    used: bool
    findings: tuple[Finding, ...]
    tests: dict[str, dict[str, Any] | None]


@dataclass(frozen=True, slots=True)
class Verdict:
    """The verdict of a campaign. `semantic` is None while the campaign is blocked or unfinished."""

    state: State
    semantic: Result | None
    reasons: tuple[str, ...]
    rows: tuple[RowVerdict, ...]
    findings: tuple[Finding, ...]
    exceptions: tuple[ExceptionVerdict, ...]
    blocked: dict[str, str] | None
    performance: str | None
    """Result of the declared gate, or None where the campaign declares none; it never changes the semantic one."""

    @property
    def exit(self) -> Exit:
        """Exit status of a command that ends with this verdict."""
        if self.semantic is None:
            return Exit.BLOCKED
        if self.semantic is Result.FAIL or self.performance == "FAIL":
            return Exit.FAILED
        if self.performance in (None, "PASS"):
            return Exit.OK
        return Exit.UNDECIDED
