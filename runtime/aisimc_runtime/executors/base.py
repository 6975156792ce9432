"""What the runtime asks of an executor: to replay rows whose files are all staged, wherever that happens.

An executor is given `RowJob`s (`run/job.py`): self-contained folders that `python -m aisimc_runtime.run.row ROWDIR`
replays on any node that sees them. It yields what happens, in the order it learns of it. The plan does not change
with the executor. Closing the iterator ends everything it started.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from aisimc_runtime.run.job import RowJob
    from aisimc_runtime.run.profile import Profile


@dataclass(frozen=True, slots=True)
class ReplayStarted:
    """A fresh process was started for one replay."""

    row: str
    arm: str
    repetition: int
    cpus: tuple[int, ...] = ()
    node: str = ""


@dataclass(frozen=True, slots=True)
class ReplayFinished:
    """One replay's process ended and its folder holds `process.json`.

    `lost` is a line when the machine, not the engine, ended it (killed from outside, out of memory): the
    replay is no result, and is made again when the campaign continues.
    """

    row: str
    arm: str
    repetition: int
    ok: bool
    summary: str
    """One line: a digest's beginning, or why it failed."""
    lost: str | None = None
    wall_ms: float = 0.0
    cpu_ms: float = 0.0


@dataclass(frozen=True, slots=True)
class RowFinished:
    """Every replay of the row has its result, and the evidence is extracted on the row's own node."""

    row: str
    node: str


@dataclass(frozen=True, slots=True)
class RowBlocked:
    """The row could not be carried out here (not the engine's doing); what was collected is kept."""

    row: str
    reason: str


@dataclass(frozen=True, slots=True)
class Note:
    """Something to tell the user that belongs to no replay (a job id, a queue state)."""

    text: str
    row: str | None = None
    data: dict[str, Any] | None = None
    """Kept in the journal, for example the job id that `cancel` needs."""


RowEvent = ReplayStarted | ReplayFinished | RowFinished | RowBlocked | Note


class Executor(Protocol):
    """Somewhere to replay rows."""

    @property
    def name(self) -> str:
        """The word in a profile's `executor`."""
        ...

    def check(self, profile: Profile) -> None:
        """Refuse what this executor cannot honour, before anything is staged. Raises `Refused` or `Blocked`."""
        ...

    def run(self, jobs: Sequence[RowJob], profile: Profile) -> Iterator[RowEvent]:
        """Replay all rows and yield events until each job has had `RowFinished` or `RowBlocked`.

        A job whose folder already holds finished replays is continued, not begun again (`run/row.py` sees to it).
        """
        ...
