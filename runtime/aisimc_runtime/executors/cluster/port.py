"""What the executor asks of a scheduler.

A scheduler may be away, may have forgotten, and may say two things at once. So each question has one of three
answers, and only `Known` ever decides anything:

    Known(value)           it was asked and it said so; `Known(None)`: it knows no such job
    Unknown(reason)        it could not be asked, or its answer could not be read
    Contradictory(reason)  it said two things that cannot both be true
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Generic, NamedTuple, Protocol, TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Known(Generic[T]):
    """The source was asked and gave an answer."""

    value: T


@dataclass(frozen=True, slots=True)
class Unknown:
    """The source gave no answer that can be used."""

    reason: str


@dataclass(frozen=True, slots=True)
class Contradictory:
    """The source, or two sources together, said things that cannot both be true."""

    reason: str


Answer = Known[T] | Unknown | Contradictory


class Phase(Enum):
    """What a scheduler's state word means for a row."""

    WAITING = "waiting"
    HELD = "held"
    """The machine could not start it, and it will not start until somebody releases it."""
    RUNNING = "running"
    ENDING = "ending"
    """Its processes are being ended or cleaned up after; it is still the scheduler's."""
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"
    TIME_LIMIT = "time limit"
    MEMORY_LIMIT = "memory limit"
    LOST = "lost"
    """The machine, not the job, gave up: node failure, boot failure, launch failure, preemption."""

    @property
    def ended(self) -> bool:
        """Whether the scheduler is done with this incarnation of the job."""
        return self not in (Phase.WAITING, Phase.HELD, Phase.RUNNING, Phase.ENDING)


class JobView(NamedTuple):
    """One job as one source shows it."""

    job: str
    phase: Phase
    word: str
    """The source's own word, for people."""
    reason: str = ""
    """Why it waits or ended, in the source's words; empty when it gives none."""
    node: str = ""
    name: str = ""
    may_return: bool = False
    """It ended in a way after which schedulers put the same job back into the queue."""


JobAnswer = Answer[JobView | None]


@dataclass(frozen=True, slots=True)
class Request:
    """One allocation to ask for."""

    name: str
    """Unique to this try of this row of this run: what a lost submission is found again by."""
    comment: str
    script: Path
    log: Path
    folder: Path
    """The job's working folder, on the shared file system."""
    cpus: int


@dataclass(frozen=True, slots=True)
class Submitted:
    """The scheduler took the job."""

    job: str


@dataclass(frozen=True, slots=True)
class SubmitRefused:
    """The scheduler will never take this request as it stands; `key` is the profile's key that it is about."""

    reason: str
    key: str | None = None


@dataclass(frozen=True, slots=True)
class SubmitUnclear:
    """The job may or may not have been taken: look for its name before trying again."""

    reason: str


@dataclass(frozen=True, slots=True)
class SubmitLater:
    """Not taken, because of a limit that other jobs fill; try again when they end."""

    reason: str


SubmitAnswer = Submitted | SubmitRefused | SubmitUnclear | SubmitLater


class Scheduler(Protocol):
    """One scheduler, as this user sees it. No method raises for what the scheduler does or says."""

    @property
    def title(self) -> str:
        """Its name in messages."""
        ...

    def probe(self, request: Request) -> SubmitRefused | None:
        """Whether a request like this would be refused, without submitting it; None when not, or not known."""
        ...

    def submit(self, request: Request) -> SubmitAnswer:
        """Ask for one allocation."""
        ...

    def queue(self, jobs: Sequence[str]) -> Mapping[str, JobAnswer]:
        """What the queue says of these jobs, in one question."""
        ...

    def accounting(self, jobs: Sequence[str]) -> Mapping[str, JobAnswer]:
        """What the accounting says of these jobs, in one question."""
        ...

    def find(self, names: Sequence[str]) -> Answer[tuple[JobView, ...]]:
        """The queue's jobs of these names, in one question."""
        ...

    def cancel(self, jobs: Sequence[str]) -> Answer[None]:
        """End these jobs; one that is gone already is no error."""
        ...


class ClusterExecutor(Protocol):
    """What an executor on a cluster offers beside `Executor`: its scheduler, without a profile."""

    def scheduler(self) -> Scheduler:
        """The scheduler as this user reaches it here; enough to find and to cancel."""
        ...
