"""What the loop is given, and what it remembers of each row while it runs."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

from aisimc_runtime.executors.cluster.port import JobView, SubmitRefused
from aisimc_runtime.executors.cluster.script import Surroundings
from aisimc_runtime.executors.cluster.shared import RowPlace
from aisimc_runtime.executors.cluster.states import Patience, Row, State
from aisimc_runtime.executors.cluster.submit import Try
from aisimc_runtime.failures import Blocked
from aisimc_runtime.run.job import RowJob

REPEAT_S = 60.0
"""A row's line that changes within one state (a queue reason) is told at most this often."""


@dataclass(frozen=True, slots=True)
class Terms:
    """How the loop is to go about it."""

    around: Surroundings
    explain: Callable[[SubmitRefused], Blocked]
    """A refused submission in one clear line with the profile's place."""
    in_flight: int = 16
    cpus: int = 1
    poll_s: float = 10.0
    give_up_s: float = 1800.0
    reruns: int = 3
    patience: Patience = field(default_factory=Patience)
    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep


@dataclass(slots=True)
class Entry:
    """One row that has no end yet. Mutable: the loop's own memory."""

    job: RowJob
    place: RowPlace
    identity: str
    current: Try | None = None
    view: JobView | None = None
    """The queue's view of its job at the last look."""
    row: Row = field(default_factory=Row)
    lost: int = 0
    told: tuple[State, str, str, bool] | None = None
    told_line: str = ""
    told_at_s: float = 0.0
    done: bool = False

    def is_news(self, row: Row, now_s: float) -> bool:
        """Whether the row's line is to be told now: a change of state at once, of words alone once a minute."""
        key = (row.state, row.node, row.attempt, row.deaf)
        if key == self.told and (row.line == self.told_line or now_s - self.told_at_s < REPEAT_S):
            return False
        self.told, self.told_line, self.told_at_s = key, row.line, now_s
        return True


class Health(NamedTuple):
    """When the cluster last gave any sign of life, and what was wrong since."""

    heard_at_s: float
    reason: str = ""
