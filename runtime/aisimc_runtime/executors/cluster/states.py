"""From what was seen of a row to what is to be done about it. Pure: no clock, no file, no command.

The result bundle decides, not the scheduler's word: a whole bundle is a finished row whatever the queue says, and
without one no word of the scheduler passes a row. An answer that is unknown or contradictory never ends a row; it is
waited out. And a row that ended without a result is given `settle_s` of grace, because a file system between two
machines shows a rename late.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from typing import NamedTuple

from aisimc_runtime.executors.cluster.port import Contradictory, JobAnswer, JobView, Known, Phase, Unknown


class State(Enum):
    """Where a row stands."""

    QUEUED = "queued"
    RUNNING = "running"
    FINISHED = "finished"
    """Its whole result is there. Nothing that is seen later changes this."""
    LOST = "lost"
    """Its job is gone without a result, by the machine's doing: it runs again, whole, on one node."""
    BLOCKED = "blocked"
    """Its job ended without a result, and running it again unasked would not mend that."""
    UNKNOWN = "unknown"
    """No source says where it stands: wait."""
    CONTRADICTORY = "contradictory"
    """The sources cannot all be right: say so, keep everything."""


class Bundle(Enum):
    """The row's result as it stands in the shared folder."""

    ABSENT = "absent"
    WHOLE = "whole"
    BROKEN = "broken"


class Files(NamedTuple):
    """What the row's present job left in the shared folder, and the row's result, whoever brought it."""

    bundle: Bundle = Bundle.ABSENT
    broken: str = ""
    """What is wrong with a broken bundle, in one line."""
    attempt: str = ""
    """The newest attempt's name, empty when none has started."""
    node: str = ""
    beats: int = 0
    """Heartbeats of the newest attempt so far."""
    failure: str = ""
    """The one line that the newest attempt left about why it gave up."""


@dataclass(frozen=True, slots=True)
class Seen:
    """One look at one row. `files` is unknown when the shared folder cannot be read."""

    at_s: float
    """The harness's own monotonic clock: node clocks are not trusted."""
    queue: JobAnswer
    accounting: JobAnswer
    files: Known[Files] | Unknown


class Patience(NamedTuple):
    """How long to wait before an absence counts."""

    settle_s: float = 30.0
    beat_s: float = 10.0

    @property
    def silent_s(self) -> float:
        """A job whose heartbeat stood still this long is not writing any more."""
        return max(self.settle_s, 3 * self.beat_s)


@dataclass(frozen=True, slots=True)
class Row:
    """What is remembered of a row between two looks."""

    state: State = State.QUEUED
    line: str = ""
    """The state in one line, for people."""
    final: bool = False
    """Whether the executor is done with this try of the row."""
    doubt: str = ""
    """What speaks against the row having a future; empty while nothing does."""
    doubt_since_s: float = 0.0
    attempt: str = ""
    beats: int = 0
    beat_at_s: float | None = None
    """When the heartbeat was last seen to move."""
    node: str = ""
    earlier: str = ""
    """The newest attempt as of the look before: one that started only now has not been given up."""
    deaf: bool = False
    """Whether the queue could not be asked at the last look."""


def look(row: Row, seen: Seen, patience: Patience) -> Row:
    """The row after one more look. A finished row stays finished."""
    if row.state is State.FINISHED:
        return row
    row = replace(row, earlier=row.attempt)
    if isinstance(seen.files, Known):
        files = seen.files.value
        if files.bundle is Bundle.WHOLE:
            line = f"finished on {files.node or 'its node'}"
            attempt = files.attempt or row.attempt
            return replace(row, state=State.FINISHED, line=line, final=True, doubt="", attempt=attempt)
        row = _heard(row, files, seen.at_s)
        if row.final:
            return row
        if files.bundle is Bundle.BROKEN:
            return _doubt(
                row, seen, patience, "broken", State.CONTRADICTORY, f"its result does not hold: {files.broken}"
            )
    if row.final:
        return row
    return _by_queue(row, seen, patience)


def _heard(row: Row, files: Files, at_s: float) -> Row:
    """Note whether the newest attempt's heart still beats."""
    if (files.attempt, files.beats) != (row.attempt, row.beats) and files.attempt:
        return replace(row, attempt=files.attempt, beats=files.beats, beat_at_s=at_s, node=files.node)
    return row


def _alive(row: Row, seen: Seen, patience: Patience) -> bool:
    """Whether some attempt was heard so recently that it may still bring its result."""
    return row.beat_at_s is not None and seen.at_s - row.beat_at_s < patience.silent_s


def _by_queue(row: Row, seen: Seen, patience: Patience) -> Row:
    queue = seen.queue
    if isinstance(queue, Contradictory):
        return _open(row, State.CONTRADICTORY, f"the queue contradicts itself: {queue.reason}")
    row = replace(row, deaf=isinstance(queue, Unknown))
    if isinstance(queue, Unknown):
        return _queue_unknown(row, seen, patience, queue.reason)
    if queue.value is None:
        return _gone(row, seen, patience)
    if queue.value.phase.ended:
        return _ended(row, seen, patience, queue.value)
    return _in_queue(row, seen, patience, queue.value)


def _in_queue(row: Row, seen: Seen, patience: Patience, view: JobView) -> Row:
    """The scheduler still has it; what accounting says meanwhile lags behind and decides nothing."""
    if view.phase is Phase.HELD:
        line = f"job {view.job} could not be started and is held ({view.word}{_reason(view)})"
        return _doubt(row, seen, patience, "held", State.LOST, line)
    if view.phase is Phase.WAITING:
        why = f" ({view.reason})" if view.reason else ""
        again = f", after {row.node or 'its node'} gave it up" if row.earlier else ""
        return _open(row, State.QUEUED, f"job {view.job} waits in the queue{why}{again}")
    verb = "runs" if view.phase is Phase.RUNNING else "is ending"
    quiet = (
        ", though its heartbeat has stopped" if row.beat_at_s is not None and not _alive(row, seen, patience) else ""
    )
    node = view.node or row.node
    return _open(replace(row, node=node), State.RUNNING, f"job {view.job} {verb} on {node or 'its node'}{quiet}")


def _queue_unknown(row: Row, seen: Seen, patience: Patience, reason: str) -> Row:
    """The controller is away. Accounting may know an end that no requeue follows; anything else is waited out."""
    account = seen.accounting
    if isinstance(account, Known) and account.value and account.value.phase.ended and not account.value.may_return:
        return _ended(row, seen, patience, account.value)
    if _alive(row, seen, patience):
        return _open(row, State.RUNNING, f"runs on {row.node or 'its node'}, by its own heartbeat; {reason}")
    return _open(row, State.UNKNOWN, reason)


def _gone(row: Row, seen: Seen, patience: Patience) -> Row:
    """The queue is there and has no such job."""
    account = seen.accounting
    if isinstance(account, Contradictory):
        return _open(row, State.CONTRADICTORY, f"accounting contradicts itself: {account.reason}")
    if isinstance(account, Known) and account.value is not None and account.value.phase.ended:
        return _ended(row, seen, patience, account.value)
    if _alive(row, seen, patience):
        return _open(row, State.CONTRADICTORY, "the queue does not know its job, yet its heart beats: waiting for it")
    what = "its job is gone from the queue and left no result"
    if isinstance(seen.files, Unknown):
        return _open(row, State.UNKNOWN, f"{what} that can be seen: {seen.files.reason}")
    if seen.files.value.failure:
        return _doubt(row, seen, patience, "gave up", State.BLOCKED, seen.files.value.failure)
    return _doubt(row, seen, patience, "gone", State.LOST, what)


def _ended(row: Row, seen: Seen, patience: Patience, view: JobView) -> Row:
    """A source says how the job ended, and there is no result (yet)."""
    if isinstance(seen.files, Unknown):
        return _open(row, State.UNKNOWN, f"job {view.job} ended ({view.word}), but {seen.files.reason}")
    files = seen.files.value
    at = f" on {view.node or row.node}" if view.node or row.node else ""
    if disagreement := _disagreement(seen):
        return _doubt(row, seen, patience, "disagree", State.CONTRADICTORY, disagreement)
    if view.phase is Phase.LOST:
        why = f"job {view.job} lost its node{at} ({view.word}{_reason(view)})"
        return _doubt(row, seen, patience, "lost", State.LOST, why)
    if view.phase is Phase.COMPLETED:
        line = f"job {view.job} is called completed{at}, yet there is no result in the shared folder"
        return _doubt(row, seen, patience, "completed", State.CONTRADICTORY, line)
    return _doubt(row, seen, patience, "ended", State.BLOCKED, _why_blocked(view, files, at))


def _disagreement(seen: Seen) -> str:
    """Queue and accounting name two different ends of one job; empty when they do not."""
    queue, account = seen.queue, seen.accounting
    if not (isinstance(queue, Known) and isinstance(account, Known) and queue.value and account.value):
        return ""
    one, other = queue.value, account.value
    if not (one.phase.ended and other.phase.ended) or one.phase is other.phase or other.may_return:
        return ""
    return f"the queue says that job {one.job} ended as {one.word}, accounting says {other.word}"


def _why_blocked(view: JobView, files: Files, at: str) -> str:
    if view.phase is Phase.CANCELLED:
        return f"job {view.job} was cancelled from outside{at}"
    if view.phase is Phase.TIME_LIMIT:
        return f"job {view.job} reached its time limit{at}"
    if view.phase is Phase.MEMORY_LIMIT:
        return f"job {view.job} ran out of memory{at}"
    if files.failure:
        return files.failure
    return f"job {view.job} failed{at} before it had a result ({view.word}{_reason(view)})"


def _reason(view: JobView) -> str:
    return f", {view.reason}" if view.reason else ""


def _open(row: Row, state: State, line: str) -> Row:
    """A state that goes on: nothing speaks against the row any more."""
    return replace(row, state=state, line=line, doubt="", doubt_since_s=0.0)


def _doubt(row: Row, seen: Seen, patience: Patience, doubt: str, state: State, line: str) -> Row:
    """Something speaks against the row: it counts once it has stood unbroken for the grace, and all is silent."""
    since = seen.at_s if row.doubt != doubt else row.doubt_since_s
    held = replace(row, doubt=doubt, doubt_since_s=since)
    silent = state is not State.LOST or not _alive(row, seen, patience)
    if seen.at_s - since >= patience.settle_s and silent:
        return replace(held, state=state, line=line, final=True)
    waiting = State.CONTRADICTORY if state is State.CONTRADICTORY else State.UNKNOWN
    return replace(held, state=waiting, line=f"{line}; waiting for its result to show")
